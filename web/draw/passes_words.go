package draw

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/web/format"
	"memtide/web/lookup"
)

// Summary says in a sentence what the picture shows.
func (x *Passes) Summary() string {
	return fmt.Sprintf("%s with %s passes in %s. Rank %d is the fullest, with %s of %s.",
		countOf(len(x.ranks), "rank"), format.Count(x.Count()),
		format.Duration(x.end), x.full, format.Bytes(x.most[x.full]), format.Bytes(x.room))
}

// name returns a pass in words: "the forward of micro batch 5".
func (p *Pass) name() string {
	return fmt.Sprintf("the %s of micro batch %d", passWords[p.Kind], p.Micro)
}

// Sentence says what a pass or an idle stretch is; empty for everything else.
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

// holds returns how much a rank holds at a moment.
func (x *Passes) holds(r int, at time.Duration) engine.Bytes {
	list := x.level[r]
	return list[lastAt(list, at)].bytes
}

// Why says in sentences why a rank is idle: what it waits for, what let that be so late, and how
// much of the step the rank is idle. Of a pass it says what it is and what came before it.
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

// led says what led to a pass on its rank: passes without a pause, back to an idle stretch or the beginning.
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
