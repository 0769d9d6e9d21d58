package draw

import (
	"math"

	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/lookup"
)

// chainWidth is how thick the critical chain is drawn, in CSS pixels.
const chainWidth = 3.0

// drawChain underlines the links of the critical chain and joins them where the
// chain goes to another lane. Links that share a pixel are drawn once.
func (m *Model) drawChain(s *Scene, f *frame) {
	var bars rects
	var drawn [sim.NumLanes]float64 // how far each lane's line has come
	for l := range drawn {
		drawn[l] = f.left
	}
	joined, lane := f.left-2, -1
	for _, c := range m.CriticalChain() {
		next := lane
		if c.Target.Kind == lookup.OnSpan {
			next = int(m.Trace.Spans[c.Target.Index].Lane)
		}
		x0, x1 := f.x(int64(c.From)), f.x(int64(c.To))
		if c.To < f.From || c.From > f.To {
			lane = next
			continue
		}
		if lane >= 0 && next != lane && x0 >= f.left && x0 >= joined+1 {
			y0, h0 := m.laneBox(f, lane) // an upright bar from one line to the other
			y1, h1 := m.laneBox(f, next)
			bars.add(x0-0.75, math.Min(y0+h0, y1+h1), 1.5, math.Abs(y0+h0-y1-h1)+chainWidth)
			joined = x0
		}
		if lane = next; c.Target.Kind == lookup.OnSpan {
			y, h := m.laneBox(f, lane)
			x0, x1 = f.clip(x0), math.Min(math.Max(f.clip(x1), f.clip(x0)+0.5), f.right)
			if x0 < drawn[lane]+1 {
				x0 = drawn[lane]
			}
			if x1 >= x0+0.5 {
				bars.add(x0, y+h, x1-x0, chainWidth)
				drawn[lane] = x1
			}
		}
	}
	s.Rects(display.FillOf(display.Budget), bars)
}
