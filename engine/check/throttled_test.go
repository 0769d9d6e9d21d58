package check_test

import (
	"errors"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/sim"
)

// throttled returns a streamed trace made by hand, in full duplex. y leaves at one byte per second while x
// arrives at two; 1 byte is free when both start. So x moves at full speed until 2 bytes fill the room at 1 s,
// then as fast as y leaves, and is complete at 3 s instead of 2 s.
func throttled() *example {
	const x, y, z, w = engine.ValueID(0), engine.ValueID(1), engine.ValueID(2), engine.ValueID(3)
	g := &engine.Graph{
		Values: []engine.Value{
			{Name: "x", Size: 4, Initial: engine.OnHost, PartOf: engine.NoValue},
			{Name: "y", Size: 6, Initial: engine.OnDevice, PartOf: engine.NoValue},
			{Name: "z", Size: 1, PartOf: engine.NoValue}, {Name: "w", Size: 1, PartOf: engine.NoValue},
		},
		Ops: []engine.Op{
			{Name: "A", Time: 10 * sec, Out: []engine.ValueID{z}},
			{Name: "B", Time: sec, In: []engine.ValueID{x}, Out: []engine.ValueID{w}},
		},
		Done: w,
	}
	dev := engine.Device{ToHost: 1, ToDev: 2, Duplex: engine.FullDuplex}
	type use = [sim.NumCategories]engine.Bytes
	return &example{
		p: &engine.Problem{Graph: g, Device: dev, Transfers: engine.Streamed, Budget: 8},
		s: engine.Schedule{engine.Offload(y), engine.Free(y), engine.Fetch(x, 0), engine.Run(0), engine.Run(1)},
		t: &sim.Trace{
			Makespan: 11 * sec, Peak: 8, PeakAt: sec, HostPeak: 6, ComputeTime: 11 * sec,
			Spans: []sim.Span{
				{Step: 3, Op: 0, Value: engine.NoValue, End: 10 * sec, Cause: sim.NoSpan},
				{Lane: sim.ToHost, Kind: sim.SpanOffload, Step: 0, Op: engine.NoOp, Value: y, End: 6 * sec,
					Cause: sim.NoSpan},
				{Lane: sim.ToDev, Kind: sim.SpanFetch, Step: 2, Op: engine.NoOp, Value: x, End: 3 * sec,
					Cause: sim.NoSpan},
				{Step: 4, Op: 1, Value: engine.NoValue, Start: 10 * sec, End: 11 * sec, Why: sim.Dependency},
			},
			Memory: []sim.Sample{
				{Used: use{0, 0, 6}}, {Used: use{0, 0, 1, 0, 6}},
				{At: sec, Used: use{0, 0, 1, 0, 7}},
				{At: 3 * sec, Used: use{0, 0, 1, 0, 7}}, {At: 3 * sec, Used: use{0, 0, 5, 0, 3}},
				{At: 6 * sec, Used: use{0, 0, 5}},
				{At: 10 * sec, Used: use{0, 0, 5}}, {At: 10 * sec, Used: use{0, 0, 6}},
				{At: 11 * sec, Used: use{0, 0, 6}},
			},
			Host: []sim.Point{{Used: 6}},
			Lives: []sim.Life{
				{Value: y, Op: engine.NoOp, Category: sim.Activation, Bytes: 6, End: 6 * sec, EndSeq: 3,
					From: sim.NoSpan, Offloaded: true},
				{Value: z, Op: engine.NoOp, Category: sim.Activation, Bytes: 1, End: 11 * sec, StartSeq: 1, EndSeq: 5,
					From: 0},
				{Value: x, Op: engine.NoOp, Category: sim.Activation, Bytes: 4, End: 11 * sec, StartSeq: 2, EndSeq: 6,
					From: 2},
				{Value: w, Op: engine.NoOp, Category: sim.Activation, Bytes: 1, Start: 10 * sec, End: 11 * sec,
					StartSeq: 4, EndSeq: 7, From: 3},
			},
		},
	}
}

func TestThrottledFetch(t *testing.T) {
	e := throttled()
	if err := check.Trace(e.p, e.s, e.t); err != nil {
		t.Errorf("a fetch from 0 to 3 s: %v; expected no refutation", err)
	}
	for _, c := range []struct {
		what   string
		scale  engine.Bytes // sizes and rates are that many times larger: rounding counts less
		end    time.Duration
		reason check.Reason
	}{
		{"as if there were room", 1 << 20, 2 * sec, check.WrongDuration},
		{"a little early", 1 << 20, 3*sec - time.Millisecond, check.WrongDuration},
		{"a little late", 1 << 20, 3*sec + time.Millisecond, check.WrongDuration},
		{"faster than the link", 1, 1 * sec, check.WrongDuration},
	} {
		e := throttled()
		e.enlarge(c.scale)
		if err := check.Trace(e.p, e.s, e.t); err != nil {
			t.Errorf("%d times as large: %v; expected no refutation", c.scale, err)
		}
		e.t.Spans[2].End = c.end
		err := check.Trace(e.p, e.s, e.t)
		var ref *check.Refutation
		if !errors.As(err, &ref) || ref.Reason != c.reason {
			t.Errorf("a fetch from 0 to %v, %s: got %v, want %v", c.end, c.what, err, c.reason)
		}
	}
	e = throttled()
	e.enlarge(1 << 20)
	e.p.Budget += 1 << 20
	if err := check.Trace(e.p, e.s, e.t); err == nil {
		t.Error("a fetch to 3 s, with room to end at 2 s: accepted; expected a refutation")
	}
}

// enlarge multiplies all sizes and rates.
func (e *example) enlarge(by engine.Bytes) {
	for i := range e.p.Graph.Values {
		e.p.Graph.Values[i].Size *= by
	}
	e.p.Budget *= by
	e.p.Device.ToHost *= engine.Rate(by)
	e.p.Device.ToDev *= engine.Rate(by)
	for i := range e.t.Memory {
		for k := range e.t.Memory[i].Used {
			e.t.Memory[i].Used[k] *= by
		}
	}
	for i := range e.t.Lives {
		e.t.Lives[i].Bytes *= by
	}
	for i := range e.t.Host {
		e.t.Host[i].Used *= by
	}
	e.t.Peak, e.t.HostPeak = e.t.Peak*by, e.t.HostPeak*by
}
