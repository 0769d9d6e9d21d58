package draw

import (
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	_ "memtide/engine/all" // registers how operations of other lanes are played
	"memtide/engine/sim"
	"memtide/web/display"
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
	if want := "Lanes: compute, the network, the host's CPU. 4 runs and copies,"; !strings.HasPrefix(s.Desc, want) {
		t.Errorf("the timeline is described by %q; want %q", s.Desc, want)
	}
	words := strings.Join(s.words(), "|")
	for _, want := range []string{"network", "CPU", "gather", "step"} {
		if !strings.Contains(words, want) {
			t.Errorf("the timeline says %q; want %q in it", words, want)
		}
	}
	if strings.Contains(words, "to host") || strings.Contains(words, "to device") {
		t.Errorf("the timeline says %q; want no row of the link", words)
	}
	if got := m.CopyLanes(); got != 2 {
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

// TestOwnOfStages checks that a timeline shows what a framework does within and beside a stage: results that are computed
// again at the start of its backward, copies and collectives in lanes of their own, and at the end the wait for them.
func TestOwnOfStages(t *testing.T) {
	const ms = time.Millisecond
	block := engine.Stage{Name: "block", Forward: 40 * ms, Back: 100 * ms, Out: engine.MiB, Grad: engine.MiB,
		Again: 30 * ms, Away: engine.GiB}
	block.Asides = [2]engine.Aside{{ToHost: 40 * ms, Network: 20 * ms}, {ToDev: 100 * ms, Stall: 20 * ms}}
	step := engine.Stage{Name: "optimizer", Back: 100 * ms}
	step.Asides[1] = engine.Aside{ToHost: 20 * ms, CPU: 50 * ms, ToDev: 30 * ms, Stall: 100 * ms}
	c := &engine.Chain{Stages: []engine.Stage{step, block, {Name: "loss", Forward: 10 * ms, Back: 10 * ms}}}
	p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, engine.NoLimit)
	sol, err := engine.Lookup(engine.KeepAll).Solve(p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := sim.Play(p, sol.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	m := NewIndex(p, tr)
	var s Scene
	m.Draw(&s, Timeline, View{Width: 640})
	words := strings.Join(s.words(), "|")
	for _, want := range []string{"to host", "to device", "network", "CPU"} {
		if !strings.Contains(words, want) {
			t.Errorf("the timeline says %q; want %q in it", words, want)
		}
	}
	if got := m.CopyLanes(); got != 4 || m.Decision(2) != sim.Offload {
		t.Errorf("%d lanes beside compute, and the block is %v; want 4, moved", got, m.Decision(2))
	}
	var keys []string
	for _, k := range Key(m) {
		keys = append(keys, k.Words)
	}
	if got := strings.Join(keys, ", "); !strings.Contains(got, "computed again, backward, copied") ||
		!strings.Contains(got, "waiting") {
		t.Errorf("the legend is %s; want what is computed again, copied and waited for", got)
	}
	var told []string
	for i := range tr.Spans {
		for _, said := range m.Explain(lookup.Target{Kind: lookup.OnSpan, Index: i}) {
			told = append(told, said.Before)
		}
	}
	for _, want := range []string{"30 ms of it are for results", "20 ms of it are a wait", "100 ms of it are a wait",
		"Beside it: 20 ms of copies to the host, 50 ms of the host’s CPU, 30 ms of copies to the device.",
		"Beside it: 40 ms of copies to the host, 20 ms on the network."} {
		if !strings.Contains(strings.Join(told, "|"), want) {
			t.Errorf("of the runs it is told %q; want %q in it", told, want)
		}
	}
	if why := m.Row(m.NumRows() - 1).Why; !strings.Contains(why, "50 ms of the host’s CPU") {
		t.Errorf("the table says of the last run %q; want what runs beside it", why)
	}
	// Of the 260 ms of the step the backward of the block begins at 60: again to 90, waiting from 140 to 160. The
	// optimizer waits from there to the end for gradients that go, for the host, and for weights that come.
	px := func(style display.Style) (total float64) {
		for _, g := range s.Groups {
			if g.Style == style && g.Op == display.OpRects {
				for i := g.From; i < g.To; i += 4 {
					total += float64(s.Nums[i+2])
				}
			}
		}
		return total
	}
	f := newFrame(Timeline, View{Width: 640}, tr.Makespan)
	for style, want := range map[display.Style]time.Duration{recomputeStyle: 30 * ms, waitingStyle: 120 * ms,
		transferStyle: (40 + 20 + 20 + 100 + 30) * ms, kindStyles[sim.SpanCPU]: 50 * ms} {
		if got := px(style) / f.scale; got < 0.97*float64(want) || got > 1.03*float64(want) {
			t.Errorf("slices of the style %+v are %v long; want %v", style, time.Duration(got), want)
		}
	}
	top, h := m.laneBox(&f, int(sim.CPU))
	last := len(tr.Spans) - 1
	for at, want := range map[time.Duration]lookup.Target{tr.Spans[last].Start + 45*ms: lookup.TargetOf(int32(last)),
		tr.Spans[last].Start + 85*ms: {}, 20 * ms: {}} {
		if got := m.hitTimeline(&f, f.x(int64(at)), top+h/2); got != want {
			t.Errorf("on the lane of the CPU at %v lies %+v; want %+v", at, got, want)
		}
	}
}

// TestNarrowPhaseIsNamed checks that a phase that is too narrow to be seen is named at its end, with its time.
func TestNarrowPhaseIsNamed(t *testing.T) {
	for _, c := range []struct {
		last time.Duration
		want string
	}{{100 * time.Microsecond, "optimizer: 100 µs"}, {60 * time.Millisecond, "optimizer"}} {
		m := smallModel()
		end := m.Makespan()
		m.Phases = []lookup.Phase{{Name: "forward", To: end - c.last}, {Name: "optimizer", From: end - c.last, To: end}}
		var s Scene
		m.Draw(&s, Timeline, View{Width: 640})
		if got := s.words(); !slices.Contains(got, c.want) || !slices.Contains(got, "forward") {
			t.Errorf("a phase of %v: the timeline says %q; want %q, and forward", c.last, got, c.want)
		}
	}
}
