package allocators

import (
	"slices"

	"memtide/engine"
	"memtide/engine/alloc"
)

// geometry is what the search needs to know about lives: the sections, which
// are the largest sets of buffers that live together, in order of time. All
// buffers that share a section overlap in time, and all that overlap share one.
type geometry struct {
	size     []int64   // in units of the sizes' greatest common divisor
	unit     int64     // that divisor
	lo, hi   []int32   // by buffer: it lives in sections [lo, hi)
	span     []int64   // by buffer: length of its life on the requests' clock
	buffers  []int32   // those that have a size, as they are requested
	count    int32     // of sections
	entries  int       // of sections and overlaps together
	sections [][]int32 // buffers of each section, after connect
	overlaps [][]int32 // by buffer: the others that share a section with it, after connect
}

// newGeometry sweeps over the events. A section ends where a release follows a
// request. Who shares a section with whom is left to connect.
func newGeometry(r *alloc.Requests) *geometry {
	n := len(r.Buffers)
	g := &geometry{size: make([]int64, n), span: make([]int64, n), lo: make([]int32, n), hi: make([]int32, n)}
	for i, b := range r.Buffers {
		g.span[i] = int64(b.End - b.Start)
		g.unit = engine.GCD(g.unit, int64(b.Bytes))
	}
	if g.unit == 0 { // nothing has a size
		g.unit = 1
	}
	live := 0
	fresh := false // a request came since the last section
	section := func() {
		if fresh {
			g.count++
			g.entries += live
			fresh = false
		}
	}
	for _, e := range r.Events {
		i := int32(e.Buffer)
		if r.Buffers[i].Bytes == 0 {
			continue
		}
		if e.Free {
			section()
			g.hi[i] = g.count
			live--
			continue
		}
		g.buffers = append(g.buffers, i)
		g.size[i] = int64(r.Buffers[i].Bytes) / g.unit
		g.lo[i], g.hi[i] = g.count, -1
		g.entries += 2 * live
		live++
		fresh = true
	}
	section()
	for _, i := range g.buffers {
		if g.hi[i] < 0 { // lives to the end
			g.hi[i] = g.count
		}
	}
	return g
}

// connect lists the buffers of each section, and for each buffer those that
// share one with it: g.entries numbers.
func (g *geometry) connect() {
	g.sections, g.overlaps = make([][]int32, g.count), make([][]int32, len(g.size))
	var live []int32
	for _, i := range g.buffers { // as they are requested
		for s := g.lo[i]; s < g.hi[i]; s++ {
			g.sections[s] = append(g.sections[s], i)
		}
		live = slices.DeleteFunc(live, func(j int32) bool { return g.hi[j] <= g.lo[i] })
		for _, j := range live {
			g.overlaps[i] = append(g.overlaps[i], j)
			g.overlaps[j] = append(g.overlaps[j], i)
		}
		live = append(live, i)
	}
}

// deepest returns the largest number of buffers that a search may have to place one on
// the other: those that a chain of overlaps connects.
func (g *geometry) deepest() (most int) {
	from, reach := 0, int32(0)
	for i, b := range g.buffers { // as they are requested
		if g.lo[b] >= reach {
			from = i
		}
		reach = max(reach, g.hi[b])
		most = max(most, i+1-from)
	}
	return most
}

// bytes turns units into bytes.
func (g *geometry) bytes(units int64) engine.Bytes { return engine.Bytes(units * g.unit) }
