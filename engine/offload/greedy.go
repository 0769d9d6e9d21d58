package offload

import "memtide/engine"

func init() { engine.Register(greedy) }

var greedy = &engine.Strategy{
	Name:   "greedy",
	Title:  "Greedy offload",
	Mark:   2,
	Doc:    "Offloads the activations of the first stages, just enough of them to bring the peak within the budget.",
	Class:  engine.MayOffload,
	Cites:  []engine.Cite{Paper000("4 (GREEDY)")},
	Solver: solveGreedy,
}

func solveGreedy(p *engine.Problem, _ engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	s, err := begin(p)
	if err != nil {
		return nil, err
	}
	// The set fits. If F_i or B_i comes after the last value of the set, all of the set can be away, which covers the
	// peak. Otherwise everything before x_i is in the set, and the budget is at least smallest().
	return s.mustPlan(firstValues(s.size, s.peak()-p.Budget)).solution().Solution, nil
}

// firstValues returns the smallest set x_0..x_k of at least excess bytes. It is empty if nothing
// has to leave; the paper's formula would take x_0 even then.
func firstValues(size []engine.Bytes, excess engine.Bytes) []bool {
	set := make([]bool, len(size))
	for i := 0; i < len(size) && excess > 0; i++ {
		set[i] = true
		excess -= size[i]
	}
	return set
}
