package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// checkLives compares the lives with the copies that the replay saw. Lives of
// no bytes may be left out.
func (c *checker) checkLives() *Refutation {
	var want, got []sim.Life
	for i := range c.copies {
		cp := &c.copies[i]
		l := sim.Life{Value: cp.value, Op: cp.op, Category: cp.cat, Bytes: cp.size, Start: cp.start, End: cp.end,
			From: cp.from, Offloaded: len(cp.offloads) > 0}
		if !cp.gone {
			l.End = c.t.Makespan
		}
		if l.Bytes > 0 {
			want = append(want, l)
		}
	}
	for _, l := range c.t.Lives {
		if l.Bytes != 0 {
			got = append(got, l)
		}
	}
	order := func(a, b sim.Life) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Start, b.Start))
	}
	slices.SortStableFunc(want, order)
	slices.SortStableFunc(got, order)
	for k := range max(len(want), len(got)) {
		if k >= len(want) {
			return c.life(&got[k], c.showLife(&got[k]), "no such life")
		}
		if k >= len(got) {
			return c.life(&want[k], "no such life", c.showLife(&want[k]))
		}
		w, g := want[k], got[k]
		g.StartSeq, g.EndSeq = 0, 0
		if g != w {
			return c.life(&g, c.showLife(&g), c.showLife(&w))
		}
	}
	return c.checkSequence(got)
}

func (c *checker) life(l *sim.Life, found, want string) *Refutation {
	return c.refute(WrongLives, -1, l.From, l.Start, found, want)
}

func (c *checker) showLife(l *sim.Life) string {
	what := "temporaries"
	switch {
	case l.Value >= 0 && int(l.Value) < len(c.g.Values):
		what = c.g.Values[l.Value].Name
	case l.Op >= 0 && int(l.Op) < len(c.g.Ops):
		what += " of " + c.g.Ops[l.Op].Name
	}
	return fmt.Sprintf("%s of %s (%v, from span %d, offloaded %v) from %v to %v", what, count(l.Bytes), l.Category, l.From, l.Offloaded, l.Start, l.End)
}

// checkSequence adds the lives up in the order of their sequence numbers: that
// order must be one of time, and must have the peak of the trace. Streamed
// lives fill gradually, so their sum says nothing.
func (c *checker) checkSequence(lives []sim.Life) *Refutation {
	type end struct {
		seq   int
		life  *sim.Life
		bytes engine.Bytes
	}
	var ends []end
	for i := range lives {
		l := &lives[i]
		if l.EndSeq <= l.StartSeq {
			return c.life(l, fmt.Sprintf("events %d to %d", l.StartSeq, l.EndSeq), "an end after its start")
		}
		ends = append(ends, end{l.StartSeq, l, l.Bytes}, end{l.EndSeq, l, -l.Bytes})
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.bytes, b.bytes)) })
	at := func(e end) int64 {
		if e.bytes < 0 {
			return int64(e.life.End)
		}
		return int64(e.life.Start)
	}
	sum, most := c.g.Fixed, c.g.Fixed
	for i, e := range ends {
		if i > 0 && at(e) < at(ends[i-1]) {
			return c.life(e.life, fmt.Sprintf("event %d at %v after one at %v", e.seq, time.Duration(at(e)), time.Duration(at(ends[i-1]))), "events in the order of time")
		}
		sum += e.bytes
		most = max(most, sum)
	}
	if !c.streamed() && most != c.t.Peak {
		return c.refute(WrongLives, -1, sim.NoSpan, c.t.PeakAt, "lives of at most "+count(most)+" at once", count(c.t.Peak))
	}
	return nil
}
