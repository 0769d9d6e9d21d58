package sim

import (
	"time"

	"memtide/engine"
)

// This file is the part of the simulator that only streamed transfers need: a
// fetch that has no room stands still, or moves as fast as an offload in the
// other direction makes room.

// draining returns the streamed offload under way whose source is freed, so that
// memory shrinks while it moves, or nil if there is none.
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

// filling returns the streamed fetch under way, or nil if there is none.
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

// setRates fits the rate of a streamed fetch to the room there is.
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

// fillTime returns how long a fetch can go on at a rate before it has used up the
// room; forever if the rest of it fits.
func (pl *player) fillTime(in *transfer, rate engine.Rate) time.Duration {
	const forever = never
	room := pl.room()
	if in.size-in.moved <= room {
		return forever
	}
	if out := pl.draining(); out != nil {
		net := rate - out.rate
		if net <= 0 {
			return forever
		}
		// Both directions round down, so the net can be a byte off either way.
		return max(net.Time(max(room-1, 0))-1, 0)
	}
	// The largest x such that what has moved by then fits. A byte may be partly
	// through already: counting starts where this rate did.
	done, since := in.moved, pl.now
	if rate == in.rate {
		done, since = in.done, in.since
	}
	until, ok := after(since, rate.Time(in.moved+room+1-done))
	if !ok {
		return forever
	}
	return max(until-1-pl.now, 0)
}

// wall returns when a streamed fetch will run out of room.
func (pl *player) wall() (time.Duration, bool) {
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

// roomAt returns when streamed offloads will have made room for need bytes, if no
// event comes before.
func (pl *player) roomAt(need engine.Bytes) (time.Duration, bool) {
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
