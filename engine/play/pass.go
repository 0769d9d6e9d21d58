package play

import (
	"cmp"
	"slices"
)

// pass is a walk over the events of the forward, or over those of a frame that runs again.
type pass struct {
	p     *Player
	level map[int]*Segment // by call
	run   int
	fill  *frame // the frame that runs again; nil in the forward

	frames []*frame     // the frames of this pass, in order
	mine   []int        // the storages that this pass has made
	own    map[int]bool // whether this pass uses its own instance of a storage
	held   []instance   // the saved results that this pass holds
	reads  map[int]int  // by storage that one call of fill hands to another: the last call that reads it
	deaths []Free       // the releases by Python that are to come

	inside, cur int          // the call of fill, and the call of opened; -1 outside of such calls
	opened      *frame       // the frame of the present call, or nil
	want        map[int]bool // the keeps that are still to be restored
}

func (f *pass) play(begin, end int) {
	f.own, f.deaths, f.inside, f.cur = map[int]bool{}, f.p.deaths, -1, -1
	if f.fill != nil {
		f.within()
	}
	for _, e := range f.p.t.Events[begin:end] {
		if !f.event(e) {
			break
		}
	}
	f.settle()
}

// within sets want, reads and deaths for a frame that runs again.
func (f *pass) within() {
	f.want = map[int]bool{}
	for q := range f.fill.alive {
		f.want[q] = true
	}
	calls := f.p.t.Calls
	f.reads = map[int]int{}
	for _, c := range f.fill.calls {
		for _, a := range calls[c].Args {
			if slices.ContainsFunc(a.Made, func(k int) bool { return slices.Contains(f.fill.calls, k) }) {
				f.reads[a.Storage] = c
			}
		}
	}
	first, last := calls[f.fill.calls[0]].Op, calls[f.fill.calls[len(f.fill.calls)-1]].End
	f.deaths = nil
	for _, d := range f.p.deaths {
		if _, read := f.reads[d.Storage]; !read && first < d.Op && d.Op <= last {
			f.deaths = append(f.deaths, d)
		}
	}
}

// ended drops the storages that a call of fill has made, except those that a later call reads.
func (f *pass) ended(call int) {
	for _, n := range f.mine {
		if last, read := f.reads[n]; read && last > call {
			continue
		}
		f.p.drop(instance{n, f.run}, holder{byPython, 0})
		if _, other := f.p.owner[n]; other { // later readers read the argument of the frame
			f.own[n] = false
		}
	}
}

// event plays an event. It returns false when all keeps of want are restored.
func (f *pass) event(e Event) bool {
	switch {
	case e.Kind == EventEnter:
		if f.fill != nil && slices.Contains(f.fill.calls, e.ID) {
			f.inside = e.ID
		}
		if s := f.level[e.ID]; f.cur < 0 && s != nil && s.Do != DoKeep && (f.fill == nil || f.inside >= 0) {
			f.cur = e.ID
			f.open(s, e.ID)
		}
	case e.Kind == EventLeave:
		if f.cur == e.ID {
			f.cur, f.opened = -1, nil
		}
		if f.inside == e.ID {
			f.inside = -1
			f.ended(e.ID)
		}
	case f.fill != nil && f.inside < 0:
	case e.Kind == EventOp:
		f.die(e.ID)
		f.operator(e.ID)
	case e.Kind == EventPack:
		return f.pack(e.ID)
	}
	return true
}

// open begins the frame of a segment, or continues it with another call.
func (f *pass) open(s *Segment, call int) {
	i := slices.IndexFunc(f.frames, func(have *frame) bool { return have.seg == s })
	if i < 0 {
		i = len(f.frames)
		f.frames = append(f.frames, f.p.frame(s, f.run))
	}
	o := f.frames[i]
	f.opened = o
	for _, a := range f.p.t.Calls[call].Args {
		if s.Do == DoOffload || slices.ContainsFunc(a.Made, func(c int) bool { return slices.Contains(o.calls, c) }) {
			continue
		}
		key := f.key(a.Storage)
		if s.Input == DoOffload && !f.p.t.Resident[a.Storage] {
			if !slices.Contains(o.away, a.Storage) {
				o.away = append(o.away, a.Storage)
				f.p.send(key)
			}
			continue
		}
		f.p.hold(key, holder{byInput, o.id})
		o.inputs = append(o.inputs, key)
	}
	o.calls = append(o.calls, call)
}

// die drops the storages that Python has released before operator op.
func (f *pass) die(op int) {
	for len(f.deaths) > 0 && f.deaths[0].Op <= op {
		n := f.deaths[0].Storage
		f.deaths = f.deaths[1:]
		if f.own[n] || f.run == 0 {
			f.p.drop(instance{n, f.run}, holder{byPython, 0})
		}
	}
}

func (f *pass) operator(i int) {
	p, op := f.p, &f.p.t.Ops[i]
	o := cmp.Or(f.opened, f.fill)
	saved := o != nil && o.saves(op.Name, o == f.fill)
	if saved && o == f.fill { // its result was saved, so the operator does not run
		for _, n := range op.New {
			key := instance{n, o.run}
			p.hold(key, holder{byPython, 0})
			f.held = append(f.held, key)
			p.owner[n] = o.run
		}
		return
	}
	for _, n := range op.New {
		if !f.own[n] {
			f.own[n] = true
			f.mine = append(f.mine, n)
		}
		key := instance{n, f.run}
		p.hold(key, holder{byPython, 0})
		if saved {
			p.hold(key, holder{byOperator, o.id})
			o.kept = append(o.kept, key)
		}
	}
	p.peak = max(p.peak, p.now+op.Temp)
	p.note(EntryRan, i, f.run)
	if f.run > 0 {
		p.again += op.Time
	}
}

// saves counts an operator of a frame and reports whether the frame saves its results. again says that the frame
// runs again.
func (o *frame) saves(name string, again bool) bool {
	if len(o.seg.Save) == 0 {
		return false
	}
	counts := o.first
	if again {
		counts = o.second
	}
	counts[name]++
	return slices.Contains(o.seg.Save, Saved{name, counts[name] - 1})
}

// pack plays the start of a keep. It returns false when all keeps of want are restored.
func (f *pass) pack(keep int) bool {
	p := f.p
	if f.fill != nil && !f.fill.alive[keep] {
		return true
	}
	if f.opened != nil {
		if n := p.t.Keeps[keep].Storage; f.opened.seg.Do == DoOffload && !slices.Contains(f.opened.away, n) {
			f.opened.away = append(f.opened.away, n)
			p.send(f.key(n))
		}
		f.opened.alive[keep] = true
		p.filler[keep] = f.opened
	} else {
		key := f.key(p.t.Keeps[keep].Storage)
		p.hold(key, holder{byKeep, keep})
		p.holds[keep] = key
		delete(p.filler, keep)
	}
	if f.fill == nil {
		return true
	}
	delete(f.want, keep)
	return len(f.want) > 0
}

// settle ends a pass. It drops the references of Python and of fill, and closes frames without keeps.
func (f *pass) settle() {
	p := f.p
	if f.fill == nil {
		for _, d := range f.deaths {
			p.drop(instance{d.Storage, f.run}, holder{byPython, 0})
		}
	} else {
		for _, n := range f.mine {
			p.drop(instance{n, f.run}, holder{byPython, 0})
		}
		for _, key := range f.held {
			p.drop(key, holder{byPython, 0})
		}
		for _, key := range f.fill.kept {
			p.drop(key, holder{byOperator, f.fill.id})
		}
		f.fill.kept = nil
	}
	for _, o := range f.frames {
		if len(o.alive) == 0 {
			p.close(o)
		}
	}
}

// key returns the instance of a storage that this pass sees.
func (f *pass) key(n int) instance {
	if f.own[n] || f.run == 0 {
		return instance{n, f.run}
	}
	return instance{n, f.p.owner[n]}
}
