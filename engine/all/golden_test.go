package all_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest/golden"
	"memtide/engine/sim"
	"memtide/profiles/preset"
)

// held returns the strategies whose answers are stored: those of the golden table, or all with -update. Stored answers
// do not change when a strategy is added.
var held = sync.OnceValue(func() []*engine.Strategy {
	all := engine.Strategies()
	if *golden.Update {
		return all
	}
	table, err := os.ReadFile(goldenTable)
	if err != nil {
		panic(err)
	}
	return slices.DeleteFunc(all, func(s *engine.Strategy) bool {
		return !bytes.Contains(table,
			[]byte(" "+s.Name+" "))
	})
})

var goldenTable = filepath.Join("testdata", "golden.txt")

// TestGolden compares the table of presets, strategies and budgets with the stored one. A new strategy is not in the
// stored table. A changed number is a change that users see: review it, and then run go test ./engine/all -run Golden
// -update.
func TestGolden(t *testing.T) {
	var got bytes.Buffer
	fmt.Fprintln(&got, "# preset strategy percent | step time ns, recompute ns, waiting ns, peak bytes, optimal")
	for _, id := range []string{"resnet50", "resnet101", "vgg16", "gpt2-medium", "lemma3", "lemma3-mirror",
		"nonpersistent"} { // a few of each kind, all of them chains that every strategy solves in moments
		ps := preset.Lookup(id)
		profile, err := ps.Profile(ps.DefaultBatch)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range held() {
			for _, percent := range []engine.Bytes{40, 60, 80, 100} {
				budget := profile.Chain.KeepAllPeak() * percent / 100
				p := engine.NewChainProblem(profile.Chain, *profile.Device, engine.Whole, budget)
				fmt.Fprintf(&got, "%s %s %d | %s\n", preset.Ref(ps.ID, ps.DefaultBatch), s.Name, percent,
					goldenRow(t, s, p))
			}
		}
	}
	golden.File(t, goldenTable, got.Bytes())
}

func goldenRow(t *testing.T, s *engine.Strategy, p *engine.Problem) string {
	t.Helper()
	sol, err := s.Solve(p, nil, nil)
	var infeasible *engine.InfeasibleError
	if errors.As(err, &infeasible) {
		return fmt.Sprintf("needs %d: %s", infeasible.Smallest, infeasible.Why)
	}
	if err != nil {
		return err.Error()
	}
	saysStopped(t, "", s, sol)
	trace, err := sim.Play(p, sol.Schedule)
	if err != nil {
		t.Errorf("%s: %v", s.Name, err)
		return err.Error()
	}
	return fmt.Sprintf("%d %d %d %d %v", trace.Makespan, trace.RecomputeTime, trace.WaitingTotal(), trace.Peak,
		sol.Optimal)
}
