package window

import (
	"fmt"
	"slices"
	"time"

	"memtide/engine"
)

// place is where a variable is.
type place uint8

const (
	unborn place = iota
	onHost
	onDevice
	leaving // on the device, and queued to leave it
	gone    // freed for good
)

// run walks over the functions once and writes the schedule. A variable takes its room when it is fetched or made, and
// gives it back when the schedule has waited for its copy. So the peak does not depend on how long the transfers take.
type run struct {
	*network
	budget engine.Bytes
	place  []place // by variable
	queue  []int   // the steps of the offloads of leaving variables, oldest first
	leaves []int   // by variable: the step of its offload, if it is leaving
	steps  engine.Schedule

	used, peak engine.Bytes
	held       engine.Bytes // used, without the variables that are leaving
	need       engine.Bytes // the most that is held while a function runs
	needs      int          // the function of need
	at         int          // the present function of the walk
}

// cancelled marks an offload that is removed from the schedule at the end.
const cancelled = engine.InstructionKind(255)

func (n *network) start(budget engine.Bytes) *run {
	g := n.p.Graph
	r := &run{network: n, budget: budget, place: make([]place, len(g.Values)), leaves: make([]int, len(g.Values)),
		used: g.Fixed}
	for v := range g.Values {
		switch initial := g.Values[v].Initial; {
		case initial&engine.OnDevice != 0:
			r.place[v] = onDevice
			r.used += g.Values[v].Size
		case initial&engine.OnHost != 0:
			r.place[v] = onHost
		}
	}
	r.held, r.peak = r.used, r.used
	return r
}

// evict waits for the oldest variable that is leaving and frees it. It returns false if no variable is leaving.
func (r *run) evict() bool {
	for len(r.queue) > 0 {
		st := r.steps[r.queue[0]]
		r.queue = r.queue[1:]
		if st.Kind == cancelled {
			continue
		}
		r.steps = append(r.steps, engine.Wait(st.Value), engine.Free(st.Value))
		r.place[st.Value] = onHost
		r.used -= r.size(st.Value)
		return true
	}
	return false
}

// room evicts until there is room for n bytes. It returns false if there cannot be.
func (r *run) room(n engine.Bytes) bool {
	for r.used > r.budget-n {
		if !r.evict() {
			return false
		}
	}
	return true
}

// allocate makes room for n bytes and takes it. It returns false if there is no room.
func (r *run) allocate(n engine.Bytes) bool {
	if !r.room(n) {
		return false
	}
	r.used += n
	r.held += n
	return true
}

// fetch allocates the destination of a variable on the device and queues its copy. It returns false if there is no
// room.
func (r *run) fetch(v engine.ValueID) bool {
	if !r.allocate(r.size(v)) {
		return false
	}
	r.peak = max(r.peak, r.used)
	r.steps = append(r.steps, engine.Instruction{Kind: engine.DoFetch, Op: engine.NoOp, Value: v, Reserve: true})
	r.place[v] = onDevice
	return true
}

// leave queues the offload of a variable.
func (r *run) leave(v engine.ValueID) {
	r.queue, r.leaves[v] = append(r.queue, len(r.steps)), len(r.steps)
	r.steps = append(r.steps, engine.Offload(v))
	r.place[v] = leaving
	r.held -= r.size(v)
}

// stay cancels the offload of a leaving variable.
func (r *run) stay(v engine.ValueID) {
	r.steps[r.leaves[v]].Kind = cancelled
	r.place[v] = onDevice
	r.held += r.size(v)
}

// drop frees a variable after its last use.
func (r *run) drop(v engine.ValueID) {
	r.steps = append(r.steps, engine.Free(v))
	r.place[v] = gone
	r.used -= r.size(v)
	r.held -= r.size(v)
}

// execute allocates the outputs of function i and runs it. It returns false if there is no room.
func (r *run) execute(i int) bool {
	f := &r.funcs[i]
	for _, v := range r.seq[f.first:f.last] {
		if r.place[v] == unborn {
			if !r.allocate(r.size(v)) {
				return false
			}
			r.place[v] = onDevice
		}
	}
	if !r.room(f.beside) {
		return false
	}
	r.peak = max(r.peak, r.used+f.beside)
	if need := r.held + f.beside; need > r.need {
		r.need, r.needs = need, i
	}
	for _, v := range f.rewrites {
		r.steps = append(r.steps, engine.Wait(v))
	}
	r.steps = append(r.steps, engine.Run(engine.OpID(i)))
	return true
}

// over runs the functions in order. It calls fetch before each function, and then used for each index of the function's
// variables that are used again later. ok is false if something does not fit, or poll has stopped the walk.
func (r *run) over(fetch func(i int) bool, used func(at int)) (ok bool) {
	for i, f := range r.funcs {
		r.at = i
		if r.poll.Err() != nil || !fetch(i) || !r.execute(i) {
			return false
		}
		for at := f.first; at < f.last; at++ {
			if r.next[at] == len(r.seq) {
				r.drop(r.seq[at])
			} else {
				used(at)
			}
		}
	}
	r.steps = slices.DeleteFunc(r.steps, func(s engine.Instruction) bool { return s.Kind == cancelled })
	return true
}

// duration returns the step time of the schedule. Nothing in the schedule waits for room, only for data, for copies
// and for the link.
func (r *run) duration() time.Duration {
	d := r.p.Device
	ready := make([]time.Duration, len(r.p.Graph.Values)) // the end of the last transfer of each variable
	var at time.Duration
	var lanes [2]time.Duration
	in := 0
	if d.Duplex == engine.FullDuplex {
		in = 1
	}
	move := func(lane int, v engine.ValueID, rate engine.Rate) {
		lanes[lane] = max(lanes[lane], at) + rate.Time(r.size(v))
		ready[v] = lanes[lane]
	}
	for _, st := range r.steps {
		switch st.Kind {
		case engine.DoOffload:
			move(0, st.Value, d.ToHost)
		case engine.DoFetch:
			move(in, st.Value, d.ToDev)
		case engine.DoWait:
			at = max(at, ready[st.Value])
		case engine.DoRun:
			f := &r.funcs[st.Op]
			for _, v := range r.seq[f.first:f.last] {
				at = max(at, ready[v])
			}
			at += r.p.Graph.Ops[st.Op].Time
		}
	}
	return max(at, lanes[0], lanes[1])
}

// travels reports whether the schedule moves any bytes.
func (r *run) travels() bool {
	return slices.ContainsFunc(r.steps, func(s engine.Instruction) bool {
		return (s.Kind == engine.DoFetch || s.Kind == engine.DoOffload) && r.size(s.Value) > 0
	})
}

// network is a graph in the terms of paper 004: functions with ordered variables, and the sequence of all of them.
type network struct {
	p     *engine.Problem
	link  error        // why nothing can move, nil if it can
	poll  *engine.Poll // stops walks before their end; may be nil
	funcs []function
	seq   []engine.ValueID // [v] the variables of all functions, one function after the other
	next  []int            // by index of seq: the next index of the same variable, or len(seq)
	owner []int            // by index of seq: the function
	sums  []engine.Bytes   // sums[k] is the size of seq[:k]
}

// function is an operation: seq[first:last] are its variables.
type function struct {
	first, last int
	beside      engine.Bytes     // memory needed while it runs: temporaries, and fresh copies of existing outputs
	rewrites    []engine.ValueID // outputs that exist already and are not read: their fetches have to be over
}

// newNetwork returns the network of a problem, whose walks poll stops. The error wraps engine.ErrUnsupported if an
// operation reads a value that no operation before it makes, or if a value is made both by itself and as a part of
// another one.
func newNetwork(p *engine.Problem, poll *engine.Poll) (*network, error) {
	g := p.Graph
	n := &network{p: p, link: p.Linked(), poll: poll}
	made := make([]bool, len(g.Values)) // an operation so far has made the value, or it exists when the step begins
	for i, v := range g.Values {
		made[i] = v.Initial != 0
	}
	whole, err := g.Servers()
	if err != nil {
		return nil, err
	}
	for i := range g.Ops {
		op := &g.Ops[i]
		f := function{first: len(n.seq), beside: op.Temp}
		for _, id := range op.In {
			v := whole[id]
			if !made[v] {
				return nil, fmt.Errorf("%w: %s reads %s, which no operation before it makes", engine.ErrUnsupported,
					op.Name, g.Values[id].Name)
			}
			n.add(f.first, v)
		}
		for k, v := range op.Out {
			if made[v] && !slices.Contains(op.Out[:k], v) {
				f.beside += g.Values[v].Size
				if !slices.Contains(n.seq[f.first:], v) {
					f.rewrites = append(f.rewrites, v)
				}
			}
			n.add(f.first, v)
		}
		for _, v := range op.Out {
			made[v] = true
		}
		f.last = len(n.seq)
		n.funcs = append(n.funcs, f)
	}
	n.join()
	return n, nil
}

// add appends v to the variables of the last function, which begin at first, unless it is one of them.
func (n *network) add(first int, v engine.ValueID) {
	if !slices.Contains(n.seq[first:], v) {
		n.seq = append(n.seq, v)
	}
}

// join fills in next, owner and sums.
func (n *network) join() {
	n.next = make([]int, len(n.seq))
	later := slices.Repeat([]int{len(n.seq)}, len(n.p.Graph.Values))
	for at := len(n.seq) - 1; at >= 0; at-- {
		n.next[at], later[n.seq[at]] = later[n.seq[at]], at
	}
	n.sums = make([]engine.Bytes, len(n.seq)+1)
	for at, v := range n.seq {
		n.sums[at+1] = n.sums[at] + n.size(v)
	}
	n.owner = make([]int, len(n.seq))
	for i, f := range n.funcs {
		for at := f.first; at < f.last; at++ {
			n.owner[at] = i
		}
	}
}

func (n *network) size(v engine.ValueID) engine.Bytes { return n.p.Graph.Values[v].Size }
