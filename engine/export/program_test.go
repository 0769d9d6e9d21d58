package export_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/engine/enginetest"
	"memtide/engine/export"
	"memtide/engine/sim"
)

// plans are schedules of every strategy on random chains, in both duplex and
// both transfer modes.
func plans(t *testing.T, count int) []*export.Plan {
	t.Helper()
	var all []*export.Plan
	r := enginetest.Rand(31)
	for i := range count {
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 7})
		if i%3 == 0 {
			enginetest.GiveFast(r, c)
		}
		if i%4 == 1 {
			enginetest.GiveUnsaved(r, c)
		}
		for _, duplex := range []engine.Duplex{engine.HalfDuplex, engine.FullDuplex} {
			for _, transfers := range []engine.Transfers{engine.Whole, engine.Streamed} {
				p := engine.NewChainProblem(c, enginetest.Device(duplex), transfers, enginetest.RandomBudget(r, c))
				for _, s := range engine.Strategies() {
					sol, err := s.Solve(p, nil, nil)
					if err != nil {
						continue // too small a budget, or nothing for this strategy
					}
					all = append(all, &export.Plan{Name: fmt.Sprintf("chain %d", i), Strategy: s.Name, Problem: p, Schedule: sol.Schedule})
				}
			}
		}
	}
	if len(all) < 10*count {
		t.Fatalf("only %d schedules on %d chains: too few to prove anything", len(all), count)
	}
	return all
}

// machine runs a program in the worst case for memory: a copy to the host ends
// no earlier than the Settle that waits for it.
type machine struct {
	p                        *engine.Problem
	dev, host, copying, left map[engine.ValueID]bool
	used, peak               engine.Bytes
	done                     map[engine.OpID]int
}

func newMachine(p *engine.Problem) *machine {
	set := func() map[engine.ValueID]bool { return map[engine.ValueID]bool{} }
	m := &machine{p: p, dev: set(), host: set(), copying: set(), left: set(), used: p.Graph.Fixed, done: map[engine.OpID]int{}}
	for i, v := range p.Graph.Values {
		if v.Initial&engine.OnDevice != 0 {
			m.dev[engine.ValueID(i)] = true
			m.used += v.Size
		}
	}
	m.peak = m.used
	return m
}

func (m *machine) size(v engine.ValueID) engine.Bytes { return m.p.Graph.Values[v].Size }

func (m *machine) need(b engine.Bytes) { m.used += b; m.peak = max(m.peak, m.used) }

func (m *machine) leave(v engine.ValueID) {
	delete(m.dev, v)
	if m.copying[v] {
		m.left[v] = true
		return
	}
	m.used -= m.size(v)
}

// do is one action; the error says what is missing for it.
func (m *machine) do(a export.Action) error {
	v := a.Value
	switch a.Kind {
	case export.Drop:
		if !m.dev[v] {
			return errors.New("it is not on the device")
		}
		m.leave(v)
	case export.Offload:
		if !m.dev[v] {
			return errors.New("it is not on the device")
		}
		m.copying[v], m.host[v] = true, true
	case export.Settle:
		delete(m.copying, v)
		if m.left[v] {
			delete(m.left, v)
			m.used -= m.size(v)
		}
	case export.Fetch:
		if !m.host[v] || m.dev[v] || m.left[v] {
			return errors.New("the host has no copy, or the device has one")
		}
		delete(m.copying, v)
		m.dev[v] = true
		m.need(m.size(v))
	default:
		return m.run(a)
	}
	return nil
}

func (m *machine) run(a export.Action) error {
	g, c := m.p.Graph, m.p.Chain
	id := c.Fwd(a.Stage)
	if a.Kind == export.Back {
		id = c.Bwd(a.Stage)
	}
	op := &g.Ops[id]
	for _, in := range op.In {
		if !m.dev[in] && (g.Values[in].PartOf == engine.NoValue || !m.dev[g.Values[in].PartOf]) {
			return fmt.Errorf("%s is not on the device", g.Values[in].Name)
		}
	}
	outs, temp := op.Out, op.Temp
	if a.Kind == export.Lean {
		outs = op.OutputOnly
	}
	if op.Alt != nil {
		temp = min(temp, op.Alt.Temp) // a program does not say which way it takes
	}
	for _, out := range outs {
		m.need(m.size(out))
	}
	m.need(temp)
	m.used -= temp
	for _, out := range outs {
		if m.dev[out] {
			m.leave(out)
		}
		m.dev[out] = true
		delete(m.host, out)
		delete(m.copying, out)
		for i := range g.Values {
			if part := engine.ValueID(i); g.Values[i].PartOf == out && m.dev[part] {
				m.leave(part)
			}
		}
	}
	m.done[id]++
	return nil
}

func TestProgramsRun(t *testing.T) {
	ran := map[string]int{}
	for _, p := range plans(t, 60) {
		where := fmt.Sprintf("%s by %s, %v duplex, budget %d", p.Name, p.Strategy, p.Problem.Device.Duplex, p.Problem.Budget)
		program, err := p.Program()
		if p.Problem.Transfers == engine.Streamed {
			if err == nil || !strings.Contains(err.Error(), "whole transfers") {
				t.Errorf("%s: streamed: got error %v, want one that says to use whole transfers", where, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", where, err, enginetest.Dump(p.Problem.Chain.Chain))
			continue
		}
		ran[p.Strategy]++
		tr, err := sim.Play(p.Problem, p.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		m := newMachine(p.Problem)
		for i, a := range program {
			if err := m.do(a); err != nil {
				t.Errorf("%s: action %d %+v of %+v: %v", where, i, a, program, err)
				break
			}
		}
		if m.peak > tr.Peak {
			t.Errorf("%s: the program needs %d bytes, the schedule %d: %+v", where, m.peak, tr.Peak, program)
		}
		if len(m.left) > 0 {
			t.Errorf("%s: %d values are still leaving at the end", where, len(m.left))
		}
		want := map[engine.OpID]int{}
		for _, s := range p.Schedule {
			if s.Kind == engine.StepRun {
				want[s.Op]++
			}
		}
		for op, n := range want {
			if m.done[op] != n {
				t.Errorf("%s: %s ran %d times, want %d", where, p.Problem.Graph.Ops[op].Name, m.done[op], n)
			}
		}
	}
	for _, name := range []string{"keepall", "sequential", "revolve", "rotor", "greedy", "pofo", "vdnn"} {
		if ran[name] == 0 {
			t.Errorf("no schedule of %s became a program; %v did", name, ran)
		}
	}
}

// A fetch that starts while an operation runs is issued before it, and what
// needs the room of a value on its way to the host comes after a Settle.
func TestProgramOrder(t *testing.T) {
	c := &engine.Chain{Name: "three", Input: 4, Stages: []engine.Stage{
		{Name: "one", Forward: 10, Back: 10, Out: 4, Saved: 4, Grad: 4},
		{Name: "two", Forward: 10, Back: 10, Out: 4, Saved: 4, Grad: 4},
		{Name: "loss", Forward: 10, Back: 10},
	}}
	p := engine.NewChainProblem(c, engine.Device{Name: "test", ToHost: 1e9, ToDev: 1e9}, engine.Whole, 20)
	g := p.Chain
	plan := &export.Plan{Name: "three", Problem: p, Schedule: engine.Schedule{
		engine.Offload(g.Act(0)), engine.Run(g.Fwd(1)), engine.Free(g.Act(0)), engine.Run(g.Fwd(2)), engine.Run(g.Fwd(3)),
		engine.Fetch(g.Act(0), 45), // B3 runs from 30 to 40, B2 from 40 to 50
		engine.Run(g.Bwd(3)), engine.Free(g.Grad(3)), engine.Free(g.Saved(3)),
		engine.Run(g.Bwd(2)), engine.Free(g.Grad(2)), engine.Free(g.Saved(2)),
		engine.Run(g.Bwd(1)),
	}}
	text, err := plan.Python()
	if err != nil {
		t.Fatal(err)
	}
	const want = "\n>a0 F1 -a0 F2 F3 B3 -d3 -s3 =a0 <a0 B2 -d2 -s2 B1\n"
	if !strings.Contains(text, want) {
		_, from, _ := strings.Cut(text, "PROGRAM = ")
		t.Errorf("got %s; want %q", from[:min(len(from), 200)], want)
	}
}

func TestNoProgram(t *testing.T) {
	g := &engine.Graph{Done: engine.NoValue, Values: []engine.Value{{Name: "x", Size: 1, PartOf: engine.NoValue}},
		Ops: []engine.Op{{Name: "f", Time: 1, Out: []engine.ValueID{0}}}}
	plan := &export.Plan{Name: "graph", Problem: &engine.Problem{Graph: g, Budget: 1}, Schedule: engine.Schedule{engine.Run(0)}}
	if _, err := plan.Python(); err == nil || !strings.Contains(err.Error(), "not a chain of stages") {
		t.Errorf("a graph: got error %v, want one that says that it is not a chain of stages", err)
	}
	plan.Schedule = nil
	if _, err := plan.JSON(); err == nil || !strings.Contains(err.Error(), "cannot be played") {
		t.Errorf("a schedule that leaves the step undone: got error %v, want one that says it cannot be played", err)
	}
}
