package tell

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/format"
	"memtide/web/lookup"
)

// Sentence says what a target is, when, and why it waited: for tooltips, for
// the selection and for screen readers. It is empty for Nothing.
func (m *Index) Sentence(t lookup.Target) string {
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
	return "The plan may use " + format.Bytes(m.Problem.Budget) + "."
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

// what names a span in full: "Backward of layer2.3".
func (m *Index) what(s *sim.Span) string {
	str := m.SpanName(s) + ", " + kindWords[s.Kind]
	switch k := m.StageOfSpan(s); {
	case k > 0 && !m.IsGraph():
		str = capital(kindWords[s.Kind]) + " of " + m.StageName(k)
	case k > 0 && m.StageName(k) != m.SpanName(s):
		str += " of " + m.StageName(k)
	}
	if v := m.Value(s.Value); v != nil {
		str += ", " + format.Bytes(v.Size)
	}
	return str
}

func (m *Index) spanSentence(id sim.SpanID) string {
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
func (m *Index) waited(s *sim.Span) string {
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
		return "waited " + d + " for " + m.nounOf(g.Value) + ": its copy to the device was still under way"
	case sim.CopyOut:
		return "waited " + d + " for the copy of " + m.nounOf(g.Value) + " to the host to end"
	case sim.NeedsRoom:
		str := "waited " + d + " for memory"
		if c := m.Span(g.Cause); c != nil {
			str += ": it was full until " + m.event(c)
		}
		return str
	}
	return "waited " + d
}

// gapsBefore returns the gaps [first, last] that end, one after the other, at a
// moment; first > last if there are none.
func (m *Index) gapsBefore(at time.Duration) (first, last int) {
	t := m.NextGap(at, -1)
	last = t.Index
	if t.Kind != lookup.OnGap || m.Trace.Gaps[last].End != at {
		return 0, -1
	}
	for first = last; first > 0 && m.Trace.Gaps[first-1].End == m.Trace.Gaps[first].Start; first-- {
	}
	return first, last
}

// noun names what a span runs or moves within a sentence: of a chain by its block, "the
// backward of layer2.3", "what layer2.3 saves"; of a graph by the operation or the value.
func (m *Index) noun(s *sim.Span) string {
	k := m.StageOfSpan(s)
	switch {
	case m.IsGraph() || k == 0:
		return m.SpanName(s)
	case s.Lane == sim.Compute:
		return "the " + kindWords[s.Kind] + " of " + m.StageName(k)
	}
	return "what " + m.StageName(k) + " saves"
}

// nounOf names a value as noun does one that is moved.
func (m *Index) nounOf(v engine.ValueID) string {
	return m.noun(&sim.Span{Op: engine.NoOp, Value: v, Lane: sim.ToDev})
}

// event names the end of a span: "the backward of layer2.3 ended", "what layer2.3 saves was
// copied to the host".
func (m *Index) event(s *sim.Span) string {
	switch s.Kind {
	case sim.SpanOffload:
		return m.noun(s) + " was copied to the host"
	case sim.SpanFetch:
		return m.noun(s) + " was copied to the device"
	}
	return m.noun(s) + " ended"
}

// queued reports whether a span is an operation of another lane: of the network or the host.
func queued(s *sim.Span) bool { return s != nil && s.Lane >= sim.Network }

// heldBack says what held a transfer back, in words that continue "the fetch".
func (m *Index) heldBack(s *sim.Span) string {
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
		return "could not start earlier: it needs what " + m.noun(cause) + " makes"
	case s.Why == sim.Dependency && queued(cause):
		return "could not start earlier: " + busyLane(cause) + " was busy with " + m.noun(cause)
	case s.Why == sim.Dependency && cause.Lane != sim.Compute:
		return "could not start earlier: the link to the host was busy with " + m.noun(cause)
	case s.Why == sim.Dependency:
		return "started when " + m.event(cause)
	}
	return ""
}

// blocked returns the name of the run that goes on after a gap, empty if none does.
func (m *Index) blocked(gap int) string {
	if s := m.BlockedSpan(gap); s != nil {
		return m.noun(s)
	}
	return ""
}

// GapSentence says who waits, for what, and what held that back.
func (m *Index) GapSentence(i int) string {
	g := &m.Trace.Gaps[i]
	cause := m.Span(g.Cause)
	during := ""
	if cause != nil {
		during = " (" + [...]string{"compute", "device to host", "host to device", "network", "CPU"}[cause.Lane] +
			", " + format.Span(cause.Start, cause.End) + ")"
	}
	who := m.blocked(i)
	switch {
	case who == "":
		who = "The step"
	case !m.IsGraph():
		who = capital(who)
	}
	d, value := format.Duration(g.End-g.Start), m.nounOf(g.Value)
	str := who + " waits " + d
	switch other := queued(cause); {
	case other && g.Reason == sim.Drain:
		str = "All computations are over; for " + d + " other lanes are at work, the last on " + m.noun(cause) + during
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
			str += ", which comes free as " + m.noun(cause) + " is copied to the host" + during
		}
	case g.Reason == sim.Drain:
		str = "All computations are over; for " + d + " transfers are still under way"
		if cause != nil {
			str += ", the last is the " + kindWords[cause.Kind] + " of " + m.Called(cause) + during
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

func (m *Index) stageSentence(k int) string {
	d := m.Decision(k)
	str := m.StageName(k)
	if blocks := m.blocks(); slices.Contains(blocks, k) {
		str += fmt.Sprintf(", block %d of %d", slices.Index(blocks, k)+1, len(blocks))
	} else if k > m.Count && str != "loss" {
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

// categoryWords are what the bands of the memory picture hold.
var categoryWords = [sim.NumCategories]string{sim.Fixed: "always there", sim.Gradient: "gradients of activations",
	sim.Activation: "kept",
	sim.Recomputed: "computed again", sim.InTransfer: "leaving or arriving", sim.Workspace: "scratch"}

func (m *Index) bandSentence(c sim.Category) string {
	var most engine.Bytes
	var at time.Duration
	for i := range m.Memory.Samples {
		if s := &m.Memory.Samples[i]; s.Used[c] > most {
			most, at = s.Used[c], s.At
		}
	}
	return fmt.Sprintf("%s: at most %s, at %s.", capital(categoryWords[c]), format.Bytes(most),
		format.Moment(at, m.Trace.Makespan))
}

// Summary says in two sentences what the trace comes to; budget 0 is the problem's.
func (m *Index) Summary(budget engine.Bytes) string {
	if budget == 0 {
		budget = m.Problem.Budget
	}
	of := ""
	if budget != engine.NoLimit {
		of = " of " + format.Bytes(budget)
	}
	t := m.Trace
	return fmt.Sprintf("Peak %s%s. Step time %s: %s compute, %s recompute, %s waiting.", format.Bytes(t.Peak), of,
		format.Duration(t.Makespan), format.Duration(t.ComputeTime), format.Duration(t.RecomputeTime),
		format.Duration(t.WaitingTotal()))
}

// IsBlock reports whether stage k is one of the repeated parts of a network.
func (m *Index) IsBlock(k int) bool { return slices.Contains(m.blocks(), k) }

// blocks returns the stages that are blocks, in their order; where the network names
// none, every stage but a loss at the end is a block.
func (m *Index) blocks() (out []int) {
	unnamed := !slices.ContainsFunc(m.Names, named)
	for k := 1; k <= m.Count; k++ {
		if unnamed || named(m.StageName(k)) {
			out = append(out, k)
		}
	}
	return out
}

// named reports whether the name of a stage is that of a block: "block 3", "block3".
func named(stage string) bool {
	number, ok := strings.CutPrefix(stage, "block")
	number = strings.TrimPrefix(number, " ")
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

// Tally counts the blocks, and by decision what becomes of them.
func (m *Index) Tally() (blocks int, by [8]int) {
	all := m.blocks()
	for _, k := range all {
		by[m.Decision(k)&7]++
	}
	return len(all), by
}

// StripDesc describes the strip of blocks.
func (m *Index) StripDesc() string {
	blocks, n := m.Tally()
	return fmt.Sprintf("%d blocks: %d kept, %d computed again, %d moved, %d computed again and moved.", blocks,
		n[sim.Keep], n[sim.Recompute], n[sim.Offload], n[sim.Recompute|sim.Offload])
}

// TimelineDesc describes the timeline.
func (m *Index) TimelineDesc() string {
	return fmt.Sprintf("Three lanes: compute, copies to the host, copies to the device. %d runs and copies, %d waits of %s together.",
		len(m.Trace.Spans), len(m.Trace.Gaps), format.Duration(m.Trace.WaitingTotal()))
}

// MemoryDesc describes the memory; the budget may be engine.NoLimit.
func (m *Index) MemoryDesc(budget engine.Bytes) string {
	str := "Stacked areas by category. Peak " + format.Bytes(m.Trace.Peak) + " at " + format.Moment(m.Trace.PeakAt,
		m.Trace.Makespan)
	if budget != engine.NoLimit {
		str += "; the plan may use " + format.Bytes(budget)
	}
	return str + "."
}

// busyLane returns what a span keeps busy, beside the device.
func busyLane(s *sim.Span) string {
	return [...]string{"", "the link", "the link", "the network", "the host"}[s.Lane]
}

// ChainSentence says what the critical chain consists of.
func (m *Index) ChainSentence() string {
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
func (m *Index) WaitWords(gap int) string {
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

// capital returns a text with a capital letter at its beginning, if it is a word.
func capital(str string) string {
	if len(str) > 1 && str[0] >= 'a' && str[0] <= 'z' && str[1] >= 'a' && str[1] <= 'z' {
		return string(str[0]-'a'+'A') + str[1:]
	}
	return str
}
