package offload

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// fromMask returns the set of n values whose bits are set in mask.
func fromMask(n, mask int) []bool {
	set := make([]bool, n)
	for i := range set {
		set[i] = mask>>i&1 == 1
	}
	return set
}

// randomProblem draws a chain, a link on which a byte takes a nanosecond or any other time, and a budget between
// the smallest one and that of keeping everything.
func randomProblem(seed uint64, shape enginetest.Shape, mode engine.Transfers) *engine.Problem {
	r := enginetest.Rand(seed)
	if seed%4 == 3 {
		shape.MaxSize, shape.MaxTime = 5000, 3000
	}
	c := enginetest.RandomChain(r, shape)
	dev := enginetest.Device(engine.HalfDuplex)
	if seed%3 == 2 {
		rates := []engine.Rate{1e9, 5e8, 2e9, 333_333_333, 1_700_000_001, 12_500_000_000}
		dev.ToHost, dev.ToDev = rates[r.IntN(len(rates))], rates[r.IntN(len(rates))]
	}
	p := engine.NewChainProblem(c, dev, mode, 0)
	s := newStep(p)
	least, most := s.smallest(), s.peak()
	return p.WithBudget(least + engine.Bytes(r.Int64N(int64(most-least)+1)))
}

// TestModelAgrees checks that the evaluation of sets without schedules gives the step times of the plans, in both
// transfer modes. The fluid evaluation never gives more.
func TestModelAgrees(t *testing.T) {
	sets := 0
	for seed := range uint64(600) {
		for _, mode := range []engine.Transfers{engine.Whole, engine.Streamed} {
			p := randomProblem(seed, enginetest.Shape{MaxStages: 6}, mode)
			s := newStep(p)
			m, ideal := newModel(s, rule(mode)), newModel(s, fluid)
			for mask := range 1 << s.n {
				set := fromMask(s.n, mask)
				want := int64(never)
				if plan, ok := s.plan(set); ok {
					want = int64(plan.Makespan)
					sets++
					if f := ideal.nanoseconds(ideal.time(set)); f > plan.Fluid || p.Device.ToHost == 1e9 &&
						p.Device.ToDev == 1e9 && s.streamed && f != plan.Fluid {
						t.Fatalf("seed %d %v set %v: fluid %d, plan %d\n%s", seed, mode, set, f, plan.Fluid,
							enginetest.Dump(p.Chain.Chain))
					}
				}
				if got := m.time(set); got != want {
					t.Fatalf("seed %d %v set %v budget %d rates %d, %d: got %d, want %d\n%s", seed, mode, set,
						p.Budget, p.Device.ToHost, p.Device.ToDev, got, want, enginetest.Dump(p.Chain.Chain))
				}
			}
		}
	}
	t.Logf("%d sets", sets)
}

// TestFluidOptimumExhaustive compares Algorithm 1 by labels, with and without the tie-break, with all sets. The
// two start from different sets, which must not matter.
func TestFluidOptimumExhaustive(t *testing.T) {
	waits, tiesTold := 0, 0
	for seed := range uint64(1500) {
		p := randomProblem(seed, enginetest.Shape{MaxStages: 9}, engine.Streamed)
		s := newStep(p)
		if s.peak() <= p.Budget {
			continue
		}
		m := newModel(s, fluid)
		all := make([]bool, s.n)
		for i := range all {
			all[i] = true
		}
		ties := newLabels(m, all, true, 1<<40, nil)
		best, tie := int64(never), int64(never)
		for mask := range 1 << s.n {
			set := fromMask(s.n, mask)
			var w int64
			for i, sent := range set {
				if sent {
					w += ties.weight(i)
				}
			}
			if v := m.time(set); v < best || v == best && w < tie {
				best, tie = v, w
			}
		}
		ties.run()
		plain := newLabels(m, firstValues(s.size, m.excess), false, 1<<40, nil)
		plain.run()
		if ties.best != best || ties.tie != tie || ties.cut != never || plain.best != best ||
			m.time(ties.set) != best || m.time(plain.set) != best {
			t.Fatalf("seed %d budget %d: got %d (tie %d, cut %d) and %d, want %d (tie %d)\n%s", seed, p.Budget,
				ties.best, ties.tie, ties.cut, plain.best, best, tie, enginetest.Dump(p.Chain.Chain))
		}
		if r := m.relax(); r > best {
			t.Fatalf("seed %d: relaxation %d above %d", seed, r, best)
		}
		o := bestFluidSet(s, nil)
		if o.Time != m.nanoseconds(best) || !o.Proven() || !o.Ties {
			t.Fatalf("seed %d: %+v, want %d, proven\n%s", seed, o, m.nanoseconds(best), enginetest.Dump(p.Chain.Chain))
		}
		if best > m.compute {
			waits++
		}
		if ties.tie != plain.tie {
			tiesTold++
		}
	}
	t.Logf("%d with waiting", waits)
	if waits < 300 {
		t.Errorf("only %d cases wait: the generator is off", waits)
	}
}

// TestFrontierExhaustive compares the proof of offloadsearch with all sets, in both transfer modes. It starts
// from a set that is far from optimal, so that its bounds have to be right.
func TestFrontierExhaustive(t *testing.T) {
	better := 0
	for seed := range uint64(2500) {
		for _, mode := range []engine.Transfers{engine.Whole, engine.Streamed} {
			p := randomProblem(seed, enginetest.Shape{MaxStages: 10}, mode)
			s := newStep(p)
			m, ideal := newModel(s, rule(mode)), newModel(s, fluid)
			best := int64(never)
			for mask := range 1 << s.n {
				best = min(best, m.time(fromMask(s.n, mask)))
			}
			all := fromMask(s.n, 1<<s.n-1)
			from := m.time(all)
			f := newFrontier(m, ideal, all, from, 1<<40, nil)
			floor := int64(ideal.nanoseconds(ideal.relax()))
			if !f.run(8000, 1) || f.value != best || m.time(f.best) != best || f.least != best || floor > best {
				t.Fatalf("seed %d %v budget %d rates %d, %d: got %d, at least %d (relaxed %d); want %d\n%s", seed,
					mode, p.Budget,
					p.Device.ToHost, p.Device.ToDev, f.value, f.least, floor, best, enginetest.Dump(p.Chain.Chain))
			}
			if best < from {
				better++
			}
		}
	}
	if better < 500 {
		t.Errorf("only %d cases had to be improved: the generator is off", better)
	}
}

// TestFrontierStopped checks that the bound and the set are true when the work is used up.
func TestFrontierStopped(t *testing.T) {
	stopped := 0
	for seed := range uint64(300) {
		p := randomProblem(seed, enginetest.Shape{MinStages: 6, MaxStages: 10}, engine.Whole)
		s := newStep(p)
		m, ideal := newModel(s, whole), newModel(s, fluid)
		best := int64(never)
		for mask := range 1 << s.n {
			best = min(best, m.time(fromMask(s.n, mask)))
		}
		all := fromMask(s.n, 1<<s.n-1)
		f := newFrontier(m, ideal, all, m.time(all), 20, nil)
		if f.run(8000, 1) {
			continue
		}
		stopped++
		if f.least > best || f.value < best || m.time(f.best) != f.value {
			t.Fatalf("seed %d: stopped, says at least %d and found %d; the best is %d", seed, f.least, f.value, best)
		}
	}
	if stopped < 50 {
		t.Errorf("only %d were stopped", stopped)
	}
}

// TestSearchKeepsItsWord checks that the local search ends with a set that fits and has the step time of the
// result, for any number of evaluations.
func TestSearchKeepsItsWord(t *testing.T) {
	for seed := range uint64(200) {
		p := randomProblem(seed, enginetest.Shape{MinStages: 5, MaxStages: 20}, engine.Whole)
		s := newStep(p)
		m := newModel(s, whole)
		start := firstValues(s.size, m.excess)
		for _, evaluations := range []int{0, 1, 10, 1000} {
			sr := newSearch(m, start, 0, evaluations, nil)
			sr.steepest()
			sr.iterate(rand.New(rand.NewPCG(seed, 0)), evaluations)
			if sr.value > m.time(start) || m.time(sr.best) != sr.value {
				t.Fatalf("seed %d: start %d, got %d, which is %d", seed, m.time(start), sr.value, m.time(sr.best))
			}
		}
	}
}

// TestDynprogVectors compares Algorithm 1 with the vector files: the optimum, the set of the tie-break, and its
// step time with whole transfers.
func TestDynprogVectors(t *testing.T) {
	values, sets := 0, 0
	for _, file := range []string{"offload_small", "offload_medium", "paper_examples"} {
		for _, v := range enginetest.Load(file) {
			want, has := v.ExpectInt("fraccomm_opt_scaled")
			if !has {
				continue
			}
			p := v.Problem(engine.Whole)
			o, err := bestFluidOf(p, nil)
			if err != nil || o.Time != time.Duration(want) || !o.Proven() {
				t.Errorf("%s: got %+v, %v; want %d, proven", v.ID, o, err, want)
				continue
			}
			values++
			plan, _ := NewOrdered(p, o.Set)
			if least, has := v.ExpectInt("dynprog_int_best_tie_scaled"); has {
				if most, _ := v.ExpectInt("dynprog_int_worst_tie_scaled"); int64(plan.Makespan) < least ||
					int64(plan.Makespan) > most {
					t.Errorf("%s: played, it takes %d; want %d to %d", v.ID, plan.Makespan, least, most)
				}
			}
			raw, has := v.Expect["dynprog_minbytes_early"]
			if !has || string(raw) == "null" {
				continue
			}
			sets++
			var tie struct {
				Set  []int
				Time int64 `json:"int_scaled"`
			}
			if err := json.Unmarshal(raw, &tie); err != nil {
				t.Fatal(err)
			}
			if int64(plan.Makespan) != tie.Time || !equalSets(o.Set, subset(len(o.Set), tie.Set)) {
				t.Errorf("%s: set %v takes %d; want %v, %d", v.ID, o.Set, plan.Makespan, tie.Set, tie.Time)
			}
		}
	}
	if values < 80 || sets < 60 {
		t.Errorf("compared %d values and %d sets: are the vectors there?", values, sets)
	}
}

func equalSets(a, b []bool) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestOffloadSearchVectors checks that offloadsearch finds and proves the best set for whole transfers.
func TestOffloadSearchVectors(t *testing.T) {
	compared := 0
	for _, file := range []string{"offload_small", "offload_medium", "paper_examples"} {
		for _, v := range enginetest.Load(file) {
			want, has := v.ExpectInt("int_ordered_opt_scaled")
			if !has {
				continue
			}
			compared++
			sol, err := Search.Solve(v.Problem(engine.Whole), nil, nil)
			if err != nil || sol.Makespan != time.Duration(want) || !sol.Optimal {
				t.Errorf("%s: got %+v, %v; want %d, optimal", v.ID, sol, err, want)
			}
		}
	}
	if compared < 80 {
		t.Errorf("compared %d values: are the vectors there?", compared)
	}
}

// TestEnough checks that the local search ends when its descents keep returning to the best time, and that it
// ends later if more evaluations are allowed.
func TestEnough(t *testing.T) {
	p := longChain(40, engine.Whole)
	used := func(evaluations int) int {
		s := newStep(p)
		m := newModel(s, s.rule())
		m.excess = newModel(s, fluid).excess
		sr := newSearch(m, firstValues(s.size, s.peak()-p.Budget), 0, evaluations, nil)
		sr.steepest()
		sr.iterate(rand.New(rand.NewPCG(1, 0)), evaluations)
		return evaluations - sr.left
	}
	few, many := used(2_000_000), used(20_000_000)
	if few >= 2_000_000 || many >= 20_000_000 || many <= few {
		t.Errorf("used %d of 2,000,000 evaluations and %d of 20,000,000; want less than all, and more of more",
			few, many)
	}
}

// bestFluidOf finds the fastest set with fractional communications [Algorithm 1 of paper 000]. The
// errors are those of a strategy. If time runs out, it returns the best set so far with the
// context's error.
func bestFluidOf(p *engine.Problem, poll *engine.Poll) (*fluidOptimum, error) {
	s, err := begin(p)
	if err != nil {
		return nil, err
	}
	return bestFluidSet(s, poll), poll.Err()
}
