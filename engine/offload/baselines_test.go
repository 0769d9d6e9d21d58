package offload

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// play solves a problem with a strategy and checks the claims of the solution with packages sim and check. The
// solution is nil if the strategy returns an error.
func play(t *testing.T, name string, p *engine.Problem, args engine.Args) (*engine.Solution, error) {
	t.Helper()
	sol, err := engine.Lookup(name).Solve(p, args, nil)
	if err != nil {
		return nil, err
	}
	tr, err := sim.Play(p, sol.Schedule)
	if err == nil {
		err = check.Trace(p, sol.Schedule, tr)
	}
	switch {
	case err != nil:
		t.Fatalf("%s budget %d %v %v: %v\n%s", name, p.Budget, p.Transfers, p.Device.Duplex, err,
			enginetest.Dump(p.Chain.Chain))
	case tr.Makespan != sol.Makespan || tr.Peak != sol.Peak || tr.Peak > p.Budget || sol.Makespan < sol.Bound:
		t.Fatalf("%s budget %d %v %v: plays %d and %d, claims %d and %d, bound %d\n%s", name, p.Budget, p.Transfers,
			p.Device.Duplex,
			tr.Makespan, tr.Peak, sol.Makespan, sol.Peak, sol.Bound, enginetest.Dump(p.Chain.Chain))
	}
	return sol, nil
}

// TestThresholdVectors compares the set and the time of vDNN with the vector files.
func TestThresholdVectors(t *testing.T) {
	compared, same := 0, 0
	for _, file := range []string{"offload_small", "offload_medium"} {
		for _, v := range enginetest.Load(file) {
			raw, has := v.Expect["vdnn"]
			if !has || string(raw) == "null" {
				continue
			}
			var want struct {
				Time *int64 `json:"int_scaled"`
				Set  []int
			}
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			compared++
			p := v.Problem(engine.Whole)
			sol, err := play(t, "vdnnthreshold", p, nil)
			if want.Time == nil {
				if err == nil {
					t.Errorf("%s: got %d, want that nothing fits", v.ID, sol.Makespan)
				}
				continue
			}
			// The published times are those of fetches that may begin at the end of the last offload, even while the
			// forward still uses the value. No schedule does that: the value would be on the device twice.
			s := newStep(p)
			m := newModel(s, whole)
			m.early = true
			set, _ := thresholdSet(s, m, nil)
			early := time.Duration(m.time(set))
			if err != nil || early != time.Duration(*want.Time) || sol.Makespan < early {
				t.Errorf("%s: got %d and %v, %v; want %d and no less", v.ID, early, sol, err, *want.Time)
				continue
			}
			if sol.Makespan == early {
				same++
			}
			if want.Set != nil && !slices.Equal(set, subset(len(set), want.Set)) {
				t.Errorf("%s: set %v, want %v", v.ID, set, want.Set)
			}
		}
	}
	if compared < 80 || same < compared*9/10 {
		t.Errorf("compared %d, %d of them play as published: are the vectors there?", compared, same)
	}
}

// TestAheadVectors compares the time and the two numbers of TFLMS with the vector files.
func TestAheadVectors(t *testing.T) {
	compared, fit := 0, 0
	for _, v := range enginetest.Load("offload_small") {
		raw, has := v.Expect["tflms"]
		if !has {
			continue
		}
		var want struct {
			Scaled  *int64
			Tensors *int `json:"n_tensors"`
			Ahead   *int `json:"lb"`
		}
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		compared++
		p := v.Problem(engine.Whole)
		sol, err := play(t, "tflms", p, nil)
		var infeasible *engine.InfeasibleError
		if want.Scaled == nil {
			if !errors.As(err, &infeasible) || infeasible.Smallest <= p.Budget {
				t.Errorf("%s: got %v, %v; want that nothing fits", v.ID, sol, err)
			}
			continue
		}
		fit++
		if err != nil || sol.Makespan != time.Duration(*want.Scaled) {
			t.Errorf("%s: got %v, %v; want %d", v.ID, sol, err, *want.Scaled)
			continue
		}
		if f := bestAhead(newStep(p), nil); f.tensors != *want.Tensors || f.ahead != *want.Ahead {
			t.Errorf("%s: got %+v, want %d tensors, %d ahead", v.ID, f, *want.Tensors, *want.Ahead)
		}
	}
	if compared < 60 || fit < 20 {
		t.Errorf("compared %d, %d of them fit: are the vectors there?", compared, fit)
	}
}

// TestBaselinesPlay plays the schedules that the strategies find on random chains, in every transfer mode, and
// checks that none is faster than the proven best of all sets.
func TestBaselinesPlay(t *testing.T) {
	solved := map[string]int{}
	for seed := range uint64(400) {
		for _, mode := range []engine.Transfers{engine.Whole, engine.Streamed} {
			p := randomProblem(seed, enginetest.Shape{MaxStages: 9}, mode)
			p.Device.Duplex = engine.Duplex(seed / 7 % 2)
			best, err := play(t, "offloadsearch", p, nil)
			if err != nil || !best.Optimal && newStep(p).n <= 9 {
				t.Fatalf("seed %d: offloadsearch: %+v, %v; want an optimum", seed, best, err)
			}
			for _, name := range []string{"greedy", "dynprog", "vdnnthreshold", "tflms", "autoswap"} {
				if engine.Lookup(name) == nil {
					continue
				}
				sol, err := play(t, name, p, nil)
				if err != nil {
					continue
				}
				solved[name]++
				if sol.Makespan < best.Makespan && name != "tflms" {
					t.Fatalf("seed %d budget %d %v: %s takes %d, the best set %d\n%s", seed, p.Budget, mode, name,
						sol.Makespan, best.Makespan, enginetest.Dump(p.Chain.Chain))
				}
			}
			if g, _ := play(t, "greedy", p, nil); g != nil {
				if d, _ := play(t, "dynprog", p, nil); d == nil || d.Makespan > g.Makespan {
					t.Fatalf("seed %d: dynprog %+v, greedy %+v", seed, d, g)
				}
			}
		}
	}
	t.Logf("solved: %v", solved)
	if solved["tflms"] < 100 || solved["vdnnthreshold"] < 700 {
		t.Errorf("solved %v: the generator is off", solved)
	}
}
