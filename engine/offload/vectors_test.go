package offload

import (
	"errors"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// subset turns the indices of a vector into a set of n values.
func subset(n int, indices []int) []bool {
	set := make([]bool, n)
	for _, i := range indices {
		set[i] = true
	}
	return set
}

func TestSets(t *testing.T) {
	for _, v := range enginetest.Load("offload_sets") {
		for _, mode := range []engine.Transfers{engine.Whole, engine.Streamed} {
			p := v.Problem(mode)
			field := map[engine.Transfers]string{engine.Whole: "int_scaled", engine.Streamed: "frac_scaled"}[mode]
			want, feasible := v.ExpectInt(field)
			plan, ok := NewPlan(p, subset(len(v.Stages), v.Set))
			if ok != feasible {
				t.Errorf("%s %v: feasible %v, want %v", v.ID, mode, ok, feasible)
				continue
			}
			if !ok {
				continue
			}
			if plan.Fluid != time.Duration(want) {
				t.Errorf("%s %v: T(S) = %d, want %d", v.ID, mode, plan.Fluid, want)
			}
			if plan.Makespan != plan.Fluid {
				t.Logf("%s %v: set %v: schedule %d, T(S) %d", v.ID, mode, v.Set, plan.Makespan, plan.Fluid)
			}
			tr := played(t, v.ID, p, plan)
			if tr == nil {
				continue
			}
			if peak, has := v.ExpectInt("int_peak"); has && mode == engine.Whole && tr.Peak != engine.Bytes(peak) {
				t.Errorf("%s: peak %d, want %d", v.ID, tr.Peak, peak)
			}
		}
	}
}

// played runs a plan's schedule and compares what is claimed with what happens.
func played(t *testing.T, id string, p *engine.Problem, plan *Plan) *sim.Trace {
	t.Helper()
	tr, err := sim.Play(p, plan.Schedule())
	if err != nil {
		t.Errorf("%s %v %v: set %v: %v\n%sbudget %d", id, p.Transfers, p.Device.Duplex, plan.Set, err, enginetest.Dump(p.Chain.Chain), p.Budget)
		return nil
	}
	if tr.Makespan != plan.Makespan || tr.Peak != plan.Peak {
		t.Errorf("%s %v %v: set %v: step time %d and peak %d, claimed %d and %d\n%sbudget %d", id, p.Transfers, p.Device.Duplex, plan.Set,
			tr.Makespan, tr.Peak, plan.Makespan, plan.Peak, enginetest.Dump(p.Chain.Chain), p.Budget)
	}
	return tr
}

func TestGreedyAndBounds(t *testing.T) {
	for _, file := range []string{"offload_small", "offload_medium", "paper_examples"} {
		for _, v := range enginetest.Load(file) {
			if v.Algorithm == "offload-all" || v.Algorithm == "offload-gadget" {
				testAll(t, &v)
			}
		}
	}
}

func testAll(t *testing.T, v *enginetest.Vector) {
	p := v.Problem(engine.Whole)
	s := newStep(p)
	if want, has := v.ExpectInt("mpeak"); has && s.peak() != engine.Bytes(want) {
		t.Errorf("%s: peak %d, want %d", v.ID, s.peak(), want)
	}
	if want, has := v.ExpectInt("min_budget"); has && s.smallest() != engine.Bytes(want) {
		t.Errorf("%s: smallest budget %d, want %d", v.ID, s.smallest(), want)
	}
	if want, has := v.ExpectInt("lb_scaled"); has {
		if got, ok := bound.LB(p); !ok || got != time.Duration(want) {
			t.Errorf("%s: LB %d (%v), want %d", v.ID, got, ok, want)
		}
	}
	want, has := v.ExpectInt("relax_scaled")
	if got, ok := bound.Relax(p); ok != has || got != time.Duration(want) {
		t.Errorf("%s: Relax %d (%v), want %d (%v)", v.ID, got, ok, want, has)
	}
	sol, err := greedy.Solve(p, nil, nil)
	var inf *engine.InfeasibleError
	if feasible, has := v.ExpectBool("feasible"); has && !feasible {
		if !errors.As(err, &inf) {
			t.Errorf("%s: got %v, want that it does not fit", v.ID, err)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", v.ID, err)
		return
	}
	_ = sol
}
