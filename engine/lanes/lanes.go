// Package lanes adds operations of the network and of the host's CPU (engine.Op.Lane) to a program that imports it.
// Programs without it neither play nor check nor plan such operations, which keeps the page's first program small.
//
// A strategy for graphs that does not support these lanes plans the device alone. The package then inserts the
// operations of the other lanes into the plan.
package lanes

import (
	"errors"
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/remat"
	"memtide/engine/sim"
)

func init() {
	engine.LinkLanes(plan)
	sim.LinkLanes()
	check.LinkLanes()
	remat.LinkLanes(keep)
}

// tries is how many plans for the device alone are made, each for less memory than the one before, until there is
// room for the operations of the other lanes.
const tries = 6

// plan solves p with a strategy that plans the device alone, and inserts the operations of the network and the host
// into its schedule. It returns only schedules that it has played.
func plan(s *engine.Strategy, p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	d := seen(p.Graph)
	q := &engine.Problem{Graph: d.plain, Device: p.Device, Transfers: p.Transfers, Budget: p.Budget}
	var missing engine.Bytes // what the last plan needs above the budget
	for range tries {
		var sol *engine.Solution
		var stop error
		poll.Aside(func() { sol, stop = s.Solver(q, args, poll) })
		if sol == nil {
			return nil, refusal(p, q, stop)
		}
		steps, err := d.lift(sol.Schedule)
		if err != nil {
			return nil, err
		}
		t, err := sim.Play(p, steps)
		if err == nil {
			return &engine.Solution{Schedule: steps, Makespan: t.Makespan, Peak: t.Peak, Stopped: sol.Stopped,
				Notes: append([]string{"Planned for the device alone; the operations of the network and the host run beside it, and weights are gathered one operation ahead."}, sol.Notes...)}, stop
		}
		_, stuck := errors.AsType[*sim.StuckError](err)
		free, wide := sim.Play(p.WithBudget(engine.NoLimit), steps)
		switch {
		case !stuck:
			return nil, fmt.Errorf("%w: with what runs beside the device: %w", engine.ErrUnsupported, err)
		case wide != nil:
			return nil, fmt.Errorf("%w: with what runs beside the device: %w", engine.ErrUnsupported, wide)
		case stop != nil:
			return nil, stop
		}
		missing = free.Peak - p.Budget
		q = q.WithBudget(q.Budget - max(missing, 1))
	}
	return nil, &engine.InfeasibleError{Budget: p.Budget,
		Why: fmt.Sprintf("the last plan for the device alone lacks %s for what runs beside it", missing.Text())}
}

// refusal returns why the strategy has no plan for the device alone, in terms of the budget of p. err is its error
// for q. In such plans all values that other lanes read and make are on the device.
func refusal(p, q *engine.Problem, err error) error {
	small, ok := errors.AsType[*engine.InfeasibleError](err)
	if !ok {
		return err
	}
	if small.Smallest == 0 {
		return &engine.InfeasibleError{Budget: p.Budget, Why: small.Why}
	}
	why := fmt.Sprintf("planned for the device alone, with all that the network and the host read and make there, the step needs %s", small.Smallest.Text())
	if small.Why != "" {
		why += " (" + small.Why + ")"
	}
	if beside := p.Budget - q.Budget; beside > 0 {
		why += fmt.Sprintf(", and %s for what runs beside it", beside.Text())
	}
	return &engine.InfeasibleError{Budget: p.Budget, Why: why + "; other plans may need less"}
}

// lifter inserts the operations of other lanes into a plan for the device, step by step.
type lifter struct {
	*device
	*places
	plan engine.Schedule // with the ids of the full graph
	at   int             // the present index in plan
	ran  []bool          // by operation: it has run or is queued
}

// lift returns the plan with the operations of other lanes.
func (d *device) lift(plan engine.Schedule) (engine.Schedule, error) {
	l := &lifter{device: d, places: newPlaces(d.of), ran: make([]bool, len(d.of.Ops))}
	for _, st := range plan {
		if st.Kind == engine.DoRun {
			st.Op = d.ops[st.Op]
		}
		l.plan = append(l.plan, st)
	}
	for i, st := range l.plan {
		l.at = i
		if err := l.step(st); err != nil {
			return nil, err
		}
	}
	return l.steps, l.settle(len(l.late), l.onHost)
}

// step appends one step of the plan to the schedule.
func (l *lifter) step(st engine.Instruction) error {
	if l.waits(st) {
		l.late = append(l.late, st)
		return nil
	}
	if l.blocked(st) {
		if err := l.settle(len(l.late), l.onHost); err != nil {
			return err
		}
	}
	if st.Kind != engine.DoRun {
		l.move(st)
		return nil
	}
	switch op := &l.g.Ops[st.Op]; op.Lane {
	case engine.LaneNetwork:
		l.run(st, op)
		return nil
	case engine.LaneCPU:
		return l.onHost(st)
	default:
		return l.compute(st, op)
	}
}

// waits reports whether a step would hold the counter until a value has arrived on the device: a run of the CPU
// that needs such a value, or the free or offload of it.
func (l *lifter) waits(st engine.Instruction) bool {
	switch st.Kind {
	case engine.DoRun:
		op := &l.g.Ops[st.Op]
		return op.Lane == engine.LaneCPU &&
			slices.ContainsFunc(op.In, func(v engine.ValueID) bool { return !l.host[v] && l.coming[v] })
	case engine.DoFree, engine.DoOffload:
		return l.coming[st.Value] || l.isLate(st.Value)
	}
	return false
}

// isLate reports whether a late step uses v.
func (l *lifter) isLate(v engine.ValueID) bool {
	return slices.ContainsFunc(l.late, func(st engine.Instruction) bool {
		if st.Kind != engine.DoRun {
			return st.Value == v
		}
		op := &l.g.Ops[st.Op]
		return slices.Contains(op.In, v) || slices.Contains(op.Out, v)
	})
}

// blocked reports whether a step needs a late step.
func (l *lifter) blocked(st engine.Instruction) bool {
	if st.Kind != engine.DoRun {
		return l.isLate(st.Value)
	}
	op := &l.g.Ops[st.Op]
	return slices.ContainsFunc(slices.Concat(op.In, op.Out), l.isLate)
}

// run appends a run of any lane.
func (l *lifter) run(st engine.Instruction, op *engine.Op) {
	l.ran[st.Op] = true
	l.places.run(st, op.In)
}

// onHost appends a run of the CPU, with offloads of its inputs and fetches of its outputs, which the strategy
// expects on the device.
func (l *lifter) onHost(st engine.Instruction) error {
	op := &l.g.Ops[st.Op]
	for _, v := range op.In {
		if !l.host[v] {
			l.move(engine.Offload(v))
		}
	}
	l.run(st, op)
	for _, v := range op.Out {
		l.move(engine.Fetch(v, 0))
	}
	return nil
}

// compute appends a run on the device. Before it come the gathers of its inputs and of the inputs of the next run.
// After it come the frees of gathered values that the next run does not read, and the late steps.
func (l *lifter) compute(st engine.Instruction, op *engine.Op) error {
	for _, v := range op.In {
		if l.gathers[v] != nil && !l.gather(v, st.Op) {
			return fmt.Errorf("%w: %s cannot be gathered again before %s", engine.ErrUnsupported, l.g.Values[v].Name,
				op.Name)
		}
	}
	next := l.next()
	if next != nil {
		for _, v := range next.In {
			if l.gathers[v] != nil {
				l.gather(v, engine.NoOp)
			}
		}
	}
	l.run(st, op)
	for _, v := range op.In {
		if l.gathers[v] != nil && (next == nil || !slices.Contains(next.In, v)) {
			l.move(engine.Free(v))
		}
	}
	return l.settle(len(l.late), l.onHost)
}

// next returns the operation of the next run on the device in the plan, or nil.
func (l *lifter) next() *engine.Op {
	for _, st := range l.plan[l.at+1:] {
		if st.Kind == engine.DoRun && l.g.Ops[st.Op].Lane == engine.LaneCompute {
			return &l.g.Ops[st.Op]
		}
	}
	return nil
}

// gather appends an operation that gathers v unless v is on the device, if possible one that has not run yet. If
// reader is not NoOp, the last gather before reader in the graph runs even if v is on the device, provided that it
// has not run yet. gather returns false if v is not on the device and no operation can gather it.
func (l *lifter) gather(v engine.ValueID, reader engine.OpID) bool {
	by := engine.NoOp
	for _, g := range l.gathers[v] {
		op := &l.g.Ops[g]
		ready := !slices.ContainsFunc(op.After, func(a engine.OpID) bool { return !l.ran[a] }) &&
			!slices.ContainsFunc(op.In, func(in engine.ValueID) bool { return !l.dev[in] })
		if again := l.ran[g] && op.Pass == engine.Backward; ready && !again &&
			(by == engine.NoOp || l.ran[by] && !l.ran[g]) {
			by = g
		}
	}
	if l.dev[v] {
		own := l.meant(v, reader)
		if own == engine.NoOp || own != by || l.ran[own] {
			return true
		}
		l.move(engine.Free(v))
	}
	if by == engine.NoOp {
		return false
	}
	l.run(engine.Run(by), &l.g.Ops[by])
	return true
}

// meant returns the last operation before reader that gathers v, or NoOp.
func (l *lifter) meant(v engine.ValueID, reader engine.OpID) engine.OpID {
	i, _ := slices.BinarySearch(l.gathers[v], reader)
	if i == 0 {
		return engine.NoOp
	}
	return l.gathers[v][i-1]
}

// device is a graph without other lanes, for strategies that do not support them. It has the same values. A gathered
// value becomes a temporary of its readers, which read the gathered parts instead, so that every reader can gather
// again. All other operations of the network and the host become operations of the device that take no time.
type device struct {
	of      *engine.Graph   // the full graph
	plain   *engine.Graph   // the graph without other lanes
	ops     []engine.OpID   // by operation of plain: its id in of
	gathers [][]engine.OpID // by value: the operations that gather it, ascending; nil for values that are not gathered
}

// seen returns the graph g without other lanes.
func seen(g *engine.Graph) *device {
	d := &device{of: g, gathers: gathers(g)}
	plain := *g
	plain.Ops = nil
	d.plain = &plain
	for i := range g.Ops {
		op := g.Ops[i]
		if op.Lane == engine.LaneNetwork && len(op.Out) > 0 && d.gathers[op.Out[0]] != nil {
			continue // its readers gather the value
		}
		op.After = nil
		op.In = nil
		for _, v := range g.Ops[i].In {
			switch {
			case d.gathers[v] != nil:
				op.Temp += g.Values[v].Size
				for _, from := range g.Ops[d.gathers[v][0]].In {
					op.In = add(op.In, from)
				}
			case op.Lane == engine.LaneCPU && g.Values[v].Initial&engine.OnHost != 0: // read on the host
			default:
				op.In = add(op.In, v)
			}
		}
		if op.Lane != engine.LaneCompute {
			op.Time = 0
			op.Once = op.Once || op.Lane == engine.LaneCPU
		}
		op.Lane = engine.LaneCompute
		d.ops = append(d.ops, engine.OpID(i))
		plain.Ops = append(plain.Ops, op)
	}
	return d
}

func add(list []engine.ValueID, v engine.ValueID) []engine.ValueID {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

// gathers returns for every gathered value the operations that make it, and nil for other values. A value is
// gathered if only operations of the network make it, from values that are on the device when the step begins, and
// only operations of the device read it. At least one of its makers must be a forward operation, since backward
// operations do not run again.
func gathers(g *engine.Graph) [][]engine.OpID {
	made := make([]bool, len(g.Values))
	for i := range g.Ops {
		for _, v := range g.Ops[i].Out {
			made[v] = true
		}
	}
	initial := func(v engine.ValueID) bool { return !made[v] && g.Values[v].Initial == engine.OnDevice }
	out := make([][]engine.OpID, len(g.Values))
	never, read, forward := make([]bool, len(g.Values)), make([]bool, len(g.Values)), make([]bool, len(g.Values))
	for i := range g.Ops {
		op := &g.Ops[i]
		again := op.Lane == engine.LaneNetwork && !op.Once && len(op.Out) == 1 && !slices.ContainsFunc(op.In,
			func(v engine.ValueID) bool { return !initial(v) })
		for _, v := range op.Out {
			out[v] = append(out[v], engine.OpID(i))
			forward[v] = forward[v] || op.Pass == engine.Forward
			never[v] = never[v] || !again || !slices.Equal(op.In, g.Ops[out[v][0]].In)
		}
		for _, v := range op.In {
			never[v], read[v] = never[v] || op.Lane != engine.LaneCompute, true
		}
	}
	for v := range out {
		if never[v] || !read[v] || !forward[v] {
			out[v] = nil
		}
	}
	return out
}

// places writes a schedule step by step. It records where the values of the graph are when all queued transfers and
// operations are over.
type places struct {
	g      *engine.Graph
	steps  engine.Schedule
	dev    []bool // by value: on the device or on its way there
	coming []bool // by value: may still be on its way to the device
	host   []bool // by value: on the host or on its way there
	// late holds steps that would wait until a value has arrived on the device: runs of the CPU, with their copies,
	// and frees. They come after the next run on the device.
	late engine.Schedule
}

func newPlaces(g *engine.Graph) *places {
	n := len(g.Values)
	p := &places{g: g, dev: make([]bool, n), coming: make([]bool, n), host: make([]bool, n)}
	for v := range g.Values {
		at := g.Values[v].Initial
		p.dev[v], p.host[v] = at&engine.OnDevice != 0, at&engine.OnHost != 0
	}
	return p
}

// move appends a step about a value, after a wait if the value must arrive before.
func (p *places) move(st engine.Instruction) {
	v := st.Value
	if p.coming[v] && (st.Kind == engine.DoFree || st.Kind == engine.DoOffload) {
		p.steps, p.coming[v] = append(p.steps, engine.Wait(v)), false
	}
	switch st.Kind {
	case engine.DoFree:
		p.dev[v] = false
	case engine.DoOffload:
		p.host[v] = true
	case engine.DoFetch:
		p.dev[v], p.coming[v] = true, true
	case engine.DoWait:
		p.coming[v] = false
	}
	p.steps = append(p.steps, st)
}

// settle appends the first n late steps to the schedule. It calls onHost for runs of the CPU.
func (p *places) settle(n int, onHost func(engine.Instruction) error) error {
	due := p.late[:n:n]
	p.late = slices.Clone(p.late[n:])
	for _, st := range due {
		if st.Kind != engine.DoRun {
			p.move(st)
		} else if err := onHost(st); err != nil {
			return err
		}
	}
	return nil
}

// run appends a run of any lane, which reads the device copies of in.
func (p *places) run(st engine.Instruction, in []engine.ValueID) {
	p.steps = append(p.steps, st)
	op := &p.g.Ops[st.Op]
	for _, v := range in {
		p.coming[v] = p.coming[v] && op.Lane == engine.LaneNetwork
	}
	for _, v := range op.Out {
		if op.Lane == engine.LaneCPU {
			p.host[v] = true
		} else {
			p.dev[v], p.coming[v] = true, op.Lane == engine.LaneNetwork
		}
	}
}
