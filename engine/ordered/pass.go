package ordered

import (
	"time"

	"memtide/engine"
)

// pass is one pass of a step: the forward pass, or the backward pass seen from the
// end of the step, where fetches look like offloads that begin at the reversed end
// of their operation.
type pass struct {
	rate     engine.Rate
	ends     []time.Duration // of the runs, in the order of the pass
	moves    []move
	backward bool
	streamed bool
}

// move is one transfer of a pass.
type move struct {
	Item             int
	Start, End, Gone time.Duration // Gone as Transfer.Gone
	Size             engine.Bytes
	before           engine.Bytes
}

// walk runs through operations as early as possible: each waits until enough of
// the items before has left. It is false if that never happens.
func (s *Timeline) walk(ps *pass, runs []Run, rate engine.Rate, backward bool) bool {
	*ps = pass{rate: rate, backward: backward, streamed: s.streamed, ends: ps.ends[:0], moves: ps.moves[:0]}
	var at, link time.Duration
	var before engine.Bytes
	for x := range runs {
		r := &runs[x]
		if backward {
			r = &runs[len(runs)-1-x]
		}
		there := at // what moves is on the device from here, and the run may still wait
		off, ok := ps.off(r.Need - s.budget)
		if !ok {
			return false
		}
		at = max(at, off) + r.Lasts
		ps.ends = append(ps.ends, at)
		if !s.Sends(r) {
			continue
		}
		if backward {
			there = at
		}
		m := move{Item: r.Item, Start: max(link, there), before: before, Size: r.Moves}
		m.End = m.Start + rate.Time(m.Size)
		m.Gone = m.End
		if !backward {
			m.Gone = max(m.End, at)
		}
		link, before = m.End, before+m.Size
		ps.moves = append(ps.moves, m)
	}
	return true
}

// off is the first moment at which v bytes are away; ok is false if there is none.
func (ps *pass) off(v engine.Bytes) (at time.Duration, ok bool) {
	if v <= 0 {
		return 0, true
	}
	k, hi := 0, len(ps.moves) // the first with which v bytes are away
	for k < hi {
		if mid := (k + hi) / 2; ps.moves[mid].before+ps.moves[mid].Size >= v {
			hi = mid
		} else {
			k = mid + 1
		}
	}
	if k == len(ps.moves) {
		return 0, false
	}
	m := &ps.moves[k]
	switch v -= m.before; {
	case !ps.streamed:
		return m.Gone, true
	case ps.backward:
		// In real time this is when a fetch has used up the room of the other
		// size-v bytes: it may not go on to the next byte, and on a slow link it
		// would stand still in between.
		return m.End - min(ps.rate.Time(m.Size-v), ps.rate.Time(m.Size-v+1)-1), true
	}
	return m.Start + ps.rate.Time(v), true
}

// last returns when the last transfer ends, and when the last item is gone.
func (ps *pass) last() (end, gone time.Duration) {
	if len(ps.moves) == 0 {
		return 0, 0
	}
	m := &ps.moves[len(ps.moves)-1]
	return m.End, m.Gone
}
