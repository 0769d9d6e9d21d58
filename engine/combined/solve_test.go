package combined

import (
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
)

func runSolver(t *testing.T, tm *terms, limit int64, use tricks) (int64, bool) {
	o, err := solve(tm, limit, use, nil)
	if err != nil {
		t.Fatal(err)
	}
	return o.cost, len(o.plans) > 0
}

func TestVectors(t *testing.T) {
	count := 0
	for _, file := range []string{"pofo_small", "pofo_medium", "paper_examples"} {
		for _, v := range enginetest.Load(file) {
			if v.Algorithm != "pofo" {
				continue
			}
			count++
			tm, err := newTerms(v.Problem(engine.Streamed))
			if err != nil {
				t.Fatal(err)
			}
			want, fits := v.ExpectInt("makespan_scaled")
			got, ok := runSolver(t, tm, unreachable, allTricks)
			if ok != fits || ok && got != want {
				t.Errorf("%s: got %d, %v; want %d, %v", v.ID, got, ok, want, fits)
			}
			got, ok = plainMakespan(tm)
			if ok != fits || ok && got != want {
				t.Errorf("%s: plain: got %d, %v; want %d, %v", v.ID, got, ok, want, fits)
			}
		}
	}
	if count != 91 {
		t.Errorf("%d vectors, want 91", count)
	}
}

func TestRandom(t *testing.T) {
	feasible := 0
	for seed := range uint64(600) {
		r := enginetest.Rand(seed)
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 6})
		d := enginetest.Device(engine.HalfDuplex)
		if seed%2 == 1 {
			d.ToHost = 2e9
			d.ToDev = 3e9
		}
		p := engine.NewChainProblem(c, d, engine.Streamed, enginetest.RandomBudget(r, c))
		tm, err := newTerms(p)
		if err != nil {
			t.Fatal(err)
		}
		want, fits := plainMakespan(tm)
		got, ok := runSolver(t, tm, unreachable, allTricks)
		if fits {
			feasible++
		}
		if ok != fits || ok && got != want {
			t.Fatalf("seed %d: got %d, %v; want %d, %v", seed, got, ok, want, fits)
		}
		if fits {
			got, ok = runSolver(t, tm, want+1, allTricks)
			if !ok || got != want {
				t.Fatalf("seed %d: tight: got %d, %v; want %d, %v", seed, got, ok, want, fits)
			}
		}
	}
	t.Log(feasible)
}
