package offload

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
)

// begin returns the step of a problem. It returns an error if no set of values can be offloaded:
// there is no link and one is needed, or the budget is too small for every set.
func begin(p *engine.Problem) (*step, error) {
	s, err := linked(p)
	if err != nil {
		return nil, err
	}
	if least, why := s.tightest(false); p.Budget < least {
		return nil, &engine.InfeasibleError{Budget: p.Budget, Smallest: least, Why: why}
	}
	return s, nil
}

// linked returns the step of a problem, and an error if values have to move and there is no usable
// link.
func linked(p *engine.Problem) (*step, error) {
	s := newStep(p)
	if s.peak() <= p.Budget {
		return s, nil
	}
	return s, p.Linked()
}

// tightest returns the least budget that any set fits into, and what needs it: while F_i and B_i
// run, everything before x_i can be away, and nothing else. With any, it is the least budget of all
// schedules, not only of sets: the gradient of the loss can be away too, and x_i while operations
// run that do not read it.
func (s *step) tightest(any bool) (least engine.Bytes, why string) {
	g := s.p.Chain
	var before, seed engine.Bytes // bytes that can be away
	var most engine.ChainOp
	if any {
		seed = g.Chain.HeldGrad(s.n)
		least, why = s.before(0), "the step begins with it"
	}
	for i := range s.n {
		unread := any && g.Chain.Unsaved(i)
		if unread {
			before += s.size[i]
		}
		for _, need := range []struct {
			bytes engine.Bytes
			kind  engine.ChainOpKind
		}{{s.needF[i] - seed, engine.FAll}, {s.needB[i], engine.BStep}} {
			if need.bytes-before > least {
				least, most = need.bytes-before, engine.ChainOp{Kind: need.kind, Stage: i + 1}
			}
		}
		if !unread {
			before += s.size[i]
		}
	}
	if most.Stage > 0 {
		why = "even with everything else on the host " + g.Needs(most, least)
	}
	return least, why
}

// mustPlan is plan for a set that fits.
func (s *step) mustPlan(set []bool) *Ordered {
	plan, ok := s.plan(set)
	if !ok {
		panic(fmt.Sprintf("offload: no plan for %v within %d bytes, although %d are enough for all", set, s.p.Budget,
			s.smallest()))
	}
	return plan
}

// The sets that Optimal and Bound range over.
const (
	withinAll     = "schedules that offload and do not recompute"
	withinOrdered = "schedules that offload activations in the order of the layers, then fetch them in reverse, and do not recompute"
)

// among names a set of schedules of the model. If no backward reads a^i, x_i could leave before
// F^{i+1} has run, and need not be back for B^{i+1}. The model has no such schedules, and none in
// which an operation runs its second algorithm.
func (s *step) among(within string) string {
	if s.p.Chain.Chain.HasUnsaved() {
		within += ", with each saved set there while the stage after it runs"
	}
	return s.p.Graph.FirstWays(within)
}

// claim is a solution that is being completed.
type claim struct {
	*engine.Solution
	step *step
}

// solution returns a solution for the plan, with the claims that every strategy can make.
func (p *Ordered) solution() claim {
	lower, name := bound.Of(p.step.p, engine.MayOffload)
	sol := &engine.Solution{
		Schedule:     p.Schedule(),
		Makespan:     p.Makespan,
		Peak:         p.Peak,
		Optimal:      p.Makespan <= lower,
		OptimalAmong: withinAll,
		Bound:        lower,
	}
	if len(p.Transfers) == 0 {
		sol.Note("Everything fits: nothing is offloaded.")
		return claim{sol, p.step}
	}
	sol.Notes = append(sol.Notes,
		fmt.Sprintf("Offloads %d of %d activations.", len(p.Transfers), p.step.n),
		fmt.Sprintf("Lower bound: %s.", name))
	return claim{sol, p.step}
}

// ordered claims that no ordered schedule is faster than least, if that is more than what holds for
// all schedules.
func (c claim) ordered(least time.Duration) {
	if c.Optimal || least <= c.Bound {
		return
	}
	c.OptimalAmong, c.Bound = c.step.among(withinOrdered), least
	c.Optimal = c.Makespan <= least
	c.Note("The bound holds for schedules that offload in the order of the layers and fetch in reverse after the last offload: another order can be faster (Lemma 3 of Beaumont et al. 2020 is false).")
}

// short rounds a duration to four digits, for people.
func short(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 10_000 {
		unit *= 10
	}
	return d.Round(unit)
}
