package bound

import (
	"math/rand/v2"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// TestVectors compares the bounds with the values of the vector files. These are exact, because a byte takes a
// nanosecond there and nothing is rounded.
func TestVectors(t *testing.T) {
	compared := 0
	for _, file := range []string{"offload_small", "offload_medium", "paper_examples"} {
		for _, v := range enginetest.Load(file) {
			for i := range 4 {
				duplex := engine.Duplex(i % 2)
				p := v.Problem(engine.Transfers(i / 2))
				p.Device.Duplex = duplex
				if want, has := v.ExpectInt("lb_scaled"); has {
					compared++
					if got, ok := LB(p); !ok || got != time.Duration(want) {
						t.Errorf("%s %v: LB = %d, %v, want %d", v.ID, duplex, got, ok, want)
					}
				}
				if want, has := v.ExpectInt("relax_scaled"); has {
					compared++
					if got, ok := Relax(p); !ok || got != time.Duration(want) {
						t.Errorf("%s %v: Relax = %d, %v, want %d", v.ID, duplex, got, ok, want)
					}
				}
			}
		}
	}
	if compared < 600 {
		t.Errorf("compared %d values, expected at least 600: are the vectors there?", compared)
	}
}

// twoStages returns a chain that needs 25 bytes if everything is kept: B_2 holds a0, s1, s2 and both gradients.
func twoStages() *engine.Chain {
	return &engine.Chain{Input: 4, InputGrad: 0, LossGradAllocated: true, Stages: []engine.Stage{
		{Forward: 3, Back: 3, Out: 7, Saved: 7, Grad: 7},
		{Forward: 3, Back: 3, Out: 6, Saved: 6, Grad: 1},
	}}
}

// TestOf checks the bounds of twoStages. With 21 bytes, 4 bytes of a0 have to be away while B_2 runs for 3 ns.
// Then they come back, and B_1 takes 3 ns. Before they come back, the other operations take 9 ns. On the slow
// link, the way out and B_2 take longer than that.
func TestOf(t *testing.T) {
	dev := enginetest.Device(engine.HalfDuplex)
	slow := dev
	slow.ToHost, slow.ToDev = 1e8, 1e8
	for _, c := range []struct {
		name   string
		dev    engine.Device
		budget engine.Bytes
		class  engine.Class
		want   time.Duration
		title  string
	}{
		{"everything fits", dev, 25, engine.MayOffload, 12, NameCompute},
		{"keeps everything", dev, 21, 0, 12, NameCompute},
		{"recomputes", slow, 21, engine.MayRecompute, 12, NameCompute},
		{"both", slow, 21, engine.MayRecompute | engine.MayOffload, 12, NameCompute},
		{"waits for four bytes", dev, 21, engine.MayOffload, 16, NameRelax},
		{"four bytes on a slow link", slow, 21, engine.MayOffload, 86, NameRelax},
		{"no link", engine.Device{}, 21, engine.MayOffload, 12, NameCompute},
		{"too small for any schedule", slow, 10, engine.MayOffload, 300, NameLB},
	} {
		got, title := Of(engine.NewChainProblem(twoStages(), c.dev, engine.Whole, c.budget), c.class)
		if got != c.want || title != c.title {
			t.Errorf("%s: budget %d: got %d, %q, want %d, %q", c.name, c.budget, got, title, c.want, c.title)
		}
	}
}

// TestRoundsDown checks that floorTime rounds down. At 3 bytes per nanosecond, for example, 4 bytes take 1.33 ns.
func TestRoundsDown(t *testing.T) {
	for _, c := range []struct {
		rate engine.Rate
		v    engine.Bytes
		want time.Duration
	}{{3e9, 4, 1}, {3e9, 6, 2}, {1e9, 5, 5}, {12_500_000_000, 1 << 40, 87960930222}, {1, 1 << 62, 1<<63 - 1}} {
		if got := floorTime(c.rate, c.v); got != c.want {
			t.Errorf("%d bytes at %d per second: got %d, want %d", c.v, c.rate, got, c.want)
		}
	}
}

// TestDone checks that operations that Done does not need do not count.
func TestDone(t *testing.T) {
	g := &engine.Graph{
		Values: []engine.Value{
			{Name: "in", Initial: engine.OnDevice, PartOf: engine.NoValue},
			{Name: "mid", PartOf: engine.NoValue},
			{Name: "out", PartOf: engine.NoValue},
			{Name: "side", PartOf: engine.NoValue},
			{Name: "either", PartOf: engine.NoValue},
		},
		Ops: []engine.Op{
			{Name: "make", Time: 1, In: []engine.ValueID{0}, Out: []engine.ValueID{1}},
			{Name: "finish", Time: 10, In: []engine.ValueID{1, 4}, Out: []engine.ValueID{2}},
			{Name: "aside", Time: 100, In: []engine.ValueID{1}, Out: []engine.ValueID{3}},
			{Name: "one way", Time: 1000, In: []engine.ValueID{0}, Out: []engine.ValueID{4}},
			{Name: "other way", Time: 1000, In: []engine.ValueID{0}, Out: []engine.ValueID{4}},
		},
		Done: 2,
	}
	if got, _ := Of(&engine.Problem{Graph: g}, 0); got != 11 {
		t.Errorf("until out: got %d, want 11", got)
	}
	g.Done = engine.NoValue
	if got, _ := Of(&engine.Problem{Graph: g}, 0); got != 2111 {
		t.Errorf("all operations: got %d, want 2111", got)
	}
	g.Done = 2
	if _, ok := LB(&engine.Problem{Graph: g}); ok {
		t.Error("LB of a graph: got a value, want none")
	}
	if _, ok := Relax(&engine.Problem{Graph: g}); ok {
		t.Error("Relax of a graph: got a value, want none")
	}
}

// TestSeedMoves checks that the gradient that a chain with an explicit loss holds from the start can be away
// while F_2 runs. No other schedule fits this budget.
func TestSeedMoves(t *testing.T) {
	c := &engine.Chain{Input: 1, Stages: []engine.Stage{
		{Forward: 5, Back: 5, Out: 1, Saved: 1},
		{Forward: 5, Back: 5, Out: 1, Saved: 1, Grad: 10, FwdTemp: 10},
	}}
	p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Whole, 13)
	g := p.Chain
	tr, err := sim.Play(p, engine.Schedule{
		engine.Offload(g.Grad(2)), engine.Free(g.Grad(2)), engine.Run(g.Fwd(1)), engine.Run(g.Fwd(2)),
		engine.Fetch(g.Grad(2), 0), engine.Run(g.Bwd(2)), engine.Run(g.Bwd(1)),
	})
	if err != nil {
		t.Fatal(err)
	}
	// The bound lets the first byte, of x_0, come back while B_1 runs.
	if got, ok := Relax(p); !ok || got != 34 || tr.Makespan != 35 {
		t.Errorf("Relax %d (%v), step time %d; want 34 and 35", got, ok, tr.Makespan)
	}
}

// TestInterleaved shows that Lemma 3 of paper 000 (docs/paper-000.md) is false. On its counterexamples every
// schedule with all offloads before all fetches takes 30, but a schedule that fetches one value before it
// offloads another takes 27, which Relax allows.
func TestInterleaved(t *testing.T) {
	schedules := map[string]func(g *engine.ChainGraph) engine.Schedule{
		"p000-lemma3": func(g *engine.ChainGraph) engine.Schedule {
			x0, x3 := g.Act(0), g.Saved(3)
			return engine.Schedule{
				engine.Offload(x0), engine.Run(g.Fwd(1)), engine.Free(x0), engine.Run(g.Fwd(2)), engine.Fetch(x0, 0),
				engine.Run(g.Fwd(3)),
				engine.Offload(x3), engine.Run(g.Fwd(4)), engine.Free(x3), engine.Run(g.Fwd(5)), engine.Fetch(x3, 0),
				engine.Run(g.Bwd(5)), engine.Run(g.Bwd(4)), engine.Run(g.Bwd(3)), engine.Run(g.Bwd(2)),
				engine.Run(g.Bwd(1)),
			}
		},
		"p000-lemma3-mirror": func(g *engine.ChainGraph) engine.Schedule {
			x0, x4 := g.Act(0), g.Saved(4)
			return engine.Schedule{
				engine.Run(g.Fwd(1)), engine.Run(g.Fwd(2)), engine.Run(g.Fwd(3)), engine.Run(g.Fwd(4)),
				engine.Offload(x4), engine.Run(g.Fwd(5)),
				engine.Free(x4), engine.Run(g.Fwd(6)), engine.Fetch(x4, 0), engine.Run(g.Bwd(6)), engine.Offload(x0),
				engine.Free(x0), engine.Run(g.Bwd(5)),
				engine.Run(g.Bwd(4)), engine.Free(x4), engine.Run(g.Bwd(3)), engine.Fetch(x0, 0),
				engine.Run(g.Bwd(2)), engine.Run(g.Bwd(1)),
			}
		},
	}
	for _, v := range enginetest.Load("paper_examples") {
		write := schedules[v.ID]
		if write == nil {
			continue
		}
		delete(schedules, v.ID)
		p := v.Problem(engine.Whole)
		want, _ := v.ExpectInt("int_true_opt_scaled")
		tr, err := sim.Play(p, write(p.Chain))
		if err != nil {
			t.Errorf("%s: %v", v.ID, err)
			continue
		}
		relax, _ := Relax(p)
		if tr.Makespan != time.Duration(want) || relax != tr.Makespan {
			t.Errorf("%s: step time %d, Relax %d, want %d for both", v.ID, tr.Makespan, relax, want)
		}
	}
	if len(schedules) > 0 {
		t.Errorf("%d vectors are missing", len(schedules))
	}
}

// TestNoScheduleIsFaster plays random schedules that offload any values at any time, in any order and repeatedly,
// and compares the bounds with the step times of those that fit.
func TestNoScheduleIsFaster(t *testing.T) {
	played, tight := 0, 0
	for seed := range uint64(3000) {
		r := enginetest.Rand(seed)
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 5})
		dev := enginetest.Device(engine.Duplex(r.IntN(2)))
		if seed%2 == 1 {
			rates := []engine.Rate{1e9, 5e8, 2e9, 333_333_333, 1_700_000_001}
			dev.ToHost, dev.ToDev = rates[r.IntN(len(rates))], rates[r.IntN(len(rates))]
		}
		most := c.KeepAllPeak()
		p := engine.NewChainProblem(c, dev, engine.Transfers(r.IntN(2)), most-engine.Bytes(r.Int64N(int64(most)/2+1)))
		for range 30 {
			sched := anySchedule(r, p)
			tr, err := sim.Play(p, sched)
			if err != nil {
				continue
			}
			played++
			lower, name := Of(p, engine.MayOffload)
			if tr.Makespan < lower {
				t.Fatalf("seed %d: %v %v: a schedule takes %d, %s is %d\nbudget %d, rates %d and %d\n%s%v", seed,
					p.Transfers, dev.Duplex,
					tr.Makespan, name, lower, p.Budget, dev.ToHost, dev.ToDev, enginetest.Dump(c), describe(p, sched))
			}
			if name != NameCompute && tr.Makespan == lower {
				tight++
			}
		}
	}
	t.Logf("%d schedules played, %d reach a bound above the compute time", played, tight)
	if played < 5000 || tight < 20 {
		t.Errorf("%d schedules played, %d reach a bound above the compute time; expected at least 5000 and 20",
			played, tight)
	}
}

// anySchedule draws a schedule that runs every operation once, in order.
func anySchedule(r *rand.Rand, p *engine.Problem) (sched engine.Schedule) {
	g := p.Chain
	n := g.Chain.Len()
	there, host := make([]bool, len(g.Values)), make([]bool, len(g.Values))
	for v := range g.Values {
		there[v] = g.Values[v].Initial != 0
	}
	// The values that may move: a^0, the saved activations, a gradient held from the start.
	movable := []engine.ValueID{g.Act(0), g.Grad(n)}
	for k := 1; k <= n; k++ {
		movable = append(movable, g.Saved(k))
	}
	compute, _ := Of(p, 0)
	latest := int64(compute)*3/2 + 1
	for i := range g.Ops {
		op := &g.Ops[i]
		needed := map[engine.ValueID]bool{}
		for _, v := range op.In {
			if w := g.Values[v].PartOf; w != engine.NoValue {
				v = w
			}
			needed[v] = true
		}
		for _, v := range movable {
			if there[v] && !host[v] && r.IntN(3) == 0 {
				sched = append(sched, engine.Offload(v))
				host[v] = true
			}
			if there[v] && host[v] && !needed[v] && r.IntN(2) == 0 {
				sched = append(sched, engine.Free(v))
				there[v] = false
			}
			late := time.Duration(r.Int64N(latest)) * time.Duration(r.IntN(2))
			if host[v] && !there[v] && (needed[v] || r.IntN(6) == 0) {
				sched = append(sched, engine.Fetch(v, late))
				there[v] = true
			}
		}
		sched = append(sched, engine.Run(engine.OpID(i)))
		for _, v := range op.Out {
			there[v] = true
		}
		if op.Pass == engine.Backward {
			for _, v := range []engine.ValueID{g.Grad(op.Stage), g.Saved(op.Stage)} {
				sched = append(sched, engine.Free(v))
				there[v], host[v] = false, false
			}
		}
	}
	return sched
}

func describe(p *engine.Problem, sched engine.Schedule) (out string) {
	for _, st := range sched {
		out += st.Describe(p.Graph) + "; "
	}
	return out
}
