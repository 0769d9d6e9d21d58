package lookup

import (
	"time"

	"memtide/engine/sim"
)

// CriticalChain follows the causes from the end of the step to its start: each
// link begins when the one before it ends, so that their times add up to the step
// time. It is in the order of time; empty if nothing runs.
func (m *Model) CriticalChain() []ChainLink {
	m.chainOnce.Do(func() { m.chain = m.criticalChain() })
	return m.chain
}

func (m *Model) criticalChain() []ChainLink {
	at, id := m.Trace.Makespan, m.lastSpan()
	var back []ChainLink
	for id != sim.NoSpan {
		s := &m.Trace.Spans[id]
		// A copy that streams may have let the next one go before its end.
		if s.Start < at {
			back = append(back, ChainLink{Target{OnSpan, int(id)}, s.Start, at})
			at = s.Start
		}
		id = m.before(id)
		if c := m.Span(id); c == nil && at > 0 || c != nil && c.End < at {
			from := time.Duration(0)
			if c != nil {
				from = c.End
			}
			back = append(back, ChainLink{Target{}, from, at})
			at = from
		}
	}
	for i, j := 0, len(back)-1; i < j; i, j = i+1, j-1 {
		back[i], back[j] = back[j], back[i]
	}
	return back
}

// lastSpan is a span that ends with the step, of several the first in the order
// of lanes.
func (m *Model) lastSpan() sim.SpanID {
	best, end := sim.NoSpan, int64(-1)
	for l := range m.Lanes {
		ln := &m.Lanes[l]
		for i := len(ln.Ref) - 1; i >= 0; i-- {
			if ln.Ref[i] >= 0 {
				if ln.To[i] > end {
					best, end = sim.SpanID(ln.Ref[i]), ln.To[i]
				}
				break
			}
		}
	}
	return best
}

// before is the span that let another one start. If the schedule held that back,
// it is what ended last of the things it would have had to wait for: the run
// before it in the schedule, and what the link did before it. Always one that
// started earlier in the order of spans; NoSpan if there is none.
func (m *Model) before(id sim.SpanID) sim.SpanID {
	s := &m.Trace.Spans[id]
	if c := m.Span(s.Cause); c != nil && s.Cause < id && c.Start <= s.Start {
		return s.Cause
	}
	best := sim.NoSpan
	for l := range m.Lanes {
		ln := &m.Lanes[l]
		for i := min(ln.FirstEnding(int64(s.Start)), len(ln.Ref)) - 1; i >= 0; i-- {
			p := sim.SpanID(ln.Ref[i])
			if p < 0 || p >= id || sim.Lane(l) == sim.Compute && m.Trace.Spans[p].Step > s.Step {
				continue
			}
			if b := m.Span(best); b == nil || m.Trace.Spans[p].End > b.End {
				best = p
			}
			break
		}
	}
	return best
}
