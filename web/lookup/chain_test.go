package lookup

import (
	"errors"
	"slices"
	"testing"
	"time"

	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
	"memtide/web/lookup/tracetest"
)

// checkChain returns an error if the critical chain of m does not match its trace. Links must follow each other
// without a gap from the start of the step to its end, every run and copy in the chain must be under way for the
// time of its link, and a link must begin when its span begins.
func checkChain(m *Index) error {
	chain, at := m.CriticalChain(), time.Duration(0)
	for i, c := range chain {
		if c.From != at || c.To <= c.From {
			return errors.New("a link is empty, or does not begin where the one before it ends")
		}
		at = c.To
		if c.Target.Kind == Nothing {
			if i == len(chain)-1 {
				return errors.New("the chain ends with nothing at work")
			}
			continue
		}
		s := &m.Trace.Spans[c.Target.Index]
		if s.Start != c.From || c.To > s.End {
			return errors.New("a link is outside of its span, or does not begin with it")
		}
		if s.Lane == sim.Compute && c.To != s.End {
			return errors.New("a run lets the next link go before it ends")
		}
	}
	if at != m.Trace.Makespan {
		return errors.New("the chain does not cover the step")
	}
	return nil
}

// TestCriticalChainIsContiguous checks the critical chains of schedules of random chains, for all strategies.
func TestCriticalChainIsContiguous(t *testing.T) {
	played, copies, held := 0, 0, 0
	for seed := range uint64(120) {
		r := enginetest.Rand(seed)
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 2, MaxStages: 7, MaxSize: 20, MaxTime: 12})
		d := enginetest.Device([]engine.Duplex{engine.HalfDuplex, engine.FullDuplex}[r.IntN(2)])
		p := engine.NewChainProblem(c, d, []engine.Transfers{engine.Whole, engine.Streamed}[r.IntN(2)],
			enginetest.RandomBudget(r, c))
		for _, st := range engine.Strategies() {
			sol, err := st.Solve(p, nil, nil)
			if err != nil {
				continue // the budget is too small, or the strategy does not apply
			}
			trace, err := sim.Play(p, sol.Schedule)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, st.Name, err)
			}
			m := New(p, trace)
			played++
			if err := checkChain(m); err != nil {
				t.Fatalf("seed %d, %s: %v\nchain %+v\nspans %+v", seed, st.Name, err, m.CriticalChain(), trace.Spans)
			}
			for _, link := range m.CriticalChain() {
				switch {
				case link.Target.Kind == Nothing:
					held++
				case trace.Spans[link.Target.Index].Lane != sim.Compute:
					copies++
				}
			}
		}
	}
	t.Logf("%d schedules; %d copies and %d stretches held back on their chains", played, copies, held)
	if played < 300 || copies < 100 || held < 10 {
		t.Errorf("%d schedules, %d copies and %d held stretches on their chains: too easy to mean anything", played,
			copies, held)
	}
}

// TestCriticalChainWithoutCauses checks that traces whose spans have no causes have a chain, too.
func TestCriticalChainWithoutCauses(t *testing.T) {
	for seed := range uint64(20) {
		if err := checkChain(randomModel(300, seed)); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	if got := New(tracetest.Problem(), &sim.Trace{}).CriticalChain(); len(got) != 0 {
		t.Errorf("a step in which nothing runs has the chain %+v; want none", got)
	}
}

// TestCriticalChainOfSmallTrace checks that the chain of the small trace goes from the runs to the fetch that the
// last run waits for.
func TestCriticalChainOfSmallTrace(t *testing.T) {
	m := smallModel()
	want := []ChainLink{{Target{OnSpan, 0}, 0, 20 * ms}, {Target{OnSpan, 1}, 20 * ms, 50 * ms},
		{Target{OnSpan, 5}, 50 * ms, 80 * ms},
		{Target{}, 80 * ms, 105 * ms}, {Target{OnSpan, 7}, 105 * ms, 155 * ms}, {Target{OnSpan, 8}, 155 * ms, 195 * ms}}
	if got := m.CriticalChain(); !slices.Equal(got, want) {
		t.Errorf("chain %+v\nwant  %+v", got, want)
	}
}
