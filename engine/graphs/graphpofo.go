package graphs

import (
	"errors"
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/combined"
	"memtide/engine/window"
)

func init() { engine.Register(graphPofo) }

var graphPofo = &engine.Strategy{
	Name:  "graphpofo",
	Title: "Recompute, reorder and offload (search)",
	Mark:  2,
	Doc:   "Searches for the fastest way to recompute, reorder and offload together, on any graph.",
	Class: engine.MayRecompute | engine.MayOffload, Graphs: true,
	Cost: engine.CostSearch,
	Cites: []engine.Cite{
		{Text: "Beaumont, Eyraud-Dubois, Shilova: Efficient Combination of Rematerialization and Offloading for Training DNNs. NeurIPS 2021",
			ID: combined.Pofo.Cites[0].ID, Section: combined.Pofo.Cites[0].Section}, moccasin},
	Params: []engine.Param{orderParam, {Name: "effort", Title: "Effort", Default: "1", Min: 1, Max: 6,
		Doc: "How many proposals are tried: 20,000 at least and up to 4000 for each operation, and twice as many with each step."},
		seedParam},
	Solver: solveGraphPofo, Sweeper: sweepUp(sweptPofo),
}

// withinAll names the set that bounds range over.
const withinAll = "all schedules"

// joint looks for a schedule of all kinds within one budget.
type joint struct {
	p     *engine.Problem
	m     *model // with transfers; nil if nothing can move, or the graph is not one of single assignments
	args  engine.Parsed
	poll  *engine.Poll
	lower time.Duration // lower bound of the step time
	best  *engine.Solution
	how   string       // how best was found
	seq   []kindID     // sequence of best, or nil
	least engine.Bytes // smallest budget of the methods that do not fit; 0 if unknown
	why   string       // what needs least
	first error        // error of the first method that does not apply

	swept solver        // in a sweep: graphsearch; otherwise nil
	found *engine.Found // in a sweep: solutions of other strategies; otherwise nil
}

func solveGraphPofo(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	return (&joint{p: p, args: args, poll: poll}).solve()
}

// sweptPofo returns graphpofo for budgets in rising order. Solutions of other strategies for one budget count for all.
func sweptPofo(p *engine.Problem, args engine.Parsed, poll *engine.Poll, found *engine.Found) solver {
	recompute := solver(nil)
	if own, err := graphSearch.Parse(searchArgs(args)); err == nil {
		swept := sweptSearch(p, own, poll, found)
		recompute = func(p *engine.Problem, _ engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
			return swept(p, own, poll)
		}
	}
	return func(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
		return (&joint{p: p, args: args, poll: poll, swept: recompute, found: found}).solve()
	}
}

// searchArgs returns the arguments of graphsearch for those of graphpofo.
func searchArgs(args engine.Parsed) engine.Args {
	return engine.Args{"order": args.Word("order"), "seed": fmt.Sprint(args.Int("seed"))}
}

func (j *joint) solve() (*engine.Solution, error) {
	p := j.p
	j.lower = bound.Joint(p, false, j.poll)
	m, err := newModelOfWays(p.Graph)
	if err == nil {
		j.best = m.keepAll(p.Budget, withinAll)
		if p.Linked() == nil {
			j.m = m.linked(p)
		}
	}
	j.begin()
	if j.best != nil && j.m != nil && !j.done() {
		j.search()
	}
	return j.answer()
}

// begin takes the best solution of the other strategies. If everything can move, the serial plan needs the least
// memory of all schedules.
func (j *joint) begin() {
	if j.m != nil {
		seq := j.m.serial()
		if peak, _, ok := j.m.cost(seq); ok && peak <= j.p.Budget {
			j.play(seq, "It moves everything around every operation.")
		} else if ok {
			j.refused(peak, "")
			return
		}
	}
	j.ask(graphSearch, searchArgs(j.args))
	j.ask(window.Window, nil)
	j.ask(window.LMS, nil)
	if j.p.Chain != nil {
		j.ask(combined.Pofo, nil)
	}
}

// ask takes the solution of another strategy.
func (j *joint) ask(s *engine.Strategy, args engine.Args) {
	if j.poll.Err() != nil || j.done() {
		return
	}
	var sol *engine.Solution
	var err error
	if s == graphSearch && j.swept != nil {
		sol, err = j.swept(j.p, j.args, j.poll)
	} else {
		sol, err = s.Solve(j.p, args, j.poll)
	}
	infeasible, ok := errors.AsType[*engine.InfeasibleError](err)
	switch {
	case ok:
		j.refused(infeasible.Smallest, infeasible.Why)
	case errors.Is(err, engine.ErrUnsupported):
		if j.first == nil {
			j.first = err
		}
	case sol != nil:
		j.better(sol, s)
	}
}

// better takes a solution of another strategy if it is faster than the best.
func (j *joint) better(sol *engine.Solution, by *engine.Strategy) {
	if j.found != nil {
		j.found.Add(sol)
	}
	if j.best == nil || sol.Makespan < j.best.Makespan {
		j.best, j.how, j.seq = sol, "The plan is that of "+by.Name+".", nil
		j.tell(0, 0)
	}
}

// refused records the smallest budget of a method that does not fit.
func (j *joint) refused(least engine.Bytes, why string) {
	if least > 0 && (j.least == 0 || least < j.least) {
		j.least, j.why = least, why
	}
}

// done reports whether nothing can be faster.
func (j *joint) done() bool { return j.best != nil && j.best.Makespan <= j.lower }

// tell reports the best solution so far.
func (j *joint) tell(done, total int) {
	j.poll.Report(engine.Progress{Done: done, Total: total, Best: j.solution()})
}

// solution returns the best solution with the claims of this strategy.
func (j *joint) solution() *engine.Solution {
	return &engine.Solution{Schedule: j.best.Schedule, Makespan: j.best.Makespan, Peak: j.best.Peak, Bound: j.lower,
		Optimal: j.best.Makespan <= j.lower, OptimalAmong: withinAll, Notes: append([]string{j.how}, j.best.Notes...)}
}

// answer returns the solution, or an error if there is none.
func (j *joint) answer() (*engine.Solution, error) {
	err := j.poll.Err()
	switch {
	case j.best != nil:
		return j.solution(), err
	case err != nil:
		return nil, err
	case j.least > 0:
		return nil, &engine.InfeasibleError{Budget: j.p.Budget, Smallest: j.least, Why: j.why}
	}
	return nil, j.first
}

// The number of proposals of the search. leastJoint, the least number in total, finds the optimum of nearly every
// graph that is small enough for trying all schedules.
const (
	firstJoint = 100  // per operation
	eachJoint  = 25   // added per operation, for every operation
	mostJoint  = 4000 // at most per operation
	leastJoint = 20_000
)

// search anneals in rounds, each pair twice as long as the one before: from the best sequence, and from the order
// that keeps everything and the sequences of the others in turn.
func (j *joint) search() {
	n := len(j.m.order)
	total := max(n*min(firstJoint+eachJoint*n, mostJoint), leastJoint) << (j.args.Int("effort") - 1)
	given := j.m.given()
	starts := [][]kindID{given}
	if seq := j.m.ofSchedule(j.p, j.best.Schedule); seq != nil {
		starts = append(starts, seq)
		j.play(seq, j.how)
	}
	scale, _, _ := j.m.cost(given)
	next, done, weight := max(total/16, 500), 0, 1.0
	for round := uint64(0); done < total && !j.done() && j.poll.Err() == nil; round++ {
		count := min(next, total-done)
		if 5*next > 2*(total-done) {
			count = total - done
		}
		c, from := wide, starts[int(round/2)%len(starts)]
		if round%2 == 1 && j.seq != nil {
			c, from = narrow, j.seq
		}
		before := j.best
		a := newAnnealer(newState(j.m, j.p.Budget, j.args.Is("order", "kept"), from),
			uint64(j.args.Int("seed"))*1000+round, scale, j.poll)
		a.plays = func() bool {
			if a.took >= j.best.Makespan {
				return true
			}
			was := j.best
			ok := j.play(a.sequence(), "Found by annealing.")
			if j.best != was {
				j.tell(done+a.proposals, total)
			}
			return ok
		}
		a.anneal(c, count, weight, j.lower)
		if a.best != nil && j.poll.Err() == nil {
			j.play(a.best, "Found by annealing.") // it may be faster without waits
		}
		if j.best == before {
			weight = min(weight*3, 1000)
		}
		if round%2 == 1 {
			next *= 2
		}
		done += count
	}
}
