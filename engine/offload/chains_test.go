package offload

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
)

// sharedChains are synthetic chains of realistic sizes and times, of the given
// lengths; the last stage is the loss.
var sharedChains = []string{"resnet_L20", "lognormal_L20", "resnet_L50", "lognormal_L50", "resnet_L100",
	"lognormal_L100"}

// sharedChain reads a chain of the shared data, which is not part of the project. Without it the test is skipped.
func sharedChain(tb testing.TB, name string) *engine.Chain {
	data, err := os.ReadFile("../../../shared/data/chains/" + name + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		tb.Skipf("the chain %s is not there: only the project's own cases are tested", name)
	}
	if err != nil {
		tb.Fatal(err)
	}
	var f struct {
		UF, UB            []int64
		Wa, Wabar, Wdelta []engine.Bytes
		Of, Ob            []engine.Bytes
	}
	if err := json.Unmarshal(data, &f); err != nil {
		tb.Fatal(err)
	}
	c := &engine.Chain{Name: name, Input: f.Wa[0], InputGrad: f.Wdelta[0], LossGradAllocated: true}
	for k := range f.UF {
		st := engine.Stage{
			Forward: time.Duration(f.UF[k]) * time.Microsecond, Back: time.Duration(f.UB[k]) * time.Microsecond,
			Saved: f.Wabar[k], Grad: f.Wdelta[k+1], FwdTemp: f.Of[k], BwdTemp: f.Ob[k],
		}
		if k+1 < len(f.Wa) {
			st.Out = f.Wa[k+1]
		}
		c.Stages = append(c.Stages, st)
	}
	return c
}

// sharedProblem returns a chain on a link of 12.5 GB/s with a percentage of the memory for keeping everything. It
// returns nil if nothing fits.
func sharedProblem(tb testing.TB, name string, percent engine.Bytes) *engine.Problem {
	c := sharedChain(tb, name)
	dev := engine.Device{ToHost: 12_500_000_000, ToDev: 12_500_000_000}
	p := engine.NewChainProblem(c, dev, engine.Whole, c.KeepAllPeak()*percent/100)
	if newStep(p).smallest() > p.Budget {
		return nil
	}
	return p
}

// BenchmarkChains measures every strategy on the shared chains. It reports how much its step time is above the
// fractional relaxation and above its own proven bound.
func BenchmarkChains(b *testing.B) {
	for _, s := range []*engine.Strategy{greedy, dynprog, Search, vdnnThreshold, tflms, autoSwap} {
		for _, name := range sharedChains {
			for _, percent := range []engine.Bytes{25, 30, 50, 70, 75, 90} {
				b.Run(fmt.Sprintf("strategy=%s/chain=%s/budget=%d", s.Name, name, percent),
					func(b *testing.B) { benchmarkChain(b, s, name, percent) })
			}
		}
	}
}

func benchmarkChain(b *testing.B, s *engine.Strategy, name string, percent engine.Bytes) {
	p := sharedProblem(b, name, percent)
	if p == nil {
		b.Skip("nothing fits")
	}
	relax, _ := bound.Relax(p)
	for b.Loop() {
		sol, err := s.Solve(p, nil, nil)
		if err != nil {
			b.Skip(err)
		}
		b.ReportMetric(100*(float64(sol.Makespan)/float64(relax)-1), "%relax")
		b.ReportMetric(100*(float64(sol.Makespan)/float64(sol.Bound)-1), "%bound")
		optimal := 0.0
		if sol.Optimal {
			optimal = 1
		}
		b.ReportMetric(optimal, "optimal")
	}
}

// TestDynprogOnChains checks that Algorithm 1 is exact on the shared chains, or bounds its distance
// from the optimum, within 50,000 polls, which take well under a second.
func TestDynprogOnChains(t *testing.T) {
	for _, name := range sharedChains {
		for _, percent := range []engine.Bytes{25, 30, 50, 70, 75, 90} {
			p := sharedProblem(t, name, percent)
			if p == nil {
				continue
			}
			o, err := bestFluidOf(p, engine.NewPoll(engine.LimitCalls(t.Context(), 50_000), nil))
			if err != nil {
				t.Fatalf("%s at %d %%: %v", name, percent, err)
			}
			p.Transfers = engine.Streamed
			plan, ok := NewOrdered(p, o.Set)
			if !ok || plan.Fluid < o.Time || plan.Fluid > o.Time+time.Duration(2*len(o.Set)) {
				t.Errorf("%s at %d %%: the set takes %v (%v), claimed %v", name, percent, plan.Fluid, ok, o.Time)
			}
			t.Logf("%-14s %2d %%: %v proven %v ties %v gap %v", name, percent, o.Time, o.Proven(), o.Ties,
				o.Time-o.Bound)
		}
	}
}

// TestSearchOnChains compares the step times of offloadsearch, in percent above the relaxation, with those that
// an earlier implementation of the same search found in 0.3 s.
func TestSearchOnChains(t *testing.T) {
	for _, c := range []struct {
		name    string
		percent engine.Bytes
		most    float64
		proven  bool
	}{
		{"resnet_L20", 50, 3.2418, true}, {"resnet_L20", 70, 8.0857, true}, {"resnet_L20", 90, 0.0001, true},
		{"lognormal_L20", 50, 1.2081, true}, {"lognormal_L20", 70, 1.1837, true}, {"lognormal_L20", 90, 0.3192, true},
		{"resnet_L50", 30, 0.7506, true}, {"resnet_L50", 50, 1.1882, true}, {"resnet_L50", 70, 0.4949, true},
		{"resnet_L50", 90, 0.0001, true}, {"lognormal_L50", 30, 0.1248, false},
		{"lognormal_L50", 50, 0.001, false}, {"lognormal_L50", 90, 0.0008, false},
		{"resnet_L100", 70, 0.2807, false}, {"lognormal_L100", 70, 0.0001, false},
	} {
		p := sharedProblem(t, c.name, c.percent)
		relax, _ := bound.Relax(p)
		sol, err := Search.Solve(p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := 100 * (float64(sol.Makespan)/float64(relax) - 1)
		if got > c.most {
			t.Errorf("%s at %d %%: %.4f %% above the relaxation, want at most %.4f %%", c.name, c.percent, got, c.most)
		}
		if c.proven && !sol.Optimal {
			t.Errorf("%s at %d %%: not proven", c.name, c.percent)
		}
		t.Logf("%-14s %2d %%: +%.4f (%.4f) optimal %v", c.name, c.percent, got, c.most, sol.Optimal)
	}
}

// TestSearchSeeds checks that the hardest case of TestSearchOnChains does not depend on the seed.
func TestSearchSeeds(t *testing.T) {
	const most = 0.1248
	p := sharedProblem(t, "lognormal_L50", 30)
	relax, _ := bound.Relax(p)
	for seed := range 8 {
		sol, err := Search.Solve(p, engine.Args{"seed": fmt.Sprint(seed)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := 100 * (float64(sol.Makespan)/float64(relax) - 1); got > most {
			t.Errorf("seed %d: %.4f %% above the relaxation, want at most %.4f %%", seed, got, most)
		}
	}
}
