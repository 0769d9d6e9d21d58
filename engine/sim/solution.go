package sim

import "memtide/engine"

// Solution is a schedule that claims what Play says of it. The error is that of Play.
func Solution(p *engine.Problem, s engine.Schedule) (*engine.Solution, error) {
	t, err := Play(p, s)
	if err != nil {
		return nil, err
	}
	return &engine.Solution{Schedule: s, Makespan: t.Makespan, Peak: t.Peak}, nil
}
