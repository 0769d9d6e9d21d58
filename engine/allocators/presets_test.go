package allocators_test

import (
	"errors"
	"os"
	"testing"

	"memtide/engine"
	"memtide/engine/alloc"
	_ "memtide/engine/offload"
	_ "memtide/engine/remat"
	"memtide/engine/sim"
	"memtide/profiles/preset"
)

// TestRotorSchedulesOfPresets proves that the buffers of rotor's schedules fit into a pool of the size of their
// peak, for every preset and budgets from the smallest to one that keeps nearly everything. It logs how much more
// best fit needs. An ordinary run has one budget of each preset, and one with MEMTIDE_LONG=1 all of them.
func TestRotorSchedulesOfPresets(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for WebAssembly, after this ran natively")
	}
	for _, known := range preset.Presets() {
		if known.Model() != nil { // the tests of package llm play these
			continue
		}
		t.Run(known.ID, func(t *testing.T) {
			p, err := known.Profile(known.DefaultBatch)
			if err != nil {
				t.Fatal(err)
			}
			if p.Chain == nil {
				t.Skip("a list of buffers: there is nothing to schedule")
			}
			problem := engine.NewChainProblem(p.Chain, *p.Device, engine.Whole, 0)
			least := smallestBudget(t, problem)
			all := p.Chain.KeepAllPeak() + p.Chain.Resident.Total()
			for tenths := engine.Bytes(0); tenths <= 9; tenths += 3 {
				if tenths == 3 || os.Getenv("MEMTIDE_LONG") != "" {
					placeWithoutLoss(t, problem.WithBudget(least+(all-least)*tenths/10))
				}
			}
		})
	}
}

// smallestBudget returns the smallest budget for which rotor finds a schedule.
func smallestBudget(t *testing.T, p *engine.Problem) engine.Bytes {
	t.Helper()
	_, err := engine.Lookup("rotor").Solve(p, nil, nil)
	var infeasible *engine.InfeasibleError
	if !errors.As(err, &infeasible) {
		t.Fatalf("in nothing: got %v, want an InfeasibleError", err)
	}
	return infeasible.Smallest
}

// mostPolls limits the polls of a proof for a preset. Nearly all polls come from the quick orders, which poll
// once for each buffer.
const mostPolls = 100_000

// placeWithoutLoss checks that the buffers of rotor's schedule for p fit into a pool of the size of their peak.
func placeWithoutLoss(t *testing.T, p *engine.Problem) {
	t.Helper()
	sol, err := engine.Lookup("rotor").Solve(p, nil, nil)
	if err != nil {
		t.Fatalf("in %d: %v", p.Budget, err)
	}
	trace, err := sim.Play(p, sol.Schedule)
	if err != nil {
		t.Fatalf("in %d: %v", p.Budget, err)
	}
	r := alloc.FromTrace(trace, alloc.AsPlayed)
	if want := trace.Peak - p.Graph.Fixed; r.AggregatePeak() != want {
		t.Errorf("in %d: %d bytes live at a moment, the trace's peak less what is resident is %d", p.Budget,
			r.AggregatePeak(), want)
	}
	l, err := alloc.Lookup("optimal").Place(r, engine.NoLimit, nil,
		engine.NewPoll(engine.LimitCalls(t.Context(), mostPolls), nil))
	if err != nil {
		t.Fatalf("in %d: within %d polls: %v", p.Budget, mostPolls, err)
	}
	sound(t, "optimal", r, l)
	if l.Pool != r.AggregatePeak() || !l.Optimal {
		t.Errorf("in %d: got a pool of %d, optimal %v; want %d, true", p.Budget, l.Pool, l.Optimal, r.AggregatePeak())
	}
	best := place(t, "best-fit", r, engine.NoLimit)
	t.Logf("in %d MiB: %d buffers; best fit needs %.1f %% more", p.Budget/engine.MiB, len(r.Buffers),
		100*float64(best.Pool-l.Pool)/float64(l.Pool))
}

// TestOffloadedLives checks the buffers of a schedule that offloads. Their largest sum is the peak that the
// simulator measured, some of them are flagged as High, and their layouts are valid for each order of the
// requests of one moment.
func TestOffloadedLives(t *testing.T) {
	p, err := preset.Lookup("resnet50").Profile(64)
	if err != nil {
		t.Fatal(err)
	}
	problem := engine.NewChainProblem(p.Chain, *p.Device, engine.Whole, 0)
	problem.Budget = p.Chain.Resident.Total() + p.Chain.KeepAllPeak()*2/3
	sol, err := engine.Lookup("greedy").Solve(problem, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := sim.Play(problem, sol.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	want := trace.Peak - p.Chain.Resident.Total()
	for order := alloc.AsPlayed; order <= alloc.DerivativeFirst; order++ {
		r := alloc.FromTrace(trace, order)
		if r.AggregatePeak() != want {
			t.Errorf("order %d: %d bytes live at a moment, want %d", order, r.AggregatePeak(), want)
		}
		flagged := 0
		for _, b := range r.Buffers {
			if b.High {
				flagged++
			}
		}
		if flagged == 0 {
			t.Errorf("order %d: no buffer is flagged", order)
		}
		for _, name := range []string{"best-fit", "high-end", "pytorch", "va"} {
			l := place(t, name, r, engine.NoLimit)
			t.Logf("order %d: %s reserves %d for %d, %d flagged", order, name, l.PeakReserved(), want, flagged)
		}
	}
}

// TestOrderMatters places a schedule in which fetched values and gradients are requested at the same moment. The
// pool depends on which of the two come first.
func TestOrderMatters(t *testing.T) {
	p, err := preset.Lookup("alexnet").Profile(128)
	if err != nil {
		t.Fatal(err)
	}
	problem := engine.NewChainProblem(p.Chain, *p.Device, engine.Whole, 0)
	problem = problem.WithBudget((p.Chain.KeepAllPeak() + p.Chain.Resident.Total()) * 6 / 10)
	sol, err := engine.Lookup("greedy").Solve(problem, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := sim.Play(problem, sol.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	a := alloc.Lookup("high-end")
	pools := map[string]engine.Bytes{}
	for _, word := range a.Params[0].Choices {
		pools[word] = place(t, "high-end", alloc.FromTrace(trace, a.Order(engine.Args{a.Params[0].Name: word})),
			engine.NoLimit).Pool
	}
	if pools["as-played"] != pools["derivative-first"] || pools["prefetch-first"] == pools["derivative-first"] {
		t.Errorf("got pools %v; want gradients first as it is played, and another pool the other way round", pools)
	}
	t.Logf("pools %v", pools)
}

// TestOrderOfArguments reads the order from arguments.
func TestOrderOfArguments(t *testing.T) {
	for _, c := range []struct {
		allocator string
		args      engine.Args
		want      alloc.Order
		refused   bool
	}{
		{"best-fit", nil, alloc.AsPlayed, false},
		{"best-fit", engine.Args{"order": "prefetch-first"}, alloc.PrefetchFirst, false},
		{"high-end", engine.Args{"order": "derivative-first"}, alloc.DerivativeFirst, false},
		{"high-end", engine.Args{"order": "as-played"}, alloc.AsPlayed, false},
		{"best-fit", engine.Args{"order": "largest-first"}, 0, true},
		{"optimal", nil, alloc.AsPlayed, false},
		{"optimal", engine.Args{"order": "prefetch-first"}, 0, true},
	} {
		a := alloc.Lookup(c.allocator)
		_, err := a.Parse(c.args)
		if (err != nil) != c.refused {
			t.Errorf("%s %v: error %v, want refused %v", c.allocator, c.args, err, c.refused)
		}
		if got := a.Order(c.args); err == nil && got != c.want {
			t.Errorf("%s %v: order %d, want %d", c.allocator, c.args, got, c.want)
		}
	}
}
