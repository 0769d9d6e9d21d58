package draw

import (
	"strings"
	"testing"
	"time"

	"memtide/engine"
	_ "memtide/engine/all" // registers how operations of other lanes are played
	"memtide/engine/sim"
	"memtide/web/lookup"
)

// gathered returns a step in which a gather on the network begins after a run, the next run waits for the gather,
// and an operation on the host is the last.
func gathered(t *testing.T) *Index {
	t.Helper()
	const w, x, y, z = 0, 1, 2, 3
	value := func(name string, at engine.Place) engine.Value {
		return engine.Value{Name: name, Size: engine.MiB, Initial: at, PartOf: engine.NoValue}
	}
	g := &engine.Graph{Done: engine.NoValue,
		Values: []engine.Value{value("w", 0), value("x", 0), value("y", engine.OnHost), value("z", 0)},
		Ops: []engine.Op{
			{Name: "gather", Lane: engine.LaneNetwork, Time: 40 * time.Millisecond, Out: []engine.ValueID{w}},
			{Name: "first", Time: 30 * time.Millisecond, Out: []engine.ValueID{x}},
			{Name: "second", Time: 30 * time.Millisecond, In: []engine.ValueID{w}},
			{Name: "step", Lane: engine.LaneCPU, Time: 50 * time.Millisecond, In: []engine.ValueID{y},
				Out: []engine.ValueID{z}, After: []engine.OpID{2}},
		}}
	p := &engine.Problem{Graph: g, Budget: engine.NoLimit}
	tr, err := sim.Play(p, engine.Schedule{engine.Run(0), engine.Run(1), engine.Run(2), engine.Run(3)})
	if err != nil {
		t.Fatal(err)
	}
	return NewIndex(p, tr)
}

// TestRowsOfOtherLanes checks that the network and the CPU have rows if something runs on them, that they count
// as lanes, and that waits for them are explained.
func TestRowsOfOtherLanes(t *testing.T) {
	m := gathered(t)
	var s Scene
	m.Draw(&s, Timeline, View{Width: 640})
	words := strings.Join(s.words(), "|")
	for _, want := range []string{"network", "CPU", "gather", "step"} {
		if !strings.Contains(words, want) {
			t.Errorf("the timeline says %q; want %q in it", words, want)
		}
	}
	if strings.Contains(words, "to host") || strings.Contains(words, "to device") {
		t.Errorf("the timeline says %q; want no row of the link", words)
	}
	if got := lookup.CopyLanes(m.Trace); got != 2 {
		t.Errorf("%d lanes beside compute; want 2", got)
	}
	for i, want := range []string{
		"Why it waits 10 ms: Second is ready at 30.0 ms, but what it needs is not. Gather ends at 40.0 ms.",
		"Why it waits 50 ms: All computations are over at 70.0 ms; the step ends when the last operation has. That is step, on the host, until 120.0 ms.",
	} {
		if got := m.Sentence(lookup.Target{Kind: lookup.OnGap, Index: i}); !strings.HasPrefix(got, want) {
			t.Errorf("gap %d: got %q; want %q", i, got, want)
		}
	}
	said := ""
	for _, part := range m.Explain(lookup.Target{Kind: lookup.OnGap, Index: 0}) {
		said += part.Before + part.Name + part.After + " "
	}
	if want := "Second is ready at 30.0 ms, but what it needs is not. Gather ends at 40.0 ms."; !strings.HasPrefix(said, want) {
		t.Errorf("got %q; want %q", said, want)
	}
	step := lookup.Target{Kind: lookup.OnSpan, Index: 3}
	if got := m.Name(m.OtherLane(step, -1)); got != "gather" {
		t.Errorf("the lane above that of the CPU begins at %q; want gather", got)
	}
	if got := m.Name(m.OtherLane(lookup.Target{Kind: lookup.OnSpan, Index: 0}, 1)); got != "gather" {
		t.Errorf("the lane below the compute lane begins at %q; want gather", got)
	}
}
