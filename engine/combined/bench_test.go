package combined

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/profiles/preset"
)

// benchProblem returns the problem of a preset on its device, or of a synthetic chain of the shared data with a
// link of 12.5 GB/s. Without that data, it uses a random chain of the same length.
func benchProblem(tb testing.TB, name string, percent engine.Bytes) *engine.Problem {
	tb.Helper()
	var c *engine.Chain
	d := engine.Device{ToHost: 12_500_000_000, ToDev: 12_500_000_000}
	var n int
	if _, err := fmt.Sscanf(name, "lognormal_L%d", &n); err == nil {
		c = benchChain(tb, name, n)
	} else if _, err := fmt.Sscanf(name, "resnet_L%d", &n); err == nil {
		c = benchChain(tb, name, n)
	} else {
		ps := preset.Lookup(name)
		if ps == nil {
			tb.Fatalf("there is no preset %q", name)
		}
		p, err := ps.Profile(ps.DefaultBatch)
		if err != nil {
			tb.Fatal(err)
		}
		c, d = p.Chain, *p.Device
	}
	fixed := c.Resident.Total()
	return engine.NewChainProblem(c, d, engine.Streamed, fixed+(c.KeepAllPeak()-fixed)*percent/100)
}

// benchChain reads a synthetic chain; the loss is the last entry of its arrays.
func benchChain(tb testing.TB, name string, n int) *engine.Chain {
	tb.Helper()
	data, err := os.ReadFile("../../../shared/data/chains/" + name + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		shape := enginetest.Shape{MinStages: n + 1, MaxStages: n + 1, MaxSize: 1 << 28, MaxTime: 5e6}
		return enginetest.RandomChain(enginetest.Rand(uint64(n)), shape)
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
	c := &engine.Chain{Name: name, Input: f.Wa[0], InputGrad: f.Wdelta[0]}
	f.Wa = append(f.Wa, 0) // the loss writes nothing
	for k := range f.UF {
		c.Stages = append(c.Stages, engine.Stage{
			Forward: time.Duration(f.UF[k]) * time.Microsecond, Back: time.Duration(f.UB[k]) * time.Microsecond,
			Out: f.Wa[k+1], Saved: f.Wabar[k], Grad: f.Wdelta[k+1], FwdTemp: f.Of[k], BwdTemp: f.Ob[k],
		})
	}
	if err := c.Validate(); err != nil {
		tb.Fatal(err)
	}
	return c
}

// BenchmarkPofo reports the step time and the step time of recomputation alone, both divided by the sum of all
// times, and the proven gap in percent.
func BenchmarkPofo(b *testing.B) {
	for _, name := range []string{"resnet50", "resnet101", "resnet_L20", "lognormal_L20", "resnet_L50",
		"lognormal_L50"} {
		for _, mode := range []engine.Transfers{engine.Streamed, engine.Whole} {
			for _, percent := range []engine.Bytes{30, 40, 50, 60, 70, 80} {
				b.Run(fmt.Sprintf("chain=%s/transfers=%v/budget=%d", name, mode, percent), func(b *testing.B) {
					p := benchProblem(b, name, percent)
					p.Transfers = mode
					base := float64(p.Chain.Chain.ForwardTime() + p.Chain.Chain.BackTime())
					rotor, err := engine.Lookup("rotor").Solve(p, nil, nil)
					if err != nil {
						b.Skip("recomputation alone does not fit")
					}
					for b.Loop() {
						sol, err := engine.Lookup("pofo").Solve(p, nil, nil)
						if err != nil {
							b.Fatal(err)
						}
						b.ReportMetric(float64(sol.Makespan)/base, "step")
						b.ReportMetric(float64(rotor.Makespan)/base, "rotor")
						b.ReportMetric(100*float64(sol.Makespan-sol.Bound)/float64(sol.Makespan), "gap%")
					}
				})
			}
		}
	}
}

// BenchmarkPofoLong measures the time on the longest chains, and reports the remaining gap.
func BenchmarkPofoLong(b *testing.B) {
	for _, name := range []string{"resnet_L339", "lognormal_L339"} {
		for _, percent := range []engine.Bytes{25, 50, 75} {
			b.Run(fmt.Sprintf("chain=%s/budget=%d", name, percent), func(b *testing.B) {
				p := benchProblem(b, name, percent)
				for b.Loop() {
					sol, err := engine.Lookup("pofo").Solve(p, nil, nil)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(100*float64(sol.Makespan-sol.Bound)/float64(sol.Makespan), "gap%")
				}
			})
		}
	}
}

// BenchmarkCurve measures a curve of 40 budgets, from a quarter to all of the memory for keeping everything.
func BenchmarkCurve(b *testing.B) {
	for _, name := range []string{"resnet50", "resnet101"} {
		for _, mode := range []engine.Transfers{engine.Streamed, engine.Whole} {
			b.Run(fmt.Sprintf("chain=%s/transfers=%v", name, mode), func(b *testing.B) {
				p := benchProblem(b, name, 100)
				p.Transfers = mode
				for b.Loop() {
					for x := range engine.Bytes(40) {
						q := p.WithBudget(p.Graph.Fixed + p.Room()*(25+75*x/39)/100)
						if _, err := engine.Lookup("pofo").Solve(q, nil, nil); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}
