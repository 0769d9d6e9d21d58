package lookup

import (
	"memtide/engine/sim"
	"sort"
	"time"
)

// Lane holds the slices of a lane, in columns sorted by start: its spans and, on the
// compute lane, the gaps. Slices do not overlap.
type Lane struct {
	From, To []int64 // nanoseconds
	Kind     []uint8 // a sim.SpanKind or KindWaiting
	Ref      []int32 // a sim.SpanID, or ^i for gap i
}

// newLane returns the slices of a lane of t.
func newLane(t *sim.Trace, which sim.Lane) (l Lane) {
	j := 0
	// A gap goes after a run without duration that starts with it, so that ends are sorted too.
	gapsBefore := func(at time.Duration) {
		for ; which == sim.Compute && j < len(t.Gaps) && t.Gaps[j].Start < at; j++ {
			l.add(int64(t.Gaps[j].Start), int64(t.Gaps[j].End), KindWaiting, ^int32(j))
		}
	}
	for i := range t.Spans {
		if s := &t.Spans[i]; s.Lane == which {
			gapsBefore(s.Start)
			l.add(int64(s.Start), int64(s.End), uint8(s.Kind), int32(i))
		}
	}
	gapsBefore(t.Makespan + 1)
	return l
}

func (l *Lane) add(from, to int64, kind uint8, ref int32) {
	l.From, l.To = append(l.From, from), append(l.To, max(from, to))
	l.Kind, l.Ref = append(l.Kind, kind), append(l.Ref, ref)
}

// BusyIn returns the total time of slices [i, j) by kind.
//
//go:noinline
func (l *Lane) BusyIn(i, j int) (sum [NumKinds]int64) {
	from, to, kind := l.From[i:j], l.To[i:j], l.Kind[i:j]
	for x := range from {
		sum[kind[x]] += to[x] - from[x]
	}
	return sum
}

// FirstEnding returns the index of the first slice that ends after t.
func (l *Lane) FirstEnding(t int64) int {
	return sort.Search(len(l.To), func(i int) bool { return l.To[i] > t })
}

// FirstStarting returns the index of the first slice from i on that starts at or after t.
func (l *Lane) FirstStarting(i int, t int64) int {
	return i + sort.Search(len(l.From)-i, func(k int) bool { return l.From[i+k] >= t })
}

// At returns the index of the slice that covers t, or -1.
func (l *Lane) At(t int64) int {
	i := l.FirstEnding(t)
	if i < len(l.From) && l.From[i] <= t {
		return i
	}
	return -1
}

// find returns the index of the slice with a reference and a start, or -1 if there is none.
func (l *Lane) find(ref int32, from int64) int {
	for i := l.FirstStarting(0, from); i < len(l.From) && l.From[i] == from; i++ {
		if l.Ref[i] == ref {
			return i
		}
	}
	return -1
}

// KindWaiting is the kind of gaps, after the kinds of spans.
const (
	KindWaiting = uint8(sim.SpanCPU) + 1
	NumKinds    = KindWaiting + 1
)
