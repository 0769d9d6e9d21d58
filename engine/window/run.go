package window

import (
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

// run walks over the functions once and writes the schedule. A variable takes its room when it is fetched or made,
// and gives it back when the schedule has waited for its copy. So the peak does not depend on how long the
// transfers take.
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

// over runs the functions in order. It calls fetch before each function, and then used for each index of the
// function's variables that are used again later. ok is false if something does not fit, or poll has stopped the
// walk.
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
