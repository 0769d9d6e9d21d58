package check

import (
	"fmt"
	"sort"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// Trace proves that t is a legal and complete execution of s within the budget of p, and that the totals of t are
// true. The package comment says what exactly is proven. Trace returns nil, or a *Refutation that names the first
// difference. It does not change its arguments.
func Trace(p *engine.Problem, s engine.Schedule, t *sim.Trace) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Refutation:
			err = r
		default:
			panic(r)
		}
	}()
	c := &checker{p: p, g: p.Graph, s: s, t: t}
	for _, part := range []func(){
		c.checkProblem, c.checkSpans, c.walk, c.checkComplete, c.checkTimes, c.checkMakespan,
		c.replay, c.checkMemory, c.checkPeak, c.checkHost, c.checkLives,
		c.checkGaps, c.checkCauses, c.checkTotals, c.checkDecisions,
	} {
		part()
	}
	return nil
}

// checker holds the results that the parts of a proof share.
type checker struct {
	p *engine.Problem
	g *engine.Graph
	s engine.Schedule
	t *sim.Trace

	spanOf []sim.SpanID // by step; NoSpan for free and wait
	plan   []stepPlan   // by step
	lists  lists        // the lists that plan refers to
	copies []devCopy
	reach  []time.Duration // when the counter gets to a step; the last element is for the end of the schedule

	instants []instant // of the replay, in the order of time
	levels   []level   // the memory in use, event by event
	waits    []waited  // the times at which a step found no room
}

func (c *checker) streamed() bool { return c.p.Transfers == engine.Streamed }

// refute ends the proof with a refutation. It does not return.
func (c *checker) refute(r Reason, step int, span sim.SpanID, at time.Duration, found, want string) {
	panic(&Refutation{Reason: r, Step: step, Span: span, At: at, Found: found, Want: want})
}

// atTime ends the proof with a refutation that is about no particular step or span.
func (c *checker) atTime(r Reason, at time.Duration, found, want string) {
	c.refute(r, -1, sim.NoSpan, at, found, want)
}

// atStep ends the proof with a refutation about a step, and about its span if it has one.
func (c *checker) atStep(r Reason, step int, at time.Duration, found, want string) {
	span := sim.NoSpan
	if step < len(c.spanOf) {
		span = c.spanOf[step]
	}
	c.refute(r, step, span, at, found, want)
}

func (c *checker) name(step int) string {
	if step >= len(c.s) {
		return "the end of the schedule"
	}
	return c.s[step].Describe(c.g)
}

func (c *checker) span(id sim.SpanID) *sim.Span { return &c.t.Spans[id] }

// at returns the span of a step, which must have one.
func (c *checker) at(step int) *sim.Span { return c.span(c.spanOf[step]) }

func hasSpan(k engine.InstructionKind) bool {
	return k == engine.DoRun || k == engine.DoOffload || k == engine.DoFetch
}

// checkProblem proves that the problem is valid and that all ids in the schedule exist.
func (c *checker) checkProblem() {
	if err := c.p.Validate(); err != nil {
		c.atTime(BadProblem, 0, err.Error(), "a valid problem")
	}
	if d := c.g.Done; d < engine.NoValue || int(d) >= len(c.g.Values) || c.g.Stages < 0 {
		c.atTime(BadProblem, 0,
			fmt.Sprintf("%d stages, complete with value %d", c.g.Stages, d), "stages and a value that exist")
	}
	for i := range c.s {
		st, what := &c.s[i], ""
		switch {
		case st.Kind > engine.DoWait:
			what = fmt.Sprintf("a step of kind %d", st.Kind)
		case st.Kind == engine.DoRun && (st.Op < 0 || int(st.Op) >= len(c.g.Ops)):
			what = fmt.Sprintf("operation %d", st.Op)
		case st.Kind == engine.DoRun && st.OutputOnly && c.g.Ops[st.Op].OutputOnly == nil:
			what = fmt.Sprintf("an output-only run of %s, which cannot run that way", c.g.Ops[st.Op].Name)
		case st.Kind == engine.DoRun && st.Alt && c.g.Ops[st.Op].Alt == nil:
			what = fmt.Sprintf("a run of %s by a second algorithm, which it does not have", c.g.Ops[st.Op].Name)
		case st.Kind != engine.DoRun && (st.Value < 0 || int(st.Value) >= len(c.g.Values)):
			what = fmt.Sprintf("value %d", st.Value)
		}
		if what != "" {
			c.refute(BadProblem, i, sim.NoSpan, 0, what, "a step that exists")
		}
	}
}

// hostUse returns the pinned host memory that the schedule needs over time. A value takes its room on the host when
// its offload starts, or the operation of the host that makes it, and gives the room back when its last fetch ends,
// unless an operation of the host reads it. Values that are on the host when the step begins are not counted.
func (c *checker) hostUse() (points []sim.Point) {
	lastFetch := make([]int, len(c.g.Values)) // step + 1; 0 for a value that is not fetched
	for i := range c.s {
		if st := &c.s[i]; st.Kind == engine.DoFetch {
			lastFetch[st.Value] = i + 1
		}
	}
	for i := range c.g.Ops {
		if op := &c.g.Ops[i]; op.Lane == engine.LaneCPU {
			for _, v := range op.In {
				lastFetch[v] = -1 // an input of the host stays
			}
		}
	}
	held := make([]bool, len(c.g.Values))
	take := func(v engine.ValueID, at time.Duration) {
		if held[v] || c.g.Values[v].Initial&engine.OnHost != 0 {
			return
		}
		held[v] = true
		points = append(points, sim.Point{At: at, Used: c.g.Values[v].Size})
	}
	for i := range c.s {
		switch st := &c.s[i]; {
		case st.Kind == engine.DoOffload:
			take(st.Value, c.at(i).Start)
		case st.Kind == engine.DoFetch && lastFetch[st.Value] == i+1 && held[st.Value]:
			held[st.Value] = false
			points = append(points, sim.Point{At: c.at(i).End, Used: -c.g.Values[st.Value].Size})
		case st.Kind == engine.DoRun && c.g.Ops[st.Op].Lane == engine.LaneCPU:
			for _, v := range c.g.Ops[st.Op].Out {
				take(v, c.at(i).Start)
			}
		}
	}
	sort.SliceStable(points, func(i, j int) bool { return points[i].At < points[j].At })
	var sum engine.Bytes
	for i := range points {
		sum += points[i].Used
		points[i].Used = sum
	}
	return points
}

// checkHost compares host memory with what the transfers need.
func (c *checker) checkHost() {
	got, want := steps(c.t.Host), steps(c.hostUse())
	for k := range max(len(got), len(want)) {
		if k < len(got) && k < len(want) && got[k] == want[k] {
			continue
		}
		at, f, w := c.t.Makespan, "no change", "no change"
		if k < len(want) {
			at, w = want[k].At, fmt.Sprintf("%s from %v on", count(want[k].Used), want[k].At)
		}
		if k < len(got) {
			at, f = got[k].At, fmt.Sprintf("%s from %v on", count(got[k].Used), got[k].At)
		}
		c.atTime(WrongHost, at, f, w)
	}
	var most engine.Bytes
	for _, p := range want {
		most = max(most, p.Used)
	}
	if most != c.t.HostPeak {
		c.atTime(WrongHostPeak, 0, count(c.t.HostPeak), count(most))
	}
	for _, p := range c.t.Host {
		if p.Used < 0 || p.Used > c.t.HostPeak {
			c.atTime(WrongHostPeak, p.At, count(p.Used), "at most the peak, "+count(c.t.HostPeak))
		}
	}
}

// steps returns the shortest list of points with the same amounts at all times.
func steps(points []sim.Point) (out []sim.Point) {
	out = append(out, sim.Point{})
	for _, p := range points {
		if p.At == out[len(out)-1].At {
			out[len(out)-1].Used = p.Used
		} else {
			out = append(out, p)
		}
		if n := len(out); n > 1 && out[n-1].Used == out[n-2].Used {
			out = out[:n-1]
		}
	}
	return out
}

// Reason is the kind of a refutation.
type Reason uint8

// The reasons, in the order in which they are checked.
const (
	BadProblem       Reason = iota // the problem or the schedule names what does not exist
	BadSpan                        // a span's lane, kind, operation, value or times are not those of its step
	MissingStep                    // a step has no span
	RepeatedStep                   // a step has two spans
	SpanOrder                      // spans are not in the order of their start
	WrongDuration                  // a span is not as long as its work
	InputAbsent                    // a run reads what never was on the device
	ReadAfterFree                  // a run or an offload reads what was freed before
	OffloadAbsent                  // an offload of what is not on the device
	FreeAbsent                     // a free of what is not on the device
	FetchResident                  // a fetch of what the device has
	OutputThere                    // an operation of another lane makes what is there already
	NoHostCopy                     // a fetch of what the host does not have
	NoLink                         // a transfer over a link that does not exist
	BackwardTwice                  // a backward operation runs twice
	OnceTwice                      // an operation that must not run again does (engine.Op.Once)
	Incomplete                     // a gradient or an operation is missing at the end
	StepOrder                      // a span starts before the schedule reaches its step
	LaneOverlap                    // two spans of a lane overlap, or are not first in, first out
	HalfDuplexBroken               // both directions of a half-duplex link at once
	InputNotReady                  // a run starts before an input has arrived
	NotAfter                       // an operation starts before one that it comes after, or without it
	HostCopyNotReady               // a fetch or an operation of the host starts before a copy to the host has ended
	BeforeWindow                   // a transfer starts before its earliest start
	WrongMakespan                  // the step time is not the end of the last span
	OverBudget                     // more memory than the budget
	RunLate                        // the compute lane is idle though its step could have started
	TransferLate                   // a lane is idle though its head could have started
	WrongMemory                    // the samples do not add up to the memory in use
	WrongCategory                  // the samples add up, but not by category
	WrongPeak                      // the peak or its moment is not that of the memory in use
	WrongHost                      // host memory is not what the offloads take
	WrongHostPeak                  // the host's peak is not that of its memory
	WrongLives                     // the lives do not add up to the memory in use
	GapMissing                     // gaps and runs do not cover the step, or overlap
	GapReason                      // a gap's step, reason, value or need is not what held the counter
	GapCause                       // a gap's cause did not end it
	WrongCause                     // what a span says held it back did not
	WrongTotals                    // compute, recompute or waiting do not add up
	WrongDecisions                 // a stage's decision is not what the schedule does
	NumReasons
)

var reasonNames = [NumReasons]string{
	"bad problem", "bad span", "missing step", "repeated step", "spans out of order", "wrong duration",
	"input absent", "read after free", "offload of absent", "free of absent", "fetch of resident", "output there",
	"no host copy", "no link", "backward twice", "once twice", "incomplete", "steps out of order", "lane overlap",
	"half duplex broken", "input not ready", "not after", "host copy not ready", "before its earliest start",
	"wrong step time", "over budget",
	"run late", "transfer late", "wrong memory", "wrong category", "wrong peak", "wrong host memory",
	"wrong host peak", "wrong lives", "gap missing", "wrong gap", "wrong gap cause", "wrong cause", "wrong totals",
	"wrong decisions",
}

// String returns the name of the reason for people.
func (r Reason) String() string {
	if r < NumReasons {
		return reasonNames[r]
	}
	return fmt.Sprintf("reason %d", r)
}

// Refutation says why a trace is not an execution of its schedule.
type Refutation struct {
	Reason Reason
	Step   int           // index into the schedule; -1 if no step is concerned
	Span   sim.SpanID    // NoSpan if no span is concerned
	At     time.Duration // the time; 0 if the refutation is about no particular time
	Found  string        // what the trace says
	Want   string        // what follows from the schedule and the spans
}

// Error returns the step, the span and the time, with what was found and what was expected there.
func (e *Refutation) Error() string {
	place := ""
	if e.Step >= 0 {
		place += fmt.Sprintf(" at step %d", e.Step)
	}
	if e.Span != sim.NoSpan {
		place += fmt.Sprintf(" in span %d", e.Span)
	}
	if e.At != 0 {
		place += fmt.Sprintf(" at %v", e.At)
	}
	return fmt.Sprintf("%v%s: found %s; expected %s", e.Reason, place, e.Found, e.Want)
}

// count returns n in words, such as "1 byte".
func count(n engine.Bytes) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
