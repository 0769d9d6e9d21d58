package sim_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	_ "memtide/engine/lanes"
	"memtide/engine/sim"
)

// prefetch returns the graph of two blocks whose weights are gathered on the network while the device computes.
// Times are in seconds, sizes in bytes: shards of 1, gathered weights of 4, and a buffer of 2.
func prefetch() *engine.Graph {
	g := &engine.Graph{Done: engine.NoValue, Values: []engine.Value{
		{Name: "x", Size: 1, Initial: engine.OnDevice, PartOf: engine.NoValue},
		{Name: "shard1", Kind: engine.KindWeight, Size: 1, Initial: engine.OnDevice, PartOf: engine.NoValue},
		{Name: "shard2", Kind: engine.KindWeight, Size: 1, Initial: engine.OnDevice, PartOf: engine.NoValue},
		{Name: "w1", Kind: engine.KindWeight, Size: 4, PartOf: engine.NoValue},
		{Name: "w2", Kind: engine.KindWeight, Size: 4, PartOf: engine.NoValue},
		{Name: "y1", Size: 1, PartOf: engine.NoValue},
		{Name: "y2", Size: 1, PartOf: engine.NoValue},
	}}
	g.Ops = []engine.Op{
		{Name: "gather1", Lane: engine.LaneNetwork, Time: 3 * time.Second, Temp: 2, In: []engine.ValueID{1},
			Out: []engine.ValueID{3}},
		{Name: "gather2", Lane: engine.LaneNetwork, Time: 3 * time.Second, Temp: 2, In: []engine.ValueID{2},
			Out: []engine.ValueID{4}},
		{Name: "F1", Time: 5 * time.Second, In: []engine.ValueID{0, 3}, Out: []engine.ValueID{5}},
		{Name: "F2", Time: 5 * time.Second, In: []engine.ValueID{5, 4}, Out: []engine.ValueID{6}},
	}
	return g
}

// TestPrefetch compares gathers with results by hand. The second gather runs during F1 and ends before F2 needs
// it. Without room for both weights, it waits until the first ones are freed.
func TestPrefetch(t *testing.T) {
	s := engine.Schedule{engine.Run(0), engine.Run(1), engine.Run(2), engine.Free(3), engine.Run(3)}
	for _, want := range []struct {
		budget engine.Bytes
		spans  []string
		time   time.Duration
		peak   engine.Bytes
		why    sim.Reason // why the second gather started no earlier
	}{
		// 3 bytes are there from the start. gather1 adds 6, of which 2 leave. During F1, y1 adds 1 and gather2 6.
		{engine.NoLimit, []string{"gather1 0-3", "F1 3-8", "gather2 3-6", "F2 8-13"}, 13, 14, sim.Dependency},
		// F1 comes before gather2 at 3, and then there is no room until w1 is freed at 8.
		{13, []string{"gather1 0-3", "F1 3-8", "gather2 8-11", "F2 11-16"}, 16, 10, sim.NeedsRoom},
	} {
		p := &engine.Problem{Graph: prefetch(), Device: enginetest.Device(engine.FullDuplex), Budget: want.budget}
		tr, err := sim.Play(p, s)
		if err != nil {
			t.Errorf("budget %d: %v", want.budget, err)
			continue
		}
		var spans []string
		for _, sp := range tr.Spans {
			spans = append(spans, p.Graph.Ops[sp.Op].Name+" "+strings.ReplaceAll((sp.Start.String()+"-"+sp.End.String()), "s", ""))
		}
		if !slices.Equal(spans, want.spans) || tr.Makespan != want.time*time.Second || tr.Peak != want.peak {
			t.Errorf("budget %d: got %v in %v, peak %d; want %v in %d s, peak %d", want.budget, spans, tr.Makespan,
				tr.Peak, want.spans, want.time, want.peak)
		}
		if i := slices.IndexFunc(tr.Spans,
			func(sp sim.Span) bool { return sp.Op == 1 }); tr.Spans[i].Why != want.why ||
			tr.Spans[i].Kind != sim.SpanNetwork || tr.Spans[i].Lane != sim.Network {
			t.Errorf("budget %d: the second gather is %+v; want it on the network, held back by %v", want.budget,
				tr.Spans[i], want.why)
		}
		if tr.ComputeTime != 10*time.Second || tr.RecomputeTime != 0 ||
			tr.WaitingTotal() != tr.Makespan-tr.ComputeTime {
			t.Errorf("budget %d: compute %v, again %v, waiting %v; want 10s, 0s and the rest", want.budget,
				tr.ComputeTime, tr.RecomputeTime, tr.WaitingTotal())
		}
	}
}

// TestHostStep compares an optimizer step on the host with results by hand. The gradient goes to the host, the
// CPU makes new weights from it, and they come back. One byte takes a second.
func TestHostStep(t *testing.T) {
	g := &engine.Graph{Done: engine.NoValue, Values: []engine.Value{
		{Name: "moments", Kind: engine.KindWeight, Size: 8, Initial: engine.OnHost, PartOf: engine.NoValue},
		{Name: "grad", Kind: engine.KindGradient, Size: 2, PartOf: engine.NoValue},
		{Name: "new", Kind: engine.KindWeight, Size: 2, PartOf: engine.NoValue},
	}, Ops: []engine.Op{
		{Name: "B", Pass: engine.Backward, Time: 4 * time.Second, Out: []engine.ValueID{1}},
		{Name: "step", Pass: engine.Backward, Lane: engine.LaneCPU, Time: 5 * time.Second, In: []engine.ValueID{0, 1},
			Out: []engine.ValueID{2}},
		{Name: "other", Pass: engine.Backward, Time: 3 * time.Second},
		{Name: "use", Pass: engine.Backward, In: []engine.ValueID{2}},
	}}
	p := &engine.Problem{Graph: g, Device: enginetest.Device(engine.FullDuplex), Budget: engine.NoLimit}
	s := engine.Schedule{engine.Run(0), engine.Offload(1), engine.Free(1), engine.Run(1), engine.Fetch(2, 0),
		engine.Run(2), engine.Run(3)}
	rate := engine.Bytes(p.Device.ToHost.Moved(time.Second))
	for i := range g.Values {
		g.Values[i].Size *= rate
	}
	tr, err := sim.Play(p, s)
	if err != nil {
		t.Fatal(err)
	}
	// B 0-4, copy 4-6, step 6-11, other 4-7, fetch 11-13, use at 13.
	if tr.Makespan != 13*time.Second || tr.Peak != 2*rate || tr.HostPeak != 4*rate ||
		tr.Waiting[sim.NeedsData] != 6*time.Second {
		t.Errorf("got %v, peak %d, host %d, %v waiting for data; want 13s, %d, %d and 6s\n%+v", tr.Makespan, tr.Peak,
			tr.HostPeak, tr.Waiting[sim.NeedsData], 2*rate, 4*rate, tr.Spans)
	}
}

// TestPartComesWithWhole checks the cause of a wait for a value that is being fetched, and that is there earlier as a
// part of another one, whose fetch is then the cause.
func TestPartComesWithWhole(t *testing.T) {
	g := &engine.Graph{Done: engine.NoValue, Values: []engine.Value{
		{Name: "whole", Kind: engine.KindWeight, Size: 3, Initial: engine.OnHost, PartOf: engine.NoValue},
		{Name: "part", Kind: engine.KindWeight, Size: 1, Initial: engine.OnHost, PartOf: 0},
	}, Ops: []engine.Op{{Name: "read", Pass: engine.Backward, In: []engine.ValueID{1}}}}
	p := &engine.Problem{Graph: g, Device: enginetest.Device(engine.FullDuplex), Budget: engine.NoLimit}
	s := engine.Schedule{engine.Fetch(0, 0), engine.Fetch(1, 0), engine.Run(0)}
	tr, err := sim.Play(p, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Gaps) == 0 || tr.Gaps[0].Cause != 0 || tr.Gaps[0].End != tr.Spans[0].End {
		t.Errorf("gaps %+v of spans %+v; want the first to end with the fetch of the whole, and to name it", tr.Gaps,
			tr.Spans)
	}
	if err := check.Trace(p, s, tr); err != nil {
		t.Error(err)
	}
}

// Schedules that cannot be carried out are refused with an error that names the step.
func TestLanesRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		s    engine.Schedule
		want string
	}{
		{"an input that left", engine.Schedule{engine.Free(1), engine.Run(0)}, "its input shard1 is not on the device"},
		{"an output on its way", engine.Schedule{engine.Run(0), engine.Run(0)}, "its output w1 is there already"},
		{"freed before it is there", engine.Schedule{engine.Run(0), engine.Free(3)}, "it is not on the device"},
		{"fetched while it is made", engine.Schedule{engine.Run(0), engine.Fetch(3, 0)}, "it is being fetched already"},
		{"after what has not run", engine.Schedule{engine.Run(1)}, "it comes after gather1"},
	} {
		g := prefetch()
		g.Ops[1].After = []engine.OpID{0}
		_, err := sim.Play(&engine.Problem{Graph: g, Device: enginetest.Device(engine.FullDuplex),
			Budget: engine.NoLimit}, c.s)
		var step *sim.StepError
		if !errors.As(err, &step) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v; want a *sim.StepError with %q", c.name, err, c.want)
		}
	}
}

// Play agrees with a literal implementation of the definition that computes the state at every second.
func TestLanesBySeconds(t *testing.T) {
	played, refused := 0, 0
	for seed := range uint64(8000) {
		r := rand.New(rand.NewPCG(seed, 81))
		p, s := enginetest.Lanes(r, 1, time.Second, 1)
		if k := r.IntN(3); k > 0 {
			p = p.WithBudget(engine.Bytes(r.IntN(30)))
		}
		want := bySeconds(p, s)
		tr, err := sim.Play(p, s)
		if (err == nil) != want.ok {
			t.Fatalf("seed %d: got %v; want it played: %v\n%+v\n%v", seed, err, want.ok, p.Graph, s)
		}
		if err != nil {
			refused++
			continue
		}
		played++
		if tr.Peak != want.peak || tr.HostPeak != want.hostPeak {
			t.Fatalf("seed %d: got peak %d, host %d; want %d, %d\n%+v\n%v", seed, tr.Peak, tr.HostPeak, want.peak,
				want.hostPeak, p.Graph, s)
		}
		for _, sp := range tr.Spans {
			if w := want.steps[sp.Step]; sp.Start != w.start || sp.End != w.end {
				t.Fatalf("seed %d: step %d (%s) from %v to %v; want %v to %v\n%+v\n%v", seed, sp.Step,
					s[sp.Step].Describe(p.Graph), sp.Start, sp.End, w.start, w.end, p.Graph, s)
			}
		}
	}
	if played < 2000 || refused < 1000 {
		t.Errorf("%d were played and %d refused; want at least 2000 and 1000", played, refused)
	}
}
