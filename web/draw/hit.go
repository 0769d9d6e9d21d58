package draw

import (
	"math"
	"time"

	"memtide/engine"
	"memtide/web/lookup"
)

// reach is how far beside a slice, in pixels, a point still means it.
const reach = 3.0

// Hit returns what is painted at a point of a picture, in CSS pixels, and the
// moment there (of still pictures: 0).
func (m *Model) Hit(pic Picture, v View, x, y float64) (lookup.Target, time.Duration) {
	f := m.frame(pic, v)
	t, at := lookup.Target{}, time.Duration(0)
	if hit := timed[pic].hit; hit != nil {
		t = hit(m, &f, x, y)
	}
	if !pic.Still() {
		at = f.time(x)
	}
	return t, at
}

func (m *Model) hitStrip(f *frame, x, y float64) lookup.Target {
	if m.showsGraph(f) {
		return m.hitGraph(f, x, y)
	}
	if y < titleLine || y > f.Height || x < f.left || x >= f.right {
		return lookup.Target{}
	}
	bars := m.bars(f)
	i := int((x - f.left) / (f.right - f.left) * float64(m.columns(f)))
	for _, b := range bars {
		if b.slot == i {
			return lookup.Target{Kind: lookup.OnStage, Index: b.at}
		}
	}
	return lookup.Target{}
}

func (m *Model) hitTimeline(f *frame, x, y float64) lookup.Target {
	if x < f.left-reach || x > f.right+reach {
		return lookup.Target{}
	}
	if f.Playhead > 0 && y < titleLine && math.Abs(x-f.x(int64(f.Playhead))) <= 2*reach {
		return lookup.Target{Kind: lookup.OnPlayhead, Index: 0}
	}
	for l := range m.Lanes {
		if top, h := m.laneBox(f, l); m.runs(f, l) && y >= top && y < top+h {
			if i := nearest(&m.Lanes[l], f, x); i >= 0 {
				return lookup.TargetOf(m.Lanes[l].Ref[i])
			}
		}
	}
	return lookup.Target{}
}

// nearest is the slice of a lane at x or, if there is none, the nearest one within reach; -1 if none is.
func nearest(l *lookup.Lane, f *frame, x float64) int {
	t := int64(f.time(x))
	if i := l.At(t); i >= 0 {
		return i
	}
	best, dist := -1, reach
	next := l.FirstEnding(t)
	for _, i := range [...]int{next - 1, next} {
		if i < 0 || i >= len(l.From) {
			continue
		}
		if d := math.Max(f.x(l.From[i])-x, x-f.x(l.To[i])); d <= dist {
			best, dist = i, d
		}
	}
	return best
}

func (m *Model) hitMemory(f *frame, x, y float64) lookup.Target {
	sc := m.memoryScale(f)
	if x < f.left || x > f.right || y > sc.bottom {
		return lookup.Target{}
	}
	if sc.showBudget && math.Abs(y-sc.y(int64(f.Budget))) <= reach {
		return lookup.Target{Kind: lookup.OnBudget, Index: 0}
	}
	used := m.Memory.Used(f.time(x))
	sum := int64(0)
	for _, c := range lookup.Stack {
		sum += int64(used[c])
		if y >= sc.y(sum) && used[c] > 0 {
			return lookup.Target{Kind: lookup.OnBand, Index: int(c)}
		}
	}
	return lookup.Target{}
}

// BudgetAt is the budget for which the budget line would be at y, in CSS pixels, in a
// view of Memory: for dragging it. It is rounded down, and never negative.
func (m *Model) BudgetAt(v View, y float64) engine.Bytes {
	f := m.frame(Memory, v)
	sc := m.memoryScale(&f)
	return sc.bytes(y)
}
