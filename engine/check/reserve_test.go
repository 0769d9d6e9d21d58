package check_test

import (
	"errors"
	"slices"
	"testing"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/sim"
)

// TestReserve plays two fetches that queue for the link. With Reserve the second one holds its room while the
// first one moves. The trace with Reserve is refuted for the schedule without Reserve, and vice versa.
func TestReserve(t *testing.T) {
	g := &engine.Graph{Done: engine.NoValue}
	for _, name := range []string{"x", "y"} {
		g.Values = append(g.Values, engine.Value{Name: name, Size: 4, Initial: engine.OnHost, PartOf: engine.NoValue})
	}
	g.Ops = []engine.Op{{Name: "f", Time: 2, In: []engine.ValueID{0}}, {Name: "g", Time: 2, In: []engine.ValueID{0, 1}}}
	program := func(reserve bool) engine.Schedule {
		s := engine.Schedule{engine.Fetch(0, 0), engine.Fetch(1, 0), engine.Run(0), engine.Run(1)}
		s[0].Reserve, s[1].Reserve = reserve, reserve
		return s
	}
	for _, transfers := range []engine.Transfers{engine.Whole, engine.Streamed} {
		p := &engine.Problem{Graph: g, Device: engine.Device{ToHost: 1e9, ToDev: 1e9}, Transfers: transfers, Budget: 8}
		for _, reserve := range []bool{false, true} {
			trace, err := sim.Play(p, program(reserve))
			if err != nil {
				t.Fatal(err)
			}
			if err := check.Trace(p, program(reserve), trace); err != nil {
				t.Errorf("%v transfers, reserve %v: %v", transfers, reserve, err)
			}
			if err := check.Trace(p, program(!reserve), trace); err == nil {
				t.Errorf("%v transfers: the trace of reserve %v passes for the other", transfers, reserve)
			}
		}
	}
}

// TestReserveHolds plays a fetch that finds no room to reserve until an earlier offload has ended. The counter waits
// at the fetch for room only.
func TestReserveHolds(t *testing.T) {
	const y, x = engine.ValueID(0), engine.ValueID(1)
	g := &engine.Graph{Done: engine.NoValue, Ops: []engine.Op{{Name: "f", Time: 2, In: []engine.ValueID{x}}},
		Values: []engine.Value{
			{Name: "y", Size: 6, Initial: engine.OnDevice, PartOf: engine.NoValue},
			{Name: "x", Size: 4, Initial: engine.OnHost, PartOf: engine.NoValue},
		}}
	p := &engine.Problem{Graph: g, Device: engine.Device{ToHost: 1e9, ToDev: 1e9}, Budget: 8}
	s := engine.Schedule{engine.Offload(y), engine.Free(y), engine.Fetch(x, 0), engine.Wait(x), engine.Run(0)}
	s[2].Reserve = true
	for _, c := range []struct {
		what   string
		do     func(*sim.Trace)
		reason check.Reason
	}{
		{what: "nothing changed", do: func(*sim.Trace) {}},
		{"more bytes missing", func(t *sim.Trace) { t.Gaps[0].Need++ }, check.GapReason},
		{"data instead of room", func(t *sim.Trace) { t.Gaps[0].Reason, t.Gaps[0].Need = sim.NeedsData, 0 },
			check.GapReason},
		{"room and a value", func(t *sim.Trace) { t.Gaps[0].Value = x }, check.GapReason},
		{"the step after it", func(t *sim.Trace) { t.Gaps[0].Step++ }, check.GapReason},
		{"the fetch as its own cause", func(t *sim.Trace) { t.Gaps[0].Cause = 1 }, check.GapCause},
		{"a gap that lasts longer", func(t *sim.Trace) { t.Gaps[0].End++; t.Gaps[1].Start++ }, check.GapReason},
		{"a fetch that was not held", func(t *sim.Trace) { t.Spans[1].Why, t.Spans[1].Cause = sim.None, sim.NoSpan },
			check.WrongCause},
		{"room before there is any", func(t *sim.Trace) { t.Lives[1].Start-- }, check.WrongLives},
	} {
		trace, err := sim.Play(p, s)
		if err != nil {
			t.Fatal(err)
		}
		want := []sim.Gap{{End: 6, Reason: sim.NeedsRoom, Step: 2, Value: engine.NoValue, Need: 2, Cause: 0},
			{Start: 6, End: 10, Reason: sim.NeedsData, Step: 3, Value: x, Cause: 1}}
		if !slices.Equal(trace.Gaps, want) {
			t.Fatalf("gaps %+v; want %+v", trace.Gaps, want)
		}
		c.do(trace)
		var ref *check.Refutation
		switch err := check.Trace(p, s, trace); {
		case c.reason == 0 && err != nil:
			t.Errorf("%s: refuted: %v", c.what, err)
		case c.reason != 0 && (!errors.As(err, &ref) || ref.Reason != c.reason):
			t.Errorf("%s: got %v, want %v", c.what, err, c.reason)
		}
	}
}
