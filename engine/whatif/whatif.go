package whatif

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// Method is a strategy with its arguments.
type Method struct {
	Strategy *engine.Strategy
	Args     engine.Args
}

// Result is the schedule of a method, as the simulator measured it.
type Result struct {
	StepTime time.Duration
	Peak     engine.Bytes
}

// Measure solves a problem and plays the schedule. The error is that of the strategy, or says that its schedule cannot
// be played. If poll stops the strategy, Measure returns the best schedule so far, if there is one, with the error.
func Measure(p *engine.Problem, m Method, poll *engine.Poll) (*Result, error) {
	sol, err := m.Strategy.Solve(p, m.Args, poll)
	if sol == nil {
		return nil, err
	}
	trace, bad := sim.Play(p, sol.Schedule)
	if bad != nil {
		return nil, fmt.Errorf("the schedule of %s cannot be played: %w", m.Strategy.Name, bad)
	}
	return &Result{StepTime: trace.Makespan, Peak: trace.Peak}, err
}

// Change is one thing that might make a step faster.
type Change struct {
	Name    string // for people: "1 GiB more"
	Problem *engine.Problem
	Method  Method
}

// Changes returns changes of p and m that might help: more memory, a faster link, a link that works in both
// directions at once, and every method of others. It changes the link only for methods that use it.
func Changes(p *engine.Problem, m Method, others []Method) (out []Change) {
	add := func(name string, change func(q *engine.Problem)) {
		q := *p
		change(&q)
		out = append(out, Change{name, &q, m})
	}
	if p.Budget < engine.NoLimit-engine.GiB {
		add("1 GiB more", func(q *engine.Problem) { q.Budget += engine.GiB })
	}
	if m.Strategy.Class&engine.MayOffload != 0 && p.Device.ToHost > 0 && p.Device.ToDev > 0 {
		if d := p.Device; d.ToHost <= engine.MaxRate/2 && d.ToDev <= engine.MaxRate/2 {
			add("twice the bandwidth", func(q *engine.Problem) { q.Device.ToHost *= 2; q.Device.ToDev *= 2 })
		}
		if p.Device.Duplex == engine.HalfDuplex {
			add("both directions at once", func(q *engine.Problem) { q.Device.Duplex = engine.FullDuplex })
		}
	}
	for _, o := range others {
		if o.Strategy != m.Strategy {
			out = append(out, Change{o.Strategy.Title, p, o})
		}
	}
	return out
}
