package known

import (
	"math/rand/v2"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
	"memtide/wasm/proto"
	"memtide/web/draw"
)

// TestDeltaAddsUp checks that the parts of a delta add up to the change of the step time, and the rounded parts
// to the rounded change, between any two schedules.
func TestDeltaAddsUp(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	traces := randomTraces(t, r, 300)
	for i := range 3000 {
		a, b := traces[r.IntN(len(traces))], traces[r.IntN(len(traces))]
		d := DeltaOf(a, b)
		sum := time.Duration(0)
		for _, p := range d.Parts {
			sum += p.Change()
		}
		if sum != d.Step || d.Step != b.Solved.Trace.Makespan-a.Solved.Trace.Makespan {
			t.Fatalf("pair %d: parts %+v add up to %v, the step changes by %v; want the same", i, d.Parts, sum, d.Step)
		}
		step, parts := d.Rounded()
		sum = 0
		most := d.Step.Abs()
		for k, p := range d.Parts {
			sum += parts[k]
			most = max(most, p.Change().Abs())
		}
		if sum != step {
			t.Fatalf("pair %d: rounded parts %v add up to %v; want %v", i, parts, sum, step)
		}
		for k, p := range d.Parts {
			if off := (parts[k] - p.Change()).Abs(); off > most/20 {
				t.Fatalf("pair %d: %s changes by %v, written as %v; want at most a twentieth of %v off", i, p.Name,
					p.Change(), parts[k], most)
			}
		}
	}
}

// TestDeltaOfPolicy checks that what a policy computes again within its backwards is no part of what is computed.
func TestDeltaOfPolicy(t *testing.T) {
	of := func(again time.Duration) *Picture {
		c := &engine.Chain{Stages: []engine.Stage{{Forward: 10, Back: 20 + again, Again: again}, {Forward: 5}}}
		p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, engine.NoLimit)
		tr, err := sim.Play(p, engine.Schedule{engine.Run(p.Chain.Fwd(1)), engine.Run(p.Chain.Fwd(2)),
			engine.Run(p.Chain.Bwd(2)), engine.Run(p.Chain.Bwd(1))})
		if err != nil {
			t.Fatal(err)
		}
		return &Picture{Solved: &proto.Solved{Trace: tr, Chain: c}, model: draw.NewIndex(p, tr)}
	}
	d := DeltaOf(of(0), of(7))
	if d.Step != 7 || d.Parts[0].Change() != 0 || d.Parts[1].Change() != 7 {
		t.Errorf("%+v; want 7 ns longer, all of it computed again", d)
	}
	if again, _ := of(7).Tally(); again != 1 {
		t.Errorf("%d layers are computed again; want 1", again)
	}
}

// randomTraces returns n traces of random chains that keep, recompute or offload random stages, with whole and
// streamed transfers, both duplexes and various budgets.
func randomTraces(t *testing.T, r *rand.Rand, n int) (out []*Picture) {
	t.Helper()
	reasons := map[sim.Reason]bool{}
	for try := 0; len(out) < n; try++ {
		if try > 100*n {
			t.Fatalf("%d of %d random schedules could be played; want %d", len(out), try, n)
		}
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 2, MaxStages: 12, MaxTime: 1e7, MaxSize: 1e7})
		p := engine.NewChainProblem(c, enginetest.Device(engine.Duplex(r.IntN(2))), engine.Transfers(r.IntN(2)),
			engine.NoLimit)
		s := randomSchedule(r, p.Chain, c.Len())
		tr, err := sim.Play(p, s)
		if err == nil && r.IntN(2) == 0 { // try tighter budgets, which make it wait
			for range 6 {
				p.Budget = tr.Peak - 1 - engine.Bytes(r.Int64N(int64(tr.Peak/3)+1))
				if tight, err := sim.Play(p, s); err == nil {
					tr = tight
				}
			}
		}
		if err != nil {
			continue
		}
		out = append(out, &Picture{Solved: &proto.Solved{Trace: tr}, model: draw.NewIndex(p, tr)})
		for reason, d := range tr.Waiting {
			if d > 0 {
				reasons[sim.Reason(reason)] = true
			}
		}
	}
	if len(reasons) < 3 {
		t.Fatalf("the schedules wait for %v; want at least 3 reasons", reasons)
	}
	return out
}

// randomSchedule keeps, recomputes or offloads the saved set of every stage.
func randomSchedule(r *rand.Rand, g *engine.ChainGraph, n int) (s engine.Schedule) {
	var offloaded, again [64]bool
	for k := 1; k < n; k++ {
		switch r.IntN(3) {
		case 0:
			offloaded[k] = true
		case 1:
			again[k] = k > 1 && !again[k-1] && !offloaded[k-1]
		}
	}
	for k := 1; k <= n; k++ {
		s = append(s, engine.Run(g.Fwd(k)))
		if offloaded[k] {
			s = append(s, engine.Offload(g.Saved(k)))
		}
		if k > 1 && (offloaded[k-1] || again[k-1]) {
			if offloaded[k-1] && r.IntN(3) == 0 {
				s = append(s, engine.Wait(g.Saved(k-1)))
			}
			s = append(s, engine.Free(g.Saved(k-1)))
		}
	}
	for k := n; k >= 1; k-- {
		if k > 1 && offloaded[k-1] {
			s = append(s, engine.Fetch(g.Saved(k-1), 0))
		}
		if k > 1 && again[k-1] {
			s = append(s, engine.Run(g.Fwd(k-1)))
		}
		s = append(s, engine.Run(g.Bwd(k)))
		if k == 1 && r.IntN(3) == 0 { // an offload without purpose, which the end of the step waits for
			s = append(s, engine.Offload(g.Saved(k)))
		}
		s = append(s, engine.Free(g.Saved(k)))
	}
	return s
}
