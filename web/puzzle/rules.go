package puzzle

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/check"
	"memtide/engine/sim"
)

// Choice is what is done with the saved activations of a layer.
type Choice byte

// The choices, as they are written in a plan.
const (
	Keep      Choice = 'k'
	Recompute Choice = 'r'
	Offload   Choice = 'o'
)

// Choices is a choice for each layer, written as one letter each.
type Choices []Choice

// ParsePlan reads a plan for the given number of layers. ok is false if text is not such a plan.
func ParsePlan(text string, layers int) (plan Choices, ok bool) {
	for _, c := range []byte(text) {
		if c != byte(Keep) && c != byte(Recompute) && c != byte(Offload) {
			return nil, false
		}
		plan = append(plan, Choice(c))
	}
	return plan, len(plan) == layers
}

// String returns the letters.
func (p Choices) String() string { return string(p) }

// at returns the choice for stage k, counted from 1. A stage without a choice, such as the loss, is kept.
func (p Choices) at(k int) Choice {
	if k < 1 || k > len(p) {
		return Keep
	}
	return p[k-1]
}

// Outcome is the result of playing a plan. If the plan does not fit, it was played without a memory limit.
type Outcome struct {
	Fits    bool
	Time    time.Duration // of the step
	Peak    engine.Bytes
	Problem *engine.Problem
	Trace   *sim.Trace
}

// Play plays a plan on a level. It returns an error if package check does not confirm the trace.
func (l *Level) Play(plan Choices) (Outcome, error) {
	p := l.Problem()
	out, s := fitted(p, plan)
	if !out.Fits {
		p = p.WithBudget(engine.NoLimit)
		out, s = fitted(p, plan)
		out.Fits = false
	}
	out.Problem = p
	if err := check.Trace(p, s, out.Trace); err != nil {
		return out, fmt.Errorf("plan %s of level %s: %w", plan, l.Name, err)
	}
	return out, nil
}

// fitted plays plan with fetches one backward ahead and without, and returns the faster outcome with its schedule.
func fitted(p *engine.Problem, plan Choices) (out Outcome, faster engine.Schedule) {
	for _, ahead := range []int{1, 0} {
		s := schedule(p.Chain, plan, ahead)
		t, err := sim.Play(p, s)
		if err == nil && (!out.Fits || t.Makespan < out.Time) { // an error means that memory is too small
			out, faster = Outcome{Fits: true, Time: t.Makespan, Peak: t.Peak, Trace: t}, s
		}
	}
	return out, faster
}

// schedule returns the schedule of a plan. It fetches an offloaded layer ahead layers before the backward needs it.
func schedule(g *engine.ChainGraph, plan Choices, ahead int) (s engine.Schedule) {
	last := g.Chain.Len()
	there := make([]bool, last+1) // saved activations are on the device, or on their way
	for k := 1; k <= last; k++ {
		if plan.at(k) == Recompute {
			s = append(s, engine.RunOutputOnly(g.Fwd(k)))
		} else {
			s, there[k] = append(s, engine.Run(g.Fwd(k))), true
		}
		if plan.at(k) == Offload {
			s = append(s, engine.Offload(g.Saved(k)))
		}
		switch {
		case plan.at(k-1) == Offload:
			s, there[k-1] = append(s, engine.Free(g.Saved(k-1))), false
		case plan.at(k-1) == Recompute && k < last: // the backward of the loss reads the last output
			s = append(s, engine.Free(g.Act(k-1)))
		}
	}
	var need func(k int)
	need = func(k int) { // brings the saved activations of stage k to the device
		if k < 1 || there[k] {
			return
		}
		there[k] = true
		if plan.at(k) == Offload {
			s = append(s, engine.Fetch(g.Saved(k), 0))
			return
		}
		need(k - 1)
		s = append(s, engine.Run(g.Fwd(k)))
	}
	for k := last; k >= 1; k-- {
		need(k)
		if k < last || plan.at(k-1) != Recompute {
			need(k - 1)
		}
		if next := k - 1 - ahead; next >= 1 && plan.at(next) == Offload {
			need(next)
		}
		s = append(s, engine.Run(g.Bwd(k)), engine.Free(g.Saved(k)), engine.Free(g.Grad(k)))
	}
	return s
}

// Bound returns a lower bound of the step time of any schedule, also of those that are not plans of the game.
func (l *Level) Bound() time.Duration {
	t, _ := bound.Of(l.Problem(), engine.MayRecompute|engine.MayOffload)
	return t
}
