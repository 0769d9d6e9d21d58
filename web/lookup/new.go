package lookup

import (
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// New indexes a trace of p's graph. p and t must not change while the index is in use.
// It takes time and memory in proportion to the trace.
func New(p *engine.Problem, t *sim.Trace) *Index {
	m := &Index{Problem: p, Trace: t, layers: layersOf(p)}
	for l := range m.Lanes {
		m.Lanes[l] = newLane(t, sim.Lane(l))
	}
	m.Memory = newMemory(t.Memory)
	m.ByStage = make([][]sim.SpanID, len(m.Sizes))
	for i := range t.Spans {
		if k := m.StageOfSpan(&t.Spans[i]); k >= 1 && k <= len(m.ByStage) {
			m.ByStage[k-1] = append(m.ByStage[k-1], sim.SpanID(i))
		}
	}
	m.decisions = m.decide()
	for l := range m.busy {
		m.busy[l] = len(m.Lanes[l].Ref) > 0
	}
	for i := range t.Spans {
		_, beside := m.Own(&t.Spans[i])
		for l := range m.busy {
			_, took := AsideIn(beside, sim.Lane(l))
			m.busy[l] = m.busy[l] || took > 0
		}
	}
	m.Phases = m.findPhases()
	m.Rows = make([]int32, 0, len(t.Spans)+len(t.Gaps))
	for i, j := 0, 0; i < len(t.Spans) || j < len(t.Gaps); {
		if j == len(t.Gaps) || i < len(t.Spans) && t.Spans[i].Start <= t.Gaps[j].Start {
			if s := &t.Spans[i]; !m.steps() || m.StageOfSpan(s) != 1 || s.Kind != sim.SpanForward {
				m.Rows = append(m.Rows, int32(i))
			}
			i++
		} else {
			m.Rows = append(m.Rows, ^int32(j))
			j++
		}
	}
	return m
}

// findPhases returns the forward pass, the loss if the network ends in one, the backward
// pass, and the optimizer if it comes after all backward operations. It returns nil if the step
// does not have both passes. Recomputation belongs to the backward pass.
func (m *Index) findPhases() []Phase {
	end, turn := m.Trace.Makespan, time.Duration(-1)
	stepFrom := end
	lossFrom, lossTo := time.Duration(-1), time.Duration(-1)
	for i := range m.Trace.Spans {
		s := &m.Trace.Spans[i]
		if s.Lane != sim.Compute {
			continue
		}
		loss := m.Count < len(m.Sizes) && m.StageOfSpan(s) == len(m.Sizes)
		switch {
		case loss && s.Kind == sim.SpanForward && lossFrom < 0:
			lossFrom = s.Start
		case loss && s.Kind == sim.SpanBackward:
			lossTo = max(lossTo, s.End)
		}
		switch steps := m.optimizes(s); {
		case steps:
			stepFrom = min(stepFrom, s.Start)
		case s.Kind == sim.SpanBackward && turn < 0:
			turn = s.Start
		case s.Kind == sim.SpanBackward: // the optimizer comes after this one
			stepFrom = end
		}
	}
	var last []Phase
	if stepFrom < end {
		last = []Phase{{"optimizer", stepFrom, end}}
	}
	switch {
	case turn <= 0 || turn >= end:
		return nil
	case lossFrom > 0 && lossTo > lossFrom && lossTo < end:
		return append([]Phase{{"forward", 0, lossFrom}, {"loss", lossFrom, lossTo}, {"backward", lossTo, stepFrom}},
			last...)
	}
	return append([]Phase{{"forward", 0, turn}, {"backward", turn, stepFrom}}, last...)
}

// steps reports whether the first stage of a chain is the optimizer.
func (m *Index) steps() bool {
	c := m.Problem.Chain
	return c != nil && len(c.Chain.Stages) > 0 && c.Chain.Stages[0].Kind == engine.OptimizerKind
}

// optimizes reports whether a span belongs to the optimizer. In a chain that is the backward of
// the optimizer's stage. In a graph it is a backward operation without outputs that reads weights
// or optimizer states, which it updates in place.
func (m *Index) optimizes(s *sim.Span) bool {
	if s.Kind != sim.SpanBackward || s.Op == engine.NoOp {
		return false
	}
	if c := m.Problem.Chain; c != nil {
		return m.steps() && s.Op == c.Bwd(1)
	}
	op := &m.Problem.Graph.Ops[s.Op]
	return len(op.Out) == 0 && slices.ContainsFunc(op.In, func(v engine.ValueID) bool {
		at := m.Value(v)
		return at.Initial != 0 && (at.Kind == engine.KindWeight || at.Kind == engine.KindState)
	})
}
