package lookup

import (
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// StageOf returns the stage that a target belongs to, or 0 if it belongs to none.
func (m *Index) StageOf(t Target) int {
	switch {
	case !m.Valid(t):
		return 0
	case t.Kind == OnStage:
		return t.Index
	case t.Kind == OnSpan:
		return m.StageOfSpan(&m.Trace.Spans[t.Index])
	case t.Kind == OnGap:
		return m.stageOfValue(m.Trace.Gaps[t.Index].Value)
	case t.Kind == OnValue:
		return m.stageOfValue(engine.ValueID(t.Index))
	}
	return 0
}

// Interval returns the interval of a span or a gap, of a stage from the start of its first span to the end of its last,
// or of a value from its first stay to the end of its last. It returns 0, 0 for other targets.
func (m *Index) Interval(t Target) (from, to time.Duration) {
	if !m.Valid(t) {
		return 0, 0
	}
	switch t.Kind {
	case OnSpan:
		return m.Trace.Spans[t.Index].Start, m.Trace.Spans[t.Index].End
	case OnGap:
		return m.Trace.Gaps[t.Index].Start, m.Trace.Gaps[t.Index].End
	case OnStage:
		for i, id := range m.ByStage[t.Index-1] {
			s := &m.Trace.Spans[id]
			if i == 0 {
				from = s.Start
			}
			to = max(to, s.End)
		}
	case OnValue:
		first := true
		m.Stays(engine.ValueID(t.Index), func(l *sim.Life) {
			if first {
				from, first = l.Start, false
			}
			to = max(to, l.End)
		})
	}
	return from, to
}

// laneOf returns the lane of a span or gap and the index of its slice, which is -1 for other targets.
func (m *Index) laneOf(t Target) (l, i int) {
	if !m.Valid(t) || t.Kind != OnSpan && t.Kind != OnGap {
		return 0, -1
	}
	ref := int32(t.Index)
	from, _ := m.Interval(t)
	if t.Kind == OnGap {
		ref = ^ref
	} else {
		l = int(m.Trace.Spans[t.Index].Lane)
	}
	return l, m.Lanes[l].find(ref, int64(from))
}

// Step returns the target n places after t: a slice of the same lane, a stage, a category
// or an arc. It stops at the ends. From Nothing it returns the first slice of the compute lane.
func (m *Index) Step(t Target, n int) Target {
	limit := func(i, lo, hi int) int { return min(max(i, lo), hi) }
	switch {
	case m.Valid(t) && t.Kind == OnStage:
		return Target{OnStage, limit(t.Index+n, 1, len(m.Sizes))}
	case m.Valid(t) && t.Kind == OnBand:
		return Target{OnBand, limit(t.Index+n, 0, int(sim.NumCategories)-1)}
	case m.Valid(t) && t.Kind == OnValue:
		return m.stepArc(t, n)
	}
	l, i := m.laneOf(t)
	if i < 0 {
		if len(m.Lanes[sim.Compute].Ref) == 0 {
			return Target{}
		}
		return TargetOf(m.Lanes[sim.Compute].Ref[0])
	}
	return TargetOf(m.Lanes[l].Ref[limit(i+n, 0, len(m.Lanes[l].Ref)-1)])
}

// OtherLane returns the slice n lanes below t's that covers the start of t, or
// the nearest one in time. It returns t if there is no such lane or if it is empty.
func (m *Index) OtherLane(t Target, n int) Target {
	l, i := m.laneOf(t)
	if u, ok := m.betweenArcs(t, l+n, i >= 0); ok {
		return u
	}
	for i >= 0 && n*n == 1 && m.OtherLanes() && l+n > 0 && l+n < len(m.Lanes)-1 && len(m.Lanes[l+n].Ref) == 0 {
		l += n // empty lanes are not drawn
	}
	if i < 0 || l+n < 0 || l+n >= len(m.Lanes) || len(m.Lanes[l+n].Ref) == 0 {
		return t
	}
	from, _ := m.Interval(t)
	at, ln := int64(from), &m.Lanes[l+n]
	j := min(ln.FirstEnding(at), len(ln.Ref)-1)
	if j > 0 && at-ln.To[j-1] < ln.From[j]-at {
		j--
	}
	return TargetOf(ln.Ref[j])
}

// OtherLanes reports whether the step has operations on the lanes of the network or the CPU.
func (m *Index) OtherLanes() bool {
	return len(m.Lanes[sim.Network].Ref)+len(m.Lanes[sim.CPU].Ref) > 0
}

// Cause returns the span whose end let span t start, or whose progress ended gap t. It returns
// Nothing if there is none, or if a run only waited for the device.
func (m *Index) Cause(t Target) Target {
	id := sim.NoSpan
	switch {
	case !m.Valid(t):
	case t.Kind == OnSpan:
		// A run that started when the run before it ended only waited for the device.
		if s := &m.Trace.Spans[t.Index]; s.Lane != sim.Compute || s.Why != sim.Dependency {
			id = s.Cause
		}
	case t.Kind == OnGap:
		id = m.Trace.Gaps[t.Index].Cause
	}
	if m.Span(id) == nil {
		return Target{}
	}
	return Target{OnSpan, int(id)}
}

// Lit returns the stage that all pictures highlight while t is selected: the stage of t or, for a
// wait without one, the stage of its cause. It returns 0 if there is none.
func (m *Index) Lit(t Target) int {
	k := m.StageOf(t)
	if k == 0 && m.Valid(t) && t.Kind == OnGap {
		if c := m.Span(m.Trace.Gaps[t.Index].Cause); c != nil {
			k = m.StageOfSpan(c)
		}
	}
	return k
}

// NextPhase returns the start of the first phase that starts after a moment, or 0 if there is none.
func (m *Index) NextPhase(at time.Duration) time.Duration {
	for _, p := range m.Phases {
		if p.From > at {
			return p.From
		}
	}
	return 0
}

// Called returns the name of a span's layer, or the span's own name if it has no layer.
func (m *Index) Called(s *sim.Span) string {
	if k := m.StageOfSpan(s); k > 0 {
		return m.StageName(k)
	}
	return m.SpanName(s)
}

// BlockedSpan returns the first run after a gap, or nil if there is none.
func (m *Index) BlockedSpan(gap int) *sim.Span {
	ln := &m.Lanes[sim.Compute]
	for i := ln.find(^int32(gap), int64(m.Trace.Gaps[gap].Start)); i >= 0 && i < len(ln.Ref); i++ {
		if ln.Ref[i] >= 0 {
			return &m.Trace.Spans[ln.Ref[i]]
		}
	}
	return nil
}
