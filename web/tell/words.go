package tell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/format"
	"memtide/web/lookup"
)

var kindWords = [...]string{
	sim.SpanForward:   "forward",
	sim.SpanRecompute: "recompute",
	sim.SpanBackward:  "backward",
	sim.SpanOffload:   "copy to the host",
	sim.SpanFetch:     "copy to the device",
	sim.SpanNetwork:   "on the network",
	sim.SpanCPU:       "on the host",
}

// what returns the full name of a span: "Backward of layer2.3".
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

func (m *Index) stageSentence(k int) string {
	d := m.Deed(k)
	str := m.StageName(k)
	if blocks := m.blocks(); slices.Contains(blocks, k) {
		str += fmt.Sprintf(", block %d of %d", slices.Index(blocks, k)+1, len(blocks))
	} else if k > m.Count && str != "loss" {
		str += ", the loss"
	}
	if d != m.Decision(k) { // of a policy, which keeps as many bytes and does the rest
		str += fmt.Sprintf(": %s are kept, the rest is %s", format.Bytes(m.Sizes[k-1]), DecisionName(d))
	} else if m.Sizes[k-1] > 0 || d != sim.Keep {
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

// categoryWords are the contents of the bands of the memory picture.
var categoryWords = [sim.NumCategories]string{sim.Fixed: "always there", sim.Gradient: "gradients of activations",
	sim.Activation: "kept",
	sim.Recomputed: "computed again", sim.InTransfer: "leaving or arriving", sim.Workspace: "scratch"}

// Scratch returns the name of what operations use while they run. In a step whose gradients of weights appear one
// after another, these are part of it, and are named if they are most of it.
func (m *Index) Scratch() string {
	if m.Problem.Chain == nil {
		return categoryWords[sim.Workspace]
	}
	c, most := m.Problem.Chain.Chain, engine.Bytes(0)
	for i := range c.Stages {
		most = max(most, c.Stages[i].BwdTemp)
	}
	if 2*(c.States()-c.Resident.Total()) > most {
		return "gradients of weights, scratch"
	}
	return categoryWords[sim.Workspace]
}

func (m *Index) bandSentence(c sim.Category) string {
	var most engine.Bytes
	var at time.Duration
	for i := range m.Memory.Samples {
		if s := &m.Memory.Samples[i]; s.Used[c] > most {
			most, at = s.Used[c], s.At
		}
	}
	words := categoryWords[c]
	if c == sim.Workspace {
		words = m.Scratch()
	}
	return fmt.Sprintf("%s: at most %s, at %s.", capital(words), format.Bytes(most),
		format.Moment(at, m.Trace.Makespan))
}

// Summary returns the peak and the step time of the trace in two sentences. A budget of 0 means the problem's.
func (m *Index) Summary(budget engine.Bytes) string {
	budget = cmp.Or(budget, m.Problem.Budget)
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

// blocks returns the stages that are blocks by their names, in order. If there are none, every stage
// but a loss at the end is a block.
func (m *Index) blocks() (out []int) {
	unnamed := !slices.ContainsFunc(m.Names, named)
	for k := 1; k <= m.Count; k++ {
		if unnamed || named(m.StageName(k)) {
			out = append(out, k)
		}
	}
	return out
}

// CountBlocks returns the number of the blocks of a chain, or all if no stage has the name of a block.
func CountBlocks(c *engine.Chain, all int) (n int) {
	for i := range c.Stages {
		if named(c.Stages[i].Name) {
			n++
		}
	}
	return cmp.Or(n, all)
}

// named reports whether a stage has the name of a block: "block 3", "block3".
func named(stage string) bool {
	number, ok := strings.CutPrefix(stage, "block")
	number = strings.TrimPrefix(number, " ")
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

// Tally returns the number of blocks, and their numbers by decision.
func (m *Index) Tally() (blocks int, by [8]int) {
	all := m.blocks()
	for _, k := range all {
		by[m.Deed(k)&7]++
	}
	return len(all), by
}

// StripDesc describes the strip of blocks.
func (m *Index) StripDesc() string {
	blocks, n := m.Tally()
	return fmt.Sprintf("%d blocks: %d kept, %d computed again, %d moved, %d computed again and moved.", blocks,
		n[sim.Keep], n[sim.Recompute], n[sim.Offload], n[sim.Recompute|sim.Offload])
}

// TimelineDesc describes the timeline, with the lanes on which anything runs.
func (m *Index) TimelineDesc() string {
	lanes := "Lanes: compute"
	for l, words := range [sim.NumLanes]string{sim.ToHost: "copies to the host", sim.ToDev: "copies to the device",
		sim.Network: "the network", sim.CPU: "the host's CPU"} {
		if words != "" && m.Busy(sim.Lane(l)) {
			lanes += ", " + words
		}
	}
	return fmt.Sprintf("%s. %d runs and copies, %d waits of %s together.", lanes, len(m.Trace.Spans), len(m.Trace.Gaps), format.Duration(m.Trace.WaitingTotal()))
}

// MemoryDesc describes the memory picture; the budget may be engine.NoLimit.
func (m *Index) MemoryDesc(budget engine.Bytes) string {
	str := "Stacked areas by category. Peak " + format.Bytes(m.Trace.Peak) + " at " + format.Moment(m.Trace.PeakAt,
		m.Trace.Makespan)
	if budget != engine.NoLimit {
		str += "; the plan may use " + format.Bytes(budget)
	}
	return str + "."
}

// ChainSentence returns the times of the parts of the critical chain.
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

// WaitWords returns the label of a wait in the timeline.
func (m *Index) WaitWords(gap int) string {
	g := &m.Trace.Gaps[gap]
	return "waits " + format.Duration(g.End-g.Start) + m.waitsFor(gap)
}

// queued reports whether a span is an operation of another lane: of the network or the host.
func queued(s *sim.Span) bool { return s != nil && s.Lane >= sim.Network }

// waitsFor returns what a wait is for, to follow its duration. It is empty if that is no layer.
func (m *Index) waitsFor(gap int) string {
	g := &m.Trace.Gaps[gap]
	if c := m.Span(g.Cause); queued(c) {
		return " for " + m.Called(c) + " to end"
	}
	k := m.Lit(lookup.Target{Kind: lookup.OnGap, Index: gap})
	if k == 0 {
		return ""
	}
	switch name := m.StageName(k); g.Reason {
	case sim.NeedsRoom:
		return " for " + name + " to leave"
	case sim.NeedsData:
		return " for " + name + " to arrive"
	case sim.CopyOut:
		return " for " + name + " to be copied"
	}
	return ""
}

// capital returns a text with its first letter in upper case if it begins with two lower-case letters.
func capital(str string) string {
	if len(str) > 1 && str[0] >= 'a' && str[0] <= 'z' && str[1] >= 'a' && str[1] <= 'z' {
		return string(str[0]-'a'+'A') + str[1:]
	}
	return str
}

// asideWords say where what runs beside a run is.
var asideWords = [sim.NumLanes]string{sim.ToHost: "of copies to the host", sim.ToDev: "of copies to the device",
	sim.Network: "on the network", sim.CPU: "of the host’s CPU"}
