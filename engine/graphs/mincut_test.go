package graphs

import (
	"fmt"
	"testing"

	"memtide/engine"
)

// TestMinCutIsNotMonotonic checks that on a transformer a smaller share can have a larger peak. With share 0 the
// whole forward pass runs again and saves no memory.
func TestMinCutIsNotMonotonic(t *testing.T) {
	p := &engine.Problem{Graph: Transformer(12), Budget: engine.NoLimit}
	keep, err := engine.Lookup("lpmf").Solve(p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, solver := range []string{"dp", "greedy"} {
		rises := 0
		var last engine.Bytes
		for share := 100; share >= 0; share -= 5 {
			m, _ := newModel(p.Graph)
			l := &plans{m: m}
			args, err := minCut.Parse(engine.Args{"share": fmt.Sprint(share), "solver": solver})
			if err != nil {
				t.Fatal(err)
			}
			minCutPlans(l, args, nil)
			got := l.list[0]
			if share < 100 && got.peak > last {
				rises++
			}
			if last = got.peak; share == 0 && (got.peak < keep.Peak*99/100 || got.took < keep.Makespan*5/4) {
				t.Errorf("%s, share 0: peak %d, takes %v; want about %d and a quarter more than %v", solver, got.peak,
					got.took, keep.Peak, keep.Makespan)
			}
			t.Logf("%s, share %d: peak %d %%, time +%d ‰", solver, share, got.peak*100/keep.Peak,
				(got.took-keep.Makespan)*1000/keep.Makespan)
		}
		if rises < 1 {
			t.Errorf("%s: no smaller share has a larger peak", solver)
		}
	}
}
