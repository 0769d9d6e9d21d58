package whatif

import (
	"errors"
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

// Measure solves a problem and plays the schedule. The errors are those of the
// strategy, or say that its schedule cannot be played. When the poll stops the
// strategy, the best so far counts, if there is one, together with the error.
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

// Changes lists what might help: more memory, a faster link, a link that works
// in both directions at once, and every other method that is given. The link is
// changed only for methods that use it.
func Changes(p *engine.Problem, m Method, others []Method) []Change {
	var out []Change
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

// Enough is the answer of SmallestBudget.
type Enough struct {
	Budget engine.Bytes
	Result
}

// ErrTooSlow says that the method is slower than asked for in any budget.
var ErrTooSlow = errors.New("it is slower than that even without a memory limit")

// SmallestBudget looks for the smallest budget in which a method takes at most
// limit, to within grain bytes above 0; p.Budget is not looked at. It bisects:
// for a method whose step time never rises with the budget, such as one that is
// optimal among its schedules, no budget smaller by grain will do. For others a
// smaller one may. The errors are ErrTooSlow, those of the strategy that no
// budget cures, and the poll's, with the smallest budget found so far, if any.
func SmallestBudget(p *engine.Problem, m Method, limit time.Duration, grain engine.Bytes, poll *engine.Poll) (*Enough, error) {
	top, err := keepAll(p)
	if err != nil {
		return nil, err
	}
	best, err := enough(p.WithBudget(top), m, limit, poll)
	if best == nil {
		if err == nil {
			err = ErrTooSlow
		}
		return nil, err
	}
	// Budgets up to low do not do, that of best does.
	low := p.Graph.Fixed - 1
	for step := 1; best.Budget-low > grain; step++ {
		mid := low + (best.Budget-low)/2
		found, err := enough(p.WithBudget(mid), m, limit, poll)
		var small *engine.InfeasibleError
		switch {
		case found != nil:
			best = found
		case errors.As(err, &small):
			low = max(mid, min(small.Smallest, best.Budget)-1)
		case err == nil:
			low = mid
		default:
			return best, err
		}
		poll.Report(engine.Progress{Done: step})
	}
	return best, nil
}

// enough measures a method; nil if it takes longer than limit. A schedule needs
// no more than its peak, so that is the budget it will do with.
func enough(p *engine.Problem, m Method, limit time.Duration, poll *engine.Poll) (*Enough, error) {
	r, err := Measure(p, m, poll)
	if r == nil || err != nil || r.StepTime > limit {
		return nil, err
	}
	return &Enough{Budget: max(r.Peak, p.Graph.Fixed), Result: *r}, nil
}

// keepAll is the peak of keeping everything: no method needs more.
func keepAll(p *engine.Problem) (engine.Bytes, error) {
	st := engine.Lookup("keepall")
	if st == nil {
		panic("whatif: the strategy keepall is not registered")
	}
	r, err := Measure(p.WithBudget(engine.NoLimit), Method{Strategy: st}, nil)
	if err != nil {
		return 0, err
	}
	return r.Peak, nil
}
