package draw

import (
	"math"
	"sort"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
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
			if i := m.lanes[l].nearest(f, x); i >= 0 {
				return target(m.lanes[l].ref[i])
			}
		}
	}
	return Target{}
}

// nearest is the slice at x or, if there is none, the nearest one within reach; -1 if none is.
func (l *lane) nearest(f *frame, x float64) int {
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

// StageOf is the stage that a target belongs to, 0 if it belongs to none.
func (m *Model) StageOf(t Target) int {
	switch {
	case !m.valid(t):
		return 0
	case t.Kind == OnStage:
		return t.Index
	case t.Kind == OnSpan:
		if k := m.stageOf(&m.trace.Spans[t.Index]); k <= len(m.sizes) {
			return k
		}
	case t.Kind == OnGap:
		return m.stageOfValue(m.trace.Gaps[t.Index].Value)
	case t.Kind == OnValue:
		return m.stageOfValue(engine.ValueID(t.Index))
	}
	return 0
}

// Interval is the time that a span or a gap covers, or a stage from its first
// slice to its last one, or a value from its first stay to the end of its last; 0, 0
// for everything else.
func (m *Model) Interval(t Target) (from, to time.Duration) {
	if !m.valid(t) {
		return 0, 0
	}
	switch t.Kind {
	case OnSpan:
		return m.trace.Spans[t.Index].Start, m.trace.Spans[t.Index].End
	case OnGap:
		return m.trace.Gaps[t.Index].Start, m.trace.Gaps[t.Index].End
	case OnStage:
		for i, id := range m.byStage[t.Index-1] {
			s := &m.trace.Spans[id]
			if i == 0 {
				from = s.Start
			}
			to = max(to, s.End)
		}
	case OnValue:
		first := true
		m.stays(engine.ValueID(t.Index), func(l *sim.Life) {
			if first {
				from, first = l.Start, false
			}
			to = max(to, l.End)
		})
	}
	return from, to
}

// laneOf is the lane of a span or gap and the slice there, -1 for everything else.
func (m *Model) laneOf(t Target) (l, i int) {
	if !m.valid(t) || t.Kind != OnSpan && t.Kind != OnGap {
		return 0, -1
	}
	ref := int32(t.Index)
	from, _ := m.Interval(t)
	if t.Kind == OnGap {
		ref = ^ref
	} else {
		l = int(m.trace.Spans[t.Index].Lane)
	}
	return l, m.lanes[l].find(ref, int64(from))
}

// Step is the target n places after t: the next slice of its lane, the next
// stage or category. It stops at the ends. From Nothing it is the first slice
// of the compute lane.
func (m *Model) Step(t Target, n int) Target {
	limit := func(i, lo, hi int) int { return min(max(i, lo), hi) }
	switch {
	case m.valid(t) && t.Kind == OnStage:
		return Target{OnStage, limit(t.Index+n, 1, len(m.sizes))}
	case m.valid(t) && t.Kind == OnBand:
		return Target{OnBand, limit(t.Index+n, 0, int(sim.NumCategories)-1)}
	case m.valid(t) && t.Kind == OnValue:
		return m.stepArc(t, n)
	}
	l, i := m.laneOf(t)
	if i < 0 {
		if len(m.lanes[sim.Compute].ref) == 0 {
			return Target{}
		}
		return target(m.lanes[sim.Compute].ref[0])
	}
	return target(m.lanes[l].ref[limit(i+n, 0, len(m.lanes[l].ref)-1)])
}

// OtherLane is the slice n lanes below t's that is under way when t starts, or
// the nearest one in time; t itself if there is no such lane or it is empty.
func (m *Model) OtherLane(t Target, n int) Target {
	l, i := m.laneOf(t)
	if u, ok := m.betweenArcs(t, l+n, i >= 0); ok {
		return u
	}
	for i >= 0 && n*n == 1 && m.others() && l+n > 0 && l+n < len(m.lanes)-1 && len(m.lanes[l+n].ref) == 0 {
		l += n // rows of lanes with nothing on them are not drawn
	}
	if i < 0 || l+n < 0 || l+n >= len(m.lanes) || len(m.lanes[l+n].ref) == 0 {
		return t
	}
	from, _ := m.Interval(t)
	at, ln := int64(from), &m.lanes[l+n]
	j := min(ln.firstEnding(at), len(ln.ref)-1)
	if j > 0 && at-ln.to[j-1] < ln.from[j]-at {
		j--
	}
	return target(ln.ref[j])
}

// others says whether the step has operations of other lanes.
func (m *Model) others() bool {
	return len(m.lanes[sim.Network].ref)+len(m.lanes[sim.CPU].ref) > 0
}

// NextGap is the first gap that starts after a moment, or with n < 0 the last
// one that starts before it; Nothing if there is none.
func (m *Model) NextGap(at time.Duration, n int) Target {
	gaps := m.trace.Gaps
	i := sort.Search(len(gaps), func(i int) bool { return gaps[i].Start > at })
	if n < 0 {
		i = sort.Search(len(gaps), func(i int) bool { return gaps[i].Start >= at }) - 1
	}
	if i < 0 || i >= len(gaps) {
		return Target{}
	}
	return Target{OnGap, i}
}

// busy says whether a run started as soon as the run before it ended: what it
// waited for was the device, which had work to do.
func (m *Model) busy(s *sim.Span) bool {
	return s.Lane == sim.Compute && s.Why == sim.Dependency
}

// Cause is the span that let t go on: whose end let a span start, or whose
// progress ended a gap. Nothing if there is none, or if the device was busy.
func (m *Model) Cause(t Target) Target {
	id := sim.NoSpan
	switch {
	case !m.valid(t):
	case t.Kind == OnSpan && m.busy(&m.trace.Spans[t.Index]): // there is no more to explain
	case t.Kind == OnSpan:
		id = m.trace.Spans[t.Index].Cause
	case t.Kind == OnGap:
		id = m.trace.Gaps[t.Index].Cause
	}
	if m.span(id) == nil {
		return Target{}
	}
	return Target{OnSpan, int(id)}
}
