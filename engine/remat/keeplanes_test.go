package remat_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	_ "memtide/engine/lanes"
	_ "memtide/engine/offload"
	_ "memtide/engine/remat"
	"memtide/engine/sim"
)

// sharded returns the step of two blocks whose weights are gathered and whose gradients are reduced on the
// network, with an optimizer step on the host. Times are in seconds, sizes in bytes.
func sharded() *engine.Problem {
	g := &engine.Graph{Done: engine.NoValue}
	value := func(name string, kind engine.ValueKind, size engine.Bytes, at engine.Place) engine.ValueID {
		g.Values = append(g.Values, engine.Value{Name: name, Kind: kind, Size: size, Initial: at,
			PartOf: engine.NoValue})
		return engine.ValueID(len(g.Values) - 1)
	}
	op := func(o engine.Op, in []engine.ValueID, out ...engine.ValueID) {
		o.Time *= time.Second
		o.In, o.Out = in, out
		g.Ops = append(g.Ops, o)
	}
	shard := value("shard", engine.KindWeight, 1, engine.OnDevice)
	moments := value("moments", engine.KindWeight, 8, engine.OnHost)
	w := value("w", engine.KindWeight, 4, 0)
	y := value("y", engine.KindActivation, 3, 0)
	d := value("d", engine.KindGradient, 4, 0)
	reduced := value("reduced", engine.KindGradient, 1, 0)
	fresh := value("fresh", engine.KindWeight, 1, 0)
	other := value("other", engine.KindGradient, 1, 0)
	op(engine.Op{Name: "gather", Lane: engine.LaneNetwork, Time: 2}, []engine.ValueID{shard}, w)
	op(engine.Op{Name: "F", Time: 3}, []engine.ValueID{w}, y)
	op(engine.Op{Name: "B", Time: 4, Pass: engine.Backward}, []engine.ValueID{w, y}, d)
	op(engine.Op{Name: "reduce", Lane: engine.LaneNetwork, Time: 2, Pass: engine.Backward}, []engine.ValueID{d},
		reduced)
	op(engine.Op{Name: "step", Lane: engine.LaneCPU, Time: 5, Pass: engine.Backward},
		[]engine.ValueID{reduced, moments}, fresh)
	op(engine.Op{Name: "more", Time: 3, Pass: engine.Backward}, nil, other)
	op(engine.Op{Name: "load", Pass: engine.Backward}, []engine.ValueID{fresh, shard})
	return &engine.Problem{Graph: g, Device: engine.Device{ToHost: 1, ToDev: 1, Duplex: engine.FullDuplex},
		Budget: engine.NoLimit}
}

// TestKeepLanes compares a step with results by hand. Operations of other lanes overlap with the work of the
// device, and the values that they need are copied.
func TestKeepLanes(t *testing.T) {
	p := sharded()
	sol, err := engine.Lookup("keepall").Solve(p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := sim.Play(p, sol.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	if err := check.Trace(p, sol.Schedule, tr); err != nil {
		t.Error(err)
	}
	// gather 0-2, F 2-5, B 5-9, reduce 9-11 beside more 9-12, copy 12-13, step 13-18, back 18-19, load.
	// The most is in use during B: shard 1, w 4, y 3, d 4.
	if tr.Makespan != 19*time.Second || tr.Peak != 12 || sol.Makespan != tr.Makespan || sol.Peak != tr.Peak ||
		sol.Bound != 0 {
		t.Errorf("got %v, peak %d, claimed %v, %d, bound %v; want 19s, 12, the same and none", tr.Makespan, tr.Peak,
			sol.Makespan, sol.Peak, sol.Bound)
	}
	var small *engine.InfeasibleError
	if _, err := engine.Lookup("keepall").Solve(p.WithBudget(11), nil, nil); !errors.As(err, &small) ||
		!strings.Contains(err.Error(), "12 bytes") {
		t.Errorf("a budget of 11: got %v; want it refused with what would do", err)
	}
	p.Device.ToHost = 0
	if _, err := engine.Lookup("keepall").Solve(p, nil, nil); !errors.Is(err, engine.ErrNeedsLink) {
		t.Errorf("without a link: got %v; want %v", err, engine.ErrNeedsLink)
	}
}

// Strategies for chains that do not plan other lanes return an error that names one that does. (Those for graphs
// plan the device alone, and engine/lanes puts the others in.)
func TestOthersRefuseLanes(t *testing.T) {
	tried := 0
	for _, s := range engine.Strategies() {
		if s.Lanes || s.Graphs {
			continue
		}
		tried++
		if _, err := s.Solve(sharded(), nil, nil); !errors.Is(err, engine.ErrNeedsLanes) ||
			!strings.Contains(err.Error(), "keepall") {
			t.Errorf("%s: got %v; want the name of a strategy that plans them", s.Name, err)
		}
		s.Sweep(sharded(), nil, []engine.Bytes{1}, nil, func(_ int, _ *engine.Solution, err error) {
			if !errors.Is(err, engine.ErrNeedsLanes) {
				t.Errorf("%s, of a sweep: got %v; want %v", s.Name, err, engine.ErrNeedsLanes)
			}
		})
	}
	if tried < 5 {
		t.Errorf("%d strategies were tried; want 5", tried)
	}
}

// TestKeepLanesRandom plays and checks the schedules of keepall for random operations of all lanes.
func TestKeepLanesRandom(t *testing.T) {
	solved := 0
	for seed := range uint64(3000) {
		p, _ := enginetest.Lanes(enginetest.Rand(seed), 1, time.Second, 1)
		sol, err := engine.Lookup("keepall").Solve(p, nil, nil)
		if err != nil {
			continue // an operation reads a value that only the random schedule fetches
		}
		tr, err := sim.Play(p, sol.Schedule)
		if err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, p.Graph)
		}
		if err := check.Trace(p, sol.Schedule, tr); err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, p.Graph)
		}
		if p.Graph.HasLanes() {
			solved++
		}
	}
	if solved < 1500 {
		t.Errorf("%d steps with other lanes were planned; want 1500", solved)
	}
}
