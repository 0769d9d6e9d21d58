package offload

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"memtide/engine"
)

func init() { engine.Register(dynprog) }

// Paper000 cites a section of the paper on optimal offloading.
func Paper000(section string) engine.Cite {
	return engine.Cite{
		Text:    "Beaumont, Eyraud-Dubois and Shilova: Optimal GPU-CPU Offloading Strategies for Deep Neural Network Training. Euro-Par 2020",
		ID:      "10.1007/978-3-030-57675-2_10",
		Section: section,
	}
}

var dynprog = &engine.Strategy{
	Name:   "dynprog",
	Title:  "Optimal set for streamed transfers",
	Mark:   1,
	Doc:    "Offloads the set of activations that would be the best one if transfers were streamed.",
	Class:  engine.MayOffload,
	Short:  "Offload",
	Rank:   engine.Rank{Chain: 4},
	Cost:   engine.CostTable,
	Cites:  []engine.Cite{Paper000("4 (Algorithm 1, DYNPROG)")},
	Solver: solveDynprog,
}

// fluidOptimum is the fastest set with fractional communications [Algorithm 1 of paper 000].
type fluidOptimum struct {
	Set   []bool        // by i: x_i is offloaded
	Time  time.Duration // step time of Set with fractional communications
	Bound time.Duration // no ordered schedule is faster
	Ties  bool          // proven: no equally fast set is better by the tie-break
}

// Proven reports whether it is proven that no set is faster with fractional communications.
func (o *fluidOptimum) Proven() bool { return o.Time <= o.Bound }

// Limits of the search: evaluations of the local search before the labels, and comparisons of
// labels with and without ties.
const (
	fluidEvaluations = 100_000
	fluidSeed        = 1
	tieWork          = 8_000_000
	proofWork        = 40_000_000
)

// bestFluidSet works in steps, each only if the ones before have left something to prove: a descent that stops at the
// bound of Theorem 2, labels with ties, a longer local search, and labels without ties.
func bestFluidSet(s *step, poll *engine.Poll) *fluidOptimum {
	if s.peak() <= s.p.Budget {
		d := s.p.Chain.Chain.ForwardTime() + s.p.Chain.Chain.BackTime()
		return &fluidOptimum{Set: make([]bool, s.n), Time: d, Bound: d, Ties: true}
	}
	m := newModel(s, fluid)
	least := int64(m.nanoseconds(m.relax())) * m.tick // step times are whole nanoseconds
	sr := newSearch(m, firstValues(s.size, m.excess), least, fluidEvaluations*100/max(100, s.n), poll)
	sr.steepest()
	sr.lighten()
	best := newLabels(m, sr.best, true, tieWork, poll)
	best.run()
	proven := func() int64 { return max(least, min(best.best, best.cut)) }
	bound, ties := proven(), best.cut > best.best
	if bound < best.best && poll.Err() == nil {
		sr.iterate(rand.New(rand.NewPCG(fluidSeed, 0)), sr.left)
		sr.lighten()
		if sr.value < best.best {
			best = newLabels(m, sr.best, true, tieWork, poll)
			best.run()
			bound, ties = max(bound, proven()), best.cut > best.best
		}
	}
	if bound < best.best && poll.Err() == nil {
		best = newLabels(m, best.set, false, proofWork, poll)
		best.run()
		bound = max(bound, proven())
	}
	set := slices.Clone(best.set)
	for i, x := range s.size {
		set[i] = set[i] && x > 0
	}
	return &fluidOptimum{Set: set, Time: m.nanoseconds(best.best), Bound: m.nanoseconds(bound), Ties: ties}
}

func solveDynprog(p *engine.Problem, _ engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	s, err := begin(p)
	if err != nil {
		return nil, err
	}
	o := bestFluidSet(s, poll)
	plan := s.mustPlan(o.Set)
	note := ""
	if g := s.mustPlan(firstValues(s.size, s.peak()-p.Budget)); g.Makespan < plan.Makespan {
		plan, note = g, "Played, the greedy set is faster than the set of Algorithm 1, so it is taken."
	}
	sol := plan.solution()
	sol.ordered(o.Bound)
	if len(plan.Transfers) > 0 {
		sol.Stopped = !o.Proven()
		sol.Notes = append(sol.Notes, o.note())
	}
	if note != "" {
		sol.Notes = append(sol.Notes, note)
	}
	return sol.Solution, poll.Err()
}

// note returns what is proven about the set, in words.
func (o *fluidOptimum) note() string {
	ties := ""
	if !o.Ties {
		ties = " Of equally good sets, the one with the fewest bytes was not looked for exhaustively."
	}
	if o.Proven() {
		return fmt.Sprintf("With streamed transfers this set would take %v: proven optimal among ordered schedules (Algorithm 1).%s", short(o.Time), ties)
	}
	return fmt.Sprintf("With streamed transfers the set of Algorithm 1 would take %v; the search was stopped, and %v is proven to be out of reach of ordered schedules.%s",
		short(o.Time), short(o.Bound), ties)
}
