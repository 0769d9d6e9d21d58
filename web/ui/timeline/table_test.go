//go:build !js

package timeline

import (
	"strings"
	"testing"

	"memtide/web/ui/input"
	"memtide/web/ui/pagetest"
)

func TestTableRows(t *testing.T) {
	s := pagetest.First(t)
	s.View.Table = true
	table := Table{S: s}
	if n := strings.Count(string(table.HTML()), "<tr data-do"); n != input.TableRows {
		t.Errorf("%d rows; want %d", n, input.TableRows)
	}
	if !table.First() || table.Last() {
		t.Errorf("first %v, last %v; want true, false", table.First(), table.Last())
	}
	total := s.Shown.Index().NumRows()
	s.View.TableTop = total - 3
	if n := strings.Count(string(table.HTML()), "<tr data-do"); n != 3 || !table.Last() {
		t.Errorf("on the last page %d rows, last %v; want 3, true", n, table.Last())
	}
}
