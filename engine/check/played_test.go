package check_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/sim"
)

// randomChain is a chain of small sizes and times; zeros occur.
func randomChain(r *rand.Rand) *engine.Chain {
	n := 2 + r.IntN(5)
	c := &engine.Chain{Input: engine.Bytes(r.IntN(6)), InputGrad: engine.Bytes(r.IntN(4)), SeedBorn: r.IntN(2) == 0}
	c.Resident.Weights = engine.Bytes(r.IntN(5))
	for range n {
		out := engine.Bytes(r.IntN(8))
		c.Stages = append(c.Stages, engine.Stage{
			Forward: time.Duration(r.IntN(6)) * time.Second, Back: time.Duration(r.IntN(8)) * time.Second,
			Out: out, Saved: out + engine.Bytes(r.IntN(8)), Grad: engine.Bytes(r.IntN(6)),
			FwdTemp: engine.Bytes(r.IntN(4)), BwdTemp: engine.Bytes(r.IntN(4)),
		})
	}
	return c
}

// randomSequence recomputes from every kept point: backward of stages lo..n
// after a forward that keeps some saved sets and drops others.
func randomSequence(r *rand.Rand, n int) (seq []engine.ChainOp) {
	add := func(kind engine.ChainOpKind, stage int) { seq = append(seq, engine.ChainOp{Kind: kind, Stage: stage}) }
	var back func(lo, hi int)
	back = func(lo, hi int) {
		if lo == hi {
			add(engine.FAll, lo)
			add(engine.BStep, lo)
			return
		}
		if r.IntN(2) == 0 {
			add(engine.FAll, lo)
			back(lo+1, hi)
			add(engine.BStep, lo)
			return
		}
		mid := lo + 1 + r.IntN(hi-lo)
		add(engine.FCk, lo)
		for k := lo + 1; k < mid; k++ {
			add(engine.FNone, k)
		}
		back(mid, hi)
		back(lo, mid-1)
	}
	back(1, n)
	return seq
}

// withTransfers offloads some copies that wait long for their next reader, and
// fetches them back a few steps before it.
func withTransfers(r *rand.Rand, g *engine.ChainGraph, s engine.Schedule) engine.Schedule {
	type insert struct{ steps engine.Schedule }
	before := make([]engine.Schedule, len(s)+1)
	for v := range g.Values {
		if r.IntN(2) == 0 || g.Values[v].Kind != engine.KindActivation {
			continue
		}
		id := engine.ValueID(v)
		made, read := -1, -1
		for i, st := range s {
			if st.Kind == engine.StepFree && st.Value == id {
				break
			}
			if st.Kind != engine.StepRun {
				continue
			}
			op := &g.Ops[st.Op]
			outs, reads := op.Out, false
			if st.Lean {
				outs = op.Lean
			}
			for _, in := range op.In {
				reads = reads || in == id || g.Values[in].Within == id
			}
			writes := false
			for _, o := range outs {
				writes = writes || o == id || g.Values[id].Within == o
			}
			if made >= 0 && (reads || writes) {
				if i > made+2 {
					read = i
					break
				}
				if writes && i > made {
					made = -1
				} else {
					made = i
				}
			}
			if writes && outs[0] == id {
				made = i
			}
		}
		if made < 0 || read < 0 || g.Values[id].Within == id {
			continue
		}
		if st := s[read]; len(g.Ops[st.Op].Out) > 0 && g.Values[id].Within == g.Ops[st.Op].Out[0] && g.Values[id].Within != engine.NoValue {
			continue
		}
		off := made + 1
		drop := off + r.IntN(read-off)
		back := drop + r.IntN(read-drop+1)
		before[off] = append(before[off], engine.Offload(id))
		if r.IntN(3) == 0 {
			before[drop] = append(before[drop], engine.Wait(id))
		}
		before[drop] = append(before[drop], engine.Free(id))
		var nb time.Duration
		if r.IntN(2) == 0 {
			nb = time.Duration(r.IntN(40)) * time.Second
		}
		before[back] = append(before[back], engine.Fetch(id, nb))
		if r.IntN(4) == 0 {
			before[back] = append(before[back], engine.Wait(id))
		}
	}
	var out engine.Schedule
	for i := range s {
		out = append(append(out, before[i]...), s[i])
	}
	return append(out, before[len(s)]...)
}

// played is a problem, a schedule of it and what sim made of it.
type played struct {
	p *engine.Problem
	s engine.Schedule
	t *sim.Trace
}

func (c played) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %v budget %d, link %d/%d\n", c.p.Transfers, c.p.Device.Duplex, c.p.Budget, c.p.Device.ToHost, c.p.Device.ToDev)
	fmt.Fprintf(&b, "chain %+v\n", *c.p.Chain.Chain)
	for i, st := range c.s {
		fmt.Fprintf(&b, "  %d %s", i, st.Describe(c.p.Graph))
		if st.NotBefore > 0 {
			fmt.Fprintf(&b, " not before %v", st.NotBefore)
		}
		b.WriteString("\n")
	}
	if c.t == nil {
		return b.String()
	}
	fmt.Fprintf(&b, "makespan %v peak %d at %v\n", c.t.Makespan, c.t.Peak, c.t.PeakAt)
	for i, sp := range c.t.Spans {
		fmt.Fprintf(&b, "span %d: %s %v-%v why %v cause %d\n", i, c.s[sp.Step].Describe(c.p.Graph), sp.Start, sp.End, sp.Why, sp.Cause)
	}
	for _, g := range c.t.Gaps {
		fmt.Fprintf(&b, "gap %+v\n", g)
	}
	fmt.Fprintf(&b, "memory %v\nhost %v\n", c.t.Memory, c.t.Host)
	for _, l := range c.t.Lives {
		fmt.Fprintf(&b, "life %+v\n", l)
	}
	return b.String()
}

// randomPlayed plays a random schedule in every mode; nil if it does not fit.
func randomPlayed(t *testing.T, r *rand.Rand, transfers engine.Transfers, duplex engine.Duplex) *played {
	t.Helper()
	chain := randomChain(r)
	rate := func() engine.Rate { return engine.Rate([]int{1, 1, 2, 3, 7}[r.IntN(5)]) }
	dev := engine.Device{ToHost: rate(), ToDev: rate(), Duplex: duplex}
	p := engine.NewChainProblem(chain, dev, transfers, engine.NoLimit)
	s, _, err := p.Chain.CompileSequence(randomSequence(r, chain.Len()))
	if err != nil {
		t.Fatalf("chain %+v: %v", chain, err)
	}
	s = withTransfers(r, p.Chain, s)
	free, err := sim.Play(p, s)
	if err != nil {
		var step *sim.StepError
		if errors.As(err, &step) {
			return nil
		}
		t.Fatalf("%v\nno limit: %v", played{p, s, nil}, err)
	}
	p = p.WithBudget(free.Peak - engine.Bytes(r.IntN(8)))
	tr, err := sim.Play(p, s)
	if err != nil {
		return nil
	}
	return &played{p, s, tr}
}

func TestPlayedTracesAreAccepted(t *testing.T) {
	for _, transfers := range []engine.Transfers{engine.Whole, engine.Streamed} {
		for _, duplex := range []engine.Duplex{engine.HalfDuplex, engine.FullDuplex} {
			accepted, moved := 0, 0
			for seed := range uint64(3000) {
				c := randomPlayed(t, rand.New(rand.NewPCG(seed, 1)), transfers, duplex)
				if c == nil {
					continue
				}
				if err := check.Trace(c.p, c.s, c.t); err != nil {
					t.Fatalf("seed %d: %v\n%v", seed, err, c)
				}
				accepted++
				for _, sp := range c.t.Spans {
					if sp.Lane != sim.Compute {
						moved++
						break
					}
				}
			}
			t.Logf("%v %v: %d of 3000 traces accepted, %d with transfers", transfers, duplex, accepted, moved)
			if accepted < 500 || moved < 200 {
				t.Errorf("%v %v: %d traces, %d with transfers; expected at least 500 and 200", transfers, duplex, accepted, moved)
			}
		}
	}
}
