package remat_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// operators returns a random step of operators that read up to four values, with skip connections
// and updates in place.
func operators(r *rand.Rand) *engine.Graph {
	g := &engine.Graph{Done: engine.NoValue, Fixed: engine.Bytes(r.IntN(5))}
	add := func(kind engine.ValueKind, initial engine.Place) engine.ValueID {
		g.Values = append(g.Values, engine.Value{Name: "v", Kind: kind, Size: engine.Bytes(r.IntN(10)),
			Initial: initial, PartOf: engine.NoValue})
		return engine.ValueID(len(g.Values) - 1)
	}
	add(engine.KindActivation, engine.OnDevice)
	for range r.IntN(3) {
		add(engine.KindWeight, engine.OnDevice)
	}
	for range 1 + r.IntN(9) {
		op := engine.Op{Name: "f", Time: time.Duration(1 + r.IntN(12)), Temp: engine.Bytes(r.IntN(4))}
		for range r.IntN(5) {
			if v := engine.ValueID(r.IntN(len(g.Values))); !slices.Contains(op.In, v) {
				op.In = append(op.In, v)
			}
		}
		if r.IntN(4) == 0 {
			op.Out = append(op.Out, op.In[:min(len(op.In), 1)]...)
		} else {
			op.Out = append(op.Out, add(engine.ValueKind(r.IntN(3)), 0))
		}
		g.Ops = append(g.Ops, op)
	}
	return g
}

// TestKeepAllOnGraphs checks that keepall also plays as claimed on graphs, and that one byte less than its peak
// is refused with that peak.
func TestKeepAllOnGraphs(t *testing.T) {
	const seed = 7
	r := enginetest.Rand(seed)
	keepall := engine.Lookup("keepall")
	for i := range 500 {
		p := &engine.Problem{Graph: operators(r), Budget: engine.NoLimit, Transfers: engine.Transfers(r.IntN(2))}
		sol, err := keepall.Solve(p, nil, nil)
		if err != nil {
			t.Fatalf("seed %d graph %d: %v", seed, i, err)
		}
		trace, err := sim.Play(p.WithBudget(sol.Peak), sol.Schedule)
		if err != nil {
			t.Fatalf("seed %d graph %d: %v\n%+v", seed, i, err, p.Graph)
		}
		if err := check.Trace(p.WithBudget(sol.Peak), sol.Schedule, trace); err != nil {
			t.Errorf("seed %d graph %d: %v", seed, i, err)
		}
		if trace.Makespan != sol.Makespan || trace.Peak != sol.Peak {
			t.Errorf("seed %d graph %d: claims %v and %d; played %v and %d", seed, i, sol.Makespan, sol.Peak,
				trace.Makespan, trace.Peak)
		}
		var small *engine.InfeasibleError
		if _, err := keepall.Solve(p.WithBudget(sol.Peak-1), nil, nil); !errors.As(err, &small) ||
			small.Smallest != sol.Peak {
			t.Errorf("seed %d graph %d: with a byte less than %d: %v; want that much named", seed, i, sol.Peak, err)
		}
	}
}

// TestKeepAllOnTheGraphOfAChain checks that keepall has the same step time and peak for a chain and for the
// chain's graph.
func TestKeepAllOnTheGraphOfAChain(t *testing.T) {
	const seed = 8
	r := enginetest.Rand(seed)
	keepall := engine.Lookup("keepall")
	for i := range 200 {
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 8})
		p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, engine.NoLimit)
		want, err := keepall.Solve(p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		graph := *p
		graph.Chain = nil
		got, err := keepall.Solve(&graph, nil, nil)
		if err != nil {
			t.Fatalf("seed %d chain %d: %v", seed, i, err)
		}
		if got.Makespan != want.Makespan || got.Peak != want.Peak {
			t.Errorf("seed %d chain %d: as a graph %v and %d; as a chain %v and %d\n%s", seed, i, got.Makespan,
				got.Peak, want.Makespan, want.Peak, enginetest.Dump(c))
		}
	}
}
