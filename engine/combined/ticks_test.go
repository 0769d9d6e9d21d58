package combined

import (
	"math"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/sim"
)

// slowChain returns a step of more than three weeks whose values take next to no time to move. No tick is short
// enough to express the time of a byte.
func slowChain() *engine.Chain {
	return &engine.Chain{Name: "pofopanic", LossGradAllocated: true, Input: 6750325, InputGrad: 7458737,
		Stages: []engine.Stage{
			{Name: "a", Forward: 404372172561793, Back: 59154480237323, Out: 2648018, Saved: 4247198, Grad: 2648018,
				FwdTemp: 4491670},
			{Name: "b", Forward: 0, Back: 78175934567529, Out: 6490268, Saved: 6837793, Grad: 6490268, FwdTemp: 8113223},
			{Name: "c", Forward: 462211810934837, Back: 150744736096446, Out: 8164752, Saved: 8164752, Grad: 7500600,
				FwdTemp: 826898},
			{Name: "d", Forward: 347664992333080, Back: 550683385920726, Out: 387412, Saved: 6654999, Grad: 387412,
				FwdTemp: 1939430, BwdTemp: 5764454},
		}}
}

// TestBytesOfNoTicks checks bounds on links on which a byte takes no ticks. Bounds divide by the ticks of a byte.
// The division by zero once gave a value that is not a number, which was converted to a different integer on
// every machine.
func TestBytesOfNoTicks(t *testing.T) {
	c := slowChain()
	link := engine.Device{ToHost: 68676861465, ToDev: 68676861465, Duplex: engine.FullDuplex}
	for _, budget := range []engine.Bytes{31159425, 35_000_000, c.KeepAllPeak() - 1, c.KeepAllPeak()} {
		for _, transfers := range []engine.Transfers{engine.Whole, engine.Streamed} {
			p := engine.NewChainProblem(c, link, transfers, budget)
			terms, err := newTerms(p)
			if err != nil || terms.out != 0 || terms.exact {
				t.Fatalf("%d bytes, %v: a byte takes %d ticks, exactly: %v, %v; want none and not exactly", budget,
					transfers, terms.out, terms.exact, err)
			}
			sol, err := Pofo.Solve(p, nil, nil)
			if err != nil {
				t.Errorf("%d bytes, %v: got %v, want a schedule", budget, transfers, err)
				continue
			}
			trace, err := sim.Play(p, sol.Schedule)
			if err == nil {
				err = check.Trace(p, sol.Schedule, trace)
			}
			if err != nil || trace.Makespan != sol.Makespan || trace.Peak != sol.Peak || sol.Bound > sol.Makespan {
				t.Errorf("%d bytes, %v: claims %v and %d bytes with a bound of %v, plays %+v, %v", budget, transfers,
					sol.Makespan, sol.Peak, sol.Bound, trace, err)
			}
		}
	}
}

// TestTicksOfExtremes checks that times and links at the ends of the range have ticks whose sums fit into an
// integer, or are refused.
func TestTicksOfExtremes(t *testing.T) {
	const most = engine.MaxRate
	for _, rates := range [][2]engine.Rate{{1, 1}, {1, most}, {most, most - 1}, {most - 1, 3},
		{999_999_937, 1_000_000_007}, {68676861465, 12_500_000_000}} {
		for _, size := range []engine.Bytes{0, 1, 1 << 20, 1 << 50} {
			for _, d := range []time.Duration{0, 1, time.Second, 1 << 50} {
				c := &engine.Chain{Input: size,
					Stages: []engine.Stage{{Forward: d, Back: d, Out: size, Saved: size, Grad: size}, {Back: d}}}
				p := engine.NewChainProblem(c, engine.Device{ToHost: rates[0], ToDev: rates[1]}, engine.Whole,
					engine.NoLimit)
				terms, err := newTerms(p)
				if err != nil {
					continue
				}
				ticks := (float64(terms.out)+float64(terms.in))*2*float64(terms.everySize) +
					float64(terms.q)*float64(c.ForwardTime()*2+c.BackTime())
				if terms.q < 1 || terms.out < 0 || terms.in < 0 || ticks > tooLong {
					t.Errorf("rates %v, %d bytes, %v: %d ticks, %d and %d of a byte", rates, size, d, terms.q,
						terms.out, terms.in)
				}
				for _, one := range []struct {
					rate  engine.Rate
					ticks int64
				}{{rates[0], terms.out}, {rates[1], terms.in}} {
					takes := float64(terms.q) * 1e9 / float64(one.rate)
					if float64(one.ticks) > takes*(1+1e-15) || float64(one.ticks) < takes-1-takes*1e-11 ||
						terms.exact && math.Abs(float64(one.ticks)-takes) > takes*1e-15 {
						t.Errorf("rates %v, %d bytes, %v: a byte at %d takes %d ticks, want %g, exactly: %v", rates,
							size, d, one.rate, one.ticks, takes, terms.exact)
					}
				}
			}
		}
	}
}
