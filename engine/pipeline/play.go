package pipeline

import (
	"fmt"
	"time"
)

// Span is a pass and when it runs.
type Span struct {
	Pass
	Start, End time.Duration
}

// Trace is a step as it runs.
type Trace struct {
	Ranks    [][]Span // of each rank, in order of time
	Makespan time.Duration
	Busy     []time.Duration // of each rank
	Held     []int           // by rank: the most passes that are held at once
}

// Idle is the share of the step that the ranks wait, on average.
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

// ready says when what a pass waits for is there; false if that has not run.
func (s *Schedule) ready(p *Plan, pass Pass, done map[Pass]time.Duration) (time.Duration, bool) {
	first, last := s.path(p, pass.Micro)
	from := func(kind Kind, stage int) (time.Duration, bool) {
		at, ok := done[Pass{kind, pass.Micro, stage}]
		if s.Rank[stage] != s.Rank[pass.Stage] {
			at += p.Send
		}
		return at, ok
	}
	switch {
	case pass.Kind == Forward && pass.Stage == first:
		return 0, true
	case pass.Kind == Forward:
		return from(Forward, pass.Stage-1)
	case pass.Kind == Weights:
		return from(Inputs, pass.Stage)
	}
	at, ok := from(Forward, pass.Stage)
	if ok && pass.Stage < last {
		return from(pass.Kind, pass.Stage+1)
	}
	return at, ok
}

// Play runs the order. The error names a pass that waits for ever.
func (s *Schedule) Play() (*Trace, error) {
	t := &Trace{Ranks: make([][]Span, len(s.Order)), Busy: make([]time.Duration, len(s.Order)), Held: make([]int, len(s.Order))}
	done := map[Pass]time.Duration{}
	next, left := make([]int, len(s.Order)), 0
	for _, o := range s.Order {
		left += len(o)
	}
	for left > 0 {
		before := left
		for r, order := range s.Order {
			for next[r] < len(order) {
				pass := order[next[r]]
				at, ok := s.ready(&s.Plan, pass, done)
				if !ok {
					break
				}
				if n := len(t.Ranks[r]); n > 0 {
					at = max(at, t.Ranks[r][n-1].End)
				}
				end := at + s.Plan.Cost(pass)
				done[pass] = end
				t.Ranks[r] = append(t.Ranks[r], Span{pass, at, end})
				t.Busy[r] += end - at
				t.Makespan = max(t.Makespan, end)
				next[r]++
				left--
			}
		}
		if left == before {
			return nil, fmt.Errorf("rank %d waits for ever", stuck(next, s.Order))
		}
	}
	for r := range s.Order {
		t.Held[r] = s.held(s.Order[r])
	}
	return t, nil
}

// stuck is the first rank that has something left.
func stuck(next []int, order [][]Pass) int {
	for r := range order {
		if next[r] < len(order[r]) {
			return r
		}
	}
	return -1
}

// held is the most passes that an order holds at once.
func (s *Schedule) held(order []Pass) (most int) {
	now := 0
	for _, pass := range order {
		switch pass.Kind {
		case Forward:
			now++
			most = max(most, now)
		case Backward, Weights:
			now--
		}
	}
	return most
}
