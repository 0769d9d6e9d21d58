package sim_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// line returns a graph of three operations p, q, r of 10 ns each: p writes x (4 bytes), q writes y (4), r reads x
// and writes z (2). w (6) starts on the host.
func line() *engine.Graph {
	val := func(name string, size engine.Bytes, at engine.Place) engine.Value {
		return engine.Value{Name: name, Size: size, Initial: at, PartOf: engine.NoValue}
	}
	return &engine.Graph{
		Values: []engine.Value{val("x", 4, 0), val("y", 4, 0), val("z", 2, 0), val("w", 6, engine.OnHost)},
		Ops: []engine.Op{
			{Name: "p", Time: 10, Out: []engine.ValueID{0}},
			{Name: "q", Time: 10, Temp: 1, Out: []engine.ValueID{1}},
			{Name: "r", Time: 10, In: []engine.ValueID{0}, Out: []engine.ValueID{2}},
		},
		Done: 2,
	}
}

const (
	opP, opQ, opR          engine.OpID    = 0, 1, 2
	valX, valY, valZ, valW engine.ValueID = 0, 1, 2, 3
)

func problem(budget engine.Bytes, tr engine.Transfers, d engine.Duplex) *engine.Problem {
	return &engine.Problem{Graph: line(), Device: enginetest.Device(d), Transfers: tr, Budget: budget}
}

// show writes a trace in one line per span and gap, in the order of time.
func show(g *engine.Graph, t *sim.Trace) string {
	var b strings.Builder
	for _, s := range t.Spans {
		name := ""
		if s.Op != engine.NoOp {
			name = g.Ops[s.Op].Name
		} else {
			name = []string{"", "out ", "in "}[s.Lane] + g.Values[s.Value].Name
		}
		fmt.Fprintf(&b, "%s %d-%d (%v, %d)\n", name, s.Start, s.End, s.Why, s.Cause)
	}
	for _, w := range t.Gaps {
		fmt.Fprintf(&b, "gap %d-%d %v, step %d, cause %d\n", w.Start, w.End, w.Reason, w.Step, w.Cause)
	}
	fmt.Fprintf(&b, "time %d peak %d at %d host %d", t.Makespan, t.Peak, t.PeakAt, t.HostPeak)
	return b.String()
}

// Each case is a schedule and its whole trace: spans with their reasons and causes, gaps and totals.
func TestPlay(t *testing.T) {
	run, free, off, wait := engine.Run, engine.Free, engine.Offload, engine.Wait
	fetch := func(v engine.ValueID, at time.Duration) engine.Instruction { return engine.Fetch(v, at) }
	for _, tc := range []struct {
		name string
		p    *engine.Problem
		s    engine.Schedule
		want string
	}{
		{"no transfers: no gaps", problem(100, engine.Whole, engine.HalfDuplex),
			engine.Schedule{run(opP), run(opQ), run(opR)},
			"p 0-10 (none, -1)\nq 10-20 (dependency, 0)\nr 20-30 (dependency, 1)\ntime 30 peak 10 at 20 host 0"},
		// q needs 5 bytes beside x's 4 in a budget of 8, so it waits for x to leave. r then waits for x to come
		// back. y leaves to make room for both.
		{"room, then data", problem(8, engine.Whole, engine.HalfDuplex),
			engine.Schedule{run(opP), off(valX), free(valX), run(opQ), free(valY), fetch(valX, 0), run(opR)},
			"p 0-10 (none, -1)\nout x 10-14 (dependency, 0)\nq 14-24 (needs memory, 1)\nin x 24-28 (dependency, 2)\nr 28-38 (needs data, 3)\n" +
				"gap 10-14 needs memory, step 3, cause 1\ngap 24-28 needs data, step 6, cause 3\ntime 38 peak 6 at 28 host 4"},
		{"streamed: q starts when one byte has left", problem(8, engine.Streamed, engine.HalfDuplex),
			engine.Schedule{run(opP), off(valX), free(valX), run(opQ), free(valY), fetch(valX, 0), run(opR)},
			"p 0-10 (none, -1)\nout x 10-14 (dependency, 0)\nq 11-21 (needs memory, 1)\nin x 21-25 (dependency, 2)\nr 25-35 (needs data, 3)\n" +
				"gap 10-11 needs memory, step 3, cause 1\ngap 21-25 needs data, step 6, cause 3\ntime 35 peak 8 at 11 host 4"},
		{"an earliest start holds a fetch, and a wait for a copy holds the counter",
			problem(100, engine.Whole, engine.HalfDuplex),
			engine.Schedule{run(opP), off(valX), wait(valX), free(valX), fetch(valX, 20), run(opQ), run(opR)},
			"p 0-10 (none, -1)\nout x 10-14 (dependency, 0)\nq 14-24 (waits for copy-out, 1)\nin x 20-24 (window, -1)\nr 24-34 (dependency, 2)\n" +
				"gap 10-14 waits for copy-out, step 2, cause 1\ntime 34 peak 10 at 24 host 4"},
		// The link is half duplex, so w's fetch waits behind x's offload in one queue.
		{"half duplex: one transfer at a time; the rest of the transfers counts",
			problem(100, engine.Whole, engine.HalfDuplex),
			engine.Schedule{run(opP), run(opR), off(valX), fetch(valW, 0)},
			"p 0-10 (none, -1)\nr 10-20 (dependency, 0)\nout x 20-24 (dependency, 1)\nin w 24-30 (dependency, 2)\n" +
				"gap 20-30 transfers end, step 4, cause 3\ntime 30 peak 12 at 24 host 4"},
		{"full duplex: both at once", problem(100, engine.Whole, engine.FullDuplex),
			engine.Schedule{run(opP), run(opR), off(valX), fetch(valW, 0)},
			"p 0-10 (none, -1)\nr 10-20 (dependency, 0)\nout x 20-24 (dependency, 1)\nin w 20-26 (dependency, 1)\n" +
				"gap 20-26 transfers end, step 4, cause 3\ntime 26 peak 12 at 20 host 4"},
		// The budget of 8 holds 2 bytes of z and 4 of x, which leaves, so 2 are free. The 6 bytes of w fit into
		// the free ones and those that x leaves, so w moves at full speed.
		{"streamed full duplex: a fetch without room moves as fast as an offload makes room",
			problem(8, engine.Streamed, engine.FullDuplex),
			engine.Schedule{run(opP), run(opR), off(valX), free(valX), fetch(valW, 0)},
			"p 0-10 (none, -1)\nr 10-20 (dependency, 0)\nout x 20-24 (dependency, 1)\nin w 20-26 (dependency, 1)\n" +
				"gap 20-26 transfers end, step 5, cause 3\ntime 26 peak 8 at 26 host 4"},
	} {
		tr, err := sim.Play(tc.p, tc.s)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got := show(tc.p.Graph, tr); got != tc.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.name, got, tc.want)
		}
		checkSums(t, tc.name, tr)
	}
}

// A streamed fetch takes the room that is free, stops, and continues when there is more.
func TestStreamedFetchStalls(t *testing.T) {
	p := problem(8, engine.Streamed, engine.HalfDuplex)
	// p takes 4 bytes. By 4 the fetch of w has taken the other 4 and stops. At 10 r needs 2 bytes, and nothing
	// will ever leave, so the error must name the fetch.
	_, err := sim.Play(p, engine.Schedule{engine.Fetch(valW, 0), engine.Run(opP), engine.Run(opR)})
	var stuck *sim.StuckError
	if !errors.As(err, &stuck) || stuck.Step != 2 || stuck.Reason != sim.NeedsRoom || stuck.Need != 2 ||
		stuck.Free != 0 {
		t.Errorf("got %v, want step 2 stuck for 2 bytes where 0 are free", err)
	}
	if err != nil && !strings.Contains(err.Error(), "fetch w stands still for want of room") {
		t.Errorf("got %v, want it to name the fetch that stands still", err)
	}
	// After p the fetch finds 2 bytes beside x and z, and 4 more from 20 on.
	p = problem(8, engine.Streamed, engine.HalfDuplex)
	s := engine.Schedule{engine.Run(opP), engine.Fetch(valW, 6), engine.Run(opR), engine.Free(valX)}
	tr, err := sim.Play(p, s)
	if err != nil {
		t.Fatal(err)
	}
	in := tr.Spans[len(tr.Spans)-1]
	if in.Start != 10 || in.End != 24 || tr.Makespan != 24 || tr.Peak != 8 {
		t.Errorf("got fetch %d-%d, step time %d, peak %d; want 10-24 (2 bytes, a halt, 4 bytes), 24, 8", in.Start,
			in.End, tr.Makespan, tr.Peak)
	}
}

// TestRecomputeReplaces checks the recomputation of Table 1 of paper 002 (docs/paper-002.md): the second run of p
// is a recompute, and its copy of x replaces the old one when it ends.
func TestRecomputeReplaces(t *testing.T) {
	tr, err := sim.Play(problem(100, engine.Whole, engine.HalfDuplex),
		engine.Schedule{engine.Run(opP), engine.Run(opP), engine.Run(opR)})
	if err != nil {
		t.Fatal(err)
	}
	if tr.Peak != 8 || tr.RecomputeTime != 10 || tr.ComputeTime != 20 {
		t.Errorf("peak %d, recompute %d, compute %d; want 8 (two copies), 10, 20", tr.Peak, tr.RecomputeTime,
			tr.ComputeTime)
	}
	last := tr.Memory[len(tr.Memory)-1]
	if last.Used[sim.Recomputed] != 4 || last.Used[sim.Activation] != 2 {
		t.Errorf("at the end: recomputed %d, activations %d; want x (4) and z (2)", last.Used[sim.Recomputed],
			last.Used[sim.Activation])
	}
}

// A step that cannot be carried out is refused with the step and the reason.
func TestRefusals(t *testing.T) {
	run := engine.Run
	for _, tc := range []struct {
		s    engine.Schedule
		step int
		why  string
	}{
		{engine.Schedule{run(opR)}, 0, "its input x is not on the device"},
		{engine.Schedule{run(opP), engine.Free(valX), run(opR)}, 2, "its input x is not on the device"},
		{engine.Schedule{engine.Free(valX)}, 0, "it is not on the device"},
		{engine.Schedule{engine.Offload(valX)}, 0, "it is not on the device"},
		{engine.Schedule{run(opP), engine.Offload(valX), engine.Offload(valX)}, 2, "it is being offloaded already"},
		{engine.Schedule{engine.Fetch(valX, 0)}, 0, "the host has no copy of it"},
		{engine.Schedule{run(opP), engine.Fetch(valX, 0)}, 1, "it is on the device already"},
		{engine.Schedule{engine.Fetch(valW, 0), engine.Fetch(valW, 0)}, 1, "it is being fetched already"},
		{engine.Schedule{engine.Fetch(valW, -1)}, 0, "its earliest start is negative"},
		{engine.Schedule{engine.RunOutputOnly(opP)}, 0, "the operation cannot keep only its output"},
		{engine.Schedule{run(7)}, 0, "the graph has no such operation"},
		{engine.Schedule{engine.Free(9)}, 0, "the graph has no such value"},
		{engine.Schedule{{Kind: 99}}, 0, "there is no such step"},
		{engine.Schedule{run(opP)}, 1, "the step is not complete: z was never computed"},
	} {
		_, err := sim.Play(problem(100, engine.Whole, engine.HalfDuplex), tc.s)
		var step *sim.StepError
		if !errors.As(err, &step) || step.Step != tc.step || step.Why != tc.why {
			t.Errorf("%v: got %v, want step %d: %s", tc.s, err, tc.step, tc.why)
		}
	}
	p := problem(100, engine.Whole, engine.HalfDuplex)
	p.Device.ToHost, p.Device.ToDev = 0, 0
	for _, s := range []engine.Schedule{{run(opP), engine.Offload(valX)}, {engine.Fetch(valW, 0)}} {
		var step *sim.StepError
		if _, err := sim.Play(p, s); !errors.As(err, &step) || step.Why != "the device has no link to the host" {
			t.Errorf("no link: got %v", err)
		}
	}
}

// TestDeadlockIsRefused follows Proposition 1 of paper 000 (docs/paper-000.md) as printed. A fetch that is made
// as early as possible takes the room that a run before its use needs, and the schedule deadlocks.
func TestDeadlockIsRefused(t *testing.T) {
	_, err := sim.Play(problem(10, engine.Whole, engine.HalfDuplex),
		engine.Schedule{engine.Fetch(valW, 0), engine.Run(opP), engine.Run(opR)})
	var stuck *sim.StuckError
	if !errors.As(err, &stuck) || stuck.Step != 2 || stuck.Need != 2 || stuck.Free != 0 {
		t.Errorf("got %v, want step 2 stuck for 2 bytes where 0 are free", err)
	}
	p := problem(3, engine.Whole, engine.HalfDuplex)
	p.Graph.Fixed = 5
	if _, err := sim.Play(p, engine.Schedule{engine.Run(opP)}); !errors.As(err, &stuck) {
		t.Errorf("resident memory above the budget: got %v, want a StuckError", err)
	}
}

// randomSchedule draws steps, many of which can be carried out.
func randomSchedule(r *rand.Rand, g *engine.Graph) engine.Schedule {
	var s engine.Schedule
	for range 5 + r.IntN(40) {
		v := engine.ValueID(r.IntN(len(g.Values)))
		switch r.IntN(8) {
		case 0:
			s = append(s, engine.Offload(v))
		case 1:
			s = append(s, engine.Fetch(v, time.Duration(r.IntN(60))))
		case 2:
			s = append(s, engine.Free(v))
		case 3:
			s = append(s, engine.Wait(v))
		case 4:
			s = append(s, engine.Instruction{Kind: engine.DoFetch, Op: engine.NoOp, Value: v, Reserve: true})
		default:
			s = append(s, engine.Run(engine.OpID(r.IntN(len(g.Ops)))))
		}
	}
	return s
}

// possible drops the steps that cannot be carried out, so that random schedules get far.
func possible(p *engine.Problem, s engine.Schedule) (engine.Schedule, *sim.Trace) {
	for range 200 {
		tr, err := sim.Play(p, s)
		var step *sim.StepError
		var stuck *sim.StuckError
		switch {
		case err == nil:
			return s, tr
		case errors.As(err, &step) && step.Step < len(s):
			s = append(append(engine.Schedule{}, s[:step.Step]...), s[step.Step+1:]...)
		case errors.As(err, &stuck) && stuck.Step < len(s):
			s = append(append(engine.Schedule{}, s[:stuck.Step]...), s[stuck.Step+1:]...)
		default:
			return s, nil
		}
	}
	return s, nil
}

// Any schedule ends in an error or in a trace with correct sums, budget, order and lanes. Package check proves more.
func TestRandomSchedules(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 0))
	played := 0
	for i := range 4000 {
		p := problem(engine.Bytes(4+r.IntN(20)), engine.Transfers(r.IntN(2)), engine.Duplex(r.IntN(2)))
		p.Device.ToHost, p.Device.ToDev = engine.Rate(1e9/(1+r.IntN(3))), engine.Rate(1+r.IntN(3))*5e8
		p.Graph.Done = engine.NoValue
		s, tr := possible(p, randomSchedule(r, p.Graph))
		if tr == nil {
			continue
		}
		played++
		id := fmt.Sprintf("seed %d, case %d: %v", seed, i, s)
		checkSums(t, id, tr)
		var peak engine.Bytes
		for k, m := range tr.Memory {
			peak = max(peak, m.Total())
			if k > 0 && m.At < tr.Memory[k-1].At {
				t.Fatalf("%s: memory samples go back in time", id)
			}
		}
		if peak != tr.Peak || peak > p.Budget {
			t.Fatalf("%s: peak %d, largest sample %d, budget %d (%v, %v, %d/%d)", id, tr.Peak, peak, p.Budget,
				p.Transfers, p.Device.Duplex, p.Device.ToHost, p.Device.ToDev)
		}
		var end [sim.NumLanes]time.Duration
		for _, sp := range tr.Spans {
			lane := sp.Lane
			if lane == sim.ToDev && p.Device.Duplex == engine.HalfDuplex {
				lane = sim.ToHost
			}
			if sp.Start < end[lane] {
				t.Fatalf("%s: two spans at once on lane %d", id, sp.Lane)
			}
			end[lane] = sp.End
		}
		again, _ := sim.Play(p, s)
		if !reflect.DeepEqual(tr, again) {
			t.Fatalf("%s: played twice with two results", id)
		}
	}
	if played < 1000 {
		t.Errorf("only %d of 4000 random schedules could be played; want at least 1000", played)
	}
}
