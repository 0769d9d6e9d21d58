package draw

import (
	"math"
	"time"

	"memtide/engine"
)

// reach is how far beside a slice, in pixels, a point still means it.
const reach = 3.0

// Hit returns what is painted at a point of a picture, in CSS pixels, and the
// moment there (of still pictures: 0).
func (m *Model) Hit(pic Picture, v View, x, y float64) (Target, time.Duration) {
	f := m.frame(pic, v)
	t, at := Target{}, time.Duration(0)
	if hit := timed[pic].hit; hit != nil {
		t = hit(m, &f, x, y)
	}
	if !pic.Still() {
		at = f.time(x)
	}
	return t, at
}

func (m *Model) hitStrip(f *frame, x, y float64) Target {
	if m.showsGraph(f) {
		return m.hitGraph(f, x, y)
	}
	if y < titleLine || y > f.Height || x < f.left || x >= f.right {
		return Target{}
	}
	bars := m.bars(f)
	i := int((x - f.left) / (f.right - f.left) * float64(m.columns(f)))
	for _, b := range bars {
		if b.slot == i {
			return Target{OnStage, b.at}
		}
	}
	return Target{}
}

func (m *Model) hitTimeline(f *frame, x, y float64) Target {
	if x < f.left-reach || x > f.right+reach {
		return Target{}
	}
	if f.Playhead > 0 && y < titleLine && math.Abs(x-f.x(int64(f.Playhead))) <= 2*reach {
		return Target{OnPlayhead, 0}
	}
	for l := range m.lanes {
		if top, h := m.laneBox(f, l); m.runs(f, l) && y >= top && y < top+h {
			if i := nearest(&m.lanes[l], f, x); i >= 0 {
				return target(m.lanes[l].ref[i])
			}
		}
	}
	return Target{}
}

// nearest is the slice of a lane at x or, if there is none, the nearest one within reach; -1 if none is.
func nearest(l *lane, f *frame, x float64) int {
	t := int64(f.time(x))
	if i := l.at(t); i >= 0 {
		return i
	}
	best, dist := -1, reach
	next := l.firstEnding(t)
	for _, i := range [...]int{next - 1, next} {
		if i < 0 || i >= len(l.from) {
			continue
		}
		if d := math.Max(f.x(l.from[i])-x, x-f.x(l.to[i])); d <= dist {
			best, dist = i, d
		}
	}
	return best
}

func (m *Model) hitMemory(f *frame, x, y float64) Target {
	sc := m.memoryScale(f)
	if x < f.left || x > f.right || y > sc.bottom {
		return Target{}
	}
	if sc.showBudget && math.Abs(y-sc.y(int64(f.Budget))) <= reach {
		return Target{OnBudget, 0}
	}
	used := m.memory.used(f.time(x))
	sum := int64(0)
	for _, c := range stack {
		sum += int64(used[c])
		if y >= sc.y(sum) && used[c] > 0 {
			return Target{OnBand, int(c)}
		}
	}
	return Target{}
}

// BudgetAt is the budget for which the budget line would be at y, in CSS pixels, in a
// view of Memory: for dragging it. It is rounded down, and never negative.
func (m *Model) BudgetAt(v View, y float64) engine.Bytes {
	f := m.frame(Memory, v)
	sc := m.memoryScale(&f)
	return sc.bytes(y)
}
