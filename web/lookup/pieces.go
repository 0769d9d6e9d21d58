package lookup

import (
	"slices"
	"sort"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// Most returns the largest number of bytes of the piece at any moment.
func (p *Piece) Most() int64 { return max(p.first, p.after) }

// Bytes returns the bytes of the piece at a moment within it.
func (p *Piece) Bytes(at int64) int64 {
	if p.first == p.after || p.To == p.From {
		return p.first
	}
	return p.first + int64(float64(p.after-p.first)*float64(at-p.From)/float64(p.To-p.From))
}

// Pieces returns the pieces of all lives.
func (m *Index) Pieces() *Pieces {
	m.piecesOnce.Do(func() {
		x := Pieces{All: m.cutLives(), OfStage: make([][]int32, len(m.Sizes))}
		for i := range x.All {
			if k := m.stageOfValue(m.Trace.Lives[x.All[i].life].Value); k >= 1 && k <= len(x.OfStage) {
				x.OfStage[k-1] = append(x.OfStage[k-1], int32(i))
			}
		}
		m.pieceIndex = x
	})
	return &m.pieceIndex
}

// cutLives returns the pieces of all lives of activations, in the order of their starts.
func (m *Index) cutLives() (out []Piece) {
	leaving, left := m.leaving()
	for i := range m.Trace.Lives {
		l := &m.Trace.Lives[i]
		if l.Bytes <= 0 || l.End <= l.Start || l.Category != sim.Activation && l.Category != sim.Recomputed {
			continue
		}
		p := Piece{From: int64(l.Start), To: int64(l.End), first: int64(l.Bytes), after: int64(l.Bytes),
			life: int32(i), Band: l.Category}
		if s := m.Span(l.From); s != nil && s.Kind == sim.SpanFetch && s.End > l.Start {
			arriving := p
			arriving.To, arriving.Band = min(int64(s.End), p.To), sim.InTransfer
			if m.Problem.Transfers == engine.Streamed {
				arriving.From, arriving.first = max(p.From, int64(s.Start)), 0
			}
			out, p.From = append(out, arriving), arriving.To
		}
		last := p
		if at := leaving[i]; at > 0 {
			p.To = max(at-1, p.From)
			last.From, last.Band, last.first = p.To, sim.InTransfer, left[i]
			if m.Problem.Transfers == engine.Streamed {
				last.after = 0
			}
		}
		if p.To > p.From {
			out = append(out, p)
		}
		if last.Band == sim.InTransfer && last.To > last.From {
			out = append(out, last)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].From < out[j].From })
	return out
}

// leaving returns, for every life, when it was freed during its copy to the host, as 1 plus the time in nanoseconds,
// and how many bytes were not yet copied then. at is 0 for a life that was not freed during a copy. The trace does not
// contain this moment: it is where the memory in transfer jumps after the last run that read the value.
func (m *Index) leaving() (at, left []int64) {
	at, left = make([]int64, len(m.Trace.Lives)), make([]int64, len(m.Trace.Lives))
	lives := make([][]int32, len(m.Problem.Graph.Values)) // lives that were copied to the host, by value
	some := false
	for i := range m.Trace.Lives {
		if l := &m.Trace.Lives[i]; l.Offloaded && m.Value(l.Value) != nil {
			lives[l.Value], some = append(lives[l.Value], int32(i)), true
		}
	}
	if !some {
		return at, left
	}
	copies := slices.Repeat([]sim.SpanID{sim.NoSpan}, len(m.Trace.Lives))
	read := make([]time.Duration, len(m.Trace.Lives)) // the end of the last run that reads each life

	use := func(v engine.ValueID, s *sim.Span, id sim.SpanID) {
		for m.Value(v) != nil {
			for _, i := range lives[v] {
				if l := &m.Trace.Lives[i]; l.Start > s.Start || l.End < s.End {
					continue
				} else if s.Kind == sim.SpanOffload && l.End == s.End {
					copies[i] = id
				} else if s.Lane == sim.Compute {
					read[i] = max(read[i], s.End)
				}
			}
			v = m.Value(v).PartOf
		}
	}
	for i := range m.Trace.Spans {
		s := &m.Trace.Spans[i]
		use(s.Value, s, sim.SpanID(i))
		if s.Op != engine.NoOp && int(s.Op) < len(m.Problem.Graph.Ops) {
			op := &m.Problem.Graph.Ops[s.Op]
			for _, list := range [...][]engine.ValueID{op.In, op.Out} {
				for _, v := range list {
					use(v, s, sim.SpanID(i))
				}
			}
		}
	}
	for i, id := range copies {
		if s := m.Span(id); s != nil {
			l := &m.Trace.Lives[i]
			from := m.Memory.jump(sim.InTransfer, max(read[i], l.Start), l.End)
			at[i], left[i] = int64(from)+1, int64(l.Bytes)
			if m.Problem.Transfers == engine.Streamed && from > s.Start {
				left[i] = int64(float64(l.Bytes) * float64(s.End-from) / float64(s.End-s.Start))
			}
		}
	}
	return at, left
}

// jump returns the first moment in [from, to) at which the use of a category jumps up. It returns from if the
// use never does.
func (x *Memory) jump(c sim.Category, from, to time.Duration) time.Duration {
	for i := x.FirstAt(from); i+1 < len(x.Samples) && x.Samples[i].At < to; i++ {
		if a, b := &x.Samples[i], &x.Samples[i+1]; a.At == b.At && b.Used[c] > a.Used[c] {
			return a.At
		}
	}
	return from
}

// Seen appends to out the indices of the pieces that are in [from, to) for at least duration
// and have at least size bytes, in the order of their starts.
func (x *Pieces) Seen(from, to, duration, size int64, out []int32) []int32 {
	for i := range x.All {
		p := &x.All[i]
		if p.From >= to {
			break
		}
		if min(p.To, to)-max(p.From, from) >= duration && p.Most() >= size {
			out = append(out, int32(i))
		}
	}
	return out
}
