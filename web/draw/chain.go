package draw

import (
	"math"
	"time"

	"memtide/engine/sim"
	"memtide/web/format"
)

// ChainLink is one link of the critical chain: a run or a copy, from where the
// link before it let it go to where it let the next one go; or, with Nothing as
// its target, a stretch for which the schedule held the next one back.
type ChainLink struct {
	Target   Target
	From, To time.Duration
}

// CriticalChain follows the causes from the end of the step to its start: each
// link begins when the one before it ends, so that their times add up to the step
// time. It is in the order of time; empty if nothing runs.
func (m *Model) CriticalChain() []ChainLink {
	m.chainOnce.Do(func() { m.chain = m.criticalChain() })
	return m.chain
}

func (m *Model) criticalChain() []ChainLink {
	at, id := m.trace.Makespan, m.lastSpan()
	var back []ChainLink
	for id != sim.NoSpan {
		s := &m.trace.Spans[id]
		// A copy that streams may have let the next one go before its end.
		if s.Start < at {
			back = append(back, ChainLink{Target{OnSpan, int(id)}, s.Start, at})
			at = s.Start
		}
		id = m.before(id)
		if c := m.span(id); c == nil && at > 0 || c != nil && c.End < at {
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
	for l := range m.lanes {
		ln := &m.lanes[l]
		for i := len(ln.ref) - 1; i >= 0; i-- {
			if ln.ref[i] >= 0 {
				if ln.to[i] > end {
					best, end = sim.SpanID(ln.ref[i]), ln.to[i]
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
	s := &m.trace.Spans[id]
	if c := m.span(s.Cause); c != nil && s.Cause < id && c.Start <= s.Start {
		return s.Cause
	}
	best := sim.NoSpan
	for l := range m.lanes {
		ln := &m.lanes[l]
		for i := min(ln.firstEnding(int64(s.Start)), len(ln.ref)) - 1; i >= 0; i-- {
			p := sim.SpanID(ln.ref[i])
			if p < 0 || p >= id || sim.Lane(l) == sim.Compute && m.trace.Spans[p].Step > s.Step {
				continue
			}
			if b := m.span(best); b == nil || m.trace.Spans[p].End > b.End {
				best = p
			}
			break
		}
	}
	return best
}

// ChainSentence says what the critical chain consists of.
func (m *Model) ChainSentence() string {
	var runs, copies, held time.Duration
	for _, c := range m.CriticalChain() {
		switch d := c.To - c.From; {
		case c.Target.Kind == Nothing:
			held += d
		case m.trace.Spans[c.Target.Index].Lane == sim.Compute:
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
	return "Critical chain: " + str + ". Together the step time, " + format.Duration(m.trace.Makespan) + "."
}

// chainWidth is how thick the critical chain is drawn, in CSS pixels.
const chainWidth = 3.0

// drawChain underlines the links of the critical chain and joins them where the
// chain goes to another lane. Links that share a pixel are drawn once.
func (m *Model) drawChain(s *Scene, f *frame) {
	bars := s.xy[:0]
	var drawn [sim.NumLanes]float64 // how far each lane's line has come
	for l := range drawn {
		drawn[l] = f.left
	}
	joined, lane := f.left-2, -1
	for _, c := range m.CriticalChain() {
		next := lane
		if c.Target.Kind == OnSpan {
			next = int(m.trace.Spans[c.Target.Index].Lane)
		}
		x0, x1 := f.x(int64(c.From)), f.x(int64(c.To))
		if c.To < f.From || c.From > f.To {
			lane = next
			continue
		}
		if lane >= 0 && next != lane && x0 >= f.left && x0 >= joined+1 {
			bars = append(bars, m.chainJoin(f, x0, lane, next)...)
			joined = x0
		}
		if lane = next; c.Target.Kind == OnSpan {
			y, h := m.laneBox(f, lane)
			x0, x1 = f.clip(x0), math.Min(math.Max(f.clip(x1), f.clip(x0)+0.5), f.right)
			if x0 < drawn[lane]+1 {
				x0 = drawn[lane]
			}
			if x1 >= x0+0.5 {
				bars = append(bars, float32(x0), float32(y+h), float32(x1-x0), chainWidth)
				drawn[lane] = x1
			}
		}
	}
	s.xy = bars
	s.rects(fillOf(Budget), bars)
}

// chainJoin is the upright bar from a lane's line to another one's.
func (m *Model) chainJoin(f *frame, x float64, from, to int) []float32 {
	y0, h0 := m.laneBox(f, from)
	y1, h1 := m.laneBox(f, to)
	top, bottom := math.Min(y0+h0, y1+h1), math.Max(y0+h0, y1+h1)
	return []float32{float32(x - 0.75), float32(top), 1.5, float32(bottom - top + chainWidth)}
}
