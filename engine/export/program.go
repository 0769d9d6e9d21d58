package export

import (
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/engine/sim"
)

// ActionKind is what an action of a program does.
type ActionKind uint8

// The kinds of actions, with the letters that stand for them in texts.
const (
	Keep    ActionKind = iota // F3: forward that keeps all that the backward needs
	Lean                      // L3: forward that keeps its output alone
	Back                      // B3: backward
	Drop                      // -s3: the device's copy is not used any more
	Offload                   // >s3: start a copy to the host
	Fetch                     // <s3: take room, and start a copy to the device
	Settle                    // =s3: before the next computation, the copies of s3 have ended; its room is free if it was dropped
)

// Action is one action of a program: what a schedule comes to where no clock
// tells when a fetch may start, and where nothing waits for room by itself. A
// fetch stands before the computation beside which it runs, and a Settle before
// what needs the room of a value that is still on its way to the host. Actions
// are done in order; the copies that they start run beside the computations.
type Action struct {
	Kind  ActionKind
	Stage int            // of Keep, Lean and Back
	Value engine.ValueID // of the others, otherwise NoValue
}

// text is the action as it stands in files: "F3", "-s3".
func (a Action) text(p *engine.Problem) string {
	if a.Kind <= Back {
		return fmt.Sprintf("%c%d", "FLB"[a.Kind], a.Stage)
	}
	return string("-><="[a.Kind-Drop]) + valueName(p, a.Value)
}

// Program is the schedule as a program, for a chain whose values travel whole.
// The program never needs more memory than the schedule does.
func (p *Plan) Program() ([]Action, error) {
	tr, err := p.play()
	if err != nil {
		return nil, err
	}
	return p.program(tr)
}

func (p *Plan) program(tr *sim.Trace) ([]Action, error) {
	if p.Problem.Chain == nil {
		return nil, fmt.Errorf("a program runs the stages of an nn.Sequential one after the other, and this network is not a chain of stages; export it as JSON")
	}
	if p.Problem.Transfers == engine.Streamed {
		return nil, fmt.Errorf("a program copies values as a whole, and this schedule streams them byte by byte; solve again with whole transfers, or export it as JSON")
	}
	w := newProgrammer(p.Problem, tr)
	for i := range p.Schedule {
		if err := w.step(i, &p.Schedule[i]); err != nil {
			return nil, fmt.Errorf("step %d (%s) cannot be part of a program: %w", i+1, p.Schedule[i].Describe(p.Problem.Graph), err)
		}
	}
	if err := w.issue(len(w.waiting)); err != nil {
		return nil, fmt.Errorf("the end of the schedule cannot be part of a program: %w", err)
	}
	for len(w.leaving) > 0 {
		w.await(w.leaving[0])
	}
	return w.out, nil
}

// programmer walks a schedule in the order of its steps and keeps account of
// memory as a program sees it: room is free when a Settle says so.
type programmer struct {
	p     *engine.Problem
	g     *engine.Graph
	limit engine.Bytes // the schedule's peak
	used  engine.Bytes
	spans []*sim.Span // of runs and transfers, by step
	out   []Action

	inner    [][]engine.ValueID
	onDevice []bool
	onHost   []bool           // the host has a copy, or one is under way to it
	copying  []bool           // an offload was started and may be under way
	leaving  []engine.ValueID // dropped while copying: they still take room
	waiting  []fetch          // they have been reached and not been issued
}

// fetch is a fetch by the step that asks for it.
type fetch struct {
	step  int
	value engine.ValueID
}

func newProgrammer(p *engine.Problem, tr *sim.Trace) *programmer {
	n := len(p.Graph.Values)
	w := &programmer{p: p, g: p.Graph, limit: tr.Peak, used: p.Graph.Fixed,
		inner: make([][]engine.ValueID, n), onDevice: make([]bool, n), onHost: make([]bool, n), copying: make([]bool, n)}
	for i := range w.g.Values {
		v := &w.g.Values[i]
		if v.Initial&engine.OnDevice != 0 {
			w.onDevice[i] = true
			w.used += v.Size
		}
		if v.PartOf != engine.NoValue {
			w.inner[v.PartOf] = append(w.inner[v.PartOf], engine.ValueID(i))
		}
	}
	for i := range tr.Spans {
		sp := &tr.Spans[i]
		for len(w.spans) <= sp.Step {
			w.spans = append(w.spans, nil)
		}
		w.spans[sp.Step] = sp
	}
	return w
}

func (w *programmer) emit(kind ActionKind, v engine.ValueID) {
	w.out = append(w.out, Action{Kind: kind, Value: v})
}

func (w *programmer) step(i int, s *engine.Step) error {
	if s.Kind == engine.StepRun {
		return w.run(i, s)
	}
	// Fetches keep their order, so all up to the last one of this value go first.
	last := 0
	for k, f := range w.waiting {
		if f.value == s.Value {
			last = k + 1
		}
	}
	if err := w.issue(last); err != nil {
		return err
	}
	switch s.Kind {
	case engine.StepFree:
		w.emit(Drop, s.Value)
		w.drop(s.Value)
	case engine.StepOffload:
		w.emit(Offload, s.Value)
		w.copying[s.Value], w.onHost[s.Value] = true, true
	case engine.StepFetch:
		if !w.onHost[s.Value] {
			return fmt.Errorf("%s was computed again after it had been offloaded", valueName(w.p, s.Value))
		}
		w.waiting = append(w.waiting, fetch{i, s.Value})
		if s.Reserve {
			return w.issue(len(w.waiting))
		}
	case engine.StepWait:
		w.await(s.Value)
	}
	return nil
}

// drop forgets the device's copy: its room is free at once, or after its copy.
func (w *programmer) drop(v engine.ValueID) {
	w.onDevice[v] = false
	if w.copying[v] {
		w.leaving = append(w.leaving, v)
		return
	}
	w.used -= w.g.Values[v].Size
}

// await waits for the copies of v.
func (w *programmer) await(v engine.ValueID) {
	w.emit(Settle, v)
	w.copying[v] = false
	if i := slices.Index(w.leaving, v); i >= 0 {
		w.leaving = slices.Delete(w.leaving, i, i+1)
		w.used -= w.g.Values[v].Size
	}
}

// take waits for values that are leaving until there is room for size bytes.
func (w *programmer) take(size engine.Bytes) error {
	for w.used+size > w.limit {
		if len(w.leaving) == 0 {
			return fmt.Errorf("it needs %d bytes beside %d bytes, and the schedule's peak is %d bytes", size, w.used, w.limit)
		}
		w.await(w.leaving[0])
	}
	w.used += size
	return nil
}

// issue starts the first n fetches that wait.
func (w *programmer) issue(n int) error {
	for _, f := range w.waiting[:n] {
		if slices.Contains(w.leaving, f.value) {
			w.await(f.value) // its copy to the host has to be whole
		}
		if err := w.take(w.g.Values[f.value].Size); err != nil {
			return err
		}
		w.emit(Fetch, f.value)
		w.onDevice[f.value], w.copying[f.value] = true, false
	}
	w.waiting = w.waiting[n:]
	return nil
}

// run issues the fetches that run beside an operation, or that it reads, and
// then the operation. A fetch that starts while an operation runs takes its room
// before it: the operation holds all its memory to its end, so the peak is the same.
func (w *programmer) run(i int, s *engine.Step) error {
	op, at := &w.g.Ops[s.Op], w.spans[i]
	beside := 0
	for k, f := range w.waiting {
		if w.spans[f.step].Start < at.End || w.reads(op, f.value) {
			beside = k + 1
		}
	}
	if err := w.issue(beside); err != nil {
		return err
	}
	outs, temp := op.Out, op.Temp
	if s.OutputOnly {
		outs = op.OutputOnly
	}
	if s.Alt {
		temp = op.Alt.Temp
	}
	need := temp
	for _, v := range outs {
		need += w.g.Values[v].Size
	}
	if err := w.take(need); err != nil {
		return err
	}
	kind := Keep
	switch {
	case op.Pass == engine.Backward:
		kind = Back
	case s.OutputOnly:
		kind = Lean
	}
	w.out = append(w.out, Action{Kind: kind, Stage: op.Stage, Value: engine.NoValue})
	w.used -= temp
	for _, v := range outs {
		w.replace(v)
		for _, part := range w.inner[v] {
			if w.onDevice[part] {
				w.drop(part) // merged: a^k is part of the new abar^k
			}
		}
	}
	return nil
}

// replace puts a new copy of v in the place of an older one.
func (w *programmer) replace(v engine.ValueID) {
	if w.onDevice[v] {
		w.drop(v)
	}
	w.onDevice[v], w.onHost[v], w.copying[v] = true, false, false
}

// reads tells whether an operation needs v: as an input, or because an input is
// within it.
func (w *programmer) reads(op *engine.Op, v engine.ValueID) bool {
	for _, in := range op.In {
		for ; in != engine.NoValue; in = w.g.Values[in].PartOf {
			if in == v {
				return true
			}
		}
	}
	return false
}
