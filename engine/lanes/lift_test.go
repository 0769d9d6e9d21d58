package lanes_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	_ "memtide/engine/graphs"
	_ "memtide/engine/lanes"
	"memtide/engine/sim"
	_ "memtide/engine/window"
)

// planners are strategies that do not support other lanes.
var planners = []string{"graphsearch", "blocks", "dtr", "chen", "kusumoto", "mincut", "lpmf", "window", "lms",
	"graphpofo"}

// sharded returns a random step of blocks. The weights of each block are gathered for each pass, one block ahead,
// and its gradients are reduced. The optimizer runs on the device or on the host.
func sharded(r *rand.Rand) *engine.Problem {
	g := &engine.Graph{Done: engine.NoValue, Fixed: 1}
	value := func(kind engine.ValueKind, at engine.Place) engine.ValueID {
		g.Values = append(g.Values, engine.Value{Name: fmt.Sprint("v", len(g.Values)), Kind: kind,
			Size: engine.Bytes(1 + r.IntN(5)), Initial: at, PartOf: engine.NoValue})
		return engine.ValueID(len(g.Values) - 1)
	}
	op := func(name string, lane engine.Lane, pass engine.Pass, in []engine.ValueID,
		out ...engine.ValueID) engine.OpID {
		o := engine.Op{Name: name, Lane: lane, Pass: pass, Time: time.Duration(1+r.IntN(6)) * time.Second, In: in,
			Out: out}
		if lane != engine.LaneCPU {
			o.Temp = engine.Bytes(r.IntN(3))
		}
		g.Ops = append(g.Ops, o)
		return engine.OpID(len(g.Ops) - 1)
	}
	n, host := 2+r.IntN(6), r.IntN(2) == 0
	var shards, wholes, acts, grads []engine.ValueID
	for range n {
		shards, wholes = append(shards, value(engine.KindWeight, engine.OnDevice)),
			append(wholes, value(engine.KindState, 0))
	}
	x := value(engine.KindActivation, engine.OnDevice)
	gather := func(k int, after engine.OpID) {
		if k < 0 || k >= n {
			return
		}
		id := op(fmt.Sprint("gather", k), engine.LaneNetwork, engine.Forward, []engine.ValueID{shards[k]}, wholes[k])
		if after >= 0 {
			g.Ops[id].After = []engine.OpID{after}
		}
	}
	at := engine.NoOp
	gather(0, at)
	for k := range n {
		gather(k+1, at)
		in := []engine.ValueID{wholes[k], x}
		if k > 0 {
			in[1] = acts[k-1]
		}
		acts = append(acts, value(engine.KindActivation, 0))
		at = op(fmt.Sprint("F", k), engine.LaneCompute, engine.Forward, in, acts[k])
	}
	last := engine.NoValue
	for k := n - 1; k >= 0; k-- {
		if k < n-1 {
			gather(k, at)
		}
		in := []engine.ValueID{wholes[k], acts[k]}
		if last != engine.NoValue {
			in = append(in, last)
		}
		last = value(engine.KindGradient, 0)
		made, share := value(engine.KindState, 0), value(engine.KindState, 0)
		at = op(fmt.Sprint("B", k), engine.LaneCompute, engine.Backward, in, last, made)
		id := op(fmt.Sprint("reduce", k), engine.LaneNetwork, engine.Backward, []engine.ValueID{made}, share)
		g.Ops[id].Once = true
		grads = append(grads, share)
		if host {
			grads[len(grads)-1] = value(engine.KindState, 0)
			op(fmt.Sprint("step", k), engine.LaneCPU, engine.Backward,
				[]engine.ValueID{share, value(engine.KindState, engine.OnHost)}, grads[len(grads)-1])
		}
	}
	op("step", engine.LaneCompute, engine.Backward, grads)
	return &engine.Problem{Graph: g, Device: engine.Device{ToHost: 1, ToDev: 1, Duplex: engine.FullDuplex},
		Budget: engine.NoLimit}
}

// solved solves a problem, and plays and checks the solution. It returns false if the problem is refused.
func solved(t *testing.T, p *engine.Problem, name string) (*engine.Solution, bool) {
	t.Helper()
	sol, err := engine.Lookup(name).Solve(p, nil, nil)
	var small *engine.InfeasibleError
	switch {
	case errors.Is(err, engine.ErrUnsupported), errors.As(err, &small):
		return nil, false
	case err != nil:
		t.Fatalf("%s: %v", name, err)
	}
	tr, err := sim.Play(p, sol.Schedule)
	if err != nil {
		t.Fatalf("%s: %v\n%+v\n%v", name, err, p.Graph, sol.Schedule)
	}
	if err := check.Trace(p, sol.Schedule, tr); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if tr.Makespan != sol.Makespan || tr.Peak != sol.Peak || tr.Peak > p.Budget || sol.Optimal {
		t.Errorf("%s: claims %v, %d bytes, optimal %t; played %v, %d of %d", name, sol.Makespan, sol.Peak,
			sol.Optimal, tr.Makespan, tr.Peak, p.Budget)
	}
	return sol, true
}

// Strategies that do not support other lanes plan at least 16 of 72 steps with other lanes, within 70 to 100 % of
// the memory for keeping everything.
func TestPlannedBeside(t *testing.T) {
	count := map[string]int{}
	for seed := range uint64(24) {
		p := sharded(enginetest.Rand(seed))
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		whole, ok := solved(t, p, "keepall")
		if !ok {
			t.Fatalf("seed %d: keeping everything is refused", seed)
		}
		for _, name := range planners {
			for _, percent := range []engine.Bytes{100, 85, 70} {
				if _, ok := solved(t, p.WithBudget(whole.Peak*percent/100), name); ok {
					count[name]++
				}
			}
		}
	}
	for _, name := range planners {
		if count[name] < 16 {
			t.Errorf("%s: %d of 72 were planned; want 16", name, count[name])
		}
	}
	t.Log(count)
}

// TestPlannedBesideRandom plays and checks every solution for random steps with operations of all lanes.
func TestPlannedBesideRandom(t *testing.T) {
	count := 0
	for seed := range uint64(600) {
		p, _ := enginetest.Lanes(enginetest.Rand(seed), 1, time.Second, 1)
		if !p.Graph.HasLanes() {
			continue
		}
		for _, name := range planners {
			if _, ok := solved(t, p, name); ok {
				count++
			}
		}
	}
	if count < 200 {
		t.Errorf("%d were planned; want 200", count)
	}
}

// TestGatheredAgain checks a plan worked out by hand. When a block is computed again, its weights are gathered
// again, once for the block and its backward.
func TestGatheredAgain(t *testing.T) {
	g := &engine.Graph{Done: engine.NoValue}
	value := func(name string, kind engine.ValueKind, size engine.Bytes, at engine.Place) engine.ValueID {
		g.Values = append(g.Values, engine.Value{Name: name, Kind: kind, Size: size, Initial: at,
			PartOf: engine.NoValue})
		return engine.ValueID(len(g.Values) - 1)
	}
	op := func(name string, lane engine.Lane, pass engine.Pass, in []engine.ValueID, out ...engine.ValueID) {
		g.Ops = append(g.Ops, engine.Op{Name: name, Lane: lane, Pass: pass, Time: time.Second, In: in, Out: out})
	}
	x := value("x", engine.KindActivation, 1, engine.OnDevice)
	shard := value("shard", engine.KindWeight, 1, engine.OnDevice)
	w := value("w", engine.KindState, 4, 0)
	y := value("y", engine.KindActivation, 10, 0)
	z := value("z", engine.KindActivation, 1, 0)
	d := value("d", engine.KindGradient, 1, 0)
	e := value("e", engine.KindGradient, 1, 0)
	op("gather", engine.LaneNetwork, engine.Forward, []engine.ValueID{shard}, w)
	op("F", engine.LaneCompute, engine.Forward, []engine.ValueID{x, w}, y)
	op("G", engine.LaneCompute, engine.Forward, []engine.ValueID{y}, z)
	op("L", engine.LaneCompute, engine.Backward, []engine.ValueID{z}, d)
	g.Ops[3].Temp = 9
	op("gather again", engine.LaneNetwork, engine.Backward, []engine.ValueID{shard}, w)
	op("B", engine.LaneCompute, engine.Backward, []engine.ValueID{d, y, w}, e)
	// If everything is kept, L needs 23 bytes: x, shard, y, z, d and 9 bytes of workspace. Without y it needs 13,
	// and F needs 16: x, shard, w and y.
	p := &engine.Problem{Graph: g, Budget: 20}
	sol, ok := solved(t, p, "graphsearch")
	if !ok {
		t.Fatal("refused; want F computed again")
	}
	var runs []string
	for _, st := range sol.Schedule {
		if st.Kind == engine.DoRun {
			runs = append(runs, g.Ops[st.Op].Name)
		}
	}
	if want := []string{"gather", "F", "G", "gather again", "L", "F", "B"}; !slices.Equal(runs, want) {
		t.Errorf("got %v; want %v", runs, want)
	}
}

// Planning with other lanes returns an error if it is stopped.
func TestPlanStops(t *testing.T) {
	p := sharded(enginetest.Rand(3))
	poll := engine.NewPoll(engine.LimitCalls(t.Context(), 1), nil)
	if sol, err := engine.Lookup("graphpofo").Solve(p, nil, poll); err == nil {
		t.Errorf("got %v and no error; want that it was stopped", sol)
	}
}

// A refusal does not claim that no plan needs less memory. The strategy plans x and y on the device although only
// an operation of the host uses both.
func TestRefusalSaysWhatItIsOf(t *testing.T) {
	g := &engine.Graph{Done: engine.NoValue}
	for _, name := range []string{"x", "y"} {
		g.Values = append(g.Values, engine.Value{Name: name, Size: 4, PartOf: engine.NoValue})
	}
	g.Values[0].Initial = engine.OnDevice
	g.Ops = []engine.Op{{Name: "on the host", Lane: engine.LaneCPU, Time: 1, In: []engine.ValueID{0},
		Out: []engine.ValueID{1}},
		{Name: "use", Time: 1, In: []engine.ValueID{1}}}
	p := &engine.Problem{Graph: g, Device: engine.Device{ToHost: 1e9, ToDev: 1e9}, Budget: 6}
	s := engine.Schedule{engine.Offload(0), engine.Free(0), engine.Run(0), engine.Wait(0), engine.Fetch(1, 0),
		engine.Run(1)}
	if _, err := sim.Play(p, s); err != nil {
		t.Fatalf("a plan in 6 bytes: %v", err)
	}
	_, err := engine.Lookup("graphpofo").Solve(p, nil, nil)
	var small *engine.InfeasibleError
	if !errors.As(err, &small) || !strings.HasPrefix(small.Why, "planned for the device alone") ||
		!strings.HasSuffix(small.Why, "other plans may need less") {
		t.Errorf("got %v; want that a plan for the device alone needs more, and others may not", err)
	}
}
