package draw

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// piece is a stretch of a value's life for which its bytes are in one band: kept,
// leaving, arriving. What a streamed copy fills or empties changes linearly.
type piece struct {
	from, to     int64 // nanoseconds
	first, after int64 // bytes at from and just before to
	life         int32
	band         sim.Category
}

func (p *piece) most() int64 { return max(p.first, p.after) }

// bytes is what of it is there at a moment within.
func (p *piece) bytes(at int64) int64 {
	if p.first == p.after || p.to == p.from {
		return p.first
	}
	return p.first + int64(float64(p.after-p.first)*float64(at-p.from)/float64(p.to-p.from))
}

// pieceIndex finds the pieces that are large enough to be seen by looking at few
// others.
type pieceIndex struct {
	all     []piece
	buckets []pieceBucket // by duration, then size
	ofStage [][]int32     // the pieces of stages 1..n
}

// pieceBucket is the pieces whose durations and sizes have the same numbers of bits.
type pieceBucket struct {
	duration, size int
	pieces         []int32 // by start
}

// pieces is made when it is first asked for.
func (m *indexModel) pieces() *pieceIndex {
	m.piecesOnce.Do(func() {
		x := pieceIndex{all: m.cutLives(), ofStage: make([][]int32, len(m.sizes))}
		at := map[[2]int]int{}
		for i := range x.all {
			p := &x.all[i]
			if k := m.stageOfValue(m.trace.Lives[p.life].Value); k >= 1 && k <= len(x.ofStage) {
				x.ofStage[k-1] = append(x.ofStage[k-1], int32(i))
			}
			key := [2]int{bits.Len64(uint64(p.to - p.from)), bits.Len64(uint64(p.most()))}
			b, ok := at[key]
			if !ok {
				b = len(x.buckets)
				at[key], x.buckets = b, append(x.buckets, pieceBucket{duration: key[0], size: key[1]})
			}
			x.buckets[b].pieces = append(x.buckets[b].pieces, int32(i))
		}
		m.pieceIndex = x
	})
	return &m.pieceIndex
}

// cutLives is what lives of activations look like over time, in the order of their
// starts.
func (m *indexModel) cutLives() (out []piece) {
	leaving, left := m.leaving()
	for i := range m.trace.Lives {
		l := &m.trace.Lives[i]
		if l.Bytes <= 0 || l.End <= l.Start || l.Category != sim.Activation && l.Category != sim.Recomputed {
			continue
		}
		p := piece{from: int64(l.Start), to: int64(l.End), first: int64(l.Bytes), after: int64(l.Bytes), life: int32(i), band: l.Category}
		if s := m.span(l.From); s != nil && s.Kind == sim.SpanFetch && s.End > l.Start {
			arriving := p
			arriving.to, arriving.band = min(int64(s.End), p.to), sim.InTransfer
			if m.problem.Transfers == engine.Streamed {
				arriving.from, arriving.first = max(p.from, int64(s.Start)), 0
			}
			out, p.from = append(out, arriving), arriving.to
		}
		last := p
		if at := leaving[i]; at > 0 {
			p.to = max(at-1, p.from)
			last.from, last.band, last.first = p.to, sim.InTransfer, left[i]
			if m.problem.Transfers == engine.Streamed {
				last.after = 0
			}
		}
		if p.to > p.from {
			out = append(out, p)
		}
		if last.band == sim.InTransfer && last.to > last.from {
			out = append(out, last)
		}
	}
	slices.SortStableFunc(out, func(a, b piece) int { return cmp.Compare(a.from, b.from) })
	return out
}

// leaving says of every life when it was given up while its copy to the host was
// under way, one more than that in nanoseconds, and what was left of it; 0: it was
// not. The trace does not say when: it is after the last run that read the value,
// where the memory that is in transfer jumps.
func (m *indexModel) leaving() (at, left []int64) {
	at, left = make([]int64, len(m.trace.Lives)), make([]int64, len(m.trace.Lives))
	lives := make([][]int32, len(m.problem.Graph.Values)) // those that were copied to the host, by value
	some := false
	for i := range m.trace.Lives {
		if l := &m.trace.Lives[i]; l.Offloaded && m.value(l.Value) != nil {
			lives[l.Value], some = append(lives[l.Value], int32(i)), true
		}
	}
	if !some {
		return at, left
	}
	copies := make([]sim.SpanID, len(m.trace.Lives))
	read := make([]time.Duration, len(m.trace.Lives)) // the end of the last run that reads it
	for i := range copies {
		copies[i] = sim.NoSpan
	}
	use := func(v engine.ValueID, s *sim.Span, id sim.SpanID) {
		for m.value(v) != nil {
			for _, i := range lives[v] {
				if l := &m.trace.Lives[i]; l.Start > s.Start || l.End < s.End {
					continue
				} else if s.Kind == sim.SpanOffload && l.End == s.End {
					copies[i] = id
				} else if s.Lane == sim.Compute {
					read[i] = max(read[i], s.End)
				}
			}
			v = m.value(v).PartOf
		}
	}
	for i := range m.trace.Spans {
		s := &m.trace.Spans[i]
		use(s.Value, s, sim.SpanID(i))
		if s.Op != engine.NoOp && int(s.Op) < len(m.problem.Graph.Ops) {
			op := &m.problem.Graph.Ops[s.Op]
			for _, v := range op.In {
				use(v, s, sim.SpanID(i))
			}
			for _, v := range op.Out {
				use(v, s, sim.SpanID(i))
			}
		}
	}
	for i, id := range copies {
		if s := m.span(id); s != nil {
			l := &m.trace.Lives[i]
			from := m.memory.jump(sim.InTransfer, max(read[i], l.Start), l.End)
			at[i], left[i] = int64(from)+1, int64(l.Bytes)
			if m.problem.Transfers == engine.Streamed && from > s.Start {
				left[i] = int64(float64(l.Bytes) * float64(s.End-from) / float64(s.End-s.Start))
			}
		}
	}
	return at, left
}

// jump is the first moment in [from, to) at which a category grows at once; from if
// there is none.
func (x *memoryIndex) jump(c sim.Category, from, to time.Duration) time.Duration {
	for i := max(x.firstAt(from), 0); i+1 < len(x.samples) && x.samples[i].At < to; i++ {
		if a, b := &x.samples[i], &x.samples[i+1]; a.At == b.At && b.Used[c] > a.Used[c] {
			return a.At
		}
	}
	return from
}

// seen are the pieces that are at least so long and so large in a stretch of time,
// in the order of their starts.
func (x *pieceIndex) seen(from, to, duration, size int64, out []int32) []int32 {
	for b := range x.buckets {
		k := &x.buckets[b]
		if int64(1)<<k.duration <= duration || k.size < 62 && int64(1)<<k.size <= size {
			continue
		}
		earliest := from - int64(1)<<min(k.duration, 61)
		first, _ := slices.BinarySearchFunc(k.pieces, earliest, func(i int32, at int64) int { return cmp.Compare(x.all[i].from, at) })
		for _, i := range k.pieces[first:] {
			p := &x.all[i]
			if p.from >= to {
				break
			}
			if min(p.to, to)-max(p.from, from) >= duration && p.most() >= size {
				out = append(out, i)
			}
		}
	}
	slices.Sort(out) // which is by start
	return out
}
