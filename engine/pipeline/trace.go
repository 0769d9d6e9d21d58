package pipeline

import (
	"cmp"
	"slices"
	"time"

	"memtide/engine"
)

// Span is a pass or a copy with its time, [Start, End).
type Span struct {
	Pass
	Start time.Duration `json:"start_ns"`
	End   time.Duration `json:"end_ns"`
}

// Trace is a step as it was played or measured.
type Trace struct {
	Ranks    [][]Span // by rank: passes in order of time; both parts of a joined pass have its times
	Copies   [][]Span // by rank: copies in the order of their starts
	Makespan time.Duration
	Busy     []time.Duration // by rank: time of its passes
	Held     []int           // by rank: the most passes held at once, from F or D to A or W
	Peak     []engine.Bytes  // by rank: the most bytes held at any instant
}

// newTrace returns a trace in which nothing has run.
func newTrace(p *Problem, order [][]Pass) *Trace {
	t := &Trace{Ranks: make([][]Span, p.Ranks), Copies: make([][]Span, p.Ranks), Busy: make([]time.Duration, p.Ranks),
		Held: make([]int, p.Ranks), Peak: make([]engine.Bytes, p.Ranks)}
	for r, list := range order {
		t.Held[r], t.Peak[r] = held(list), p.fixed(r)
	}
	return t
}

// held returns the most passes that an order holds at once.
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

// Idle returns the share of the step that the ranks wait, on average. Repeated forwards count as work.
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

// Longest returns the largest time of a rank from its first start to its last end, which is the figure of the
// zero-bubble papers. It is the time from step to step if no rank waits for the others between steps
// [arXiv:2401.10241, section 4, post-validation of the optimizer].
func (t *Trace) Longest() (longest time.Duration) {
	for _, spans := range t.Ranks {
		if n := len(spans); n > 0 {
			longest = max(longest, spans[n-1].End-spans[0].Start)
		}
	}
	return longest
}

// Twice returns the time that all ranks together spend on repeated forwards.
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

// add adds a span to a trace, without its peaks and counts.
func (t *Trace) add(p *Problem, x Span) {
	r := p.Stages[x.Stage].Rank
	if t.Makespan = max(t.Makespan, x.End); x.Kind.copies() {
		t.Copies[r] = append(t.Copies[r], x)
		return
	}
	t.Ranks[r] = append(t.Ranks[r], x)
	t.Busy[r] += x.End - x.Start
}

// peak returns the most bytes that spans of a rank hold at any instant.
func (p *Problem) peak(r int, spans []Span) engine.Bytes {
	type change struct {
		at    time.Duration
		bytes engine.Bytes
	}
	var list []change
	for _, x := range spans {
		take, give := p.Stages[x.Stage].bytes(x.Kind)
		list = append(list, change{x.Start, take}, change{x.End, -give})
	}
	slices.SortFunc(list, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.bytes, b.bytes))
	})
	now := p.fixed(r)
	most := now
	for _, c := range list {
		now += c.bytes
		most = max(most, now)
	}
	return most
}

// order returns lists of passes and copies in which copies are issued no later than they ran: a copy out after the
// last pass that had ended, a copy back after the last pass that had started. There is an exception: a second copy
// out that starts while a pass runs which began before the copy back is issued later than it ran.
func (t *Trace) order() [][]Pass {
	type item struct {
		slot int // number of passes before it
		Span
	}
	out := make([][]Pass, len(t.Ranks))
	for r, spans := range t.Ranks {
		var list []item
		for i, x := range spans {
			list = append(list, item{i, x})
		}
		least := map[Pass]int{} // by cell: the slot of its last copy
		for _, c := range t.Copies[r] {
			cell := Pass{Micro: c.Micro, Stage: c.Stage}
			slot := least[cell]
			for slot < len(spans) &&
				(c.Kind == In && spans[slot].Start <= c.Start || c.Kind == Out && spans[slot].End <= c.Start) {
				slot++
			}
			least[cell] = slot
			list = append(list, item{slot, c})
		}
		slices.SortStableFunc(list, func(a, b item) int {
			if a.slot != b.slot || a.Kind.copies() && b.Kind.copies() {
				return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.Start, b.Start))
			}
			return cmp.Compare(min(b.Kind, Out), min(a.Kind, Out)) // copies come before the pass that has their slot
		})
		for _, x := range list {
			out[r] = append(out[r], x.Pass)
		}
	}
	return out
}
