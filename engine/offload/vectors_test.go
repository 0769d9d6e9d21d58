package offload

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// subset returns the set of n values with the given indices.
func subset(n int, indices []int) []bool {
	set := make([]bool, n)
	for _, i := range indices {
		set[i] = true
	}
	return set
}

// played plays a plan's schedule, checks the trace, and compares it with the claims of the plan.
func played(t *testing.T, id string, p *engine.Problem, plan *Ordered) *sim.Trace {
	t.Helper()
	sched := plan.Schedule()
	tr, err := sim.Play(p, sched)
	if err == nil {
		err = check.Trace(p, sched, tr)
	}
	if err != nil {
		t.Errorf("%s %v %v: set %v: %v\n%sbudget %d", id, p.Transfers, p.Device.Duplex, plan.Set, err,
			enginetest.Dump(p.Chain.Chain), p.Budget)
		return nil
	}
	if tr.Makespan != plan.Makespan || tr.Peak != plan.Peak {
		t.Errorf("%s %v %v: set %v: step time %d and peak %d, claimed %d and %d\n%sbudget %d", id, p.Transfers,
			p.Device.Duplex, plan.Set,
			tr.Makespan, tr.Peak, plan.Makespan, plan.Peak, enginetest.Dump(p.Chain.Chain), p.Budget)
	}
	return tr
}

// TestSets evaluates and plays the sets of the vector files.
func TestSets(t *testing.T) {
	for _, file := range []string{"offload_sets", "paper_examples"} {
		for _, v := range enginetest.Load(file) {
			if v.Algorithm == "offload-set" {
				testSet(t, &v, engine.Whole, "int_scaled")
				testSet(t, &v, engine.Streamed, "frac_scaled")
			}
		}
	}
}

func testSet(t *testing.T, v *enginetest.Vector, mode engine.Transfers, field string) {
	if _, has := v.Expect[field]; !has {
		return
	}
	want, feasible := v.ExpectInt(field)
	p := v.Problem(mode)
	plan, ok := NewOrdered(p, subset(len(v.Stages), v.Set))
	if ok != feasible {
		t.Errorf("%s %v: feasible %v, want %v", v.ID, mode, ok, feasible)
	}
	if !ok || !feasible {
		return
	}
	if plan.Fluid != time.Duration(want) {
		t.Errorf("%s %v: T(S) = %d, want %d", v.ID, mode, plan.Fluid, want)
	}
	tr := played(t, v.ID, p, plan)
	if tr == nil {
		return
	}
	if tr.Makespan != time.Duration(want) {
		t.Errorf("%s %v: step time %d, want %d", v.ID, mode, tr.Makespan, want)
	}
	if peak, has := v.ExpectInt("int_peak"); has && mode == engine.Whole && tr.Peak != engine.Bytes(peak) {
		t.Errorf("%s: peak %d, want %d", v.ID, tr.Peak, peak)
	}
}

// TestGreedyAndBounds compares greedy and the bounds with the instances of the vector files.
func TestGreedyAndBounds(t *testing.T) {
	for _, file := range []string{"offload_small", "offload_medium", "paper_examples"} {
		for _, v := range enginetest.Load(file) {
			if v.Algorithm == "offload-all" || v.Algorithm == "offload-gadget" {
				testBounds(t, &v)
				testGreedy(t, &v)
			}
		}
	}
}

func testBounds(t *testing.T, v *enginetest.Vector) {
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
}

func testGreedy(t *testing.T, v *enginetest.Vector) {
	p := v.Problem(engine.Whole)
	sol, err := greedy.Solve(p, nil, nil)
	if feasible, has := v.ExpectBool("feasible"); has && !feasible {
		var inf *engine.InfeasibleError
		least, _ := v.ExpectInt("min_budget")
		if !errors.As(err, &inf) || inf.Smallest != engine.Bytes(least) {
			t.Errorf("%s: got %v, want that it does not fit into less than %d bytes", v.ID, err, least)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", v.ID, err)
		return
	}
	if relax, _ := v.ExpectInt("relax_scaled"); sol.Bound != time.Duration(relax) {
		t.Errorf("%s: bound %d, want %d", v.ID, sol.Bound, relax)
	}
	raw, has := v.Expect["greedy"]
	if !has {
		return
	}
	var want struct {
		Set  []int
		Time int64 `json:"int_scaled"`
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatalf("%s: %v", v.ID, err)
	}
	plan, _ := newStep(p).plan(firstValues(newStep(p).size, newStep(p).peak()-p.Budget))
	if !slices.Equal(plan.Set, subset(len(v.Stages), want.Set)) {
		t.Errorf("%s: set %v, want %v", v.ID, plan.Set, want.Set)
	}
	if sol.Makespan != time.Duration(want.Time) {
		t.Errorf("%s: greedy takes %d, want %d", v.ID, sol.Makespan, want.Time)
	}
	played(t, v.ID, p, plan)
}

// TestBestSet checks that the best of all sets is the one that exhaustive search proved, for whole transfers and
// for fractional communications. On the two counterexamples to Lemma 3 it takes 30, and a schedule that is not
// ordered takes 27.
func TestBestSet(t *testing.T) {
	compared := 0
	for _, file := range []string{"offload_small", "paper_examples"} {
		for _, v := range enginetest.Load(file) {
			for mode, field := range []string{engine.Whole: "int_ordered_opt_scaled",
				engine.Streamed: "fraccomm_opt_scaled"} {
				want, has := v.ExpectInt(field)
				if !has || len(v.Stages) > 9 {
					continue
				}
				compared++
				p := v.Problem(engine.Transfers(mode))
				if got := bestFluid(p); got != time.Duration(want) {
					t.Errorf("%s: %s: got %d, want %d", v.ID, field, got, want)
				}
			}
		}
	}
	if compared < 100 {
		t.Errorf("compared %d values, expected at least 100: are the vectors there?", compared)
	}
}

// bestFluid returns the least T(S) over all sets.
func bestFluid(p *engine.Problem) time.Duration {
	n := p.Chain.Chain.Len()
	best := time.Duration(1 << 62)
	for mask := range 1 << n {
		set := make([]bool, n)
		for i := range set {
			set[i] = mask>>i&1 == 1
		}
		if plan, ok := NewOrdered(p, set); ok {
			best = min(best, plan.Fluid)
		}
	}
	return best
}

// TestEarlyFetchDeadlocks checks the counterexample to Proposition 1 of paper 000 (docs/paper-000.md): with the
// same set and order, and every fetch as early as possible, the schedule deadlocks.
func TestEarlyFetchDeadlocks(t *testing.T) {
	const id = "p000-prop1-asap-deadlock"
	for _, v := range enginetest.Load("paper_examples") {
		if v.ID != id {
			continue
		}
		p := v.Problem(engine.Whole)
		plan, ok := NewOrdered(p, subset(len(v.Stages), v.Set))
		if !ok {
			t.Fatalf("%s: no plan", id)
		}
		var early engine.Schedule
		for _, step := range plan.Schedule() {
			switch {
			case step.Kind == engine.DoFetch:
				continue
			case step.Kind == engine.DoFree && step.Value == p.Chain.Act(0) &&
				!slices.Contains(early, engine.Fetch(step.Value, 0)):
				early = append(early, step, engine.Fetch(step.Value, 0))
			default:
				early = append(early, step)
			}
		}
		var stuck *sim.StuckError
		if _, err := sim.Play(p, early); !errors.As(err, &stuck) {
			t.Errorf("%s: an early fetch gave %v, want a deadlock", id, err)
		}
		return
	}
	t.Fatalf("there is no vector %s", id)
}
