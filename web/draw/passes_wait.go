package draw

import (
	"sort"
	"time"

	"memtide/web/lookup"
)

// Wait is a stretch in which a rank of a pipeline is idle.
type Wait struct {
	Rank     int
	From, To time.Duration
	Next     int           // the pass that follows; -1: none does
	Cause    int           // the pass that it waited for; -1: none
	Message  time.Duration // of the stretch, what the message behind that pass takes
}

// At returns what a rank does at a moment.
func (x *Passes) At(rank int, at time.Duration) lookup.Target {
	list := x.ranks[rank].Passes
	i := sort.Search(len(list), func(i int) bool { return list[i].End > at })
	switch {
	case i == len(list):
		return lookup.Target{Kind: lookup.OnIdle, Index: x.Count() + rank}
	case list[i].Start > at:
		return lookup.Target{Kind: lookup.OnIdle, Index: x.first[rank] + i}
	}
	return lookup.Target{Kind: lookup.OnPass, Index: x.first[rank] + i}
}

// before returns when the pass before another one on its rank ends, or 0 if there is none.
func (x *Passes) before(n, rank int) time.Duration {
	if n == x.first[rank] {
		return 0
	}
	return x.ranks[rank].Passes[n-1-x.first[rank]].End
}

// Interval returns when a target is, and on which rank, or -1 if it is none of this picture.
func (x *Passes) Interval(t lookup.Target) (from, to time.Duration, rank int) {
	switch {
	case t.Index < 0:
	case t.Kind == lookup.OnPass && t.Index < x.Count():
		p, r := x.Pass(t.Index)
		return p.Start, p.End, r
	case t.Kind == lookup.OnIdle && t.Index < x.Count()+len(x.ranks):
		w := x.Wait(t)
		return w.From, w.To, w.Rank
	}
	return 0, 0, -1
}

// Wait returns an idle stretch, with what it waits for: of what the next pass needs, what came last.
func (x *Passes) Wait(t lookup.Target) Wait {
	if r := t.Index - x.Count(); r >= 0 {
		return Wait{Rank: r, From: x.before(x.first[r+1], r), To: x.end, Next: -1, Cause: -1}
	}
	p, r := x.Pass(t.Index)
	w := Wait{Rank: r, From: x.before(t.Index, r), To: p.Start, Next: t.Index, Cause: -1}
	var came time.Duration
	for n := t.Index; n < x.first[r+1]; n++ { // the parts of a pass that has several
		part, _ := x.Pass(n)
		if part.Start != p.Start {
			break
		}
		if c := x.needs(part); c >= 0 {
			if from, _ := x.Pass(c); w.Cause < 0 || from.End > came {
				w.Cause, came = c, from.End
			}
		}
	}
	if w.Cause >= 0 {
		w.Message = max(0, w.To-max(came, w.From))
	}
	return w
}

// needs returns the pass whose result another one waits for, or -1 if there is none.
func (x *Passes) needs(p *Pass) int {
	st := &x.stages[p.Stage]
	list := x.there
	at := p.Stage - 1
	switch {
	case p.Kind == PassForward && st.First, p.Kind == PassWeights, p.Kind != PassForward && st.Last:
		return -1
	case p.Kind != PassForward:
		list, at = x.back, p.Stage+1
	}
	if p.Micro >= len(list[at]) {
		return -1
	}
	return int(list[at][p.Micro])
}

// Follow returns the next thing to ask about on the way to the cause: the idle stretch in front of the
// passes that led to a target without a pause; where there is none, the first of these passes. It is
// the target itself at the beginning.
func (x *Passes) Follow(t lookup.Target) lookup.Target {
	if _, _, rank := x.Interval(t); rank < 0 {
		return t
	}
	n := t.Index
	if t.Kind == lookup.OnIdle {
		w := x.Wait(t)
		if n = w.Cause; w.Next < 0 { // the rank has nothing left to do: what ends last does
			n = x.last()
		}
		if n < 0 {
			return t
		}
	}
	p, r := x.Pass(n)
	for x.before(n, r) == p.Start && n > x.first[r] {
		n--
		p, _ = x.Pass(n)
	}
	for n > x.first[r] && x.before(n, r) > p.Start { // to the first part of a pass that has several
		n--
	}
	if p.Start > x.before(n, r) {
		return lookup.Target{Kind: lookup.OnIdle, Index: n}
	}
	return lookup.Target{Kind: lookup.OnPass, Index: n}
}

// last returns the pass that ends last, or -1 if there is none.
func (x *Passes) last() int {
	best, at := -1, time.Duration(-1)
	for r := range x.ranks {
		if from, to := x.Numbers(r); to > from {
			if p, _ := x.Pass(to - 1); p.End > at {
				best, at = to-1, p.End
			}
		}
	}
	return best
}

// Beside returns what is n places to the right of a target on its rank, passes and idle stretches by
// turns, or at the same moment so many ranks down. It is the target itself where there is nothing.
func (x *Passes) Beside(t lookup.Target, right, down int) lookup.Target {
	from, to, r := x.Interval(t)
	if r < 0 {
		return lookup.Target{Kind: lookup.OnPass, Index: x.first[0]}
	}
	switch {
	case down != 0 && r+down >= 0 && r+down < len(x.ranks):
		return x.At(r+down, from+(to-from)/2)
	case right > 0 && to < x.end:
		return x.At(r, to)
	case right < 0 && from > 0:
		return x.At(r, from-1)
	}
	return t
}

// Idle returns how long a rank is idle before its first pass, after its last one, and between passes.
func (x *Passes) Idle(r int) (start, drain, between time.Duration) {
	list := x.ranks[r].Passes
	if len(list) == 0 {
		return x.end, 0, 0
	}
	start, drain = list[0].Start, x.end-list[len(list)-1].End
	for i := 1; i < len(list); i++ {
		between += max(0, list[i].Start-list[i-1].End)
	}
	return start, drain, between
}
