package pipeline

import (
	"slices"
	"time"

	"memtide/engine"
)

// Allowed says what a search may do in addition to ordering passes.
type Allowed struct {
	Recompute bool // drop forwards and run them again
	Offload   bool // copy activations to the host and back
}

// bounding holds the parts of lower bounds, by stage.
type bounding struct {
	p               *Problem
	first           []time.Duration // time before the first forward
	back            []time.Duration // time before the first backward
	after           []time.Duration // time from the end of a backward to the end of all passes that follow from it
	inputs, weights []time.Duration // time of a backward, and of the part that may run later
}

// Bound returns a lower bound of the step time of any order without joined passes. It is the largest of these: for
// each rank, the time until it can begin, its work, and what follows its last pass; one micro batch through all
// stages; and what memory enforces. Before the first backward that can run on a rank, no bytes are freed, so only
// forwards that fit together can run. From the start of the last forward to the end of its backward, no new micro
// batch starts; if fewer passes fit than there are micro batches, only passes of held ones can run. With one stage
// per rank, split backwards, equal times and the memory of 1F1B, that wait is (P-1)(f+b-w): ZB-H1 is optimal.
func (p *Problem) Bound(a Allowed) time.Duration {
	b := &bounding{p: p}
	for s := range p.Stages {
		st := &p.Stages[s]
		in, late := st.Inputs, st.Weights
		if p.Fused {
			in, late = st.whole(), 0
		} else if st.Whole > 0 && st.Whole < in+late {
			in, late = min(in, st.Whole), max(0, st.Whole-in)
		}
		b.inputs, b.weights = append(b.inputs, in), append(b.weights, late)
	}
	b.chains()
	var best time.Duration
	for s := range p.Stages {
		if p.first(s) {
			best = max(best, b.back[s]+b.inputs[s]+b.after[s])
		}
	}
	for r := range p.Ranks {
		best = max(best, b.rank(r, a))
	}
	return best
}

// comm returns the time of the message between stage s and the one before, which delays nothing else.
func (p *Problem) comm(s int) time.Duration {
	if p.Messages == Included {
		return 0
	}
	return p.Stages[s].Comm
}

// chains computes the times of one micro batch that never waits.
func (b *bounding) chains() {
	p, n := b.p, len(b.p.Stages)
	b.first, b.back, b.after = make([]time.Duration, n), make([]time.Duration, n), make([]time.Duration, n)
	for s := range n {
		b.after[s] = b.weights[s]
		if !p.first(s) {
			b.first[s] = b.first[s-1] + p.Stages[s-1].Forward + p.comm(s)
			b.after[s] = max(b.after[s], p.comm(s)+b.inputs[s-1]+b.after[s-1])
		}
	}
	for s := n - 1; s >= 0; s-- {
		if b.back[s] = b.first[s] + p.Stages[s].Forward; !p.last(s) {
			b.back[s] = b.back[s+1] + b.inputs[s+1] + p.comm(s+1)
		}
	}
}

// rank returns the bound from the passes of one rank.
func (b *bounding) rank(r int, a Allowed) time.Duration {
	p := b.p
	var stages []int
	var work time.Duration
	head, back, tail := engine.MaxTime, engine.MaxTime, time.Duration(0)
	if p.Fused {
		tail = engine.MaxTime
	}
	for s := range p.Stages {
		if p.Stages[s].Rank != r {
			continue
		}
		stages = append(stages, s)
		work += time.Duration(p.micro(s)) * (p.Stages[s].Forward + b.inputs[s] + b.weights[s])
		head, back = min(head, b.first[s]), min(back, b.back[s])
		if p.Fused {
			tail = min(tail, b.after[s])
		}
	}
	if len(stages) == 0 {
		return 0
	}
	best := head + work + tail
	limit := p.limit(r)
	if limit == engine.NoLimit {
		return best
	}
	room := max(0, limit-p.fixed(r))
	reach := room
	if a.Offload {
		reach += b.moved(stages, back)
	}
	ahead := b.ahead(stages, reach, a)
	if ahead >= back-head {
		return best
	}
	best = max(best, back+work-ahead+tail)
	if len(stages) > 1 || p.Fused || a.Recompute || a.Offload {
		return best
	}
	s := stages[0]
	st := &p.Stages[s]
	if n := p.micro(s); st.Act > 0 && room/st.Act < engine.Bytes(n) {
		held := int64(n)
		if least := min(st.Act, st.Rest); least > 0 {
			held = min(held, 1+int64((room-st.Act)/least))
		}
		trip := b.back[s] - b.first[s] + b.inputs[s]
		best = max(best, back+work-ahead+max(0,
			trip-time.Duration(held-1)*(b.inputs[s]+b.weights[s])-st.Forward-b.inputs[s]))
	}
	return best
}

// moved returns the most bytes that a lane can move to the host until a time.
func (b *bounding) moved(stages []int, until time.Duration) (most engine.Bytes) {
	for _, s := range stages {
		st := &b.p.Stages[s]
		if st.Off == 0 {
			continue
		}
		if st.Out == 0 {
			return engine.MaxBytes
		}
		gone := engine.MulDiv(int64(until), int64(st.Off), int64(st.Out))
		most = max(most, engine.Bytes(min(gone, int64(engine.MaxBytes)))+1)
	}
	return min(most, engine.MaxBytes)
}

// ahead returns an upper bound on the time of forwards that fit into room together: whole passes if there is one
// stage, otherwise parts of passes, those with the most time per byte first.
func (b *bounding) ahead(stages []int, room engine.Bytes, a Allowed) (all time.Duration) {
	left := slices.Clone(stages)
	for len(left) > 0 {
		best := 0
		for i := range left {
			x, y := left[i], left[best]
			if engine.CompareRatios(uint64(b.p.Stages[x].Forward), uint64(b.takes(x, a)),
				uint64(b.p.Stages[y].Forward), uint64(b.takes(y, a))) > 0 {
				best = i
			}
		}
		s := left[best]
		left = slices.Delete(left, best, best+1)
		n, takes, f := engine.Bytes(b.p.micro(s)), b.takes(s, a), b.p.Stages[s].Forward
		switch {
		case takes == 0 || takes*n <= room:
			all += time.Duration(n) * f
			room -= takes * n
		case len(stages) == 1:
			return time.Duration(room/takes) * f
		default:
			return all + time.Duration(engine.MulDiv(int64(room), int64(f), int64(takes)))
		}
	}
	return all
}

// takes returns the least bytes that a forward keeps.
func (b *bounding) takes(s int, a Allowed) engine.Bytes {
	st := &b.p.Stages[s]
	if a.Recompute {
		return min(st.Act, st.Input)
	}
	return st.Act
}
