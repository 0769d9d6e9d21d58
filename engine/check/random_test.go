package check_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// scale is the size of the numbers of a random problem: small numbers, which often cause ties and zeros, or those
// of real networks, which often cause rounding.
type scale struct {
	bytes engine.Bytes
	time  time.Duration
	rate  engine.Rate
}

var scales = []scale{
	{1, time.Second, 1},
	{777_777, 1_234_567 * time.Nanosecond, 1_700_000_001},
}

// randomChain returns a chain of 2 to 7 stages, some of whose numbers may be 0.
func randomChain(r *rand.Rand, sc scale) *engine.Chain {
	size := func(below int) engine.Bytes { return engine.Bytes(r.IntN(below)) * sc.bytes }
	c := &engine.Chain{Input: size(6), InputGrad: size(4), LossGradAllocated: r.IntN(2) == 0}
	c.Resident.Weights = size(5)
	for range 2 + r.IntN(6) {
		out := size(8)
		c.Stages = append(c.Stages, engine.Stage{
			Forward: time.Duration(r.IntN(6)) * sc.time, Back: time.Duration(r.IntN(8)) * sc.time,
			Out: out, Saved: out + size(8), Grad: size(6), FwdTemp: size(4), BwdTemp: size(4),
		})
	}
	return c
}

// secondWays gives some stages a second algorithm to compute them.
func secondWays(r *rand.Rand, c *engine.Chain, sc scale) {
	for i := range c.Stages {
		if r.IntN(3) == 0 {
			c.Stages[i].Fast = &engine.Algorithm{Forward: time.Duration(r.IntN(6)) * sc.time,
				Back:    time.Duration(r.IntN(8)) * sc.time,
				FwdTemp: engine.Bytes(r.IntN(8)) * sc.bytes, BwdTemp: engine.Bytes(r.IntN(8)) * sc.bytes}
		}
	}
}

// randomSequence returns a forward and backward over n stages that keeps some saved sets and recomputes the
// others, some of them many times.
func randomSequence(r *rand.Rand, n int) (seq []engine.ChainOp) {
	add := func(kind engine.ChainOpKind, stage int) {
		seq = append(seq, engine.ChainOp{Kind: kind, Stage: stage})
	}
	var solve func(lo, hi int)
	solve = func(lo, hi int) {
		if lo == hi || r.IntN(2) == 0 {
			add(engine.FAll, lo)
			if lo < hi {
				solve(lo+1, hi)
			}
			add(engine.BStep, lo)
			return
		}
		mid := lo + 1 + r.IntN(hi-lo)
		add(engine.FCk, lo)
		for k := lo + 1; k < mid; k++ {
			add(engine.FNone, k)
		}
		solve(mid, hi)
		solve(lo, mid-1)
	}
	solve(1, n)
	return seq
}

// idle is a range of steps in which an activation is on the device and not read: after step from and before step to.
type idle struct {
	v        engine.ValueID
	from, to int
}

// idles returns the idle ranges of at least three steps, by value.
func idles(g *engine.Graph, s engine.Schedule) (all []idle) {
	for v := range g.Values {
		id, since := engine.ValueID(v), -1
		if g.Values[v].Kind != engine.KindActivation {
			continue
		}
		for i, st := range s {
			var touch, makes, drops bool
			if st.Kind == engine.DoFree {
				drops = st.Value == id
			} else {
				op := &g.Ops[st.Op]
				for _, in := range op.In {
					touch = touch || in == id || g.Values[in].PartOf == id
				}
				outs := op.Out
				if st.OutputOnly {
					outs = op.OutputOnly
				}
				for _, out := range outs {
					makes = makes || out == id
					drops = drops || g.Values[id].PartOf == out
				}
			}
			if since >= 0 && (touch || drops || makes) && i > since+2 {
				all = append(all, idle{id, since, i})
			}
			switch {
			case makes || touch && since >= 0:
				since = i
			case drops:
				since = -1
			}
		}
	}
	return all
}

// withTransfers offloads some copies while they are idle, and fetches them back.
func withTransfers(r *rand.Rand, g *engine.Graph, s engine.Schedule, span time.Duration) (out engine.Schedule) {
	before := make([]engine.Schedule, len(s))
	travels := map[engine.ValueID]bool{}
	for _, gap := range idles(g, s) {
		if r.IntN(2) == 0 || travels[gap.v] {
			continue
		}
		travels[gap.v] = true
		off := gap.from + 1
		drop := off + r.IntN(gap.to-off)
		back := drop + r.IntN(gap.to-drop) + 1
		put := func(i int, st engine.Instruction) { before[i] = append(before[i], st) }
		put(off, engine.Offload(gap.v))
		if r.IntN(4) == 0 {
			put(drop, engine.Wait(gap.v))
		}
		put(drop, engine.Free(gap.v))
		fetch := engine.Fetch(gap.v, time.Duration(r.IntN(2))*time.Duration(r.Int64N(int64(span)+1)))
		fetch.Reserve = r.IntN(3) == 0
		put(back, fetch)
		if r.IntN(4) == 0 || s[gap.to].Kind == engine.DoFree || !reads(g, s[gap.to], gap.v) {
			put(gap.to, engine.Wait(gap.v))
		}
	}
	for i := range s {
		out = append(append(out, before[i]...), s[i])
	}
	return out
}

func reads(g *engine.Graph, st engine.Instruction, v engine.ValueID) bool {
	for _, in := range g.Ops[st.Op].In {
		if in == v || g.Values[in].PartOf == v {
			return true
		}
	}
	return false
}

// played is a problem, a schedule of it and the trace of the schedule.
type played struct {
	p *engine.Problem
	s engine.Schedule
	t *sim.Trace
}

func (c *played) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %v budget %d, link %d/%d\nchain %+v\n", c.p.Transfers, c.p.Device.Duplex, c.p.Budget,
		c.p.Device.ToHost, c.p.Device.ToDev, *c.p.Chain.Chain)
	for i, st := range c.s {
		fmt.Fprintf(&b, "  %d %s, not before %v\n", i, st.Describe(c.p.Graph), st.NotBefore)
	}
	if c.t == nil {
		return b.String()
	}
	fmt.Fprintf(&b, "step time %v, peak %d at %v\n", c.t.Makespan, c.t.Peak, c.t.PeakAt)
	for i, sp := range c.t.Spans {
		fmt.Fprintf(&b, "span %d: %s %v-%v, %v, cause %d\n", i, c.s[sp.Step].Describe(c.p.Graph), sp.Start, sp.End,
			sp.Why, sp.Cause)
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

// randomPlayed plays a random schedule within a budget that may delay it. It returns nil if the schedule does not fit.
func randomPlayed(t *testing.T, r *rand.Rand, transfers engine.Transfers, duplex engine.Duplex) *played {
	t.Helper()
	sc := scales[r.IntN(len(scales))]
	chain := randomChain(r, sc)
	secondWays(r, chain, sc)
	rate := func() engine.Rate { return engine.Rate([]int{1, 1, 2, 3, 7}[r.IntN(5)]) * sc.rate }
	dev := engine.Device{ToHost: rate(), ToDev: rate(), Duplex: duplex}
	p := engine.NewChainProblem(chain, dev, transfers, engine.NoLimit)
	s, _, err := p.Chain.CompileSequence(randomSequence(r, chain.Len()))
	if err != nil {
		t.Fatalf("chain %+v: %v", chain, err)
	}
	for i := range s {
		s[i].Alt = s[i].Kind == engine.DoRun && p.Graph.Ops[s[i].Op].Alt != nil && r.IntN(2) == 0
	}
	s = withTransfers(r, p.Graph, s, chain.ForwardTime()+chain.BackTime())
	free, err := sim.Play(p, s)
	if err != nil {
		t.Fatalf("%v\nwithout limit: %v; expected a trace", &played{p, s, nil}, err)
	}
	p = p.WithBudget(free.Peak - engine.Bytes(r.IntN(6))*sc.bytes)
	tr, err := sim.Play(p, s)
	var stuck *sim.StuckError
	if errors.As(err, &stuck) {
		return nil
	}
	if err != nil {
		t.Fatalf("%v\n%v; expected a trace or a *sim.StuckError", &played{p, s, nil}, err)
	}
	return &played{p, s, tr}
}
