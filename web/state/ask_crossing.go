package state

import (
	"time"

	"memtide/engine"
)

// Crossing is from where on one strategy is faster than another, at all larger
// bandwidths that were tried.
type Crossing struct {
	Above engine.Rate // the largest rate at which it is not; 0: it is at all of them
	From  engine.Rate // the smallest rate at which it is; 0: it is at none
}

// Crossing compares two strategies over bandwidth; ok is false if one of them has
// no schedule at any rate, or not all rates are answered.
func (a *Asked) Crossing(fast, slow string) (out Crossing, ok bool) {
	times := map[string]map[engine.Rate]time.Duration{fast: {}, slow: {}}
	for _, x := range a.Answers {
		if at := times[x.Strategy]; at != nil {
			at[x.Rate] = x.StepTime
		}
	}
	found := map[string]bool{}
	for _, r := range LinkRates() {
		f, known := times[fast][r]
		s, also := times[slow][r]
		if !known || !also {
			return Crossing{}, false
		}
		found[fast], found[slow] = found[fast] || f > 0, found[slow] || s > 0
		switch {
		case f <= 0 || s > 0 && f >= s:
			out.Above, out.From = r, 0
		case out.From == 0:
			out.From = r
		}
	}
	return out, found[fast] && found[slow]
}
