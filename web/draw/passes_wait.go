package draw

import (
	"fmt"
	"sort"
	"time"

	"memtide/engine"
	"memtide/web/format"
	"memtide/web/lookup"
)

// Wait is an interval in which a rank of a pipeline is idle.
type Wait struct {
	Rank     int
	From, To time.Duration
	Next     int           // number of the pass that follows, or -1
	Cause    int           // number of the pass that it waited for, or -1
	Message  time.Duration // the part of the interval that the message from that pass takes
}

// At returns the pass or the idle interval of a rank at a moment.
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

// before returns the end of the pass before pass n on its rank, or 0 if there is none.
func (x *Passes) before(n, rank int) time.Duration {
	if n == x.first[rank] {
		return 0
	}
	return x.ranks[rank].Passes[n-1-x.first[rank]].End
}

// Interval returns the interval and the rank of a target. The rank is -1 for targets of other pictures.
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

// Wait returns an idle interval. Its cause is the pass that ended last of those that the next pass needs.
func (x *Passes) Wait(t lookup.Target) Wait {
	if r := t.Index - x.Count(); r >= 0 {
		return Wait{Rank: r, From: x.before(x.first[r+1], r), To: x.end, Next: -1, Cause: -1}
	}
	p, r := x.Pass(t.Index)
	w := Wait{Rank: r, From: x.before(t.Index, r), To: p.Start, Next: t.Index, Cause: -1}
	var came time.Duration
	for n := t.Index; n < x.first[r+1]; n++ { // passes that run as one
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

// needs returns the number of the pass on another rank whose result p needs, or -1 if there is none.
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

// Follow returns the next target on the way to the cause of t. From a pass it goes back over passes
// without a pause to the idle interval before them or, without one, to the first of them. From an idle
// interval it does the same from its cause. At the beginning it returns t.
func (x *Passes) Follow(t lookup.Target) lookup.Target {
	if _, _, rank := x.Interval(t); rank < 0 {
		return t
	}
	n := t.Index
	if t.Kind == lookup.OnIdle {
		w := x.Wait(t)
		if n = w.Cause; w.Next < 0 { // the rank is done: the step waits for the last pass of all
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
	for n > x.first[r] && x.before(n, r) > p.Start { // to the first of passes that run as one
		n--
	}
	if p.Start > x.before(n, r) {
		return lookup.Target{Kind: lookup.OnIdle, Index: n}
	}
	return lookup.Target{Kind: lookup.OnPass, Index: n}
}

// last returns the number of the pass that ends last, or -1 if there is none.
func (x *Passes) last() int {
	best, at := -1, time.Duration(-1)
	for r := range x.ranks {
		if list := x.ranks[r].Passes; len(list) > 0 && list[len(list)-1].End > at {
			best, at = x.first[r+1]-1, list[len(list)-1].End
		}
	}
	return best
}

// Beside returns the target next to t: the pass or the idle interval after it on its rank if right is positive, before
// it if right is negative, or the one at the same time down ranks below. It returns t at the edge
// of the picture.
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

// Summary returns what the picture shows in a sentence.
func (x *Passes) Summary() string {
	return fmt.Sprintf("%s with %s passes in %s. Rank %d is the fullest, with %s of %s without CUDA.",
		format.CountOf(len(x.ranks), "rank"), format.Count(x.Count()),
		format.Duration(x.end), x.full, format.Bytes(x.most[x.full]), format.Bytes(x.room))
}

// name returns a pass in words: "the forward of micro batch 5".
func (p *Pass) name() string {
	return fmt.Sprintf("the %s of micro batch %d", passWords[p.Kind], p.Micro)
}

// Sentence describes a pass or an idle interval. It is empty for other targets.
func (x *Passes) Sentence(t lookup.Target) string {
	from, to, r := x.Interval(t)
	switch {
	case r < 0:
		return ""
	case t.Kind == lookup.OnIdle:
		return x.Why(t)[0]
	}
	p, _ := x.Pass(t.Index)
	return fmt.Sprintf("Rank %d, %s, micro batch %d, %s to %s, holds %s", r, passWords[p.Kind], p.Micro,
		format.Duration(from), format.Duration(to), format.Bytes(x.holds(r, from)))
}

// holds returns the memory of a rank at a moment.
func (x *Passes) holds(r int, at time.Duration) engine.Bytes {
	list := x.level[r]
	return list[lastAt(list, at)].bytes
}

// Why returns in sentences why a rank is idle: what it waits for, why that was so late, and which
// share of the step the rank is idle. For a pass the sentences describe it and what came before it.
func (x *Passes) Why(t lookup.Target) []string {
	from, to, r := x.Interval(t)
	switch {
	case r < 0:
		return nil
	case t.Kind == lookup.OnPass:
		return []string{x.Sentence(t) + ".", x.led(t.Index)}
	}
	w := x.Wait(t)
	long := fmt.Sprintf("Rank %d waits %s, from %s to %s", r, format.Duration(to-from), format.Duration(from),
		format.Duration(to))
	out := []string{long + "."}
	switch {
	case w.Next < 0:
		p, last := x.Pass(x.last())
		out = []string{long + ": it has nothing left to do.",
			fmt.Sprintf("The step ends with %s on rank %d.", p.name(), last)}
	case w.Cause >= 0:
		p, other := x.Pass(w.Cause)
		message := ""
		if w.Message > 0 {
			message = fmt.Sprintf(" and whose message takes %s", format.Duration(w.Message))
		}
		first := ""
		if w.From == 0 {
			first = " Nothing has arrived before."
		}
		out = []string{fmt.Sprintf("%s, for %s on rank %d, which ends at %s%s.%s", long, p.name(), other,
			format.Duration(p.End), message, first), x.led(w.Cause)}
	}
	start, drain, between := x.Idle(r)
	return append(out,
		fmt.Sprintf("Of the step rank %d is idle %s: %s before its first pass, %s between passes, %s after its last.", r,
			format.Share(float64(start+drain+between)/float64(max(x.end, 1))), format.Duration(start),
			format.Duration(between), format.Duration(drain)))
}

// led returns since when the rank of pass n worked without a pause, and what was before.
func (x *Passes) led(n int) string {
	p, r := x.Pass(n)
	t := x.Follow(lookup.Target{Kind: lookup.OnPass, Index: n})
	first, _ := x.Pass(t.Index)
	switch {
	case t.Kind == lookup.OnIdle && first.Start == p.Start:
		return fmt.Sprintf("Rank %d had been idle since %s itself.", r, format.Duration(x.before(t.Index, r)))
	case t.Kind == lookup.OnIdle:
		return fmt.Sprintf("Rank %d works without a pause from %s until then, and was idle before.", r,
			format.Duration(first.Start))
	case p.Start == 0:
		return "It is the first thing that happens."
	}
	return fmt.Sprintf("Rank %d works without a pause from the beginning until then.", r)
}
