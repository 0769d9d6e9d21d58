package lookup

import (
	"memtide/engine"
	"memtide/engine/sim"
)

// New arranges a trace of p's graph. p and t must not change
// while the model is in use. It takes time and memory in proportion to the trace.
func New(p *engine.Problem, t *sim.Trace) *Model {
	m := &Model{Problem: p, Trace: t, layers: layersOf(p)}
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
	m.Phases = m.findPhases()
	m.Rows = make([]int32, 0, len(t.Spans)+len(t.Gaps))
	for i, j := 0, 0; i < len(t.Spans) || j < len(t.Gaps); {
		if j == len(t.Gaps) || i < len(t.Spans) && t.Spans[i].Start <= t.Gaps[j].Start {
			m.Rows = append(m.Rows, int32(i))
			i++
		} else {
			m.Rows = append(m.Rows, ^int32(j))
			j++
		}
	}
	return m
}
