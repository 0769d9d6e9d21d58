package ordered

import (
	"math"
	"slices"
	"testing"
	"time"

	"memtide/engine"
)

// TestPlay plays two operations of 10 ns and their backwards, each with a value of 4 bytes that takes 8 ns in
// either direction. By hand, within 8 bytes F2 starts when x0 has left (at 10), and B1 when x0 is back, in the
// room that x1 has left.
func TestPlay(t *testing.T) {
	const rate = 500_000_000 // bytes per second: 2 ns a byte
	for _, c := range []struct {
		name     string
		budget   engine.Bytes
		sent     []bool
		overlap  bool
		makespan time.Duration
		peak     engine.Bytes
		starts   []time.Duration
		moves    []Transfer
	}{
		{"all stays", 20, []bool{false, false}, true, 40, 12, []time.Duration{0, 10, 20, 30}, nil},
		{"the first leaves", 8, []bool{true, false}, true, 48, 8, []time.Duration{0, 10, 20, 38},
			[]Transfer{{Item: 0, Bytes: 4, OffloadAt: 0, OffloadEnd: 8, Gone: 10, FetchAt: 30, FetchEnd: 38}}},
		{"does not fit", 8, []bool{false, true}, true, 0, 0, nil, nil},
	} {
		runs := []Run{{Lasts: 10, Need: 8, Item: 0, Moves: 4}, {Lasts: 10, Need: 12, Item: 1, Moves: 4},
			{Lasts: 10, Need: 12, Item: 1, Moves: 4}, {Lasts: 10, Need: 8, Item: 0, Moves: 4}}
		p := &engine.Problem{Device: engine.Device{ToHost: rate, ToDev: rate}, Budget: c.budget}
		s := New(p, runs, 2, func(i int) bool { return c.sent[i] })
		if ok := s.Play(c.overlap, math.MaxInt64); !ok {
			if c.makespan != 0 {
				t.Errorf("%s: it does not fit; want a step of %d", c.name, c.makespan)
			}
			continue
		}
		s.Measure()
		var starts []time.Duration
		for _, r := range s.Runs {
			starts = append(starts, r.Start)
		}
		if s.Makespan != c.makespan || s.Peak != c.peak || !slices.Equal(starts, c.starts) ||
			!slices.Equal(s.Transfers, c.moves) {
			t.Errorf("%s: takes %d and %d bytes, runs start at %v, moves %+v; want %d, %d, %v, %+v",
				c.name, s.Makespan, s.Peak, starts, s.Transfers, c.makespan, c.peak, c.starts, c.moves)
		}
	}
}
