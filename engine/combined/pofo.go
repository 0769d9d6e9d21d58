package combined

import (
	"errors"
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/offload"
	"memtide/engine/remat"
)

// maxTables is the number of bytes that a browser tab can be relied on to have.
const maxTables = 200 * 1000 * 1000

// tables returns an upper bound on the bytes that the strategy takes for a chain of n stages: a part that grows with n
// squared, the triples, and either the curves or the labels, whose lists have a capacity of twice their length. The
// measured memory of the program was at most 109 MB with 100 stages, 106 MB with 339 and 297 MB with 700.
func tables(n int) int64 {
	return 400*int64(n)*int64(n) + 24*maxTriples + max(16*maxPoints, 96*maxLabels+12*maxLinks)
}

func init() { engine.Register(Pofo) }

// Pofo is the strategy pofo, for packages that build on it.
var Pofo = &engine.Strategy{
	Name:  "pofo",
	Title: "Recompute and offload",
	Doc:   "Finds the fastest way to recompute some activations and to offload others.",
	Class: engine.MayRecompute | engine.MayOffload,
	Short: "Recompute + offload",
	Rank:  engine.Rank{Chain: 1},
	Cost:  engine.CostTable,
	// The first paper has neither a doi nor an arXiv number.
	Cites: []engine.Cite{{
		Text:    "Beaumont, Eyraud-Dubois, Shilova: Efficient Combination of Rematerialization and Offloading for Training DNNs. NeurIPS 2021",
		ID:      "https://papers.nips.cc/paper/2021/hash/c8461bf13fca8a2b9912ab2eb1668e4b-Abstract.html",
		Section: "4, the recursions that are solved here",
	}, remat.Paper002("4.2, the recursion that the backward parts of segments follow"), {
		Text:    "Beaumont, Eyraud-Dubois and Shilova: Optimal GPU-CPU Offloading Strategies for Deep Neural Network Training. Euro-Par 2020",
		ID:      "10.1007/978-3-030-57675-2_10",
		Section: "3, the model of transfers",
	}},
	Params: []engine.Param{{
		Name: "overlap", Title: "Let transfers run into the other pass", Default: "no", Choices: []string{"no", "yes"},
		Doc: "The paper ends all offloads before the first backward starts. With yes, the schedule of the same plan does not wait for that.",
	}},
	Solver:  solvePofo,
	Sweeper: sweepPofo,
}

// The sets that optima and bounds range over. within is the plans of the paper, whose bytes move evenly; withinOverlap
// is all plans whose transfers are in the same order. "Segment by segment" means that no stage runs forward while an
// output or the saved activations of that stage or a later one are held (see engine/remat). The input of a segment may
// be away until its segment runs again, and stays from then on. Without these words the sets would be larger: while a
// segment waits for a fetch, an earlier one could be computed.
const (
	within        = "persistent recomputation, segment by segment, with ordered offloads of segment inputs, passes apart"
	withinOverlap = "persistent recomputation, segment by segment, with ordered offloads of segment inputs"
)

func solvePofo(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	sol, err := Plans(p, args, poll)
	return better(p, sol, err, poll)
}

// Plans returns the best plan of the paper's model, which is what the strategy's claims are about.
// The strategy itself also considers schedules that only offload.
func Plans(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	return plans(p, args, &shared{}, poll)
}

// plans is Plans with results that budgets have in common.
func plans(p *engine.Problem, args engine.Parsed, common *shared, poll *engine.Poll) (*engine.Solution, error) {
	if err := applies(p); err != nil {
		return nil, err
	}
	if p.Chain.Chain.HasUnsaved() {
		tries := 2
		if p.Chain.Chain.Len() > 64 { // each plan for a long chain takes seconds
			tries = 0
		}
		return solveRecast(p, args, tries, common, poll)
	}
	// Recomputation alone is the first upper bound, and what is left when time is over.
	rotor, err := remat.Rotor.Solve(p, nil, poll)
	return solveFrom(p, args, rotor, err, common, poll)
}

// sweepPofo solves for several budgets and shares between them what does not depend on the budget.
// A plan for one budget also counts for every other budget that it fits into; if it waits for nothing and
// computes nothing again, there is nothing to find for those.
func sweepPofo(p *engine.Problem, args engine.Parsed, budgets []engine.Bytes, poll *engine.Poll,
	yield func(int, *engine.Solution, error)) {
	answers := engine.NewAnswers(budgets, yield)
	defer answers.Settle()
	common, least := &shared{}, p.Chain.Chain.ForwardTime()+p.Chain.Chain.BackTime()
	engine.SolveEach(func(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
		if known := answers.Within(p.Budget); known != nil && known.Optimal && known.Makespan == least {
			return known, nil
		}
		common.fronts = nil
		sol, err := plans(p, args, common, poll)
		return better(p, sol, err, poll)
	}, p, args, budgets, poll, answers.Tell)
}

// better returns sol and err, or the result of offloading alone if that is better.
func better(p *engine.Problem, sol *engine.Solution, err error, poll *engine.Poll) (*engine.Solution, error) {
	var refused, other *engine.InfeasibleError
	if poll.Err() != nil || err != nil && !errors.As(err, &refused) {
		return sol, err
	}
	if least, _ := bound.Of(p, engine.MayOffload); sol == nil || sol.Makespan > least {
		alone, errAlone := (*engine.Solution)(nil), error(nil)
		poll.Aside(func() { alone, errAlone = offload.Search.Solve(p, nil, poll) })
		switch {
		case errors.As(errAlone, &other) && refused != nil && other.Smallest > 0 && other.Smallest < refused.Smallest:
			err = other
		case alone != nil && (sol == nil || alone.Makespan < sol.Makespan):
			taken := *alone // with its own claims, which are about offloading alone
			taken.Notes = append([]string{
				"Nothing is computed again: the set of activations to offload that was found by itself is faster than every plan.",
			}, alone.Notes...)
			sol = &taken
		}
	}
	if stopped := poll.Err(); sol == nil {
		if stopped != nil { // it is unknown whether any plan fits
			err = stopped
		}
		return nil, err
	}
	return sol, poll.Err()
}

// applies returns an error if the strategy cannot solve p for any budget.
func applies(p *engine.Problem) error {
	if p.Device.ToHost <= 0 || p.Device.ToDev <= 0 {
		return engine.ErrNeedsLink
	}
	if need := tables(p.Chain.Chain.Len()); need > maxTables {
		return fmt.Errorf("%w: the network has %s, whose tables would take %d MB, and %d MB is what a browser tab can hold; join stages, or use a strategy that only recomputes",
			engine.ErrUnsupported, p.Chain.Chain.Describe(), need/1_000_000, maxTables/1_000_000)
	}
	return nil
}

// solveFrom starts from the result of recomputation alone: rotor and err.
func solveFrom(p *engine.Problem, args engine.Parsed, rotor *engine.Solution, err error, common *shared,
	poll *engine.Poll) (*engine.Solution, error) {
	t, problem := newTerms(p)
	if problem != nil {
		return nil, problem
	}
	t.shared = common
	_, infeasible := errors.AsType[*engine.InfeasibleError](err)
	if err != nil && !infeasible {
		if rotor != nil {
			rotor.OptimalAmong, rotor.Bound = p.Graph.FirstWays(within),
				p.Chain.Chain.ForwardTime()+p.Chain.Chain.BackTime()
		}
		return rotor, err
	}
	if infeasible {
		if err := t.tooSmall(p, poll); err != nil {
			return nil, err
		}
	}
	overlap := args.Is("overlap", "yes")
	t.found = func(o *optimum) {
		if sol, err := choose(p, t, o, rotor, overlap); err == nil {
			if common.shown != nil && sol != nil {
				sol = common.shown(sol)
			}
			poll.Report(engine.Progress{Done: o.searches, Total: len(widths), Best: sol})
		}
	}
	if rotor != nil {
		t.found(&optimum{cost: int64(rotor.Makespan) * t.q, bound: t.base[t.n]})
	}
	o, err := optimize(t, rotor, poll)
	if err == nil && p.Transfers == engine.Whole {
		t.effort.left = wholeEffort
		err = wholePlans(p, t, o, overlap, poll)
	}
	sol, problem := choose(p, t, o, rotor, overlap)
	if problem != nil {
		return nil, problem
	}
	if err != nil && sol != nil {
		sol.Note("Out of time: the search was not finished.")
	}
	return sol, err
}

// optimize finds the best plan. Recomputation alone gives the first upper bound. If it does not
// fit, rotor is nil and a narrow search gives the bound. Such a search always succeeds if some plan
// fits, because every label that it keeps can be continued.
func optimize(t *terms, rotor *engine.Solution, poll *engine.Poll) (*optimum, error) {
	limit := int64(tooLong)
	if t.shared.limit > 0 {
		limit = int64(t.shared.limit) * t.q
	}
	if rotor != nil {
		return solve(t, min(limit, int64(rotor.Makespan)*t.q), widths, poll)
	}
	none := &optimum{cost: tooLong, bound: t.base[t.n], ceiling: tooLong}
	r, err := newLowerBound(t, poll)
	if err != nil {
		return none, err
	}
	if err := r.sharpen(tooLong, poll); err != nil {
		return none, err
	}
	f := &fronts{terms: t, slack: tooLong, thin: thinnest, poll: poll}
	s, err := search(f, r, tooLong, narrowest)
	if err != nil {
		return none, err
	}
	if s.last < 0 {
		panic("combined: some plan fits, and the narrow search has found none")
	}
	first := s.plan(s.last)
	o, err := solve(t, min(limit, s.best), widths, poll)
	o.plans = append([][]segment{first}, o.plans...)
	return o, err
}

// choose returns the fastest of the plans of o, as they are played, or rotor's schedule. It returns
// nil if there is neither.
func choose(p *engine.Problem, t *terms, o *optimum, rotor *engine.Solution, overlap bool) (*engine.Solution, error) {
	var best *timeline
	for _, segs := range o.plans {
		line, err := newTimeline(p, segs, overlap)
		if err != nil {
			return nil, err
		}
		if best == nil || line.Makespan <= best.Makespan {
			best = line
		}
	}
	sol := &engine.Solution{}
	switch {
	case best == nil && rotor == nil:
		return nil, nil
	case best == nil || rotor != nil && rotor.Makespan <= best.Makespan:
		sol.Schedule, sol.Makespan, sol.Peak = rotor.Schedule, rotor.Makespan, rotor.Peak
		sol.Notes = []string{"Nothing is offloaded: no schedule that offloads was found to be faster than recomputation alone."}
	default:
		schedule, err := best.schedule()
		if err != nil {
			return nil, err
		}
		sol.Schedule, sol.Makespan, sol.Peak = schedule, best.Makespan, best.Peak
		sol.Notes = []string{best.summary()}
	}
	t.claim(p, sol, o, overlap)
	return sol, nil
}

// claim sets the claims of a solution and adds the notes about them.
func (t *terms) claim(p *engine.Problem, sol *engine.Solution, o *optimum, overlap bool) {
	model := t.nanoseconds(o.cost)
	// In the set, bytes move evenly, as in the model, in transfers that take whole nanoseconds.
	// The simulator counts a byte only when all of it has arrived. Schedules that use the room of
	// such a byte are outside of the set, and so are schedules whose passes overlap.
	among, proven := within, max(o.bound, t.base[t.n])
	if overlap {
		among, proven = withinOverlap, t.base[t.n]
	}
	sol.OptimalAmong = p.Graph.FirstWays(among)
	sol.Bound = min(sol.Makespan, t.nanoseconds(proven))
	sol.Optimal = sol.Makespan == sol.Bound
	if o.note != "" {
		sol.Stopped = true
		sol.Notes = append(sol.Notes, o.note)
	}
	atLeast := ""
	if !t.exact && t.everySize >= t.q { // rounding the ticks of all bytes can lose a nanosecond
		atLeast = "at least "
	}
	switch {
	case overlap:
		sol.Note("The paper's model, which keeps the two passes apart, takes %s%v.", atLeast, model)
	case p.Transfers == engine.Whole && sol.Makespan > model:
		sol.Note("The paper's model sends byte by byte and takes %s%v; whole transfers take the rest.", atLeast, model)
	case sol.Makespan == sol.Bound:
		sol.Note("No plan of the paper's model is faster.")
	default:
		sol.Note("Proven to be within %v of the best of its kind.", sol.Makespan-sol.Bound)
	}
}

// nanoseconds rounds ticks up, because every step takes whole nanoseconds.
func (t *terms) nanoseconds(ticks int64) time.Duration {
	return time.Duration((ticks + t.q - 1) / t.q)
}

// summary describes the plan for people.
func (t *timeline) summary() string {
	recomputed := 0
	for x := range t.segs {
		if s := &t.segs[x]; !s.saved {
			recomputed += s.last - s.first + 1
		}
	}
	c, loss := t.p.Chain.Chain, ""
	if !c.LossGradAllocated { // the page counts layers without the loss
		loss = " (counting the loss)"
	}
	return fmt.Sprintf("Offloads %d values and recomputes %d of %d stages%s.", len(t.Transfers), recomputed, c.Len(), loss)
}
