package offload

import (
	"fmt"
	"math"

	"memtide/engine"
	"memtide/engine/bound"
)

func init() { engine.Register(greedy) }

var greedy = &engine.Strategy{
	Name:  "greedy",
	Title: "Greedy offload",
	Doc: `Offloads the activations of the first stages, just enough of them to bring the peak within the budget.

The first k values x_0..x_k leave during the forward pass, in that order and as
early as possible, where k is the smallest number for which they are at least
as large as what is missing at the peak. They come back during the backward pass
in the opposite order, as late as possible. Were parts of a value allowed to
move, moving just what is missing this way would be optimal (Theorem 2); rounding
up to whole values can cost time.`,
	Class: engine.MayOffload,
	Cites: []engine.Cite{{
		Text:    "Beaumont, Eyraud-Dubois and Shilova: Optimal GPU-CPU Offloading Strategies for Deep Neural Network Training. Euro-Par 2020",
		ID:      "10.1007/978-3-030-57675-2_10",
		Section: "4 (GREEDY)",
	}},
	Solve: solveGreedy,
}

func solveGreedy(p *engine.Problem, _ engine.Args, poll *engine.Poll) (*engine.Solution, error) {
	s, err := usable(p)
	if err != nil {
		return nil, err
	}
	if err := poll.Err(); err != nil {
		return nil, err
	}
	// No set that starts at x_0 has to be extended to become feasible. If F_i or
	// B_i comes after the last value of the set, all of the set can be away, and
	// that covers the peak. Otherwise everything before x_i is in the set, and
	// the budget is at least smallest().
	plan, ok := s.plan(firstValues(s.size, s.peak()-p.Budget))
	if !ok {
		panic(fmt.Sprintf("offload: no plan for the first values within %d bytes, although %d are enough", p.Budget, s.smallest()))
	}
	return plan.solution(), nil
}

// firstValues is the smallest set x_0..x_k of at least excess bytes; it is empty
// if nothing has to leave (the paper's formula would take x_0 even then).
func firstValues(size []engine.Bytes, excess engine.Bytes) []bool {
	set := make([]bool, len(size))
	for i := 0; i < len(size) && excess > 0; i++ {
		set[i] = true
		excess -= size[i]
	}
	return set
}

// usable says whether sets of values can be offloaded on a problem at all.
func usable(p *engine.Problem) (*step, error) {
	if p.Chain == nil {
		return nil, engine.ErrNeedsChain
	}
	s := newStep(p)
	if s.peak() <= p.Budget {
		return s, nil
	}
	d := p.Device
	if d.ToHost <= 0 || d.ToDev <= 0 {
		return nil, engine.ErrNeedsLink
	}
	if least := s.smallest(); p.Budget < least {
		return nil, &engine.InfeasibleError{Budget: p.Budget, Smallest: least, Why: s.tightest()}
	}
	total := float64(p.Chain.Chain.ForwardTime()) + float64(p.Chain.Chain.BackTime())
	for _, x := range s.size {
		total += float64(x) * 1e9 * (1/float64(d.ToHost) + 1/float64(d.ToDev))
	}
	if total > math.MaxInt64/4 {
		return nil, fmt.Errorf("%w: on a link of %d and %d bytes per second the transfers would take more than 70 years",
			engine.ErrUnsupported, d.ToHost, d.ToDev)
	}
	return s, nil
}

// tightest names the operation that needs the most even if all that is not in
// use is away.
func (s *step) tightest() string {
	least := s.smallest()
	var before engine.Bytes
	for i := range s.n {
		for _, need := range []struct {
			bytes engine.Bytes
			op    engine.OpID
		}{{s.needF[i], s.p.Chain.Fwd(i + 1)}, {s.needB[i], s.p.Chain.Bwd(i + 1)}} {
			if need.bytes-before == least {
				return fmt.Sprintf("%s needs it, even with everything else on the host", s.p.Graph.Ops[need.op].Name)
			}
		}
		before += s.size[i]
	}
	return ""
}

// solution is what a strategy claims about a plan.
func (p *Plan) solution() *engine.Solution {
	lower, name := bound.Of(p.step.p, engine.MayOffload)
	sol := &engine.Solution{
		Schedule: p.Schedule(),
		Makespan: p.Makespan,
		Peak:     p.Peak,
		Optimal:  p.Makespan <= lower,
		Within:   "schedules that offload and do not recompute",
		Bound:    lower,
	}
	if len(p.Transfers) == 0 {
		sol.Notes = append(sol.Notes, "Everything fits: nothing is offloaded.")
		return sol
	}
	sol.Notes = append(sol.Notes,
		fmt.Sprintf("Offloads %d of %d activations.", len(p.Transfers), p.step.n),
		fmt.Sprintf("Lower bound: %s.", name))
	return sol
}
