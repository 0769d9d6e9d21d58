package check

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// Trace proves that t is a legal and complete execution of s within the budget
// of p, and that its totals are true: see the package comment for what exactly.
// It returns nil, or a *Refutation that names the first thing that is not so.
// None of its arguments is changed.
func Trace(p *engine.Problem, s engine.Schedule, t *sim.Trace) error {
	c := &checker{p: p, g: p.Graph, s: s, t: t}
	for _, part := range []func() *Refutation{
		c.checkProblem, c.checkSpans, c.walk, c.checkComplete, c.checkTimes, c.checkMakespan,
		c.replay, c.checkMemory, c.checkPeak, c.checkHost, c.checkLives,
		c.checkGaps, c.checkCauses, c.checkTotals, c.checkDecisions,
	} {
		if r := part(); r != nil {
			return r
		}
	}
	return nil
}

// checker holds what the parts of a proof hand to each other.
type checker struct {
	p *engine.Problem
	g *engine.Graph
	s engine.Schedule
	t *sim.Trace

	spanOf []sim.SpanID // of every step; NoSpan for free and wait
	plan   []stepPlan   // of every step
	lists  lists        // what the plans point to
	copies []devCopy
	reach  []time.Duration // when the counter gets to a step; one more for the end

	instants []instant // what the replay saw, in the order of time
	levels   []level   // the memory in use, event by event
	waits    []waited  // the moments at which a step found no room
}

func (c *checker) streamed() bool { return c.p.Transfers == engine.Streamed }

func (c *checker) refute(r Reason, step int, span sim.SpanID, at time.Duration, found, want string) *Refutation {
	return &Refutation{Reason: r, Step: step, Span: span, At: at, Found: found, Want: want}
}

// atStep refutes something about a step and its span, if it has one.
func (c *checker) atStep(r Reason, step int, at time.Duration, found, want string) *Refutation {
	span := sim.NoSpan
	if step < len(c.spanOf) {
		span = c.spanOf[step]
	}
	return c.refute(r, step, span, at, found, want)
}

func (c *checker) name(step int) string {
	if step >= len(c.s) {
		return "the end of the schedule"
	}
	return c.s[step].Describe(c.g)
}

func (c *checker) span(id sim.SpanID) *sim.Span { return &c.t.Spans[id] }

// at is the span of a step that has one.
func (c *checker) at(step int) *sim.Span { return c.span(c.spanOf[step]) }

func hasSpan(k engine.StepKind) bool {
	return k == engine.StepRun || k == engine.StepOffload || k == engine.StepFetch
}

// checkProblem makes sure that every name can be looked up.
func (c *checker) checkProblem() *Refutation {
	if err := c.p.Validate(); err != nil {
		return c.refute(BadProblem, -1, sim.NoSpan, 0, err.Error(), "a valid problem")
	}
	if d := c.g.Done; d < engine.NoValue || int(d) >= len(c.g.Values) || c.g.Stages < 0 {
		return c.refute(BadProblem, -1, sim.NoSpan, 0, fmt.Sprintf("%d stages, complete with value %d", c.g.Stages, d), "stages and a value that exist")
	}
	for i := range c.s {
		st, what := &c.s[i], ""
		switch {
		case st.Kind > engine.StepWait:
			what = fmt.Sprintf("a step of kind %d", st.Kind)
		case st.Kind == engine.StepRun && (st.Op < 0 || int(st.Op) >= len(c.g.Ops)):
			what = fmt.Sprintf("operation %d", st.Op)
		case st.Kind == engine.StepRun && st.OutputOnly && c.g.Ops[st.Op].OutputOnly == nil:
			what = fmt.Sprintf("an output-only run of %s, which cannot run that way", c.g.Ops[st.Op].Name)
		case st.Kind == engine.StepRun && st.Alt && c.g.Ops[st.Op].Alt == nil:
			what = fmt.Sprintf("a run of %s by a second algorithm, which it does not have", c.g.Ops[st.Op].Name)
		case st.Kind != engine.StepRun && (st.Value < 0 || int(st.Value) >= len(c.g.Values)):
			what = fmt.Sprintf("value %d", st.Value)
		}
		if what != "" {
			return c.refute(BadProblem, i, sim.NoSpan, 0, what, "a step that exists")
		}
	}
	return nil
}
