// Package tracetest has traces for tests: a small one that is written by hand, graphs, and random ones.
package tracetest

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

const ms = time.Millisecond

// Problem returns a chain of three stages with names that need escaping.
func Problem() *engine.Problem {
	c := &engine.Chain{Name: "small", Input: 100 * engine.MiB, InputGrad: 0,
		Resident: engine.Resident{Weights: 200 * engine.MiB},
		Stages: []engine.Stage{
			{Name: "conv1", Forward: 20 * ms, Back: 40 * ms, Out: 200 * engine.MiB, Saved: 300 * engine.MiB,
				Grad: 50 * engine.MiB},
			{Name: "block<2>&", Forward: 30 * ms, Back: 60 * ms, Out: 100 * engine.MiB, Saved: 200 * engine.MiB,
				Grad: 50 * engine.MiB},
			{Name: "loss", Forward: 0, Back: 0, Out: 4, Saved: 4, Grad: 4},
		}}
	return engine.NewChainProblem(c, engine.Device{ToHost: 10e9, ToDev: 10e9}, engine.Whole, engine.GiB)
}

// Trace returns a trace of Problem that is written by hand: stage 1 is offloaded and fetched,
// for which B1 waits, and stage 2 is recomputed.
//
//	compute    F1 0-20  F2 20-50  F3  B3  F2 50-80  B2 80-140  wait 140-155  B1 155-195
//	to host             s1 20-70
//	to device                                  s1 105-155
func Trace(p *engine.Problem) *sim.Trace {
	g := p.Chain
	none := sim.NoSpan
	run := func(k sim.SpanKind, op engine.OpID, from, to time.Duration, cause sim.SpanID) sim.Span {
		return sim.Span{Lane: sim.Compute, Kind: k, Op: op, Value: engine.NoValue, Start: from, End: to,
			Why: sim.Dependency, Cause: cause}
	}
	t := &sim.Trace{Makespan: 195 * ms, ComputeTime: 150 * ms, RecomputeTime: 30 * ms}
	t.Waiting[sim.NeedsData] = 15 * ms
	t.Spans = []sim.Span{
		0: run(sim.SpanForward, g.Fwd(1), 0, 20*ms, none),
		1: run(sim.SpanForward, g.Fwd(2), 20*ms, 50*ms, 0),
		2: {Lane: sim.ToHost, Kind: sim.SpanOffload, Op: engine.NoOp, Value: g.Saved(1), Start: 20 * ms, End: 70 * ms,
			Why: sim.Dependency, Cause: 0},
		3: run(sim.SpanForward, g.Fwd(3), 50*ms, 50*ms, 1),
		4: run(sim.SpanBackward, g.Bwd(3), 50*ms, 50*ms, 3),
		5: run(sim.SpanRecompute, g.Fwd(2), 50*ms, 80*ms, 4),
		6: run(sim.SpanBackward, g.Bwd(2), 80*ms, 140*ms, 5),
		7: {Lane: sim.ToDev, Kind: sim.SpanFetch, Op: engine.NoOp, Value: g.Saved(1), Start: 105 * ms, End: 155 * ms,
			Why: sim.NeedsRoom, Cause: 5},
		8: run(sim.SpanBackward, g.Bwd(1), 155*ms, 195*ms, 7),
	}
	t.Spans[0].Why, t.Spans[8].Why = sim.None, sim.NeedsData
	t.Gaps = []sim.Gap{{Start: 140 * ms, End: 155 * ms, Reason: sim.NeedsData, Value: g.Saved(1), Cause: 7}}
	use := func(at time.Duration, mib ...int64) sim.Sample {
		s := sim.Sample{At: at}
		for c, b := range mib {
			s.Used[c] = engine.Bytes(b) * engine.MiB
		}
		return s
	}
	t.Memory = []sim.Sample{
		use(0, 200, 0, 100), use(0, 200, 0, 400), use(20*ms, 200, 0, 400), use(20*ms, 200, 0, 200, 0, 300),
		use(50*ms, 200, 0, 200, 0, 300), use(50*ms, 200, 50, 100, 200, 300), use(70*ms, 200, 50, 100, 200, 300),
		use(70*ms, 200, 50, 100, 200, 0),
		use(105*ms, 200, 50, 100, 200, 0), use(155*ms, 200, 50, 100, 200, 300), use(155*ms, 200, 50, 400, 0, 0, 50),
		use(195*ms, 200, 50, 400, 0, 0, 50), use(195*ms, 200, 0, 100),
	}
	t.Peak, t.PeakAt = 850*engine.MiB, 50*ms
	t.Lives = []sim.Life{
		{Value: g.Act(0), Op: engine.NoOp, Category: sim.Activation, Bytes: 100 * engine.MiB, Start: 0, End: 195 * ms,
			From: none},
		{Value: g.Saved(1), Op: engine.NoOp, Category: sim.Activation, Bytes: 300 * engine.MiB, Start: 0,
			End: 70 * ms, From: 0, Offloaded: true},
		{Value: g.Saved(2), Op: engine.NoOp, Category: sim.Recomputed, Bytes: 200 * engine.MiB, Start: 50 * ms,
			End: 155 * ms, From: 5},
		{Value: g.Saved(1), Op: engine.NoOp, Category: sim.Activation, Bytes: 300 * engine.MiB, Start: 105 * ms,
			End: 195 * ms, From: 7},
		{Value: engine.NoValue, Op: g.Bwd(1), Category: sim.Workspace, Bytes: 50 * engine.MiB, Start: 155 * ms,
			End: 195 * ms, From: 8},
	}
	t.Decisions = []sim.Decision{sim.Offload, sim.Recompute, sim.Keep}
	return t
}

// Small returns Problem and its Trace.
func Small() (*engine.Problem, *sim.Trace) {
	p := Problem()
	return p, Trace(p)
}

// Random returns a trace of about n slices of various lengths. It looks like a long trace, but
// no schedule would have it.
func Random(n int, seed uint64) (*engine.Problem, *sim.Trace) {
	r := rand.New(rand.NewPCG(seed, 1))
	stages := max(min(n/4, 300), 1)
	c := &engine.Chain{Input: 1, Stages: make([]engine.Stage, stages)}
	for i := range c.Stages {
		c.Stages[i] = engine.Stage{Name: "layer", Forward: ms, Back: ms, Out: 1, Saved: engine.Bytes(1 + r.IntN(1e9))}
	}
	p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, 40*engine.GiB)
	t := &sim.Trace{Decisions: make([]sim.Decision, stages)}
	var at [sim.NumLanes]time.Duration
	for i := range n {
		l := sim.Lane(i % int(sim.NumLanes))
		d := time.Duration(r.ExpFloat64()*1e5) + 1
		if r.IntN(100) == 0 {
			d *= 50
		}
		s := sim.Span{Lane: l, Op: engine.NoOp, Value: engine.NoValue, Cause: sim.NoSpan, Start: at[l]}
		switch {
		case l == sim.Compute && r.IntN(4) == 0:
			t.Gaps = append(t.Gaps, sim.Gap{Start: at[l], End: at[l] + d, Reason: sim.NeedsData,
				Value: engine.NoValue, Cause: sim.NoSpan})
			at[l] += d
			continue
		case l == sim.Compute:
			s.Kind, s.Op = sim.SpanKind(r.IntN(3)), engine.OpID(r.IntN(2*stages))
		default:
			s.Kind, s.Value = sim.SpanOffload+sim.SpanKind(l-1), engine.ValueID(r.IntN(stages))
			s.Start += time.Duration(r.ExpFloat64() * 1e5)
		}
		s.End = s.Start + d
		at[l] = s.End
		t.Spans = append(t.Spans, s)
	}
	if n := len(t.Gaps); n > 0 && t.Gaps[n-1].End == slices.Max(at[:]) { // a step ends with a span
		at[sim.Compute] = t.Gaps[n-1].Start
		t.Gaps = t.Gaps[:n-1]
	}
	t.Makespan = slices.Max(at[:])
	randomMemory(t, r, n)
	slices.SortStableFunc(t.Spans, func(a, b sim.Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Lane, b.Lane))
	})
	return p, t
}

// randomMemory sets the memory samples and the peak of a trace.
func randomMemory(t *sim.Trace, r *rand.Rand, n int) {
	var s sim.Sample
	s.Used[sim.Fixed] = 2 * engine.GiB
	for i := range n {
		s.At = time.Duration(float64(t.Makespan) * float64(i) / float64(n))
		t.Memory = append(t.Memory, s)
		c := 1 + r.IntN(int(sim.NumCategories)-1)
		s.Used[c] = min(max(s.Used[c]+engine.Bytes(r.IntN(2e9)-1e9), 0), 6*engine.GiB)
		t.Memory = append(t.Memory, s)
		if total := s.Total(); total > t.Peak {
			t.Peak, t.PeakAt = total, s.At
		}
	}
	s.At = t.Makespan
	t.Memory = append(t.Memory, s)
}

// Empty returns a trace in which nothing runs.
func Empty() (*engine.Problem, *sim.Trace) {
	g := &engine.Graph{Ops: []engine.Op{{Name: "x", Pass: engine.Backward}}, Done: engine.NoValue}
	return &engine.Problem{Graph: g, Budget: engine.NoLimit}, &sim.Trace{}
}
