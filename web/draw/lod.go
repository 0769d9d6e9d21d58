package draw

import (
	"math"

	"memtide/web/lookup"
)

// mark is a slice on the screen, or what became of several slices that are
// narrower than a pixel.
type mark struct {
	x0, x1 float64
	kind   uint8
	slice  int // index into the lane, -1 for merged slices
}

const (
	// Slices from this width on have whole pixels and a space to the next one.
	crispWidth = 4.0
	// A merged mark that far from others is drawn one pixel wide to be seen.
	lonelySpace = 3.0
)

// marks calls emit with what a lane shows, from left to right. Slices that are
// at least a pixel wide are marks of their own. The others are merged by pixel
// column: all that start in a column become one mark of the kind that has most
// of their time (the smaller kind of equals), as wide as their time together,
// so that a lane that is half busy looks half busy at every zoom. Adjacent
// merged marks of one kind become one. That makes at most two marks per column,
// found by galloping through the slices and by prefix sums: the cost depends on
// the width and hardly on the number of slices.
func marks(l *lookup.Lane, f *frame, emit func(mark)) {
	from, to := int64(f.From), int64(f.To)
	pending := mark{slice: -1, x0: f.left, x1: f.left - 1} // a merged mark that may grow; x1 < x0: none
	flush := func() {
		if pending.x1 > pending.x0 {
			emit(pending)
		}
		pending.x1 = pending.x0 - 1
	}
	drawn := math.Inf(-1) // the end of the last mark
	for i := l.FirstEnding(from); i < len(l.From) && l.From[i] < to; {
		x0, x1 := f.clip(f.x(l.From[i])), f.clip(f.x(l.To[i]))
		if x1-x0 >= 1 {
			flush()
			emit(mark{x0, x1, l.Kind[i], i})
			drawn = x1
			i++
			continue
		}
		j := l.FirstStarting(i+1, min(f.ceilTime(math.Floor(x0)+1), to))
		// Only the last slice of a column can be wide.
		if j > i+1 && f.clip(f.x(l.To[j-1]))-f.clip(f.x(l.From[j-1])) >= 1 {
			j--
		}
		m := merge(l, f, i, j, x0)
		i = j
		if m.x1 <= m.x0 {
			continue // nothing but runs of no duration
		}
		if m.x1-m.x0 < 1 && m.x0-drawn > lonelySpace && m.x0+1 <= f.right &&
			(j == len(l.From) || f.x(l.From[j])-m.x1 > lonelySpace) {
			m.x1 = m.x0 + 1
		}
		drawn = m.x1
		if pending.x1 > pending.x0 && pending.kind == m.kind && m.x0-pending.x1 < 0.05 {
			pending.x1 = m.x1
			continue
		}
		flush()
		pending = m
	}
	flush()
}

// merge makes one mark of slices [i, j), which start at x0.
func merge(l *lookup.Lane, f *frame, i, j int, x0 float64) mark {
	busy := l.BusyIn(i, j)
	// What is outside of the view does not count.
	if before := int64(f.From) - l.From[i]; before > 0 {
		busy[l.Kind[i]] -= before
	}
	if after := l.To[j-1] - int64(f.To); after > 0 {
		busy[l.Kind[j-1]] -= after
	}
	var total int64
	kind := uint8(0)
	for k, b := range busy {
		total += b
		if b > busy[kind] {
			kind = uint8(k)
		}
	}
	x1 := math.Min(x0+float64(total)*f.scale, f.clip(f.x(l.To[j-1])))
	return mark{x0, x1, kind, -1}
}
