package draw

import (
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// minStretch is the shortest time range that can be zoomed to.
const minStretch = time.Microsecond

// Zoom changes the time range of a view by a factor (2 shows half as much) and keeps the
// moment at x, in CSS pixels, where it is, as far as the step reaches. No less than a
// microsecond is shown.
func (m *Model) Zoom(v View, x, factor float64) View {
	f := m.frame(Timeline, v)
	at := f.time(x)
	length := time.Duration(float64(f.To-f.From) / factor)
	length = min(max(length, minStretch), max(m.trace.Makespan, minStretch))
	part := (f.clip(x) - f.left) / (f.right - f.left)
	return m.show(v, at-time.Duration(part*float64(length)), length)
}

// Pan moves the time range of a view by so many CSS pixels, within the step; positive
// is later.
func (m *Model) Pan(v View, dx float64) View {
	f := m.frame(Timeline, v)
	return m.show(v, f.From+time.Duration(dx/f.scale), f.To-f.From)
}

// Fit shows what a target covers with some space on both sides; all of the step
// for a target that covers no time.
func (m *Model) Fit(v View, t Target) View {
	from, to := m.Interval(t)
	if to <= from {
		v.From, v.To = 0, 0
		return v
	}
	length := max(to-from, minStretch)
	return m.show(v, from-length, 3*length)
}

// show moves a time range into the step.
func (m *Model) show(v View, from, length time.Duration) View {
	from = max(min(from, m.trace.Makespan-length), 0)
	v.From, v.To = from, from+length
	if v.From == 0 && v.To >= m.trace.Makespan {
		v.To = 0
	}
	return v
}

// Range is what happens in a time range.
type Range struct {
	From, To time.Duration
	Compute  time.Duration // first runs and backward operations
	Again    time.Duration // recomputation
	Waiting  time.Duration
	ToHost   time.Duration // the link is busy
	ToDev    time.Duration
	Peak     engine.Bytes // the largest amount in use
}

// Between adds up what happens in [from, to).
func (m *Model) Between(from, to time.Duration) Range {
	r := Range{From: from, To: to}
	var sum [numKinds]time.Duration
	for l := range m.lanes {
		for k, b := range m.lanes[l].between(int64(from), int64(to)) {
			sum[k] += time.Duration(b)
		}
	}
	r.Compute = sum[sim.SpanForward] + sum[sim.SpanBackward]
	r.Again, r.Waiting = sum[sim.SpanRecompute], sum[kindWaiting]
	r.ToHost, r.ToDev = sum[sim.SpanOffload], sum[sim.SpanFetch]
	x := &m.memory
	for _, at := range [...]time.Duration{from, to} {
		var total engine.Bytes
		for _, b := range x.used(at) {
			total += b
		}
		r.Peak = max(r.Peak, total)
	}
	if i, j := x.firstAt(from), x.firstAt(to); i < j {
		r.Peak = max(r.Peak, engine.Bytes(x.high(i, j)[sim.NumCategories-1]))
	}
	return r
}

// between adds up the time by kind within [from, to).
func (l *lane) between(from, to int64) (sum [numKinds]int64) {
	i := l.firstEnding(from)
	j := l.firstStarting(i, to)
	if i >= j {
		return sum
	}
	sum = l.busyIn(i, j)
	sum[l.kind[i]] -= max(from-l.from[i], 0)
	sum[l.kind[j-1]] -= max(l.to[j-1]-to, 0)
	return sum
}
