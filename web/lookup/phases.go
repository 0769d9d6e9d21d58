package lookup

import (
	"time"

	"memtide/engine/sim"
)

// findPhases tells the forward pass, the loss where the network ends in one, and the
// backward pass; nothing where the step has no two of them. What is computed again
// is within the backward pass.
func (m *Model) findPhases() []Phase {
	end, turn := m.Trace.Makespan, time.Duration(-1)
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
		if s.Kind == sim.SpanBackward && turn < 0 {
			turn = s.Start
		}
	}
	switch {
	case turn <= 0 || turn >= end:
		return nil
	case lossFrom > 0 && lossTo > lossFrom && lossTo < end:
		return []Phase{{"forward", 0, lossFrom}, {"loss", lossFrom, lossTo}, {"backward", lossTo, end}}
	}
	return []Phase{{"forward", 0, turn}, {"backward", turn, end}}
}
