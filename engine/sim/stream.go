package sim

import (
	"time"

	"memtide/engine"
)

// A streamed fetch that has no room stands still, or moves as fast as an offload in the other direction makes room.

// draining returns the streamed offload under way, if its source is freed, so that memory shrinks while it moves.
// Without such an offload it returns nil.
func (pl *player) draining() *transfer {
	if !pl.link.streamed {
		return nil
	}
	tr := pl.link.of(ToHost).active
	if tr == nil || tr.lane != ToHost || !tr.copy.freed {
		return nil
	}
	return tr
}

// filling returns the streamed fetch under way, whose rate depends on the free memory. Without one it returns nil.
func (pl *player) filling() *transfer {
	if !pl.link.streamed {
		return nil
	}
	tr := pl.link.of(ToDev).active
	if tr == nil || tr.lane != ToDev || !tr.streamed {
		return nil
	}
	return tr
}

// setRates sets the rate of the streamed fetch under way by the room that is free.
func (pl *player) setRates() {
	in := pl.filling()
	if in == nil {
		return
	}
	rate := pl.link.rates[ToDev]
	if in.moved < in.size && (pl.room() <= 0 || pl.fillTime(in, rate) == 0) {
		rate = 0
		if out := pl.draining(); out != nil {
			rate = min(pl.link.rates[ToDev], out.rate)
		}
	}
	if rate != in.rate {
		in.done, in.since, in.rate = in.at(pl.now), pl.now, rate
	}
}

// fillTime returns how long the fetch in can go on at rate before it has used up the room, or never if its
// remaining bytes fit.
func (pl *player) fillTime(in *transfer, rate engine.Rate) time.Duration {
	room := pl.room()
	if in.size-in.moved <= room {
		return never
	}
	if out := pl.draining(); out != nil {
		net := rate - out.rate
		if net <= 0 {
			return never
		}
		// Both directions round down, so the net can be a byte off either way.
		return max(net.Time(max(room-1, 0))-1, 0)
	}
	// The result is the largest duration after which the moved bytes still fit. A byte may be partly moved already,
	// so the count starts when this rate began.
	done, since := in.moved, pl.now
	if rate == in.rate {
		done, since = in.done, in.since
	}
	until, ok := after(since, rate.Time(in.moved+room+1-done))
	if !ok {
		return never
	}
	return max(until-1-pl.now, 0)
}

// wall returns when a streamed fetch under way will run out of room. ok is false if it will not.
func (pl *player) wall() (at time.Duration, ok bool) {
	in := pl.filling()
	if in == nil || in.rate != pl.link.rates[ToDev] {
		return 0, false
	}
	d := pl.fillTime(in, in.rate)
	if end, ok := in.end(); ok && d >= end-pl.now {
		return 0, false
	}
	return after(pl.now, d)
}

// roomAt returns when streamed offloads will have made room for need bytes if no event comes before. ok is false if
// they will not.
func (pl *player) roomAt(need engine.Bytes) (at time.Duration, ok bool) {
	out := pl.draining()
	if out == nil || out.rate == 0 {
		return 0, false
	}
	missing := need - pl.room()
	in := pl.filling()
	if in == nil || in.rate == 0 {
		want := out.moved + missing - out.done
		if want > out.size-out.done {
			return 0, false // not by this offload alone: its end is the next event
		}
		return after(out.since, out.rate.Time(want))
	}
	if in.rate >= out.rate {
		return 0, false
	}
	return after(pl.now, (out.rate - in.rate).Time(missing+1))
}
