package remat

import (
	"errors"
	"math/rand"
	"testing"
	"time"

	"memtide/engine"
)

// wrappings calls visit with the sequence of every way to keep some stages and to compute consecutive others
// again as a whole. The last stage is kept.
func wrappings(n int, visit func(seq []engine.ChainOp)) {
	var ahead func(s int, forward, backward []engine.ChainOp)
	ahead = func(s int, forward, backward []engine.ChainOp) {
		if s > n {
			visit(append(append([]engine.ChainOp{}, forward...), backward...))
			return
		}
		next := append(append([]engine.ChainOp{}, forward...), engine.ChainOp{Kind: engine.FAll, Stage: s})
		ahead(s+1, next, append([]engine.ChainOp{{Kind: engine.BStep, Stage: s}}, backward...))
		lean := append([]engine.ChainOp{}, forward...)
		for t := s; t < n; t++ {
			kind := engine.FNone
			if t == s {
				kind = engine.FCk
			}
			lean = append(lean, engine.ChainOp{Kind: kind, Stage: t})
			ahead(t+1, lean, append(keepAll(nil, s, t), backward...))
		}
	}
	ahead(1, nil, nil)
}

// randomStages returns a chain of seven stages of small sizes.
func randomStages(rnd *rand.Rand) *engine.Chain {
	c := &engine.Chain{Input: engine.Bytes(rnd.Intn(6)), InputGrad: engine.Bytes(rnd.Intn(4)),
		LossGradAllocated: rnd.Intn(3) == 0, Resident: engine.Resident{Weights: engine.Bytes(rnd.Intn(3))}}
	for k := range 7 {
		b := func(n int) engine.Bytes { return engine.Bytes(rnd.Intn(n)) }
		st := engine.Stage{Forward: time.Duration(rnd.Intn(20)), Back: time.Duration(rnd.Intn(20)), Out: b(8),
			Grad: b(8), FwdTemp: b(5), BwdTemp: b(5)}
		if st.Unsaved = k < 6 && rnd.Intn(3) == 0; st.Unsaved {
			st.Saved = b(6)
		} else {
			st.Saved = st.Out + b(10)
		}
		c.Stages = append(c.Stages, st)
	}
	return c
}

// TestWrappableIsExhaustive compares wrappable with all ways on a thousand random chains, at a budget between the
// smallest and keeping everything, and one byte below the smallest.
func TestWrappableIsExhaustive(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for i := range 1000 {
		c := randomStages(rnd)
		least := engine.NoLimit
		wrappings(7, func(seq []engine.ChainOp) {
			_, peak := Replay(c, seq)
			least = min(least, peak)
		})
		budget := least
		if more := int(c.KeepAllPeak() - least); more > 0 {
			budget += engine.Bytes(rnd.Intn(more + 1))
		}
		want := time.Duration(-1)
		wrappings(7, func(seq []engine.ChainOp) {
			if total, peak := Replay(c, seq); peak <= budget && (want < 0 || total < want) {
				want = total
			}
		})
		p := engine.NewChainProblem(c, engine.Device{}, 0, budget)
		sol, err := engine.Lookup("wrappable").Solve(p, nil, nil)
		if err != nil {
			t.Fatalf("chain %d %+v, budget %d: %v, want a schedule of %v", i, c, budget, err, want)
		}
		if sol.Makespan != want || sol.Peak > budget || !sol.Optimal {
			t.Fatalf("chain %d %+v, budget %d: time %v, peak %d, optimal %v; want %v within the budget", i, c, budget,
				sol.Makespan, sol.Peak, sol.Optimal, want)
		}
		_, err = engine.Lookup("wrappable").Solve(p.WithBudget(least-1), nil, nil)
		short, ok := errors.AsType[*engine.InfeasibleError](err)
		if !ok || short.Smallest != least {
			t.Fatalf("chain %d %+v, budget %d: %v, want that %d would do", i, c, least-1, err, least)
		}
	}
}
