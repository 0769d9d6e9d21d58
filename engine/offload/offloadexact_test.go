package offload

import (
	"errors"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// TestExactVectors checks that offloadexact finds the true optimum of every vector that contains it. On both
// counterexamples to Lemma 3 this is 27, and the best ordered schedule takes 30.
func TestExactVectors(t *testing.T) {
	compared, below := 0, 0
	for _, file := range []string{"offload_small", "paper_examples"} {
		for _, v := range enginetest.Load(file) {
			want, has := v.ExpectInt("int_true_opt_scaled")
			if !has {
				continue
			}
			compared++
			sol, err := play(t, "offloadexact", v.Problem(engine.Whole), nil)
			if err != nil || sol.Makespan != time.Duration(want) || !sol.Optimal {
				t.Errorf("%s: got %+v, %v; want %d, optimal", v.ID, sol, err, want)
			}
			if ordered, _ := v.ExpectInt("int_ordered_opt_scaled"); want < ordered {
				below++
			}
		}
	}
	if compared < 40 || below < 2 {
		t.Errorf("compared %d, %d of them below the ordered optimum: are the vectors there?", compared, below)
	}
}

// TestExactPlays plays the schedules of larger chains, and compares them with the best ordered ones.
func TestExactPlays(t *testing.T) {
	below, proven := 0, 0
	for seed := range uint64(120) {
		p := randomProblem(seed, enginetest.Shape{MinStages: 4, MaxStages: 8}, engine.Whole)
		p.Device.Duplex = engine.Duplex(seed / 5 % 2)
		sol, err := play(t, "offloadexact", p, nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if sol.Optimal {
			proven++
		}
		ordered, _ := play(t, "offloadsearch", p, nil)
		if sol.Makespan > ordered.Makespan {
			t.Fatalf("seed %d: %d, the best ordered schedule takes %d", seed, sol.Makespan, ordered.Makespan)
		}
		if sol.Makespan < ordered.Makespan {
			below++
		}
	}
	t.Logf("%d proven, %d below the best ordered schedule", proven, below)
	if proven < 110 || below == 0 {
		t.Errorf("%d of 120 are proven, %d below the best ordered schedule: the search or the generator is off",
			proven, below)
	}
}

func TestExactRefuses(t *testing.T) {
	p := randomProblem(1, enginetest.Shape{MinStages: maxExactStages + 1, MaxStages: maxExactStages + 1}, engine.Whole)
	if _, err := play(t, "offloadexact", p, nil); !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("%d stages: got %v, want that it does not apply", p.Chain.Chain.Len(), err)
	}
	q := randomProblem(4, enginetest.Shape{MinStages: 4, MaxStages: 4}, engine.Streamed)
	q = q.WithBudget(newStep(q).smallest())
	if _, err := play(t, "offloadexact", q, nil); !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("streamed transfers: got %v, want that it does not apply", err)
	}
}
