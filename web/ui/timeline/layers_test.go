//go:build !js

package timeline

import (
	"strings"
	"testing"

	"memtide/web/lookup"
	"memtide/web/state"
	"memtide/web/tell"
	"memtide/web/ui/pagetest"
)

// TestLayerRows checks that only the rows on screen are in the table, and that empty rows have the height of the
// others.
func TestLayerRows(t *testing.T) {
	s := pagetest.First(t)
	s.Update(state.ToggleLayers)
	c := &Layers{S: s}
	total := len(s.LayerRows())
	for _, top := range []int{0, 7, total - 5, total + 50} {
		s.View.Layers.Top = top
		html := string(c.HTML())
		rows := strings.Count(html, `data-do="row"`)
		if rows > layerRows || rows < 10 || len(html) > 15<<10 {
			t.Errorf("from row %d on there are %d rows in %d bytes; want at most %d in 15 KiB", top, rows, len(html),
				layerRows)
		}
		empty := 0
		for _, part := range strings.Split(html, "height:")[1:] {
			n := 0
			for _, r := range part[:strings.Index(part, "px")] {
				n = n*10 + int(r-'0')
			}
			empty += n
		}
		if empty != (total-rows)*LayerRowHeight {
			t.Errorf("from row %d on the empty rows are %d px high; want %d", top, empty, (total-rows)*LayerRowHeight)
		}
	}
	s.View.Layers.Top = 0
	s.Update(state.Select{Target: lookup.Target{Kind: lookup.OnStage, Index: 2}})
	if html := string(c.HTML()); strings.Count(html, `class="selected" aria-current="true"`) != 1 {
		t.Error("the selected row is not marked once")
	}
	s.Update(state.SortLayers{By: tell.LayerSize})
	for i, h := range c.Heads() {
		want := "none"
		if i == int(tell.LayerSize) {
			want = "descending"
		}
		if h.Sort != want {
			t.Errorf("column %s is sorted %s; want %s", h.Title, h.Sort, want)
		}
	}
	pagetest.WellFormed(t, pagetest.HTML(t, &Layers{S: s}))
	s.Shown.Network.Profile.Chain.Stages[0].Name = "<script>"
	if strings.Contains(string(c.HTML()), "<script>") {
		t.Error("names are not escaped")
	}
}

func TestLayerTop(t *testing.T) {
	for _, c := range []struct {
		row             int
		scrolled, shown float64
		want            float64
	}{{-1, 0, 260, -1}, {0, 0, 260, -1}, {9, 0, 260, -1}, {10, 0, 260, 26}, {3, 100, 260, 78}, {4, 104, 260, -1}} {
		if got := LayerTop(c.row, c.scrolled, c.shown); got != c.want {
			t.Errorf("row %d, scrolled by %v, %v shown: %v; want %v", c.row, c.scrolled, c.shown, got, c.want)
		}
	}
}
