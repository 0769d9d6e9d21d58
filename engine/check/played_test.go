package check_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/sim"
)

var modes = []struct {
	transfers engine.Transfers
	duplex    engine.Duplex
}{
	{engine.Whole, engine.HalfDuplex}, {engine.Whole, engine.FullDuplex},
	{engine.Streamed, engine.HalfDuplex}, {engine.Streamed, engine.FullDuplex},
}

func TestPlayedTracesAreAccepted(t *testing.T) {
	for _, m := range modes {
		t.Run(fmt.Sprint(m.transfers, " ", m.duplex), func(t *testing.T) {
			var accepted, moved, waited, held int
			for seed := range uint64(2500) {
				c := randomPlayed(t, rand.New(rand.NewPCG(seed, 1)), m.transfers, m.duplex)
				if c == nil {
					continue
				}
				if err := check.Trace(c.p, c.s, c.t); err != nil {
					t.Fatalf("seed %d: %v; expected no refutation\n%v", seed, err, c)
				}
				accepted++
				if c.t.Waiting[sim.NeedsRoom] > 0 {
					waited++
				}
				if slices.ContainsFunc(c.t.Spans, func(sp sim.Span) bool { return sp.Lane != sim.Compute }) {
					moved++
				}
				for _, sp := range c.t.Spans {
					if sp.Kind == sim.SpanFetch &&
						sp.End-sp.Start > c.p.Device.ToDev.Time(c.p.Graph.Values[sp.Value].Size) {
						held++
						break
					}
				}
			}
			t.Logf("%d accepted, %d with transfers, %d that wait for room, %d with a fetch that stood still",
				accepted, moved, waited, held)
			if accepted < 500 || moved < 200 || waited < 20 || m.transfers == engine.Streamed && held < 5 {
				t.Errorf("%d accepted, %d with transfers, %d that wait for room, %d held; expected at least 500, 200, 20 and, streamed, 5", accepted, moved, waited, held)
			}
		})
	}
}

// mutation breaks a trace in one place; it returns "" if the trace has no such
// place, otherwise what it did.
type mutation func(r *rand.Rand, c *played) string

func pick[T any](r *rand.Rand, s []T) (int, *T) {
	if len(s) == 0 {
		return 0, nil
	}
	i := r.IntN(len(s))
	return i, &s[i]
}

// exact reports whether a span's times are proven to the nanosecond.
func exact(c *played, sp *sim.Span) bool {
	return c.p.Transfers == engine.Whole || sp.Kind != sim.SpanFetch
}

// lasting reports whether a sample is the first or the last at its time.
func lasting(c *played, i int) bool {
	m := c.t.Memory
	return i == 0 || i+1 == len(m) || m[i-1].At < m[i].At || m[i].At < m[i+1].At
}

var mutations = []mutation{
	func(r *rand.Rand, c *played) string {
		i, sp := pick(r, c.t.Spans)
		by := time.Duration(1 - 2*r.IntN(2))
		if !exact(c, sp) {
			return ""
		}
		sp.Start, sp.End = sp.Start+by, sp.End+by
		return fmt.Sprintf("span %d shifted by %v", i, by)
	},
	func(r *rand.Rand, c *played) string {
		i, sp := pick(r, c.t.Spans)
		if !exact(c, sp) {
			return ""
		}
		sp.End++
		return fmt.Sprintf("span %d longer", i)
	},
	func(r *rand.Rand, c *played) string {
		i, sp := pick(r, c.t.Spans)
		k, other := pick(r, c.t.Spans)
		if sp.Start == other.Start {
			return ""
		}
		*sp, *other = *other, *sp
		return fmt.Sprintf("spans %d and %d swapped", i, k)
	},
	func(r *rand.Rand, c *played) string {
		i, sp := pick(r, c.t.Spans)
		k, other := pick(r, c.t.Spans)
		if sp.Start == other.Start && sp.End == other.End {
			return ""
		}
		sp.Start, other.Start = other.Start, sp.Start
		sp.End, other.End = other.End, sp.End
		return fmt.Sprintf("times of spans %d and %d swapped", i, k)
	},
	func(r *rand.Rand, c *played) string {
		i, _ := pick(r, c.t.Spans)
		c.t.Spans = slices.Delete(c.t.Spans, i, i+1)
		return fmt.Sprintf("span %d dropped", i)
	},
	func(r *rand.Rand, c *played) string {
		i, sp := pick(r, c.t.Spans)
		if sp.Cause == sim.NoSpan {
			return ""
		}
		sp.Cause = sim.NoSpan
		return fmt.Sprintf("cause of span %d dropped", i)
	},
	func(r *rand.Rand, c *played) string {
		i, sp := pick(r, c.t.Spans)
		sp.Kind = (sp.Kind + 1 + sim.SpanKind(r.IntN(4))) % 5
		return fmt.Sprintf("kind of span %d changed to %d", i, sp.Kind)
	},
	func(r *rand.Rand, c *played) string {
		c.t.Peak += engine.Bytes(1 - 2*r.IntN(2))
		return "peak changed"
	},
	func(r *rand.Rand, c *played) string { c.t.PeakAt = -1; return "moment of the peak changed" },
	func(r *rand.Rand, c *played) string {
		c.t.Makespan += time.Duration(1 - 2*r.IntN(2))
		return "step time changed"
	},
	func(r *rand.Rand, c *played) string { c.t.HostPeak++; return "host peak changed" },
	func(r *rand.Rand, c *played) string { c.t.ComputeTime--; return "compute time changed" },
	func(r *rand.Rand, c *played) string { c.t.RecomputeTime++; return "recompute time changed" },
	func(r *rand.Rand, c *played) string {
		c.t.Waiting[r.IntN(int(sim.NumReasons))]++
		return "waiting changed"
	},
	func(r *rand.Rand, c *played) string {
		i, g := pick(r, c.t.Gaps)
		if g == nil {
			return ""
		}
		c.t.Gaps = slices.Delete(c.t.Gaps, i, i+1)
		return fmt.Sprintf("gap %d dropped", i)
	},
	func(r *rand.Rand, c *played) string {
		i, g := pick(r, c.t.Gaps)
		if g == nil {
			return ""
		}
		switch r.IntN(5) {
		case 0:
			g.Reason = (g.Reason + 1 + sim.Reason(r.IntN(int(sim.NumReasons)-1))) % sim.NumReasons
		case 1:
			g.Step--
		case 2:
			g.Need += 1 << 30
		case 3:
			g.Cause = sim.NoSpan
		default:
			g.Start++
		}
		return fmt.Sprintf("gap %d changed to %+v", i, *g)
	},
	func(r *rand.Rand, c *played) string {
		i, s := pick(r, c.t.Memory)
		k := r.IntN(int(sim.NumCategories))
		by := engine.Bytes(1 - 2*r.IntN(2))
		if c.p.Transfers == engine.Streamed || !lasting(c, i) {
			by = 1 << 30
		}
		s.Used[k] += by
		return fmt.Sprintf("sample %d: band %d changed by %d", i, k, by)
	},
	func(r *rand.Rand, c *played) string {
		i, s := pick(r, c.t.Memory)
		from, to := r.IntN(int(sim.NumCategories)), r.IntN(int(sim.NumCategories))
		if from == to || s.Used[from] == 0 || c.p.Transfers == engine.Streamed && s.Used[from] < 1000 ||
			!lasting(c, i) {
			return ""
		}
		s.Used[to], s.Used[from] = s.Used[to]+s.Used[from], 0
		return fmt.Sprintf("sample %d: band %d moved to %d", i, from, to)
	},
	func(r *rand.Rand, c *played) string {
		i, p := pick(r, c.t.Host)
		if p == nil || i+1 < len(c.t.Host) && c.t.Host[i+1].At == p.At {
			return "" // only usage that lasts for some time is proven
		}
		p.Used++
		return fmt.Sprintf("host point %d changed", i)
	},
	func(r *rand.Rand, c *played) string {
		i, l := pick(r, c.t.Lives)
		if l.Bytes == 0 {
			return ""
		}
		switch r.IntN(6) {
		case 0:
			l.Bytes++
		case 1:
			l.Start++
		case 2:
			l.End--
		case 3:
			l.Offloaded = !l.Offloaded
		case 4:
			l.Category = (l.Category + 1) % sim.NumCategories
		default:
			c.t.Lives = slices.Delete(c.t.Lives, i, i+1)
			return fmt.Sprintf("life %d dropped", i)
		}
		return fmt.Sprintf("life %d changed to %+v", i, *l)
	},
	func(r *rand.Rand, c *played) string {
		i, d := pick(r, c.t.Decisions)
		*d ^= sim.Offload
		return fmt.Sprintf("decision %d changed", i)
	},
	func(r *rand.Rand, c *played) string {
		c.p = c.p.WithBudget(c.t.Peak - 1)
		return "budget below the peak"
	},
}

// clone copies the parts of a trace that mutations change.
func (c *played) clone() *played {
	t := *c.t
	t.Spans, t.Gaps, t.Memory, t.Host = slices.Clone(t.Spans), slices.Clone(t.Gaps), slices.Clone(t.Memory),
		slices.Clone(t.Host)
	t.Lives, t.Decisions = slices.Clone(t.Lives), slices.Clone(t.Decisions)
	return &played{c.p, c.s, &t}
}

func TestMutatedTracesAreRefuted(t *testing.T) {
	for _, m := range modes {
		t.Run(fmt.Sprint(m.transfers, " ", m.duplex), func(t *testing.T) {
			refuted, reasons := 0, map[check.Reason]int{}
			for seed := range uint64(400) {
				r := rand.New(rand.NewPCG(seed, 2))
				c := randomPlayed(t, r, m.transfers, m.duplex)
				if c == nil {
					continue
				}
				for k, mutate := range mutations {
					broken := c.clone()
					what := mutate(r, broken)
					if what == "" {
						continue
					}
					err := check.Trace(broken.p, broken.s, broken.t)
					if err == nil {
						t.Fatalf("seed %d, mutation %d: %s: accepted; expected a refutation\n%v", seed, k, what, c)
					}
					refuted++
					reasons[err.(*check.Refutation).Reason]++
				}
			}
			t.Logf("%d mutated traces refuted, for %d different reasons", refuted, len(reasons))
			if refuted < 1000 || len(reasons) < 15 {
				t.Errorf("%d traces refuted for %d reasons; expected at least 1000 and 15", refuted, len(reasons))
			}
		})
	}
}

// BenchmarkTrace measures the check of a trace of a thousand spans and of one of twenty-five thousand: 5 to 10 ms
// and 90 to 190 ms. The limits are 50 ms for 700 spans and 3 s for 20,000.
func BenchmarkTrace(b *testing.B) {
	for _, stages := range []int{350, 10_000} {
		for _, m := range modes {
			c := longTrace(b, stages, m.transfers, m.duplex)
			b.Run(fmt.Sprintf("%d spans, %v, %v", len(c.t.Spans), m.transfers, m.duplex), func(b *testing.B) {
				for b.Loop() {
					if err := check.Trace(c.p, c.s, c.t); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// longTrace returns the trace of a schedule that keeps all saved activations, but offloads every fourth.
func longTrace(tb testing.TB, stages int, transfers engine.Transfers, duplex engine.Duplex) *played {
	tb.Helper()
	chain := &engine.Chain{Input: 1000}
	var seq []engine.ChainOp
	for k := 1; k <= stages; k++ {
		chain.Stages = append(chain.Stages,
			engine.Stage{Forward: 1000, Back: 2000, Out: 1000, Saved: engine.Bytes(3000 + k%7), Grad: 1000,
				FwdTemp: 10})
		seq = append(seq, engine.ChainOp{Kind: engine.FAll, Stage: k})
	}
	for k := stages; k >= 1; k-- {
		seq = append(seq, engine.ChainOp{Kind: engine.BStep, Stage: k})
	}
	dev := engine.Device{ToHost: 3_000_000_000, ToDev: 3_000_000_000, Duplex: duplex}
	p := engine.NewChainProblem(chain, dev, transfers, engine.NoLimit)
	s, _, err := p.Chain.CompileSequence(seq)
	if err != nil {
		tb.Fatal(err)
	}
	var out engine.Schedule
	for _, st := range s {
		if st.Kind == engine.DoRun {
			k := p.Graph.Ops[st.Op].Stage
			if p.Graph.Ops[st.Op].Pass == engine.Backward && k > 8 && k+4 < stages && k%4 == 0 {
				out = append(out, engine.Fetch(p.Chain.Saved(k-4), 0))
			}
			out = append(out, st)
			if p.Graph.Ops[st.Op].Pass == engine.Forward && k%4 == 0 && k > 4 && k+8 < stages {
				out = append(out, engine.Offload(p.Chain.Saved(k)))
			}
			if p.Graph.Ops[st.Op].Pass == engine.Forward && k%4 == 1 && k > 8 && k+7 < stages {
				out = append(out, engine.Free(p.Chain.Saved(k-1)))
			}
			continue
		}
		out = append(out, st)
	}
	tr, err := sim.Play(p, out)
	if err != nil {
		tb.Fatal(err)
	}
	return &played{p, out, tr}
}

func TestLongTracesAreAccepted(t *testing.T) {
	for _, m := range modes {
		c := longTrace(t, 2000, m.transfers, m.duplex)
		if err := check.Trace(c.p, c.s, c.t); err != nil {
			t.Errorf("%d spans, %v, %v: %v; expected no refutation", len(c.t.Spans), m.transfers, m.duplex, err)
		}
	}
}
