package graphs

import (
	"context"
	"math/bits"
	"testing"
	"testing/synctest"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/enginetest"
)

// TestWarm: sequences from other budgets make a short search better, never worse.
func TestWarm(t *testing.T) {
	gained := 0
	for seed := range uint64(5) {
		g := enginetest.RandomGraph(enginetest.Rand(seed), 90)
		m, err := newModel(g)
		if err != nil {
			t.Fatal(err)
		}
		args, _ := graphSearch.Parse(nil)
		s := newSearcher(m, args, nil)
		s.total = 800
		keep, _, _ := m.cost(m.given())
		var budgets []engine.Bytes
		for k := engine.Bytes(4); k < 10; k++ {
			budgets = append(budgets, keep*k/10)
		}
		found := s.down(budgets)
		for _, b := range budgets {
			p := &engine.Problem{Graph: g, Budget: b}
			alone, err := s.solve(p, bound.AnyOrder)
			if err != nil {
				continue
			}
			sol := s.warm(p, alone, found)
			if sol.Peak > b || sol.Makespan > alone.Makespan {
				t.Errorf("seed %d within %d: %d in %d; alone %d", seed, b, sol.Makespan, sol.Peak, alone.Makespan)
			}
			if sol.Makespan < alone.Makespan {
				gained++
			}
		}
	}
	if gained < 2 {
		t.Errorf("%d are faster for what was found before", gained)
	}
	t.Logf("%d are faster", gained)
}

// TestBeginsWithRuns: where blocks do badly, the search begins with what DTR runs.
func TestBeginsWithRuns(t *testing.T) {
	m, err := newModel(UNet(5, 9))
	if err != nil {
		t.Fatal(err)
	}
	args, _ := graphSearch.Parse(nil)
	s := newSearcher(m, args, nil)
	s.total = 100
	keep, base, _ := m.cost(m.given())
	for percent, most := range map[engine.Bytes]int64{30: 800, 20: 1800} {
		sol, err := s.solve(&engine.Problem{Graph: m.g, Budget: keep * percent / 100}, bound.AnyOrder)
		if err != nil {
			t.Errorf("within %d %%: %v", percent, err)
		} else if extra := int64(sol.Makespan-base) * 10_000 / int64(base); extra > most {
			t.Errorf("within %d %%: takes %d more in ten thousand, want %d at most", percent, extra, most)
		}
	}
}

// TestRunsAreFew: where time is of no account, nothing runs again without end all the same.
func TestRunsAreFew(t *testing.T) {
	m, err := newModel(UNet(2, 1))
	if err != nil {
		t.Fatal(err)
	}
	a := &annealer{state: newState(m, 0, false, m.given()), r: newRandom(1), scale: 1}
	a.anneal(course{temperature: 1e6, cooling: 1, weight: 1e-9, growing: 1}, 20_000, 1, 0)
	most := 0
	for _, runs := range a.runs {
		most = max(most, len(runs))
	}
	if want := 4 + bits.Len(uint(len(m.order))); most != want {
		t.Errorf("some operation runs %d times, want %d", most, want)
	}
}

// TestSoon: a schedule is told before the lower bound and the blocks are found, and after that it is told
// how far the search is, again and again, so that whoever shows schedules late has the occasion.
func TestSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := UNet(4, 4)
		m, _ := newModel(g)
		keep, _, _ := m.cost(m.given())
		// all reports are heard
		ticking := context.WithValue(t.Context(), engine.Yield{}, func() { time.Sleep(engine.ReportEvery) })
		var first, after int
		poll := engine.NewPoll(ticking, func(pr engine.Progress) {
			switch {
			case pr.Best != nil && first == 0:
				first = 1
			case first == 0:
				t.Error("counts before it has a schedule")
			default:
				after++
			}
		})
		if _, err := graphSearch.Solve(&engine.Problem{Graph: g, Budget: keep * 4 / 10}, nil, poll); err != nil {
			t.Fatal(err)
		}
		if first == 0 || after < 100 {
			t.Errorf("told a schedule: %d, and %d times afterwards; want 1 and 100 or more", first, after)
		}
	})
}
