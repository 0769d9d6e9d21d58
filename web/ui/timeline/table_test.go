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
	for _, not := range []string{">Layer<", ">F2<", ">s2<", ">optimizer<"} {
		if strings.Contains(string(table.HTML()), not) {
			t.Errorf("the table of a chain has %q; want blocks by their names, and no forward of the optimizer", not)
		}
	}
	if want := "<td>compute</td><td>forward</td><td>conv1</td>"; !strings.Contains(string(table.HTML()), want) {
		t.Errorf("the table is %s; want %q in it", table.HTML(), want)
	}
	total := s.Shown.Index().NumRows()
	s.View.TableTop = total - 3
	if n := strings.Count(string(table.HTML()), "<tr data-do"); n != 3 || !table.Last() {
		t.Errorf("on the last page %d rows, last %v; want 3, true", n, table.Last())
	}
}
