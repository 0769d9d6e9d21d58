package tell

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/format"
	"memtide/web/lookup"
)

// Sentence says what a target is, when, and why it waited: for tooltips, for
// the selection and for screen readers. It is empty for Nothing.
func (m *Model) Sentence(t lookup.Target) string {
	if !m.Valid(t) {
		return ""
	}
	switch t.Kind {
	case lookup.OnSpan:
		return m.spanSentence(sim.SpanID(t.Index))
	case lookup.OnGap:
		return m.GapSentence(t.Index)
	case lookup.OnStage:
		return m.stageSentence(t.Index)
	case lookup.OnBand:
		return m.bandSentence(sim.Category(t.Index))
	case lookup.OnValue:
		return m.LifeWords(engine.ValueID(t.Index))
	}
	if t.Kind == lookup.OnPlayhead {
		return "Drag to move through the step."
	}
	return "Budget " + format.Bytes(m.Problem.Budget) + "."
}

var kindWords = [...]string{
	sim.SpanForward:   "forward",
	sim.SpanRecompute: "recompute",
	sim.SpanBackward:  "backward",
	sim.SpanOffload:   "copy to the host",
	sim.SpanFetch:     "copy to the device",
	sim.SpanNetwork:   "on the network",
	sim.SpanCPU:       "on the host",
}

// what names a span in full: "B18, backward of layer2.3".
func (m *Model) what(s *sim.Span) string {
	str := m.SpanName(s) + ", " + kindWords[s.Kind]
	if k := m.StageOfSpan(s); k > 0 && m.StageName(k) != m.SpanName(s) {
		str += " of " + m.StageName(k)
	}
	if v := m.Value(s.Value); v != nil {
		str += ", " + format.Bytes(v.Size)
	}
	return str
}

func (m *Model) spanSentence(id sim.SpanID) string {
	s := &m.Trace.Spans[id]
	str := m.what(s) + ", " + format.Span(s.Start, s.End)
	if s.OutputOnly {
		str += ", keeps only its output"
	}
	if w := m.waited(s); w != "" {
		str += ", " + w
	}
	return str + "."
}

// waited says for how long and for what a run waited, and what held a transfer
// back; empty if it started as soon as its turn came.
func (m *Model) waited(s *sim.Span) string {
	if s.Lane != sim.Compute {
		return m.heldBack(s)
	}
	first, last := m.gapsBefore(s.Start)
	if first > last {
		return ""
	}
	g := &m.Trace.Gaps[last]
	d := format.Duration(g.End - m.Trace.Gaps[first].Start)
	if c := m.Span(g.Cause); queued(c) && g.Reason != sim.NeedsRoom {
		return "waited " + d + " until " + m.event(c)
	}
	switch g.Reason {
	case sim.NeedsData:
		return "waited " + d + " for " + m.ValueName(g.Value) + ": its copy to the device was still under way"
	case sim.CopyOut:
		return "waited " + d + " for the copy of " + m.ValueName(g.Value) + " to the host to end"
	case sim.NeedsRoom:
		str := "waited " + d + " for memory"
		if c := m.Span(g.Cause); c != nil {
			str += ": it was full until " + m.event(c)
		}
		return str
	}
	return "waited " + d
}

// gapsBefore are the gaps [first, last] that end, one after the other, at a
// moment; first > last if there are none.
func (m *Model) gapsBefore(at time.Duration) (first, last int) {
	t := m.NextGap(at, -1)
	last = t.Index
	if t.Kind != lookup.OnGap || m.Trace.Gaps[last].End != at {
		return 0, -1
	}
	for first = last; first > 0 && m.Trace.Gaps[first-1].End == m.Trace.Gaps[first].Start; first-- {
	}
	return first, last
}

// event names the end of a span: "B19 ended", "s3 was copied to the host".
func (m *Model) event(s *sim.Span) string {
	switch s.Kind {
	case sim.SpanOffload:
		return m.SpanName(s) + " was copied to the host"
	case sim.SpanFetch:
		return m.SpanName(s) + " was copied to the device"
	}
	return m.SpanName(s) + " ended"
}

// queued says whether a span is an operation of another lane: of the network or the host.
func queued(s *sim.Span) bool { return s != nil && s.Lane >= sim.Network }

// heldBack says what held a transfer back, in words that continue "the fetch".
func (m *Model) heldBack(s *sim.Span) string {
	cause := m.Span(s.Cause)
	switch s.Why {
	case sim.Window:
		return "held back by the schedule until then"
	case sim.CopyOut:
		return "could not start earlier: its copy to the host had to end first"
	}
	if cause == nil {
		return ""
	}
	switch {
	case s.Why == sim.NeedsRoom:
		return "could not start earlier: memory was full until " + m.event(cause)
	case s.Why == sim.NeedsData:
		return "could not start earlier: it needs what " + m.SpanName(cause) + " makes"
	case s.Why == sim.Dependency && queued(cause):
		return "could not start earlier: " + busyLane(cause) + " was busy with " + m.SpanName(cause)
	case s.Why == sim.Dependency && cause.Lane != sim.Compute:
		return "could not start earlier: the link to the host was busy with " + m.SpanName(cause)
	case s.Why == sim.Dependency:
		return "started when " + m.event(cause)
	}
	return ""
}

// blocked is the name of the run that goes on after a gap, empty if none does.
func (m *Model) blocked(gap int) string {
	if s := m.BlockedSpan(gap); s != nil {
		return m.SpanName(s)
	}
	return ""
}

// GapSentence says who waits, for what, and what held that back.
func (m *Model) GapSentence(i int) string {
	g := &m.Trace.Gaps[i]
	cause := m.Span(g.Cause)
	during := ""
	if cause != nil {
		during = " (" + [...]string{"compute", "device to host", "host to device", "network", "CPU"}[cause.Lane] + ", " + format.Span(cause.Start, cause.End) + ")"
	}
	who := m.blocked(i)
	if who == "" {
		who = "The step"
	}
	d, value := format.Duration(g.End-g.Start), m.ValueName(g.Value)
	str := who + " waits " + d
	switch other := queued(cause); {
	case other && g.Reason == sim.Drain:
		str = "All computations are over; for " + d + " other lanes are at work, the last on " + m.SpanName(cause) + during
	case other:
		if g.Reason == sim.NeedsRoom {
			str += " for memory"
		}
		str += " until " + m.event(cause) + during
	case g.Reason == sim.NeedsData:
		str += " for " + value + ", which is still being fetched" + during
	case g.Reason == sim.CopyOut:
		str += " until " + value + " has been copied to the host" + during
	case g.Reason == sim.NeedsRoom:
		str += " for memory"
		if g.Need > 0 {
			str += ": " + format.BytesUp(g.Need) + " more is needed"
		}
		if cause != nil {
			str += ", which comes free as " + m.SpanName(cause) + " is copied to the host" + during
		}
	case g.Reason == sim.Drain:
		str = "All computations are over; for " + d + " transfers are still under way"
		if cause != nil {
			str += ", the last is the " + kindWords[cause.Kind] + " of " + m.SpanName(cause) + during
		}
	}
	str += "."
	if cause == nil || cause.Lane == sim.Compute {
		return str
	}
	if w := m.heldBack(cause); w != "" {
		noun := "The fetch "
		if cause.Kind == sim.SpanOffload {
			noun = "The copy "
		} else if queued(cause) {
			noun = "It "
		}
		if cause.Why == sim.Window {
			w = "was " + w
		}
		str += " " + noun + w + "."
	}
	return str
}

func (m *Model) stageSentence(k int) string {
	d := m.Decision(k)
	str := m.StageName(k)
	if k <= m.Count {
		str += fmt.Sprintf(", layer %d of %d", k, m.Count)
	} else if str != "loss" {
		str += ", the loss"
	}
	if m.Sizes[k-1] > 0 || d != sim.Keep {
		str += fmt.Sprintf(": %s are %s", format.Bytes(m.Sizes[k-1]), DecisionName(d))
	} else {
		str += ": saves nothing"
	}
	var spent [lookup.NumKinds]time.Duration
	for _, id := range m.ByStage[k-1] {
		s := &m.Trace.Spans[id]
		spent[s.Kind] += s.End - s.Start
	}
	sep := "; "
	for kind, word := range kindWords {
		if spent[kind] > 0 {
			str += sep + word + " " + format.Duration(spent[kind])
			sep = ", "
		}
	}
	return str + "."
}

func (m *Model) bandSentence(c sim.Category) string {
	var most engine.Bytes
	var at time.Duration
	for i := range m.Memory.Samples {
		if s := &m.Memory.Samples[i]; s.Used[c] > most {
			most, at = s.Used[c], s.At
		}
	}
	name := c.String()
	return fmt.Sprintf("%s%s: at most %s, at %s.", string(name[0]-'a'+'A'), name[1:], format.Bytes(most), format.Moment(at, m.Trace.Makespan))
}

// Summary says in two sentences what the trace comes to; budget 0 is the problem's.
func (m *Model) Summary(budget engine.Bytes) string {
	if budget == 0 {
		budget = m.Problem.Budget
	}
	of := ""
	if budget != engine.NoLimit {
		of = " of " + format.Bytes(budget)
	}
	t := m.Trace
	return fmt.Sprintf("Peak %s%s. Step time %s: %s compute, %s recompute, %s waiting.", format.Bytes(t.Peak), of,
		format.Duration(t.Makespan), format.Duration(t.ComputeTime), format.Duration(t.RecomputeTime), format.Duration(t.WaitingTotal()))
}

// Tally counts the layers, a loss at the end not included, and by decision what
// becomes of them.
func (m *Model) Tally() (layers int, by [8]int) {
	for k := range m.Count {
		by[m.Decision(k+1)&7]++
	}
	return m.Count, by
}

// StripDesc describes the strip of layers.
func (m *Model) StripDesc() string {
	_, n := m.Tally()
	return fmt.Sprintf("%d layers: %d kept, %d recomputed, %d offloaded, %d recomputed and offloaded.", m.Count,
		n[sim.Keep], n[sim.Recompute], n[sim.Offload], n[sim.Recompute|sim.Offload])
}

// TimelineDesc describes the timeline.
func (m *Model) TimelineDesc() string {
	return fmt.Sprintf("Three lanes: compute, copies to the host, copies to the device. %d runs and copies, %d waits of %s together.",
		len(m.Trace.Spans), len(m.Trace.Gaps), format.Duration(m.Trace.WaitingTotal()))
}

// MemoryDesc describes the memory; the budget may be engine.NoLimit.
func (m *Model) MemoryDesc(budget engine.Bytes) string {
	str := "Stacked areas by category. Peak " + format.Bytes(m.Trace.Peak) + " at " + format.Moment(m.Trace.PeakAt, m.Trace.Makespan)
	if budget != engine.NoLimit {
		str += "; budget " + format.Bytes(budget)
	}
	return str + "."
}

// busyLane is what a span keeps busy, beside the device.
func busyLane(s *sim.Span) string {
	return [...]string{"", "the link", "the link", "the network", "the host"}[s.Lane]
}

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

// WaitWords say of a wait what stands beside it in the picture.
func (m *Model) WaitWords(gap int) string {
	g := &m.Trace.Gaps[gap]
	str := "waits " + format.Duration(g.End-g.Start)
	k := m.Lit(lookup.Target{Kind: lookup.OnGap, Index: gap})
	if k == 0 {
		return str
	}
	switch name := m.StageName(k); g.Reason {
	case sim.NeedsRoom:
		return str + " for " + name + " to leave"
	case sim.NeedsData:
		return str + " for " + name + " to arrive"
	case sim.CopyOut:
		return str + " for " + name + " to be copied"
	}
	return str
}
