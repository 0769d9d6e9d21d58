// Package tell describes a trace in words: what a target is and why it waits, the rows of the tables, the life of a
// value, the summary of the step. It does not draw; sentences have the display.Role of what they are about.
package tell

import (
	"sort"
	"strings"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/lookup"
)

// Sentence returns what a target is, when, and why it waited, for tooltips, the selection and
// screen readers. It is empty for Nothing.
func (m *Index) Sentence(t lookup.Target) string {
	if !m.Valid(t) {
		return ""
	}
	switch t.Kind {
	case lookup.OnSpan:
		return Sentences(m.Explain(t))
	case lookup.OnGap:
		return m.Question(t) + ": " + Sentences(m.Explain(t))
	case lookup.OnStage:
		return m.stageSentence(t.Index)
	case lookup.OnBand:
		return m.bandSentence(sim.Category(t.Index))
	case lookup.OnValue:
		return m.LifeWords(engine.ValueID(t.Index))
	case lookup.OnPlayhead:
		return "Drag to move through the step."
	}
	return "The plan may use " + format.Bytes(m.Problem.Budget) + "."
}

// Question returns the question that Explain answers, in a few words. For Nothing it is about the peak.
func (m *Index) Question(t lookup.Target) string {
	if !m.Valid(t) {
		t = lookup.Target{}
	}
	switch t.Kind {
	case lookup.OnGap:
		g := &m.Trace.Gaps[t.Index]
		return "Why it waits " + format.Duration(g.End-g.Start)
	case lookup.OnSpan:
		s := &m.Trace.Spans[t.Index]
		return capital(m.Called(s)) + ", " + kindWords[s.Kind]
	case lookup.OnStage:
		return capital(m.StageName(t.Index))
	case lookup.OnValue:
		return "The life of " + m.ValueName(engine.ValueID(t.Index))
	}
	return "Why the peak is here"
}

// Explain returns the answer to Question in at most three sentences. For a wait they say what
// waits for what, what ends the wait, and why not earlier.
func (m *Index) Explain(t lookup.Target) []Said {
	if !m.Valid(t) {
		return m.explainPeak()
	}
	switch t.Kind {
	case lookup.OnGap:
		return m.explainGap(t.Index)
	case lookup.OnSpan:
		s := &m.Trace.Spans[t.Index]
		after := ", " + format.Span(s.Start, s.End) + "."
		if s.OutputOnly {
			after = strings.TrimSuffix(after, ".") + ", keeps only its output."
		}
		return append(append([]Said{{kindRoles[s.Kind], "", capital(m.what(s)), after}}, m.own(s)...), m.waited(s)...)
	case lookup.OnStage:
		return []Said{{DecisionRole(m.Decision(t.Index)), m.stageSentence(t.Index), "", ""}}
	case lookup.OnValue:
		return m.explainValue(engine.ValueID(t.Index))
	}
	return m.explainPeak()
}

// own returns for how much of a run its stage computes results of its own again, what runs beside it in other lanes,
// and how long it waits for them.
func (m *Index) own(s *sim.Span) (out []Said) {
	again, beside := m.Own(s)
	if again > 0 {
		out = append(out, Said{kindRoles[sim.SpanRecompute],
			format.Duration(again) + " of it are for results that are computed again.", "", ""})
	}
	var lanes []string
	for _, l := range [...]sim.Lane{sim.ToHost, sim.CPU, sim.ToDev, sim.Network} {
		if _, took := lookup.AsideIn(beside, l); took > 0 {
			lanes = append(lanes, format.Duration(took)+" "+asideWords[l])
		}
	}
	if lanes != nil {
		out = append(out, Said{kindRoles[sim.SpanOffload], "Beside it: " + strings.Join(lanes, ", ") + ".", "", ""})
	}
	if beside.Stall > 0 {
		out = append(out, Said{display.Waiting, format.Duration(beside.Stall) + " of it are a wait for other lanes.",
			"", ""})
	}
	return out
}

// waited returns for how long and for what a run waited, or why a copy did not happen earlier.
// It returns nothing for a span that did not wait.
func (m *Index) waited(s *sim.Span) []Said {
	if s.Lane != sim.Compute {
		return m.notEarlier(s)
	}
	gaps := m.Trace.Gaps
	last := sort.Search(len(gaps), func(i int) bool { return gaps[i].End >= s.Start })
	if last == len(gaps) || gaps[last].End != s.Start {
		return nil
	}
	first := last
	for first > 0 && gaps[first-1].End == gaps[first].Start {
		first--
	}
	role := display.Waiting
	if c := m.Span(s.Cause); c != nil {
		role = kindRoles[c.Kind]
	}
	d := format.Duration(s.Start - gaps[first].Start)
	return []Said{{role, "It waited " + d + m.waitsFor(last), "", "."}}
}

// explainGap explains wait i.
func (m *Index) explainGap(i int) []Said {
	g := &m.Trace.Gaps[i]
	cause, moment := m.Span(g.Cause), func(at time.Duration) string { return format.Moment(at, m.Trace.Makespan) }
	if g.Reason == sim.Drain {
		last := "copy"
		if queued(cause) {
			last = "operation"
		}
		out := []Said{{display.Waiting, "All computations are over at ", "",
			moment(g.Start) + "; the step ends when the last " + last + " has."}}
		if cause != nil {
			out = append(out, Said{kindRoles[cause.Kind], "That is ", m.Called(cause),
				", " + kindWords[cause.Kind] + ", until " + moment(cause.End) + "."})
		}
		return append(out, m.notEarlier(cause)...)
	}
	who, role := "The step", display.Waiting
	if s := m.BlockedSpan(i); s != nil {
		who, role = capital(m.Called(s)), kindRoles[s.Kind]
	}
	ready := Said{role, "", who, " is ready at " + moment(g.Start)}
	var freed []Said
	free := func(before, name, after string) {
		freed = []Said{{kindRoles[cause.Kind], before, name, after + " at " + moment(cause.End) + "."}}
	}
	switch g.Reason {
	case sim.NeedsRoom:
		ready.After += ", but memory is full."
		if g.Need > 0 {
			ready.After = strings.TrimSuffix(ready.After, "memory is full.") + format.BytesUp(g.Need) + " is missing."
		}
		if cause != nil && cause.Lane == sim.ToHost {
			free("Room comes free when ", m.Called(cause), " has left for the host,")
		} else if cause != nil {
			free("Room comes free when ", m.SpanName(cause), " ends,")
		}
	case sim.NeedsData:
		if queued(cause) {
			ready.After += ", but what it needs is not."
			free("", capital(m.SpanName(cause)), " ends")
			break
		}
		ready.After += ", but what it reads is still on the host."
		if cause != nil {
			free("", capital(m.Called(cause)), " is back on the device")
		}
	case sim.CopyOut:
		ready.After += ", but what it replaces is still being copied."
		if cause != nil {
			free("", capital(m.Called(cause)), " has left for the host")
		}
	}
	return append(append([]Said{ready}, freed...), m.notEarlier(cause)...)
}

// busyLanes are what a span on each lane but compute keeps busy.
var busyLanes = [sim.NumLanes]string{sim.ToHost: "the link", sim.ToDev: "the link", sim.Network: "the network",
	sim.CPU: "the host"}

// notEarlier returns why a copy did not happen earlier, or nothing if no cause held it back.
func (m *Index) notEarlier(s *sim.Span) []Said {
	if s == nil || s.Lane == sim.Compute {
		return nil
	}
	verb := "come back"
	if s.Lane == sim.ToHost {
		verb = "leave"
	} else if queued(s) {
		verb = "start"
	}
	out := Said{Role: display.Transfer, Before: "It could not " + verb + " earlier: "}
	cause := m.Span(s.Cause)
	if cause != nil {
		out.Role = kindRoles[cause.Kind]
	}
	switch {
	case s.Why == sim.Window:
		out.Before += "the schedule held it back"
	case s.Why == sim.CopyOut:
		out.Before += "it had to be copied to the host first"
	case cause == nil:
		return nil
	case s.Why == sim.NeedsRoom:
		out.Before, out.Name, out.After = out.Before+"memory was full until ", m.Called(cause), " "+endWords[cause.Kind]
	case s.Why == sim.NeedsData:
		out.Before, out.Name = out.Before+"it needs what the "+kindWords[cause.Kind]+" of ", m.Called(cause)
		out.After = " makes, until " + format.Moment(cause.End, m.Trace.Makespan)
	case s.Why == sim.Dependency && cause.Lane != sim.Compute:
		out.Before, out.Name = out.Before+busyLanes[cause.Lane]+" was busy with ", m.Called(cause)
		out.After = " until " + format.Moment(cause.End, m.Trace.Makespan)
	case s.Why == sim.Dependency:
		out.Before, out.Name, out.After = "It started when ", m.Called(cause), " "+endWords[cause.Kind]
	default:
		return nil
	}
	out.After += "."
	return []Said{out}
}

// endWords are the predicates of sentences that a span ended, by its kind.
var endWords = [...]string{
	sim.SpanForward: "had run forward", sim.SpanRecompute: "was computed again", sim.SpanBackward: "had run backward",
	sim.SpanOffload: "was copied to the host", sim.SpanFetch: "was copied to the device",
	sim.SpanNetwork: "had ended", sim.SpanCPU: "had ended",
}

// explainPeak says when the peak is, and during which run.
func (m *Index) explainPeak() []Said {
	t := m.Trace
	if t.Peak <= 0 {
		return nil
	}
	when, size := "The most memory is in use at "+format.Moment(t.PeakAt, t.Makespan), ": "+format.Bytes(t.Peak)+"."
	ln := &m.Lanes[sim.Compute]
	if i := ln.At(int64(t.PeakAt)); i >= 0 && ln.Ref[i] >= 0 {
		s := &t.Spans[ln.Ref[i]]
		return []Said{{kindRoles[s.Kind], when + ", in the " + kindWords[s.Kind] + " of ", m.Called(s), size}}
	}
	return []Said{{Role: display.Fixed, Before: when + size}}
}
