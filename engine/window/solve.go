package window

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
)

var paper004 = engine.Cite{
	Text: "Hayakawa and Narihira: Out-of-Core Training for Extremely Large-Scale Neural Networks With Adaptive Window-Based Scheduling",
	ID:   "arXiv:2010.14109", Section: "3",
}

// within is what Bound ranges over.
const within = "schedules that offload and do not recompute"

// walk is a way to go over the functions: all that is left open is the budget.
// ok is false if it does not fit, or if time is over.
type walk func(budget engine.Bytes) (r *run, ok bool)

// best is the fastest of several walks.
type best struct {
	*run
	time time.Duration
	note string
}

// try keeps a walk if it fits and is faster; ok says whether it fits.
func (b *best) try(n *network, w walk, note string) (ok bool) {
	r, ok := w(n.p.Budget)
	if !ok || r.travels() && !n.linked() {
		return ok
	}
	if d := r.duration(); b.run == nil || d < b.time {
		b.run, b.time, b.note = r, d, note
	}
	return true
}

// solution writes down what was found. least is the walk that needs the least
// memory of those that were allowed.
func (b *best) solution(n *network, least walk) (*engine.Solution, error) {
	if b.run == nil {
		return nil, n.refusal(least)
	}
	lower, name := bound.Of(n.p, engine.MayOffload)
	sol := &engine.Solution{Schedule: b.steps, Makespan: b.time, Peak: b.peak, Optimal: b.time <= lower,
		OptimalAmong: within, Bound: lower}
	if !b.travels() {
		sol.Notes = append(sol.Notes, "Nothing is moved.")
		return sol, nil
	}
	sol.Notes = append(sol.Notes, b.note, fmt.Sprintf("Lower bound: %s.", name))
	return sol, nil
}

// refusal is why there is no solution. Where nothing can move, a walk that could
// do with less than it holds at its peak needs the link first, and one that lets
// nothing leave is an answer in its peak.
func (n *network) refusal(least walk) error {
	n.poll = nil // an answer is due
	r, _ := least(engine.NoLimit)
	if !n.linked() && (r.travels() || r.need < r.peak) {
		return n.link
	}
	if r.need <= n.p.Budget {
		panic("window: the walk that needs the least fits, and was not taken")
	}
	return &engine.InfeasibleError{Budget: n.p.Budget, Smallest: r.need,
		Why: fmt.Sprintf("%s needs it, with what is kept beside it", n.p.Graph.Ops[r.needs].Name)}
}

// StopError says at which operation a schedule of given numbers does not fit into the
// budget.
type StopError struct {
	At  engine.OpID
	Err error // of a strategy
}

func (e *StopError) Error() string { return e.Err.Error() }

// Unwrap returns the error of a strategy.
func (e *StopError) Unwrap() error { return e.Err }

// given returns the solution of one walk, or a *StopError.
func (n *network) given(w walk, note string) (*engine.Solution, error) {
	var b best
	fits := b.try(n, w, note)
	if err := n.poll.Err(); err != nil {
		return nil, err
	}
	sol, err := b.solution(n, w)
	if !fits {
		r, _ := w(n.p.Budget)
		err = &StopError{engine.OpID(r.at), err}
	}
	return sol, err
}
