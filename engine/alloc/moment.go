package alloc

import (
	"cmp"
	"slices"
	"sort"

	"memtide/engine"
)

// Moment says how memory is used after an event.
type Moment struct {
	Event    int
	Used     engine.Bytes // the bytes that placed buffers occupy
	Reserved engine.Bytes // the memory taken from the device
	Largest  engine.Bytes // the largest hole in the reserved memory
}

// Segment is an address range that is taken from the device before event From and given back before event To.
type Segment struct {
	Addr, Bytes engine.Bytes
	From, To    int
}

// Moments measures a layout after every event, up to the request that failed. It finds holes within the segments.
// Without segments, if a layout reserves memory piece by piece, it finds them below the largest amount that was
// reserved so far or the highest address. Then two free segments side by side look like one hole, so Largest is at
// most what is reserved and not used. With virtual addressing every free chunk can serve a request, so Largest is all
// of that. The error is that of poll.
func (l *Layout) Moments(r *Requests, segments []Segment, poll *engine.Poll) ([]Moment, error) {
	n := len(r.Events)
	if l.Failed != nil {
		n = l.Failed.Event
	}
	out := make([]Moment, n)
	w := newWatch(l, segments)
	for i, e := range r.Events[:n] {
		if err := poll.Err(); err != nil {
			return nil, err
		}
		w.advance(i)
		addr, size := l.Addr[e.Buffer], l.extent(r, e.Buffer)
		switch {
		case addr == NoAddr:
		case e.Free:
			w.now.Used -= size
			w.release(addr, size)
		default:
			w.now.Used += size
			w.reach(addr + size)
			w.occupy(addr, size)
		}
		w.now.Event, w.now.Largest = i, max(w.now.Reserved-w.now.Used, 0)
		if l.Chunk == 0 {
			w.now.Largest = min(w.largest, w.now.Largest)
		}
		out[i] = w.now
	}
	return out, nil
}

// watch follows the holes of a layout from event to event.
type watch struct {
	layout  *Layout
	now     Moment
	level   int // the index of the next level of Layout.Reserved
	free    Holes
	largest engine.Bytes
	top     engine.Bytes // addresses below top are free or used; engine.NoLimit with segments
	from    []Segment    // the segments still to be taken, by From
	to      []Segment    // the segments still to be given back, by To
}

func newWatch(l *Layout, segments []Segment) *watch {
	w := &watch{layout: l, now: Moment{Reserved: l.Pool}}
	piecewise := len(l.Reserved) > 0 && (l.Reserved[0].Event > 0 || l.Reserved[0].Bytes != l.Pool)
	switch {
	case len(segments) > 0:
		w.from, w.to = slices.Clone(segments), slices.Clone(segments)
		sort.SliceStable(w.from, func(i, j int) bool { return w.from[i].From < w.from[j].From })
		sort.SliceStable(w.to, func(i, j int) bool { return w.to[i].To < w.to[j].To })
		w.top = engine.NoLimit
	case !piecewise:
		w.reach(l.Pool)
	}
	if piecewise || len(segments) > 0 {
		w.now.Reserved = 0
	}
	return w
}

// advance takes and gives back the memory of the device that changes before an event.
func (w *watch) advance(event int) {
	for ; len(w.to) > 0 && w.to[0].To <= event; w.to = w.to[1:] {
		w.occupy(w.to[0].Addr, w.to[0].Bytes)
		w.now.Reserved -= w.to[0].Bytes
	}
	for ; len(w.from) > 0 && w.from[0].From <= event; w.from = w.from[1:] {
		w.release(w.from[0].Addr, w.from[0].Bytes)
		w.now.Reserved += w.from[0].Bytes
	}
	if w.top == engine.NoLimit {
		return
	}
	for r := w.layout.Reserved; w.level < len(r) && r[w.level].Event <= event; w.level++ {
		w.now.Reserved = r[w.level].Bytes
	}
	w.reach(w.now.Reserved)
}

// reach makes the addresses from top to end free, and moves top there.
func (w *watch) reach(end engine.Bytes) {
	if end > w.top {
		w.release(w.top, end-w.top)
		w.top = end
	}
}

func (w *watch) release(addr, n engine.Bytes) {
	if n > 0 && w.layout.Chunk == 0 {
		w.free.Give(addr, n)
		x := w.free[w.free.at(addr)]
		w.largest = max(w.largest, x.end-x.addr)
	}
}

func (w *watch) occupy(addr, n engine.Bytes) {
	if n > 0 && w.layout.Chunk == 0 && w.free.occupy(addr, n) >= w.largest {
		w.largest, _ = w.free.Largest()
	}
}

// at returns the index of the hole that contains an address, or -1.
func (h Holes) at(addr engine.Bytes) int {
	i, _ := slices.BinarySearchFunc(h, addr,
		func(x hole, a engine.Bytes) int { return cmp.Or(cmp.Compare(x.end, a), -1) })
	if i == len(h) || h[i].addr > addr {
		return -1
	}
	return i
}

// occupy makes [addr, addr+n) used and returns the former size of the hole that contained it. It returns 0 and
// changes nothing if the range was not free.
func (h *Holes) occupy(addr, n engine.Bytes) (was engine.Bytes) {
	i := h.at(addr)
	if i < 0 || (*h)[i].end < addr+n {
		return 0
	}
	x := (*h)[i]
	(*h)[i].end = addr
	if addr+n < x.end {
		*h = slices.Insert(*h, i+1, hole{addr + n, x.end})
	}
	h.drop(i)
	return x.end - x.addr
}

// hole is a range [addr, end) of free memory.
type hole struct{ addr, end engine.Bytes }

// Holes are the free ranges of a pool by address. No two of them touch.
type Holes []hole

// NewHoles returns the holes of a pool that is free.
func NewHoles(pool engine.Bytes) Holes {
	if pool <= 0 {
		return nil
	}
	return Holes{{0, pool}}
}

// Low takes n bytes from the low end of the smallest hole that has them, of equal holes the lowest. ok is false if
// no hole has them.
func (h *Holes) Low(n engine.Bytes) (addr engine.Bytes, ok bool) {
	best := -1
	for i, x := range *h {
		if size := x.end - x.addr; size >= n && (best < 0 || size < (*h)[best].end-(*h)[best].addr) {
			best = i
		}
	}
	if best < 0 {
		return NoAddr, false
	}
	addr = (*h)[best].addr
	(*h)[best].addr += n
	h.drop(best)
	return addr, true
}

// High takes n bytes from the top of the highest hole that has them. ok is false if no hole has them.
func (h *Holes) High(n engine.Bytes) (addr engine.Bytes, ok bool) {
	for i := len(*h) - 1; i >= 0; i-- {
		if x := &(*h)[i]; x.end-x.addr >= n {
			x.end -= n
			addr = x.end
			h.drop(i)
			return addr, true
		}
	}
	return NoAddr, false
}

// drop removes hole i if it is used up.
func (h *Holes) drop(i int) {
	if (*h)[i].addr == (*h)[i].end {
		*h = slices.Delete(*h, i, i+1)
	}
}

// Give makes [addr, addr+n) free and joins it with its neighbours.
func (h *Holes) Give(addr, n engine.Bytes) {
	i, _ := slices.BinarySearchFunc(*h, addr,
		func(x hole, a engine.Bytes) int { return cmp.Or(cmp.Compare(x.addr, a), 1) })
	*h = slices.Insert(*h, i, hole{addr, addr + n})
	if i+1 < len(*h) && (*h)[i+1].addr == addr+n {
		(*h)[i].end = (*h)[i+1].end
		*h = slices.Delete(*h, i+1, i+2)
	}
	if i > 0 && (*h)[i-1].end == addr {
		(*h)[i-1].end = (*h)[i].end
		*h = slices.Delete(*h, i, i+1)
	}
}

// Largest returns the size of the largest hole, and the sum of the sizes of all holes.
func (h Holes) Largest() (largest, free engine.Bytes) {
	for _, x := range h {
		largest = max(largest, x.end-x.addr)
		free += x.end - x.addr
	}
	return largest, free
}
