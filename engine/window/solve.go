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

// within names the set of schedules for Solution.OptimalAmong.
const within = "schedules that offload and do not recompute"

// walk runs all functions within a budget. ok is false if the budget is too small, or if poll has stopped the walk.
type walk func(budget engine.Bytes) (r *run, ok bool)

// best is the fastest of several walks.
type best struct {
	*run
	time time.Duration
	note string
}

// try keeps a walk if it fits and is faster than the best so far. ok reports whether it fits.
func (b *best) try(n *network, w walk, note string) (ok bool) {
	r, ok := w(n.p.Budget)
	if !ok || r.travels() && n.link != nil {
		return ok
	}
	if d := r.duration(); b.run == nil || d < b.time {
		b.run, b.time, b.note = r, d, note
	}
	return true
}

// found returns the result of a search: the best walk, and the error of poll if it has stopped the search. least is
// as for solution.
func (b *best) found(n *network, least walk) (*engine.Solution, error) {
	if err := n.poll.Err(); err != nil && b.run == nil {
		return nil, err
	}
	sol, err := b.solution(n, least)
	if err != nil {
		return nil, err
	}
	return sol, n.poll.Err()
}

// solution returns the best walk as a solution. least is the allowed walk that needs the least memory, for the
// error if no walk fits.
func (b *best) solution(n *network, least walk) (*engine.Solution, error) {
	if b.run == nil {
		return nil, n.refusal(least)
	}
	lower, name := bound.Of(n.p, engine.MayOffload)
	sol := &engine.Solution{Schedule: b.steps, Makespan: b.time, Peak: b.peak, Optimal: b.time <= lower,
		OptimalAmong: within, Bound: lower}
	if !b.travels() {
		sol.Note("Nothing is moved.")
		return sol, nil
	}
	sol.Notes = append(sol.Notes, b.note, fmt.Sprintf("Lower bound: %s.", name))
	return sol, nil
}

// refusal returns why there is no solution. Without a link this is the error of the link, unless least moves
// nothing and could not do with less than its peak.
func (n *network) refusal(least walk) error {
	n.poll = nil // this walk must come to its end
	r, _ := least(engine.NoLimit)
	if n.link != nil && (r.travels() || r.need < r.peak) {
		return n.link
	}
	if r.need <= n.p.Budget {
		panic("window: the walk that needs the least fits, and was not taken")
	}
	return &engine.InfeasibleError{Budget: n.p.Budget, Smallest: r.need,
		Why: fmt.Sprintf("%s needs it, with what is kept beside it", n.p.Graph.Ops[r.needs].Name)}
}

// StopError is the error of a window or a threshold whose schedule does not fit into the budget.
type StopError struct {
	At  engine.OpID // the operation that does not fit
	Err error       // the error that the strategy would return
}

func (e *StopError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
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
