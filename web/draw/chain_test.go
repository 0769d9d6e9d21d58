package draw

import (
	"testing"
	"time"

	"memtide/web/display"
)

// TestCriticalChainIsDrawn checks that the chain is drawn only if View.Chain is set, that it stays within the
// plot, and that the number of its bars is bounded by the width and not by the trace.
func TestCriticalChainIsDrawn(t *testing.T) {
	count := func(m *Index, chain bool, from, to time.Duration) int {
		var s Scene
		m.Draw(&s, Timeline, View{Width: 600, Cursor: NoCursor, Chain: chain, From: from, To: to})
		n := 0
		for _, g := range s.Groups {
			if g.Op == display.OpRects && g.Style == display.FillOf(display.Budget) {
				for i := g.From; i < g.To; i += 4 {
					if x, w := s.Nums[i], s.Nums[i+2]; x < 60 || x+w > 600 || w <= 0 {
						t.Errorf("a bar at %v, %v wide; want it within the plot", x, w)
					}
					n++
				}
			}
		}
		return n
	}
	m := smallModel()
	if without, with := count(m, false, 0, 0), count(m, true, 0, 0); without != 0 || with != 7 {
		t.Errorf("%d bars without the chain, %d with it; want 0, and 5 links with 2 changes of lane", without, with)
	}
	if n := count(m, true, 110*ms, 120*ms); n != 1 {
		t.Errorf("%d bars where only the fetch is visible; want 1", n)
	}
	if n := count(randomModel(50_000, 3), true, 0, 0); n == 0 || n > 4000 {
		t.Errorf("%d bars for 50,000 slices; want some, bounded by the width", n)
	}
}
