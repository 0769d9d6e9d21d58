package check

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// arrival is the progress of a streamed fetch.
type arrival struct {
	id     copyID // noCopy if no fetch is under way
	span   sim.SpanID
	held   bool         // it stood still or was throttled
	bytes  engine.Bytes // how many bytes had arrived at from
	from   time.Duration
	slack  engine.Bytes // how far off the number of arrived bytes may be
	active bool
}

// bandOf returns the category in which a copy counts now.
func (r *replayer) bandOf(cp *devCopy) sim.Category {
	if cp.fetched && !cp.whole || cp.freed {
		return sim.InTransfer
	}
	return cp.cat
}

// lift takes a copy out of the sums. The caller changes its state, and then calls put.
func (r *replayer) lift(id copyID) *devCopy {
	cp := &r.copies[id]
	r.used[r.bandOf(cp)] -= cp.bytes
	return cp
}

// put adds a copy to the sums with the given size.
func (r *replayer) put(cp *devCopy, bytes engine.Bytes) {
	cp.bytes = bytes
	r.used[r.bandOf(cp)] += bytes
}

// set changes the bytes of a copy.
func (r *replayer) set(id copyID, bytes engine.Bytes) { r.put(r.lift(id), bytes) }

// appear makes a copy take its room now.
func (r *replayer) appear(id copyID, bytes engine.Bytes) {
	cp := &r.copies[id]
	cp.start = r.now
	r.put(cp, bytes)
}

// depart starts a fetch.
func (r *replayer) depart(id copyID) {
	if !r.streamed() {
		r.appear(id, r.copies[id].size)
		return
	}
	r.appear(id, 0)
	r.arrive = arrival{id: id, span: r.copies[id].from, from: r.now, active: true}
}

// arrived makes a fetched copy readable.
func (r *replayer) arrived(id copyID) {
	cp := r.lift(id)
	cp.whole = true
	r.put(cp, cp.size)
	r.arrive = arrival{id: noCopy}
}

// giveUp frees a copy. Its bytes leave at once, or with its offload.
func (r *replayer) giveUp(id copyID) {
	cp := r.lift(id)
	cp.freed = true
	r.put(cp, r.left(cp))
	r.leave(cp)
}

// left returns how many bytes of a freed copy are still on the device.
func (r *replayer) left(cp *devCopy) engine.Bytes {
	switch {
	case r.pending(cp.readers):
		return cp.size
	case cp.offload == sim.NoSpan || r.over[cp.offload]:
		return 0
	case !r.begun[cp.offload] || !r.streamed():
		return cp.size
	}
	return max(0, cp.size-r.p.Device.ToHost.Moved(r.now-r.span(cp.offload).Start))
}

// shrink updates the size of a freed copy.
func (r *replayer) shrink(id copyID) {
	r.set(id, r.left(&r.copies[id]))
	r.leave(&r.copies[id])
}

// leave ends a freed copy unless something still reads it.
func (r *replayer) leave(cp *devCopy) {
	if !cp.gone && !r.pending(cp.readers) && (cp.offload == sim.NoSpan || r.over[cp.offload]) {
		cp.gone, cp.end = true, r.now
	}
}

// advance moves the time on to at, and the bytes of streamed transfers with it.
func (r *replayer) advance(at time.Duration) {
	r.now = at
	if !r.streamed() {
		return
	}
	for q, steps := range r.queues {
		if !r.moving[q] {
			continue
		}
		if i := steps[r.head[q]]; r.s[i].Kind == engine.DoOffload {
			if id := r.plan[i].source; r.copies[id].freed {
				r.set(id, r.left(&r.copies[id]))
			}
		}
	}
	if r.arrive.active {
		r.flow()
	}
}

// flow moves the bytes of the fetch under way at full speed, or as far as there is room.
func (r *replayer) flow() {
	a := &r.arrive
	cp, sp, rate := &r.copies[a.id], r.span(a.span), r.p.Device.ToDev
	tick := rate.Moved(2) + 2
	ends := r.now == sp.End
	got := a.bytes + min(rate.Moved(r.now-a.from), engine.NoLimit/4)
	room := max(0, r.p.Budget-(r.used.total()-cp.bytes))
	work := rate.Time(cp.size)
	late := sp.End-sp.Start != work
	if got > room { // both have grown steadily since the last instant, so the smaller one has arrived
		a.held = a.held || late || room < cp.size
		got = room
		a.from, a.bytes = r.now, min(got, cp.size)
		if a.held {
			a.slack += tick
		}
	} else if late && !a.held && got+r.nearly() > room {
		a.held, a.slack = true, tick // by rounding, or between two instants
	}
	switch {
	case !a.held && ends && late:
		r.atStep(WrongDuration, sp.Step, sp.Start, fmt.Sprintf("%v for %s", sp.End-sp.Start, r.name(sp.Step)),
			fmt.Sprintf("%v: there was room all the time", work))
	case ends && got+a.slack < cp.size:
		r.atStep(WrongDuration, sp.Step, sp.Start, fmt.Sprintf("an end at %v", sp.End),
			fmt.Sprintf("a later end: at most %d of %s had arrived", got+a.slack, count(cp.size)))
	case got > cp.size+a.slack+tick:
		r.atStep(WrongDuration, sp.Step, sp.Start, fmt.Sprintf("an end at %v", sp.End),
			fmt.Sprintf("an earlier end: all bytes had arrived before %v", r.now))
	}
	r.set(a.id, min(got, cp.size))
}
