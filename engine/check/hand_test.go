package check_test

import (
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// The ids of the two-stage chain of these tests.
const (
	a0, a1, a2 = engine.ValueID(0), engine.ValueID(1), engine.ValueID(2)
	s1, s2     = engine.ValueID(3), engine.ValueID(4)
	d0, d1, d2 = engine.ValueID(5), engine.ValueID(6), engine.ValueID(7)
	f1, f2     = engine.OpID(0), engine.OpID(1)
	b2, b1     = engine.OpID(2), engine.OpID(3)
)

const sec = time.Second

// example is a trace made by hand. s1 is offloaded while F2 runs, and fetched before B2, which waits for it:
//
//	compute  F1 0-2   F2 2-6            B2 9-12   B1 12-14
//	link              s1 2-4   s1 7-9
type example struct {
	p *engine.Problem
	s engine.Schedule
	t *sim.Trace
}

func newExample(duplex engine.Duplex, transfers engine.Transfers) *example {
	chain := &engine.Chain{Input: 1, InputGrad: 1, Resident: engine.Resident{Weights: 2}, Stages: []engine.Stage{
		{Forward: 2 * sec, Back: 2 * sec, Out: 1, Saved: 4, Grad: 1},
		{Forward: 4 * sec, Back: 3 * sec, Out: 1, Saved: 2, Grad: 1, BwdTemp: 1},
	}}
	e := &example{p: engine.NewChainProblem(chain, engine.Device{ToHost: 2, ToDev: 2, Duplex: duplex}, transfers, 12)}
	e.s = engine.Schedule{
		engine.Run(f1), engine.Offload(s1), engine.Run(f2), engine.Free(s1), engine.Fetch(s1, 7*sec),
		engine.Run(b2), engine.Free(d2), engine.Free(s2), engine.Run(b1), engine.Free(d1), engine.Free(s1),
		engine.Free(a0),
	}
	run := func(step int, op engine.OpID, kind sim.SpanKind, start, end time.Duration, why sim.Reason,
		cause sim.SpanID) sim.Span {
		return sim.Span{Kind: kind, Step: step, Op: op, Value: engine.NoValue, Start: start, End: end, Why: why,
			Cause: cause}
	}
	move := func(step int, lane sim.Lane, kind sim.SpanKind, start, end time.Duration, why sim.Reason,
		cause sim.SpanID) sim.Span {
		return sim.Span{Lane: lane, Kind: kind, Step: step, Op: engine.NoOp, Value: s1, Start: start, End: end,
			Why: why, Cause: cause}
	}
	e.t = &sim.Trace{
		Makespan: 14 * sec, Peak: 12, PeakAt: 9 * sec, HostPeak: 4, ComputeTime: 11 * sec,
		Spans: []sim.Span{
			run(0, f1, sim.SpanForward, 0, 2*sec, sim.None, sim.NoSpan),
			run(2, f2, sim.SpanForward, 2*sec, 6*sec, sim.Dependency, 0),
			move(1, sim.ToHost, sim.SpanOffload, 2*sec, 4*sec, sim.Dependency, 0),
			move(4, sim.ToDev, sim.SpanFetch, 7*sec, 9*sec, sim.Window, sim.NoSpan),
			run(5, b2, sim.SpanBackward, 9*sec, 12*sec, sim.NeedsData, 3),
			run(8, b1, sim.SpanBackward, 12*sec, 14*sec, sim.Dependency, 4),
		},
		Gaps:      []sim.Gap{{Start: 6 * sec, End: 9 * sec, Reason: sim.NeedsData, Step: 5, Value: s1, Cause: 3}},
		Host:      []sim.Point{{At: 2 * sec, Used: 4}, {At: 9 * sec}},
		Decisions: []sim.Decision{sim.Offload, sim.Keep},
		Memory:    exampleMemory(transfers),
		Lives:     exampleLives(),
	}
	e.t.Waiting[sim.NeedsData] = 3 * sec
	return e
}

// exampleMemory returns the memory curve of the example. The categories are weights, gradients, activations,
// recomputed activations, values in transfer, and workspace.
func exampleMemory(transfers engine.Transfers) []sim.Sample {
	type use = [sim.NumCategories]engine.Bytes
	arriving := engine.Bytes(4)
	if transfers == engine.Streamed {
		arriving = 0
	}
	return []sim.Sample{
		{At: 0, Used: use{2, 1, 1}}, {At: 0, Used: use{2, 1, 5}}, // F1 takes s1
		{At: 2 * sec, Used: use{2, 1, 5}}, {At: 2 * sec, Used: use{2, 1, 7}}, // F2 takes s2
		{At: 6 * sec, Used: use{2, 1, 7}}, {At: 6 * sec, Used: use{2, 1, 3}}, // s1 leaves
		{At: 7 * sec, Used: use{2, 1, 3}}, {At: 7 * sec, Used: use{2, 1, 3, 0, arriving}},
		{At: 9 * sec, Used: use{2, 1, 3, 0, 4}}, {At: 9 * sec, Used: use{2, 1, 7}},
		{At: 9 * sec, Used: use{2, 2, 7, 0, 0, 1}}, // B2 takes d1 and its workspace
		{At: 12 * sec, Used: use{2, 2, 7, 0, 0, 1}}, {At: 12 * sec, Used: use{2, 2, 7}},
		{At: 12 * sec, Used: use{2, 1, 7}}, {At: 12 * sec, Used: use{2, 1, 5}}, // d2 and s2 leave
		{At: 12 * sec, Used: use{2, 2, 5}}, // B1 takes d0
		{At: 14 * sec, Used: use{2, 2, 5}}, {At: 14 * sec, Used: use{2, 1, 5}},
		{At: 14 * sec, Used: use{2, 1, 1}}, {At: 14 * sec, Used: use{2, 1, 0}},
	}
}

func exampleLives() []sim.Life {
	life := func(v engine.ValueID, cat sim.Category, bytes engine.Bytes, from sim.SpanID, start, end time.Duration,
		startSeq, endSeq int) sim.Life {
		return sim.Life{Value: v, Op: engine.NoOp, Category: cat, Bytes: bytes, From: from, Start: start, End: end,
			StartSeq: startSeq, EndSeq: endSeq}
	}
	gone := life(s1, sim.Activation, 4, 0, 0, 6*sec, 2, 4)
	gone.Offloaded = true
	workspace := life(engine.NoValue, sim.Workspace, 1, 4, 9*sec, 12*sec, 7, 8)
	workspace.Op = b2
	return []sim.Life{
		life(a0, sim.Activation, 1, sim.NoSpan, 0, 14*sec, 0, 14),
		life(d2, sim.Gradient, 1, sim.NoSpan, 0, 12*sec, 1, 9),
		gone,
		life(s2, sim.Activation, 2, 1, 2*sec, 12*sec, 3, 10),
		life(s1, sim.Activation, 4, 3, 7*sec, 14*sec, 5, 13),
		life(d1, sim.Gradient, 1, 4, 9*sec, 14*sec, 6, 12),
		workspace,
		life(d0, sim.Gradient, 1, 5, 12*sec, 14*sec, 11, 15),
	}
}

// insert inserts a step before step i and renumbers the steps of spans and gaps.
func (e *example) insert(i int, st engine.Instruction) {
	e.s = slices.Insert(e.s, i, st)
	for k := range e.t.Spans {
		if e.t.Spans[k].Step >= i {
			e.t.Spans[k].Step++
		}
	}
	for k := range e.t.Gaps {
		if e.t.Gaps[k].Step >= i {
			e.t.Gaps[k].Step++
		}
	}
}

// addSpan inserts a span in the order of the starts.
func (e *example) addSpan(sp sim.Span) {
	i := 0
	for i < len(e.t.Spans) && e.t.Spans[i].Start <= sp.Start {
		i++
	}
	e.t.Spans = slices.Insert(e.t.Spans, i, sp)
}

// shift moves a span in time.
func (e *example) shift(span int, by time.Duration) {
	e.t.Spans[span].Start += by
	e.t.Spans[span].End += by
}
