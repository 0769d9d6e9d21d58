package sim_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// These tests write every model of the five papers as schedules, whose times and peaks must equal the vectors exactly.

// playSequence compiles and plays a sequence of Table 1. failed is the index of the operation that cannot be
// carried out, and why is the reason.
func playSequence(v *enginetest.Vector, ops []engine.ChainOp) (t *sim.Trace, failed int, why string) {
	p := v.Problem(engine.Whole)
	s, owner, err := p.Chain.CompileSequence(ops)
	var bad *engine.SequenceError
	if errors.As(err, &bad) {
		// The operations before the failing one may run out of memory first.
		s, owner, failed, why = prefix(p, ops, bad.Index)
	}
	t, err = sim.Play(p, s)
	if err == nil && bad == nil {
		if err := check.Trace(p, s, t); err != nil {
			return nil, -1, "refuted: " + err.Error()
		}
	}
	var stuck *sim.StuckError
	var step *sim.StepError
	switch {
	case errors.As(err, &stuck):
		return nil, owner[min(stuck.Step, len(owner)-1)], "memory"
	case bad != nil:
		return nil, failed, why
	case errors.As(err, &step):
		return nil, step.Step, "sim and the compiler disagree: " + step.Error()
	}
	return t, -1, ""
}

// prefix returns the schedule of the operations before a failing one.
func prefix(p *engine.Problem, ops []engine.ChainOp, n int) (s engine.Schedule, owner []int, failed int, why string) {
	why = "data"
	if n == len(ops) {
		why = "incomplete"
	}
	for i, op := range ops[:n] {
		k := op.Stage
		step := engine.Run(p.Chain.Fwd(k))
		switch op.Kind {
		case engine.FCk, engine.FNone:
			step = engine.RunOutputOnly(p.Chain.Fwd(k))
		case engine.BStep:
			step = engine.Run(p.Chain.Bwd(k))
		}
		s = append(s, step)
		hasAct := resident(p, ops[:i])
		switch {
		case op.Kind == engine.FNone:
			s = append(s, engine.Free(p.Chain.Act(k-1)))
		case op.Kind == engine.BStep:
			s = append(s, engine.Free(p.Chain.Grad(k)), engine.Free(p.Chain.Saved(k)))
			if hasAct[k-1] {
				s = append(s, engine.Free(p.Chain.Act(k-1)))
			}
		}
		for len(owner) < len(s) {
			owner = append(owner, i)
		}
	}
	return s, append(owner, n), n, why
}

// resident reports for each k whether a^k is on the device, outside of a saved set, after the operations.
func resident(p *engine.Problem, ops []engine.ChainOp) []bool {
	has := make([]bool, p.Chain.Chain.Len()+1)
	has[0] = true
	for _, op := range ops {
		switch k := op.Stage; op.Kind {
		case engine.FAll:
			has[k] = false
		case engine.FCk:
			has[k] = true
		case engine.FNone:
			has[k], has[k-1] = true, false
		case engine.BStep:
			has[k-1] = false
		}
	}
	return has
}

func TestSimulateVectors(t *testing.T) {
	for _, v := range append(enginetest.Load("simulate"), enginetest.Load("paper_examples")...) {
		if v.Algorithm != "simulate" {
			continue
		}
		trace, failed, why := playSequence(&v, v.Ops())
		valid, _ := v.ExpectBool("valid")
		if valid != (trace != nil) {
			t.Errorf("%s: valid: got %v (operation %d: %s), want %v", v.ID, trace != nil, failed, why, valid)
			continue
		}
		if !valid {
			wantOp, _ := v.ExpectInt("fail_op")
			var wantWhy string
			if err := json.Unmarshal(v.Expect["reason"], &wantWhy); err != nil {
				t.Fatal(err)
			}
			if failed != int(wantOp) || why != wantWhy {
				t.Errorf("%s: fails at operation %d (%s), want %d (%s)", v.ID, failed, why, wantOp, wantWhy)
			}
			continue
		}
		expectTimePeak(t, &v, trace, "makespan", "peak")
	}
}

func expectTimePeak(t *testing.T, v *enginetest.Vector, tr *sim.Trace, timeField, peakField string) {
	t.Helper()
	checkSums(t, v.ID, tr)
	if want, ok := v.ExpectInt(timeField); ok && int64(tr.Makespan) != want*timeUnit(v, timeField) {
		t.Errorf("%s: %s: got %d ns, want %d", v.ID, timeField, tr.Makespan, want)
	}
	if want, ok := v.ExpectInt(peakField); ok && int64(tr.Peak) != want {
		t.Errorf("%s: %s: got %d, want %d", v.ID, peakField, tr.Peak, want)
	}
}

// playChecked plays a schedule and checks the trace.
func playChecked(p *engine.Problem, s engine.Schedule) (*sim.Trace, error) {
	tr, err := sim.Play(p, s)
	if err == nil {
		err = check.Trace(p, s, tr)
	}
	return tr, err
}

// timeUnit returns the unit of a field in nanoseconds: 1 for the scaled fields, and the vector's bandwidth for
// makespan.
func timeUnit(v *enginetest.Vector, field string) int64 {
	if field == "makespan" {
		return v.Bandwidth
	}
	return 1
}

// checkSums checks that compute, recompute and waiting by reason add up to the step time, as they do for every
// trace.
func checkSums(t *testing.T, id string, tr *sim.Trace) {
	t.Helper()
	if sum := tr.ComputeTime + tr.RecomputeTime + tr.WaitingTotal(); sum != tr.Makespan {
		t.Errorf("%s: compute %v + recompute %v + waiting %v = %v, want the step time %v",
			id, tr.ComputeTime, tr.RecomputeTime, tr.Waiting, sum, tr.Makespan)
	}
}

// TestWitnesses plays the example sequences of the files.
func TestWitnesses(t *testing.T) {
	played := 0
	for _, file := range []string{"rotor_small", "rotor_medium", "sequential", "revolve_small"} {
		for _, v := range enginetest.Load(file) {
			raw := v.Expect["example_sequence"]
			peak := "example_peak"
			if raw == nil {
				raw, peak = v.Expect["sequence"], "peak"
			}
			var ops []enginetest.SequenceOp
			if raw == nil || json.Unmarshal(raw, &ops) != nil || ops == nil {
				continue
			}
			v.Sequence = ops
			trace, failed, why := playSequence(&v, v.Ops())
			if trace == nil {
				t.Errorf("%s: the witness fails at operation %d: %s", v.ID, failed, why)
				continue
			}
			expectTimePeak(t, &v, trace, "makespan", peak)
			played++
		}
	}
	if played < 80 {
		t.Errorf("played %d witnesses; the files hold more than 80", played)
	}
}

// vdnnSync returns the synchronous schedule of paper 003 (docs/paper-003.md).
func vdnnSync(p *engine.Problem, in []bool) (s engine.Schedule) {
	g, n := p.Chain, p.Chain.Chain.Len()
	for i := range n {
		if in[i] {
			s = append(s, engine.Offload(x(g, i)))
		}
		s = append(s, engine.Run(g.Fwd(i+1)))
		if in[i] {
			s = append(s, engine.Wait(x(g, i)), engine.Free(x(g, i)))
		}
	}
	back := append([]bool{}, in...)
	for i := n - 1; i >= 0; i-- {
		if back[i] {
			s = append(s, engine.Fetch(x(g, i), 0), engine.Wait(x(g, i)))
			back[i] = false
		}
		next := nearest(back, i)
		if next >= 0 {
			s = append(s, engine.Fetch(x(g, next), 0))
			back[next] = false
		}
		s = append(s, engine.Run(g.Bwd(i+1)))
		if next >= 0 {
			s = append(s, engine.Wait(x(g, next)))
		}
		s = append(s, engine.Free(g.Grad(i+1)), engine.Free(g.Saved(i+1)))
	}
	return s
}

// vdnnAsync returns the asynchronous schedule of vDNN++.
func vdnnAsync(p *engine.Problem, in []bool) (s engine.Schedule) {
	g, n := p.Chain, p.Chain.Chain.Len()
	for i := range n {
		if in[i] {
			s = append(s, engine.Offload(x(g, i)))
		}
		s = append(s, engine.Run(g.Fwd(i+1)))
		if in[i] {
			s = append(s, engine.Free(x(g, i)))
		}
	}
	for i := range n { // the barrier before the backward pass
		if in[i] {
			s = append(s, engine.Wait(x(g, i)))
		}
	}
	back := append([]bool{}, in...)
	for i := n - 1; i >= 0; i-- {
		if back[i] {
			s = append(s, engine.Fetch(x(g, i), 0))
			back[i] = false
		}
		if next := nearest(back, i); next >= 0 {
			s = append(s, engine.Fetch(x(g, next), 0))
			back[next] = false
		}
		s = append(s, engine.Run(g.Bwd(i+1)), engine.Free(g.Grad(i+1)), engine.Free(g.Saved(i+1)))
	}
	return s
}

// x returns the id of x_i of papers 000 and 003: a^0, then the saved activations.
func x(g *engine.ChainGraph, i int) engine.ValueID {
	if i == 0 {
		return g.Act(0)
	}
	return g.Saved(i)
}

func nearest(set []bool, before int) int {
	for i := before - 1; i >= 0; i-- {
		if set[i] {
			return i
		}
	}
	return -1
}

func TestVDNNVectors(t *testing.T) {
	for _, v := range enginetest.Load("vdnn") {
		in := make([]bool, len(v.Stages))
		for _, i := range v.Set {
			in[i] = true
		}
		p := v.Problem(engine.Whole)
		play := func(s engine.Schedule, budget engine.Bytes, prefix string) {
			t.Helper()
			tr, err := playChecked(p.WithBudget(budget), s)
			if err != nil {
				t.Errorf("%s: %s: %v", v.ID, prefix, err)
				return
			}
			expectTimePeak(t, &v, tr, prefix+"_scaled", prefix+"_peak")
		}
		play(vdnnSync(p, in), engine.NoLimit, "sync")
		play(vdnnAsync(p, in), engine.NoLimit, "async_unlimited")
		syncPeak, _ := v.ExpectInt("sync_peak")
		play(vdnnAsync(p, in), engine.Bytes(syncPeak), "async_at_sync_peak")
	}
}

// windowGraph returns the graph of a function sequence of paper 004 (docs/paper-004.md).
func windowGraph(v *enginetest.Vector) (*engine.Graph, map[string]engine.ValueID) {
	g := &engine.Graph{Done: engine.NoValue}
	ids := map[string]engine.ValueID{}
	onCPU := map[string]bool{}
	for _, name := range v.OnCPU {
		onCPU[name] = true
	}
	for i, vars := range v.Functions {
		op := engine.Op{Name: "f", Time: time.Duration(v.Durations[i])}
		for _, name := range vars {
			id, known := ids[name]
			if !known {
				id = engine.ValueID(len(g.Values))
				ids[name] = id
				val := engine.Value{Name: name, Size: engine.Bytes(v.Sizes[name]), PartOf: engine.NoValue}
				if onCPU[name] {
					val.Initial = engine.OnHost
				} else {
					op.Out = append(op.Out, id)
				}
				g.Values = append(g.Values, val)
			}
			if known || onCPU[name] {
				op.In = append(op.In, id)
			}
		}
		g.Ops = append(g.Ops, op)
	}
	return g, ids
}

func TestWindowVectors(t *testing.T) {
	type actions struct{ Pre, Post [][2]string }
	type result struct {
		Feasible bool
		Peak     engine.Bytes
		Makespan time.Duration
		Half     time.Duration `json:"makespan_half_duplex"`
		Schedule []actions
	}
	for _, v := range enginetest.Load("window") {
		g, ids := windowGraph(&v)
		for _, method := range []string{"window", "lms"} {
			var want result
			if err := json.Unmarshal(v.Expect[method], &want); err != nil {
				t.Fatal(err)
			}
			if !want.Feasible {
				continue
			}
			var s engine.Schedule
			add := func(list [][2]string) {
				for _, a := range list {
					id := ids[a[1]]
					switch a[0] {
					case "in":
						s = append(s, engine.Instruction{Kind: engine.DoFetch, Op: engine.NoOp, Value: id, Reserve: true})
					case "out":
						s = append(s, engine.Offload(id))
					case "wait":
						s = append(s, engine.Wait(id), engine.Free(id))
					case "free":
						s = append(s, engine.Free(id))
					default:
						t.Fatalf("%s: unknown action %q", v.ID, a[0])
					}
				}
			}
			for i, a := range want.Schedule {
				add(a.Pre)
				s = append(s, engine.Run(engine.OpID(i)))
				add(a.Post)
			}
			for duplex, makespan := range map[engine.Duplex]time.Duration{engine.FullDuplex: want.Makespan,
				engine.HalfDuplex: want.Half} {
				p := &engine.Problem{Graph: g, Device: enginetest.Device(duplex), Budget: v.BudgetBytes()}
				tr, err := playChecked(p, s)
				if err != nil {
					t.Errorf("%s: %s, %v duplex: %v", v.ID, method, duplex, err)
					continue
				}
				checkSums(t, v.ID, tr)
				if tr.Makespan != makespan {
					t.Errorf("%s: %s, %v duplex: step time %d, want %d", v.ID, method, duplex, tr.Makespan, makespan)
				}
				if tr.Peak != want.Peak {
					t.Errorf("%s: %s, %v duplex: peak %d, want %d", v.ID, method, duplex, tr.Peak, want.Peak)
				}
			}
		}
	}
}
