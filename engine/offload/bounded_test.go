package offload

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// TestBelow checks that an evaluation that may stop at a limit returns the step time if it is below
// the limit, and at least the limit otherwise.
func TestBelow(t *testing.T) {
	under, over := 0, 0
	for seed := range uint64(300) {
		for _, r := range []rule{whole, streamed, fluid} {
			p := randomProblem(seed, enginetest.Shape{MaxStages: 7}, engine.Whole)
			s := newStep(p)
			m := newModel(s, r)
			for mask := range 1 << s.n {
				set := fromMask(s.n, mask)
				want := m.time(set)
				if want == never {
					continue
				}
				for _, limit := range []int64{want - 1, want, want + 1, m.compute + (want-m.compute)/2} {
					got := m.below(set, limit)
					if want < limit && got != want || want >= limit && got < limit {
						t.Fatalf("seed %d rule %d set %v limit %d: got %d, the step time is %d\n%s", seed, r, set,
							limit, got, want, enginetest.Dump(p.Chain.Chain))
					}
					if want < limit {
						under++
					} else {
						over++
					}
				}
			}
		}
	}
	if under < 1000 || over < 1000 {
		t.Errorf("%d below their limits and %d not: the generator is off", under, over)
	}
}

// TestFrontierNarrow checks the results of a search with few partial decisions: the set takes the
// step time of the result, no set takes less than the bound, and a proof is correct.
func TestFrontierNarrow(t *testing.T) {
	cut, proven := 0, 0
	for seed := range uint64(600) {
		p := randomProblem(seed, enginetest.Shape{MinStages: 6, MaxStages: 10}, engine.Transfers(seed%2))
		s := newStep(p)
		m, ideal := newModel(s, s.rule()), newModel(s, fluid)
		best := int64(never)
		for mask := range 1 << s.n {
			best = min(best, m.time(fromMask(s.n, mask)))
		}
		all := fromMask(s.n, 1<<s.n-1)
		f := newFrontier(m, ideal, all, m.time(all), 1<<40, nil)
		done := f.run(6, 3)
		if done {
			proven++
		} else {
			cut++
		}
		if m.time(f.best) != f.value || f.value < best || f.least > best || done && f.value != best {
			t.Fatalf("seed %d: proven %v, found %d and at least %d; its set takes %d, the best one %d\n%s",
				seed, done, f.value, f.least, m.time(f.best), best, enginetest.Dump(p.Chain.Chain))
		}
	}
	if cut < 50 || proven < 50 {
		t.Errorf("%d were cut and %d proven: the generator is off", cut, proven)
	}
}

// TestSearchReports checks that offloadsearch reports its best schedule so far, that the schedule
// can be played, and that the result is no worse.
func TestSearchReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := longChain(39, engine.Whole)
		var best *engine.Solution
		// The clock advances at each poll, so that no report is dropped.
		ticking := context.WithValue(t.Context(), engine.Yield{}, func() { time.Sleep(engine.ReportEvery) })
		poll := engine.NewPoll(ticking, func(pr engine.Progress) {
			if pr.Best != nil {
				best = pr.Best
			}
		})
		sol, err := Search.Solve(p, nil, poll)
		if err != nil || best == nil {
			t.Fatalf("got %v and a best so far %v; want a solution and a report of one before", err, best)
		}
		trace, err := sim.Play(p, best.Schedule)
		if err != nil || trace.Makespan != best.Makespan || trace.Peak != best.Peak || trace.Peak > p.Budget ||
			sol.Makespan > best.Makespan {
			t.Errorf("best so far %v and %d bytes within %d, played %+v, %v; the last word is %v", best.Makespan,
				best.Peak, p.Budget, trace, err, sol.Makespan)
		}
	})
}
