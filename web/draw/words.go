package draw

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/format"
)

// Sentence says what a target is, when, and why it waited: for tooltips, for
// the selection and for screen readers. It is empty for Nothing.
func (m *tellModel) Sentence(t Target) string {
	if !m.valid(t) {
		return ""
	}
	switch t.Kind {
	case OnSpan:
		return m.spanSentence(sim.SpanID(t.Index))
	case OnGap:
		return m.gapSentence(t.Index)
	case OnStage:
		return m.stageSentence(t.Index)
	case OnBand:
		return m.bandSentence(sim.Category(t.Index))
	case OnValue:
		return m.lifeWords(engine.ValueID(t.Index))
	}
	if t.Kind == OnPlayhead {
		return "Drag to move through the step."
	}
	return "Budget " + format.Bytes(m.problem.Budget) + "."
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
func (m *tellModel) what(s *sim.Span) string {
	str := m.spanName(s) + ", " + kindWords[s.Kind]
	if k := m.stageOf(s); k > 0 && m.StageName(k) != m.spanName(s) {
		str += " of " + m.StageName(k)
	}
	if v := m.value(s.Value); v != nil {
		str += ", " + format.Bytes(v.Size)
	}
	return str
}

func (m *tellModel) spanSentence(id sim.SpanID) string {
	s := &m.trace.Spans[id]
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
func (m *tellModel) waited(s *sim.Span) string {
	if s.Lane != sim.Compute {
		return m.heldBack(s)
	}
	first, last := m.gapsBefore(s.Start)
	if first > last {
		return ""
	}
	g := &m.trace.Gaps[last]
	d := format.Duration(g.End - m.trace.Gaps[first].Start)
	if c := m.span(g.Cause); queued(c) && g.Reason != sim.NeedsRoom {
		return "waited " + d + " until " + m.event(c)
	}
	switch g.Reason {
	case sim.NeedsData:
		return "waited " + d + " for " + m.valueName(g.Value) + ": its copy to the device was still under way"
	case sim.CopyOut:
		return "waited " + d + " for the copy of " + m.valueName(g.Value) + " to the host to end"
	case sim.NeedsRoom:
		str := "waited " + d + " for memory"
		if c := m.span(g.Cause); c != nil {
			str += ": it was full until " + m.event(c)
		}
		return str
	}
	return "waited " + d
}

// gapsBefore are the gaps [first, last] that end, one after the other, at a
// moment; first > last if there are none.
func (m *tellModel) gapsBefore(at time.Duration) (first, last int) {
	t := m.NextGap(at, -1)
	last = t.Index
	if t.Kind != OnGap || m.trace.Gaps[last].End != at {
		return 0, -1
	}
	for first = last; first > 0 && m.trace.Gaps[first-1].End == m.trace.Gaps[first].Start; first-- {
	}
	return first, last
}

// event names the end of a span: "B19 ended", "s3 was copied to the host".
func (m *tellModel) event(s *sim.Span) string {
	switch s.Kind {
	case sim.SpanOffload:
		return m.spanName(s) + " was copied to the host"
	case sim.SpanFetch:
		return m.spanName(s) + " was copied to the device"
	}
	return m.spanName(s) + " ended"
}

// queued says whether a span is an operation of another lane: of the network or the host.
func queued(s *sim.Span) bool { return s != nil && s.Lane >= sim.Network }

// heldBack says what held a transfer back, in words that continue "the fetch".
func (m *tellModel) heldBack(s *sim.Span) string {
	cause := m.span(s.Cause)
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
		return "could not start earlier: it needs what " + m.spanName(cause) + " makes"
	case s.Why == sim.Dependency && queued(cause):
		return "could not start earlier: " + busyLane(cause) + " was busy with " + m.spanName(cause)
	case s.Why == sim.Dependency && cause.Lane != sim.Compute:
		return "could not start earlier: the link to the host was busy with " + m.spanName(cause)
	case s.Why == sim.Dependency:
		return "started when " + m.event(cause)
	}
	return ""
}

// blocked is the name of the run that goes on after a gap, empty if none does.
func (m *tellModel) blocked(gap int) string {
	if s := m.blockedSpan(gap); s != nil {
		return m.spanName(s)
	}
	return ""
}

func (m *tellModel) gapSentence(i int) string {
	g := &m.trace.Gaps[i]
	cause := m.span(g.Cause)
	during := ""
	if cause != nil {
		during = " (" + [...]string{"compute", "device to host", "host to device", "network", "CPU"}[cause.Lane] + ", " + format.Span(cause.Start, cause.End) + ")"
	}
	who := m.blocked(i)
	if who == "" {
		who = "The step"
	}
	d, value := format.Duration(g.End-g.Start), m.valueName(g.Value)
	str := who + " waits " + d
	switch other := queued(cause); {
	case other && g.Reason == sim.Drain:
		str = "All computations are over; for " + d + " other lanes are at work, the last on " + m.spanName(cause) + during
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
			str += ", which comes free as " + m.spanName(cause) + " is copied to the host" + during
		}
	case g.Reason == sim.Drain:
		str = "All computations are over; for " + d + " transfers are still under way"
		if cause != nil {
			str += ", the last is the " + kindWords[cause.Kind] + " of " + m.spanName(cause) + during
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

func (m *tellModel) stageSentence(k int) string {
	d := m.Decision(k)
	str := m.StageName(k)
	if k <= m.count {
		str += fmt.Sprintf(", layer %d of %d", k, m.count)
	} else if str != "loss" {
		str += ", the loss"
	}
	if m.sizes[k-1] > 0 || d != sim.Keep {
		str += fmt.Sprintf(": %s are %s", format.Bytes(m.sizes[k-1]), DecisionName(d))
	} else {
		str += ": saves nothing"
	}
	var spent [numKinds]time.Duration
	for _, id := range m.byStage[k-1] {
		s := &m.trace.Spans[id]
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

func (m *tellModel) bandSentence(c sim.Category) string {
	var most engine.Bytes
	var at time.Duration
	for i := range m.memory.samples {
		if s := &m.memory.samples[i]; s.Used[c] > most {
			most, at = s.Used[c], s.At
		}
	}
	name := c.String()
	return fmt.Sprintf("%s%s: at most %s, at %s.", string(name[0]-'a'+'A'), name[1:], format.Bytes(most), format.Moment(at, m.trace.Makespan))
}

// Summary says in two sentences what the trace comes to; budget 0 is the problem's.
func (m *tellModel) Summary(budget engine.Bytes) string {
	if budget == 0 {
		budget = m.problem.Budget
	}
	of := ""
	if budget != engine.NoLimit {
		of = " of " + format.Bytes(budget)
	}
	t := m.trace
	return fmt.Sprintf("Peak %s%s. Step time %s: %s compute, %s recompute, %s waiting.", format.Bytes(t.Peak), of,
		format.Duration(t.Makespan), format.Duration(t.ComputeTime), format.Duration(t.RecomputeTime), format.Duration(t.WaitingTotal()))
}

// Tally counts the layers, a loss at the end not included, and by decision what
// becomes of them.
func (m *tellModel) Tally() (layers int, by [8]int) {
	for k := range m.count {
		by[m.Decision(k+1)&7]++
	}
	return m.count, by
}

func (m *tellModel) stripDesc() string {
	_, n := m.Tally()
	return fmt.Sprintf("%d layers: %d kept, %d recomputed, %d offloaded, %d recomputed and offloaded.", m.count,
		n[sim.Keep], n[sim.Recompute], n[sim.Offload], n[sim.Recompute|sim.Offload])
}

func (m *tellModel) timelineDesc() string {
	return fmt.Sprintf("Three lanes: compute, copies to the host, copies to the device. %d runs and copies, %d waits of %s together.",
		len(m.trace.Spans), len(m.trace.Gaps), format.Duration(m.trace.WaitingTotal()))
}

func (m *tellModel) memoryDesc(budget engine.Bytes) string {
	str := "Stacked areas by category. Peak " + format.Bytes(m.trace.Peak) + " at " + format.Moment(m.trace.PeakAt, m.trace.Makespan)
	if budget != engine.NoLimit {
		str += "; budget " + format.Bytes(budget)
	}
	return str + "."
}
