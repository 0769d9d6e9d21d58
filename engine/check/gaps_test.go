package check_test

import (
	"errors"
	"testing"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/sim"
)

// waiting returns a trace made by hand in which the compute lane waits for three reasons: first for the room that
// y occupies, then at a wait for the copy of z, and at the end for the copy of u.
//
//	compute          A 6-16
//	link     y 0-6           z 16-20   u 20-22
func waiting() *example {
	const y, z, u = engine.ValueID(0), engine.ValueID(1), engine.ValueID(2)
	g := &engine.Graph{
		Values: []engine.Value{
			{Name: "y", Size: 6, Initial: engine.OnDevice, PartOf: engine.NoValue},
			{Name: "z", Size: 4, PartOf: engine.NoValue},
			{Name: "u", Size: 2, Initial: engine.OnDevice, PartOf: engine.NoValue},
		},
		Ops:  []engine.Op{{Name: "A", Time: 10 * sec, In: []engine.ValueID{u}, Out: []engine.ValueID{z}}},
		Done: z,
	}
	type use = [sim.NumCategories]engine.Bytes
	e := &example{
		p: &engine.Problem{Graph: g, Device: engine.Device{ToHost: 1, ToDev: 1}, Budget: 10},
		s: engine.Schedule{engine.Offload(y), engine.Free(y), engine.Run(0), engine.Offload(z), engine.Wait(z),
			engine.Offload(u)},
		t: &sim.Trace{
			Makespan: 22 * sec, Peak: 8, PeakAt: 0, HostPeak: 12, ComputeTime: 10 * sec,
			Spans: []sim.Span{
				{Lane: sim.ToHost, Kind: sim.SpanOffload, Step: 0, Op: engine.NoOp, Value: y, End: 6 * sec,
					Cause: sim.NoSpan},
				{Step: 2, Op: 0, Value: engine.NoValue, Start: 6 * sec, End: 16 * sec, Why: sim.NeedsRoom, Cause: 0},
				{Lane: sim.ToHost, Kind: sim.SpanOffload, Step: 3, Op: engine.NoOp, Value: z, Start: 16 * sec,
					End: 20 * sec, Why: sim.Dependency, Cause: 1},
				{Lane: sim.ToHost, Kind: sim.SpanOffload, Step: 5, Op: engine.NoOp, Value: u, Start: 20 * sec,
					End: 22 * sec, Why: sim.Dependency, Cause: 2},
			},
			Gaps: []sim.Gap{
				{Start: 0, End: 6 * sec, Reason: sim.NeedsRoom, Step: 2, Value: engine.NoValue, Need: 2, Cause: 0},
				{Start: 16 * sec, End: 20 * sec, Reason: sim.CopyOut, Step: 4, Value: z, Cause: 2},
				{Start: 20 * sec, End: 22 * sec, Reason: sim.Drain, Step: 6, Value: engine.NoValue, Cause: 3},
			},
			Memory: []sim.Sample{
				{Used: use{0, 0, 8}}, {Used: use{0, 0, 2, 0, 6}},
				{At: 6 * sec, Used: use{0, 0, 2, 0, 6}}, {At: 6 * sec, Used: use{0, 0, 2}},
				{At: 6 * sec, Used: use{0, 0, 6}},
				{At: 22 * sec, Used: use{0, 0, 6}},
			},
			Host: []sim.Point{{Used: 6}, {At: 16 * sec, Used: 10}, {At: 20 * sec, Used: 12}},
			Lives: []sim.Life{
				{Value: y, Op: engine.NoOp, Category: sim.Activation, Bytes: 6, End: 6 * sec, StartSeq: 0, EndSeq: 2,
					From: sim.NoSpan, Offloaded: true},
				{Value: u, Op: engine.NoOp, Category: sim.Activation, Bytes: 2, End: 22 * sec, StartSeq: 1, EndSeq: 5,
					From: sim.NoSpan, Offloaded: true},
				{Value: z, Op: engine.NoOp, Category: sim.Activation, Bytes: 4, Start: 6 * sec, End: 22 * sec,
					StartSeq: 3, EndSeq: 4, From: 1, Offloaded: true},
			},
		},
	}
	e.t.Waiting[sim.NeedsRoom], e.t.Waiting[sim.CopyOut], e.t.Waiting[sim.Drain] = 6*sec, 4*sec, 2*sec
	return e
}

func TestGaps(t *testing.T) {
	e := waiting()
	if err := check.Trace(e.p, e.s, e.t); err != nil {
		t.Fatalf("%v; expected no refutation", err)
	}
	for _, c := range []struct {
		what   string
		do     func(*sim.Trace)
		reason check.Reason
	}{
		{"more bytes missing", func(t *sim.Trace) { t.Gaps[0].Need++ }, check.GapReason},
		{"fewer bytes missing", func(t *sim.Trace) { t.Gaps[0].Need-- }, check.GapReason},
		{"room and a value", func(t *sim.Trace) { t.Gaps[0].Value = 2 }, check.GapReason},
		{"data instead of room", func(t *sim.Trace) {
			t.Gaps[0].Reason, t.Gaps[0].Need,
				t.Gaps[0].Value = sim.NeedsData, 0, 2
		}, check.GapReason},
		{"an output as data", func(t *sim.Trace) {
			t.Gaps[0].Reason, t.Gaps[0].Need, t.Gaps[0].Value = sim.NeedsData,
				0, 1
		}, check.GapReason},
		{"a copy-out instead of room", func(t *sim.Trace) { t.Gaps[0].Reason, t.Gaps[0].Need = sim.CopyOut, 0 },
			check.GapReason},
		{"room that another transfer made", func(t *sim.Trace) { t.Gaps[0].Cause = 2 }, check.GapCause},
		{"a run as the cause", func(t *sim.Trace) { t.Gaps[0].Cause = 1 }, check.GapCause},
		{"bytes missing at a wait", func(t *sim.Trace) { t.Gaps[1].Need = 1 }, check.GapReason},
		{"data at a wait for a copy-out", func(t *sim.Trace) { t.Gaps[1].Reason = sim.NeedsData }, check.GapReason},
		{"another value at a wait", func(t *sim.Trace) { t.Gaps[1].Value = 2 }, check.GapReason},
		{"another transfer at a wait", func(t *sim.Trace) { t.Gaps[1].Cause = 3 }, check.GapCause},
		{"a wait that lasts too long", func(t *sim.Trace) { t.Gaps[1].End = 22 * sec; t.Gaps = t.Gaps[:2] },
			check.GapReason},
		{"draining for another reason", func(t *sim.Trace) { t.Gaps[2].Reason = sim.Window }, check.GapReason},
		{"draining by another transfer", func(t *sim.Trace) { t.Gaps[2].Cause = 2 }, check.GapCause},
		{"a start for another reason", func(t *sim.Trace) { t.Spans[1].Why = sim.NeedsData }, check.WrongCause},
		{"a reason that does not exist", func(t *sim.Trace) { t.Spans[1].Why = sim.NumReasons }, check.WrongCause},
		{"an offload that needs room", func(t *sim.Trace) { t.Spans[3].Why = sim.NeedsRoom }, check.WrongCause},
		{"an offload that was not held",
			func(t *sim.Trace) { t.Spans[3].Why, t.Spans[3].Cause = sim.None, sim.NoSpan }, check.WrongCause},
	} {
		e := waiting()
		c.do(e.t)
		err := check.Trace(e.p, e.s, e.t)
		var ref *check.Refutation
		if !errors.As(err, &ref) || ref.Reason != c.reason {
			t.Errorf("%s: got %v, want %v", c.what, err, c.reason)
		}
	}
}
