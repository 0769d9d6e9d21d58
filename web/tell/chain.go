package tell

import (
	"time"

	"memtide/engine/sim"
	"memtide/web/format"
	"memtide/web/lookup"
)

// ChainSentence says what the critical chain consists of.
func (m *Model) ChainSentence() string {
	var runs, copies, held time.Duration
	for _, c := range m.CriticalChain() {
		switch d := c.To - c.From; {
		case c.Target.Kind == lookup.Nothing:
			held += d
		case m.Trace.Spans[c.Target.Index].Lane == sim.Compute:
			runs += d
		default:
			copies += d
		}
	}
	str := format.Duration(runs) + " of runs"
	if copies > 0 {
		str += ", " + format.Duration(copies) + " of copies"
	}
	if held > 0 {
		str += ", " + format.Duration(held) + " held back by the schedule"
	}
	return "Critical chain: " + str + ". Together the step time, " + format.Duration(m.Trace.Makespan) + "."
}
