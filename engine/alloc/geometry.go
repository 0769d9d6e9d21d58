package alloc

import "memtide/engine"

// geometry is what the search needs to know about lives: the sections, which
// are the largest sets of buffers that live together, in order of time. All
// buffers that share a section overlap in time, and all that overlap share one.
type geometry struct {
	size     []int64   // in units of the sizes' greatest common divisor
	unit     int64     // that divisor
	lo, hi   []int32   // by buffer: it lives in sections [lo, hi)
	span     []int64   // by buffer: length of its life on the requests' clock
	sections [][]int32 // buffers of each section
	overlaps [][]int32 // by buffer: the others that share a section with it
	buffers  []int32   // those that have a size
}

// newGeometry sweeps over the events. A section ends where a release follows a
// request.
func newGeometry(r *Requests) *geometry {
	n := len(r.Buffers)
	g := &geometry{size: make([]int64, n), span: make([]int64, n), lo: make([]int32, n), hi: make([]int32, n), overlaps: make([][]int32, n)}
	for i, b := range r.Buffers {
		g.span[i] = int64(b.End - b.Start)
		g.unit = gcd(g.unit, int64(b.Bytes))
	}
	var live []int32
	fresh := false // a request came since the last section
	section := func() {
		if fresh {
			g.sections = append(g.sections, append([]int32(nil), live...))
			fresh = false
		}
	}
	for _, e := range r.Events {
		i := int32(e.Buffer)
		if r.Buffers[i].Bytes == 0 {
			continue
		}
		if !e.Free {
			g.buffers = append(g.buffers, i)
			g.size[i] = int64(r.Buffers[i].Bytes) / g.unit
			g.lo[i], g.hi[i] = int32(len(g.sections)), -1
			live = append(live, i)
			fresh = true
			continue
		}
		section()
		g.hi[i] = int32(len(g.sections))
		for at, j := range live {
			if j == i {
				live = append(live[:at], live[at+1:]...)
				break
			}
		}
	}
	section()
	for _, i := range live {
		g.hi[i] = int32(len(g.sections))
	}
	for _, i := range g.buffers {
		for _, j := range g.buffers {
			if i != j && g.lo[i] < g.hi[j] && g.lo[j] < g.hi[i] {
				g.overlaps[i] = append(g.overlaps[i], j)
			}
		}
	}
	return g
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// bytes turns units into bytes.
func (g *geometry) bytes(units int64) engine.Bytes { return engine.Bytes(units * g.unit) }
