package sim_test

import (
	"slices"
	"time"

	"memtide/engine"
)

// bySeconds is a literal implementation of the package comment, for whole transfers over a link of a byte a second.
// It adds up the memory in use again at every step.
func bySeconds(p *engine.Problem, s engine.Schedule) *seconds {
	w := &seconds{p: p, g: p.Graph, s: s, steps: make([]stepState, len(s)), own: make([]*stay, len(p.Graph.Values))}
	for v := range w.g.Values {
		if w.g.Values[v].Initial&engine.OnDevice != 0 {
			w.own[v] = w.stay(w.g.Values[v].Size)
		}
	}
	if w.look(); w.used() > p.Budget {
		return w
	}
	for w.now < 2000*time.Second {
		for w.instant() {
		}
		done := w.pc == len(s)
		for i := range s {
			done = done && (w.steps[i].over || w.lane(i) < 0)
		}
		if done || w.bad {
			w.ok = !w.bad
			return w
		}
		w.now += time.Second
	}
	return w
}

type seconds struct {
	p              *engine.Problem
	g              *engine.Graph
	s              engine.Schedule
	now            time.Duration
	pc             int
	steps          []stepState
	own            []*stay // for every value, its copy on the device or on its way there
	stays          []*stay
	peak, hostPeak engine.Bytes
	ok, bad        bool
	moved          bool // a run began
}

type stepState struct {
	reached, begun, over bool
	start, end           time.Duration
	reads                []*stay // copies that the step reads, which have to be whole
	before               []int   // steps that have to end before it
	makes                []*stay // copies that the step makes, the temporaries last
}

// stay is a copy on the device, from the time when its step is reached.
type stay struct {
	size         engine.Bytes
	there, whole bool
	freed        bool
	users        []int // steps that have to end before it leaves
}

func (w *seconds) stay(size engine.Bytes) *stay {
	c := &stay{size: size, there: true, whole: true}
	w.stays = append(w.stays, c)
	return c
}

// lane returns the lane of a step, or -1 if the step takes no time.
func (w *seconds) lane(i int) int {
	switch w.s[i].Kind {
	case engine.DoRun:
		return int(w.g.Ops[w.s[i].Op].Lane)
	case engine.DoOffload:
		return 3
	case engine.DoFetch:
		return 3 + int(w.p.Device.Duplex)
	}
	return -1
}

func (w *seconds) used() (sum engine.Bytes) {
	sum = w.g.Fixed
	for _, c := range w.stays {
		leaves := c.freed && !slices.ContainsFunc(c.users, func(i int) bool { return !w.steps[i].over })
		if c.there && !leaves {
			sum += c.size
		}
	}
	return sum
}

// look updates the peaks.
func (w *seconds) look() {
	w.peak = max(w.peak, w.used())
	var host engine.Bytes
	for v := range w.g.Values {
		if w.onHost(engine.ValueID(v)) {
			host += w.g.Values[v].Size
		}
	}
	w.hostPeak = max(w.hostPeak, host)
}

// onHost reports whether a value takes pinned memory now.
func (w *seconds) onHost(v engine.ValueID) bool {
	if w.g.Values[v].Initial&engine.OnHost != 0 {
		return false
	}
	taken, last := false, -1
	for i, st := range w.s {
		switch {
		case st.Kind == engine.DoOffload && st.Value == v, w.lane(i) == 2 && slices.Contains(w.g.Ops[st.Op].Out, v):
			taken = taken || w.steps[i].begun
		case st.Kind == engine.DoFetch && st.Value == v:
			last = i
		}
	}
	for i := range w.g.Ops {
		if w.g.Ops[i].Lane == engine.LaneCPU && slices.Contains(w.g.Ops[i].In, v) {
			last = -1
		}
	}
	return taken && (last < 0 || !w.steps[last].over)
}

func (w *seconds) instant() (changed bool) {
	for i := range w.steps {
		if st := &w.steps[i]; st.begun && !st.over && st.end == w.now {
			st.over, changed = true, true
			for _, c := range st.makes {
				c.whole = true
			}
			if w.s[i].Kind == engine.DoRun && w.lane(i) < 2 {
				st.makes[len(st.makes)-1].freed = true // temporaries
			}
		}
	}
	for w.pc < len(w.s) && !w.bad && w.counter(w.pc) {
		w.pc++
		changed = true
	}
	changed, w.moved = changed || w.moved, false
	tried := map[int]bool{}
	for i := range w.s {
		if st := &w.steps[i]; st.reached && !st.over && w.lane(i) > 0 && !tried[w.lane(i)] {
			tried[w.lane(i)] = true
			changed = !st.begun && w.start(i) || changed
		}
	}
	return changed && !w.bad
}

// counter moves the counter past a step if it can, and reports whether it has.
func (w *seconds) counter(i int) bool {
	st, state := &w.s[i], &w.steps[i]
	switch st.Kind {
	case engine.DoFree:
		if c := w.own[st.Value]; c == nil || !c.whole {
			w.bad = true
		} else {
			c.freed, w.own[st.Value] = true, nil
		}
		return !w.bad
	case engine.DoWait:
		for k := range i {
			v := st.Value
			about := w.lane(k) > 2 && w.s[k].Value == v || w.lane(k) > 0 && w.lane(k) < 3 &&
				slices.Contains(w.g.Ops[w.s[k].Op].Out, v)
			if about && !w.steps[k].over {
				return false
			}
		}
		return true
	}
	if !state.reached {
		if st.Reserve && w.used()+w.g.Values[st.Value].Size > w.p.Budget {
			return false
		}
		state.reached = true
		w.reach(i)
		for _, c := range state.makes {
			c.there = st.Reserve
		}
		w.look()
	}
	if w.bad || w.lane(i) != 0 {
		return !w.bad
	}
	if !state.begun && w.start(i) {
		w.moved = true
	}
	return state.over
}

// reach binds a step to the copies that it reads and makes.
func (w *seconds) reach(i int) {
	st, state := &w.s[i], &w.steps[i]
	promise := func(size engine.Bytes) *stay {
		c := w.stay(size)
		c.there, c.whole = false, false
		state.makes = append(state.makes, c)
		return c
	}
	switch lane := w.lane(i); {
	case st.Kind == engine.DoOffload:
		c := w.own[st.Value]
		if w.bad = c == nil || !c.whole; !w.bad {
			c.users = append(c.users, i)
		}
	case st.Kind == engine.DoFetch:
		state.before = w.toHost(st.Value, i)
		w.bad = w.own[st.Value] != nil || state.before == nil && w.g.Values[st.Value].Initial&engine.OnHost == 0
		w.own[st.Value] = promise(w.g.Values[st.Value].Size)
	default:
		op := &w.g.Ops[st.Op]
		for _, a := range op.After {
			k := i - 1
			for k >= 0 && (w.s[k].Kind != engine.DoRun || w.s[k].Op != a) {
				k--
			}
			if w.bad = w.bad || k < 0; !w.bad {
				state.before = append(state.before, k)
			}
		}
		for _, v := range op.In {
			if lane == 2 {
				state.before = append(state.before, w.toHost(v, i)...)
				continue
			}
			c := w.own[v]
			if w.bad = w.bad || c == nil; !w.bad {
				state.reads, c.users = append(state.reads, c), append(c.users, i)
			}
		}
		for _, v := range op.Out {
			if lane < 2 {
				w.own[v] = promise(w.g.Values[v].Size)
			}
		}
		if lane < 2 {
			promise(op.Temp)
		}
	}
}

// toHost returns the last step before i that brings a value to the host.
func (w *seconds) toHost(v engine.ValueID, i int) []int {
	for k := i - 1; k >= 0; k-- {
		st := &w.s[k]
		if st.Kind == engine.DoOffload && st.Value == v || w.lane(k) == 2 && slices.Contains(w.g.Ops[st.Op].Out, v) {
			return []int{k}
		}
	}
	return nil
}

// start begins a step if it can.
func (w *seconds) start(i int) bool {
	state := &w.steps[i]
	if w.now < w.s[i].NotBefore || slices.ContainsFunc(state.reads, func(c *stay) bool { return !c.whole }) ||
		slices.ContainsFunc(state.before, func(k int) bool { return !w.steps[k].over }) {
		return false
	}
	need := engine.Bytes(0)
	for _, c := range state.makes {
		if !c.there {
			need += c.size
		}
	}
	if need > 0 && w.used()+need > w.p.Budget || need == 0 && w.used() > w.p.Budget {
		return false
	}
	for _, c := range state.makes {
		c.there = true
	}
	d := time.Duration(0)
	if w.lane(i) < 3 {
		d = w.g.Ops[w.s[i].Op].Time
	} else {
		d = time.Duration(w.g.Values[w.s[i].Value].Size) * time.Second
	}
	state.begun, state.start, state.end = true, w.now, w.now+d
	w.look()
	return true
}
