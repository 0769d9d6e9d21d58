package window

import "memtide/engine"

// StopError says at which operation a schedule of given numbers does not fit into the
// budget.
type StopError struct {
	At  engine.OpID
	Err error // of a strategy
}

func (e *StopError) Error() string { return e.Err.Error() }

// Unwrap is the error of a strategy.
func (e *StopError) Unwrap() error { return e.Err }

// given is the solution of one walk, or a *StopError.
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
