package graphs_test

import (
	"encoding/json"
	"errors"
	"testing"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	"memtide/engine/graphs"
	"memtide/engine/sim"
)

// freedom is the expected result of a vector for one of the two orders.
type freedom struct {
	Feasible bool
	Time     *int64
	Min      engine.Bytes `json:"min_budget"`
}

var freedoms = map[string]string{"order_kept": "kept", "any_order": "any"}

func expected(t *testing.T, v *graphs.Vector, field string) (f freedom) {
	t.Helper()
	if err := json.Unmarshal(v.Expect[field], &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestVectors checks that graphexact finds the optimum and the smallest budget of every vector for both orders,
// and that its schedules play as claimed.
func TestVectors(t *testing.T) {
	exact := engine.Lookup("graphexact")
	compared := 0
	for _, v := range graphs.Vectors("graph_small") {
		for field, order := range freedoms {
			want, p, args := expected(t, &v, field), v.GraphProblem(), engine.Args{"order": order}
			var infeasible *engine.InfeasibleError
			if _, err := exact.Solve(p.WithBudget(0), args, nil); err != nil &&
				(!errors.As(err, &infeasible) || infeasible.Smallest != want.Min) {
				t.Errorf("%s %s: without memory: %v; want %d as the smallest", v.ID, field, err, want.Min)
			}
			sol, err := exact.Solve(p, args, nil)
			compared++
			switch {
			case errors.As(err, &infeasible):
				if want.Feasible || infeasible.Smallest != want.Min {
					t.Errorf("%s %s: refused with %v, want feasible %v, smallest %d", v.ID, field, err, want.Feasible,
						want.Min)
				}
			case err != nil:
				t.Errorf("%s %s: %v", v.ID, field, err)
			case !want.Feasible || int64(sol.Makespan) != *want.Time || !sol.Optimal:
				t.Errorf("%s %s: takes %d, optimal %v; want feasible %v, %v", v.ID, field, sol.Makespan, sol.Optimal,
					want.Feasible, want.Time)
			default:
				plays(t, p, sol)
			}
		}
	}
	if compared < 600 {
		t.Errorf("only %d answers are compared", compared)
	}
}

// plays compares a solution with its played schedule.
func plays(t *testing.T, p *engine.Problem, sol *engine.Solution) {
	t.Helper()
	trace, err := sim.Play(p, sol.Schedule)
	if err != nil {
		t.Errorf("within %d: cannot be played: %v\n%s", p.Budget, err, enginetest.DumpGraph(p.Graph))
		return
	}
	if err := check.Trace(p, sol.Schedule, trace); err != nil {
		t.Errorf("within %d: %v\n%s", p.Budget, err, enginetest.DumpGraph(p.Graph))
	}
	if trace.Makespan != sol.Makespan || trace.Peak != sol.Peak || trace.Peak > p.Budget {
		t.Errorf("within %d: claims %d and %d, plays %d and %d\n%s", p.Budget, sol.Makespan, sol.Peak, trace.Makespan,
			trace.Peak, enginetest.DumpGraph(p.Graph))
	}
}
