package pipeline

import (
	"time"

	"memtide/engine"
)

// Span is a pass or a copy and when it runs, [Start, End).
type Span struct {
	Pass
	Start, End time.Duration
}

// Trace is a step as it runs.
type Trace struct {
	Ranks    [][]Span // passes of each rank, in order of time; both parts of a joined pass have its times
	Copies   [][]Span // of each rank, in the order of their starts
	Makespan time.Duration
	Busy     []time.Duration // of each rank
	Held     []int           // by rank: the most passes that are held at once, from F or D to A or W
	Peak     []engine.Bytes  // by rank: the most bytes at any instant
}

// newTrace is a trace in which nothing has run.
func newTrace(p *Problem, order [][]Pass) *Trace {
	t := &Trace{Ranks: make([][]Span, p.Ranks), Copies: make([][]Span, p.Ranks), Busy: make([]time.Duration, p.Ranks), Held: make([]int, p.Ranks), Peak: make([]engine.Bytes, p.Ranks)}
	for r, list := range order {
		t.Held[r], t.Peak[r] = held(list), p.fixed(r)
	}
	return t
}

// held is the most passes that an order holds at once.
func held(order []Pass) (most int) {
	now := 0
	for _, x := range order {
		switch x.Kind {
		case Forward, Dropped:
			now++
			most = max(most, now)
		case Backward, Weights:
			now--
		}
	}
	return most
}

// Idle is the share of the step that the ranks wait, on average. What is computed again counts as work.
func (t *Trace) Idle() float64 {
	if t.Makespan == 0 {
		return 0
	}
	var busy time.Duration
	for _, b := range t.Busy {
		busy += b
	}
	return 1 - float64(busy)/float64(t.Makespan)/float64(len(t.Busy))
}

// Longest is the time of the longest rank from its own first start to its own last end, the figure of the zero-bubble
// papers. It is the time from step to step where no rank waits for the others between steps
// [arXiv:2401.10241, section 4, post-validation of the optimizer].
func (t *Trace) Longest() (longest time.Duration) {
	for _, spans := range t.Ranks {
		if n := len(spans); n > 0 {
			longest = max(longest, spans[n-1].End-spans[0].Start)
		}
	}
	return longest
}

// Twice is how long the ranks run forwards again, all together.
func (t *Trace) Twice() (all time.Duration) {
	for _, spans := range t.Ranks {
		for _, x := range spans {
			if x.Kind == Again {
				all += x.End - x.Start
			}
		}
	}
	return all
}
