package combined

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// solved returns the cost of the best plan below a limit.
func solved(t *testing.T, tm *terms, limit int64, steps []int) (ticks int64, ok bool) {
	t.Helper()
	o, err := solve(tm, limit, steps, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.plans) > 0 && o.bound != o.cost {
		t.Errorf("limit %d, widths %v: the plan costs %d, its bound is %d", limit, steps, o.cost, o.bound)
	}
	return o.cost, len(o.plans) > 0
}

func mustTerms(t *testing.T, p *engine.Problem) *terms {
	t.Helper()
	tm, err := newTerms(p)
	if err != nil {
		t.Fatal(err)
	}
	return tm
}

// TestVectors checks that the plain recursion and the solver find the proven optima of the vector files.
func TestVectors(t *testing.T) {
	count := 0
	for _, file := range []string{"pofo_small", "pofo_medium", "paper_examples"} {
		for _, v := range enginetest.Load(file) {
			if v.Algorithm != "pofo" {
				continue
			}
			count++
			tm := mustTerms(t, v.Problem(engine.Streamed))
			want, fits := v.ExpectInt("makespan_scaled")
			if got, ok := plainMakespan(tm); ok != fits || ok && got != want {
				t.Errorf("%s: the recursion says %d, %v; want %d, %v", v.ID, got, ok, want, fits)
			}
			if got, ok := solved(t, tm, unreachable, widths); ok != fits || ok && got != want {
				t.Errorf("%s: got %d, %v; want %d, %v", v.ID, got, ok, want, fits)
			}
		}
	}
	if count != 91 {
		t.Errorf("%d vectors, want 91", count)
	}
}

// TestLimits compares the solver with the plain recursion, with and without narrow searches before
// the full one, without an upper bound, with a loose one, and with one that only an optimum meets.
func TestLimits(t *testing.T) {
	feasible := 0
	for seed := range uint64(1000) {
		r := enginetest.Rand(seed)
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 5})
		d := engine.Device{ToHost: engine.Rate(1+seed%3) * 1e9, ToDev: engine.Rate(1+seed/3%3) * 1e9}
		tm := mustTerms(t, engine.NewChainProblem(c, d, engine.Streamed, enginetest.RandomBudget(r, c)))
		want, fits := plainMakespan(tm)
		limits := []int64{unreachable}
		if fits {
			feasible++
			limits = append(limits, want+1, want+want/8+2)
			if got, ok := solved(t, tm, want, widths); ok {
				t.Errorf("below the optimum %d: got %d", want, got)
			}
		}
		for _, steps := range [][]int{widths, {0}} {
			for _, limit := range limits {
				if got, ok := solved(t, tm, limit, steps); ok != fits || ok && got != want {
					t.Errorf("limit %d, widths %v: got %d, %v; want %d, %v", limit, steps, got, ok, want, fits)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d, room %d, rates %d and %d\n%s", seed, tm.room, d.ToHost, d.ToDev, enginetest.Dump(c))
		}
	}
	if feasible < 100 {
		t.Errorf("only %d cases are feasible: the generator is off", feasible)
	}
}

// TestLonger compares longer chains and larger numbers with the plain recursion.
func TestLonger(t *testing.T) {
	feasible := 0
	for seed := range uint64(1500) {
		r := enginetest.Rand(20000 + seed)
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 5, MaxStages: 8, MaxSize: 30, MaxTime: 40})
		d := engine.Device{ToHost: engine.Rate(1+seed%4) * 5e8, ToDev: engine.Rate(1+seed/4%3) * 1e9}
		budget := c.KeepAllPeak() * engine.Bytes(25+r.IntN(75)) / 100
		tm := mustTerms(t, engine.NewChainProblem(c, d, engine.Streamed, budget))
		want, fits := plainMakespan(tm)
		limits := []int64{unreachable}
		if fits {
			feasible++
			limits = append(limits, want+1)
		}
		for _, limit := range limits {
			if got, ok := solved(t, tm, limit, widths); ok != fits || ok && got != want {
				t.Fatalf("seed %d, limit %d, room %d: got %d, %v; want %d, %v\n%s", seed, limit, tm.room, got, ok,
					want, fits, enginetest.Dump(c))
			}
		}
	}
	if feasible < 500 {
		t.Errorf("only %d cases are feasible: the generator is off", feasible)
	}
}

// TestShortCurves compares searches whose bounds cover the cost of recomputation up to a part of
// the limit with searches whose bounds cover all of it.
func TestShortCurves(t *testing.T) {
	defer func(n int) { curveBytes = n }(curveBytes)
	short := 0
	for seed := range uint64(40) {
		r := enginetest.Rand(60000 + seed)
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 20, MaxStages: 24, MaxSize: 1000, MaxTime: 1000})
		budget := c.KeepAllPeak() * engine.Bytes(30+r.IntN(30)) / 100
		slow := engine.Device{ToHost: 1e8, ToDev: 1e8} // so slow that plans recompute more than they offload
		p := engine.NewChainProblem(c, slow, engine.Streamed, budget)
		var got [2]int64
		var fits [2]bool
		for k, bytes := range []int{16 * maxPoints, 20_000} {
			curveBytes = bytes
			tm := mustTerms(t, p)
			got[k], fits[k] = solved(t, tm, 2*tm.base[tm.n], widths)
			if k == 1 && tm.shared.rematOnly != nil && tm.shared.slack < got[k]-tm.base[tm.n] {
				short++
			}
		}
		if got[0] != got[1] || fits[0] != fits[1] {
			t.Errorf("seed %d, room %d: got %d, %v; want %d, %v\n%s", seed, budget, got[1], fits[1], got[0], fits[0],
				enginetest.Dump(c))
		}
	}
	if short < 10 {
		t.Errorf("%d bounds know less than the plan costs, want a few", short)
	}
}

// TestSmallest checks that a refusal names the smallest budget that any plan fits into, and that recomputation
// alone never needs less.
func TestSmallest(t *testing.T) {
	lower := 0
	for seed := range uint64(300) {
		r := enginetest.Rand(40000 + seed)
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 6})
		p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Streamed, 0)
		_, err := engine.Lookup("pofo").Solve(p, nil, nil)
		var refused, rotor *engine.InfeasibleError
		if !errors.As(err, &refused) {
			if c.KeepAllPeak() > 0 {
				t.Errorf("seed %d: got %v within no memory", seed, err)
			}
			continue
		}
		for budget := max(refused.Smallest-3, c.Resident.Total()); budget <= refused.Smallest; budget++ {
			_, fits := plainMakespan(mustTerms(t, p.WithBudget(budget)))
			if fits != (budget >= refused.Smallest) {
				t.Errorf("seed %d: the recursion fits into %d: %v; the smallest budget is said to be %d\n%s", seed,
					budget, fits, refused.Smallest, enginetest.Dump(c))
			}
		}
		if _, err := engine.Lookup("rotor").Solve(p, nil, nil); !errors.As(err, &rotor) ||
			rotor.Smallest < refused.Smallest {
			t.Errorf("seed %d: rotor is refused with %v, pofo with %v", seed, err, refused)
		} else if rotor.Smallest > refused.Smallest {
			lower++
		}
	}
	if lower < 50 {
		t.Errorf("offloads make the smallest budget smaller in %d cases only: the generator is off", lower)
	}
}

// TestMoreMemory checks that no plan is slower than a plan for a smaller budget, or than recomputation alone.
func TestMoreMemory(t *testing.T) {
	for seed := range uint64(60) {
		r := enginetest.Rand(60000 + seed)
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 6, MaxStages: 14, MaxSize: 60, MaxTime: 60})
		p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Streamed, 0)
		last := time.Duration(never)
		for percent := engine.Bytes(20); percent <= 100; percent += 5 {
			sol := holds(t, p.WithBudget(c.KeepAllPeak()*percent/100), nil)
			if sol == nil {
				continue
			}
			if sol.Makespan > last {
				t.Errorf("%d %%: takes %v, and %v with less memory", percent, sol.Makespan, last)
			}
			last = sol.Makespan
		}
		if t.Failed() {
			t.Fatalf("seed %d\n%s", seed, enginetest.Dump(c))
		}
	}
}

// TestRefuses checks problems to which the strategy does not apply.
func TestRefuses(t *testing.T) {
	c := enginetest.RandomChain(enginetest.Rand(1), enginetest.Shape{MinStages: 4, MaxStages: 4})
	pofo := engine.Lookup("pofo")
	for _, d := range []engine.Device{{}, {ToHost: 1e9}, {ToDev: 1e9}} {
		p := engine.NewChainProblem(c, d, engine.Streamed, engine.NoLimit)
		if _, err := pofo.Solve(p, nil, nil); !errors.Is(err, engine.ErrNeedsLink) {
			t.Errorf("rates %d and %d: got %v, want %v", d.ToHost, d.ToDev, err, engine.ErrNeedsLink)
		}
	}
	p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Streamed, engine.NoLimit)
	p.Chain = nil
	if _, err := pofo.Solve(p, nil, nil); !errors.Is(err, engine.ErrNeedsChain) {
		t.Errorf("a graph: got %v, want %v", err, engine.ErrNeedsChain)
	}
	long := enginetest.RandomChain(enginetest.Rand(1), enginetest.Shape{MinStages: 800, MaxStages: 800})
	p = engine.NewChainProblem(long, enginetest.Device(engine.HalfDuplex), engine.Streamed, engine.NoLimit)
	if _, err := pofo.Solve(p, nil, nil); !errors.Is(err, engine.ErrUnsupported) ||
		!strings.Contains(err.Error(), fmt.Sprintf("%d MB", tables(800)/1_000_000)) {
		t.Errorf("800 stages: got %v, want an error that wraps %v and says what the tables take", err,
			engine.ErrUnsupported)
	}
	if got := tables(430); got > maxTables {
		t.Errorf("430 stages are said to take %d bytes, want no more than %d", got, maxTables)
	}
	huge := enginetest.RandomChain(enginetest.Rand(1), enginetest.Shape{MinStages: 4, MaxStages: 4})
	huge.Stages[0].Saved += 1 << 60
	p = engine.NewChainProblem(huge, engine.Device{ToHost: 1, ToDev: 1}, engine.Streamed, 1<<61)
	if _, err := pofo.Solve(p, nil, nil); !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("transfers of 2^60 s: got %v, want an error that wraps %v", err, engine.ErrUnsupported)
	}
}

// TestGap checks that a search that runs out of time returns a schedule that is no slower than
// rotor's, which is found in the first 8,000 polls, and a bound, which gets no worse with more
// polls.
func TestGap(t *testing.T) {
	c := enginetest.RandomChain(enginetest.Rand(3),
		enginetest.Shape{MinStages: 60, MaxStages: 60, MaxSize: 1 << 30, MaxTime: 1e7})
	p := engine.NewChainProblem(c, engine.Device{ToHost: 12e9, ToDev: 12e9}, engine.Streamed, c.KeepAllPeak()*45/100)
	rotor, err := engine.Lookup("rotor").Solve(p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	bound := c.ForwardTime() + c.BackTime()
	for _, calls := range []int{10_000, 20_000, 100_000} {
		sol, err := engine.Lookup("pofo").Solve(p, nil, engine.NewPoll(engine.LimitCalls(t.Context(), calls), nil))
		if !errors.Is(err, context.DeadlineExceeded) || sol == nil {
			t.Fatalf("stopped after %d polls: got %v, %v; want a schedule and %v", calls, sol, err,
				context.DeadlineExceeded)
		}
		if sol.Makespan > rotor.Makespan || sol.Bound > sol.Makespan || sol.Bound < bound || sol.Optimal {
			t.Errorf("stopped after %d polls: step time %v, bound %v, optimal %v; want at most the %v of rotor, at least %v, not said to be optimal", calls, sol.Makespan, sol.Bound, sol.Optimal, rotor.Makespan, bound)
		}
		bound = sol.Bound
	}
}

// TestReports checks that the best solutions that are reported on the way can be played, that their
// claims are true, and that none is worse than the one before.
func TestReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The clock advances at each poll, so that no report is dropped.
		ticking := context.WithValue(t.Context(), engine.Yield{}, func() { time.Sleep(engine.ReportEvery) })
		c := enginetest.RandomChain(enginetest.Rand(5),
			enginetest.Shape{MinStages: 90, MaxStages: 90, MaxSize: 1 << 30, MaxTime: 1e7})
		unsaved := enginetest.RandomChain(enginetest.Rand(5),
			enginetest.Shape{MinStages: 300, MaxStages: 300, MaxSize: 1 << 30, MaxTime: 1e7})
		enginetest.GiveUnsaved(enginetest.Rand(5), unsaved)
		for i, c := range []*engine.Chain{c, c, unsaved} {
			mode, share := []engine.Transfers{engine.Streamed, engine.Whole, engine.Streamed}[i],
				[]engine.Bytes{30, 30, 60}[i]
			p := engine.NewChainProblem(c, engine.Device{ToHost: 100e9, ToDev: 100e9}, mode, c.KeepAllPeak()*share/100)
			reports, before := 0, time.Duration(math.MaxInt64)
			sol, err := engine.Lookup("pofo").Solve(p, nil, engine.NewPoll(ticking, func(pr engine.Progress) {
				if pr.Best == nil {
					return
				}
				reports++
				tr, err := sim.Play(p, pr.Best.Schedule)
				if err != nil || tr.Makespan != pr.Best.Makespan || tr.Peak != pr.Best.Peak || tr.Makespan > before {
					t.Errorf("case %d: %v; played %v and %d, claimed %v and %d, before it %v", i, err, tr.Makespan,
						tr.Peak, pr.Best.Makespan, pr.Best.Peak, before)
				}
				before = pr.Best.Makespan
			}))
			if err != nil || sol == nil || reports == 0 {
				t.Errorf("case %d: got a solution %v, error %v and %d reports of the best so far; want all but the error", i, sol != nil, err, reports)
			}
		}
	})
}
