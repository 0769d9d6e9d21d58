package allocators

import (
	"slices"

	"memtide/engine"
	"memtide/engine/alloc"
)

// geometry describes which buffers overlap in time. Sections are the maximal sets of buffers that live at the same
// time, in order of time. Two buffers overlap in time if and only if they share a section.
type geometry struct {
	size     []int64   // by buffer, in units
	unit     int64     // the greatest common divisor of the sizes, in bytes
	lo, hi   []int32   // by buffer: it lives in sections [lo, hi)
	span     []int64   // by buffer: length of its life on the requests' clock
	buffers  []int32   // the buffers with a size above 0, in the order of their requests
	count    int32     // the number of sections
	entries  int       // the number of elements in sections and overlaps together
	sections [][]int32 // by section: its buffers; set by connect
	overlaps [][]int32 // by buffer: the others that share a section with it; set by connect
}

// newGeometry returns the geometry of requests without sections and overlaps. A section ends where a release
// follows a request.
func newGeometry(r *alloc.Requests) *geometry {
	n := len(r.Buffers)
	g := &geometry{size: make([]int64, n), span: make([]int64, n), lo: make([]int32, n), hi: make([]int32, n)}
	for i, b := range r.Buffers {
		g.span[i] = int64(b.End - b.Start)
		g.unit = engine.GCD(g.unit, int64(b.Bytes))
	}
	if g.unit == 0 { // all sizes are 0
		g.unit = 1
	}
	live := 0
	fresh := false // whether a request came since the last section
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

// connect fills in sections and overlaps, which takes g.entries elements.
func (g *geometry) connect() {
	g.sections, g.overlaps = make([][]int32, g.count), make([][]int32, len(g.size))
	var live []int32
	for _, i := range g.buffers {
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

// deepest returns the largest number of buffers that chains of overlaps connect, which bounds the depth of the
// exact search.
func (g *geometry) deepest() (most int) {
	from, reach := 0, int32(0)
	for i, b := range g.buffers {
		if g.lo[b] >= reach {
			from = i
		}
		reach = max(reach, g.hi[b])
		most = max(most, i+1-from)
	}
	return most
}

// bytes converts units to bytes.
func (g *geometry) bytes(units int64) engine.Bytes { return engine.Bytes(units * g.unit) }
