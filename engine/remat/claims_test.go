package remat_test

import (
	"testing"

	"memtide/engine"
	_ "memtide/engine/combined"
	"memtide/engine/enginetest"
	_ "memtide/engine/graphs"
	"memtide/engine/remat"
)

// sequences maps the names of sets, among which strategies that recompute claim to be optimal, to the sequences of
// Table 1 that are searched exhaustively: all or some of those in the set.
var sequences = map[string]remat.Class{
	"all schedules": remat.Persistent,
	"sequences of Table 1 that run no stage forward while its saved set is there": remat.AllSequences,
	"persistent recomputation":                         remat.Persistent,
	"persistent recomputation that keeps outputs only": remat.OutputsOnly,
	"persistent recomputation, segment by segment":     remat.Segments,
}

// TestOptimaAgainstBrute compares solutions of all strategies that recompute, and claim to be optimal, with
// exhaustive search. Strategies that also offload are compared with sequences here, and with all their plans in
// their own tests.
func TestOptimaAgainstBrute(t *testing.T) {
	r, cases, compared := enginetest.Rand(20), 50, map[engine.Class]int{}
	if testing.Short() {
		cases = 18
	}
	for i := range cases {
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 5, MaxSize: 6})
		if i%5 == 4 {
			enginetest.GiveUnsaved(r, c)
		}
		for _, budget := range []engine.Bytes{enginetest.RandomBudget(r, c), enginetest.RandomBudget(r, c),
			enginetest.RandomBudget(r, c), c.KeepAllPeak() - 1, c.KeepAllPeak(), engine.NoLimit} {
			for _, s := range engine.Strategies() {
				if s.Class&engine.MayRecompute == 0 {
					continue
				}
				for _, transfers := range []engine.Transfers{engine.Whole, engine.Streamed} {
					for _, duplex := range []engine.Duplex{engine.HalfDuplex, engine.FullDuplex} {
						p := engine.NewChainProblem(c, enginetest.Device(duplex), transfers, budget)
						sol, err := s.Solve(p, nil, nil)
						class, known := sequences["all schedules"], true
						if err == nil && s.Class == engine.MayRecompute {
							class, known = sequences[sol.OptimalAmong]
						}
						if err != nil || !sol.Optimal || !known {
							continue
						}
						compared[s.Class]++
						if best, ok := remat.Best(c, budget, class); ok && sol.Makespan > best {
							t.Fatalf("chain %d, %v transfers, %v duplex, budget %d\n%s%s: claims that %d is optimal, %d is possible",
								i, transfers, duplex, budget, enginetest.Dump(c), s.Name, sol.Makespan, best)
						}
					}
				}
			}
		}
	}
	t.Logf("compared: %v", compared)
	for _, class := range []engine.Class{engine.MayRecompute, engine.MayRecompute | engine.MayOffload} {
		if compared[class] < 10*cases {
			t.Errorf("%d claims of %v are compared", compared[class], class)
		}
	}
}
