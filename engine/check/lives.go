package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// checkLives compares the lives with the copies of the replay. Lives of no bytes may be left out.
func (c *checker) checkLives() {
	want, got := c.expectedLives(), make([]*sim.Life, 0, len(c.t.Lives))
	for i := range c.t.Lives {
		if l := &c.t.Lives[i]; l.Bytes != 0 {
			got = append(got, l)
		}
	}
	inOrder(want)
	inOrder(got)
	for k := range max(len(want), len(got)) {
		if k >= len(want) {
			c.life(got[k], c.showLife(got[k]), "no such life")
		}
		if k >= len(got) {
			c.life(want[k], "no such life", c.showLife(want[k]))
		}
		w, g := want[k], got[k]
		w.StartSeq, w.EndSeq = g.StartSeq, g.EndSeq // checkSequence checks these
		if *g != *w {
			c.life(g, c.showLife(g), c.showLife(w))
		}
	}
	c.checkSequence(got)
}

// expectedLives returns the lives of the copies that have bytes.
func (c *checker) expectedLives() []*sim.Life {
	lives := make([]sim.Life, len(c.copies))
	want := make([]*sim.Life, 0, len(c.copies))
	for i := range c.copies {
		cp, l := &c.copies[i], &lives[i]
		if cp.size <= 0 {
			continue
		}
		*l = sim.Life{Value: cp.value, Op: cp.op, Category: cp.cat, Bytes: cp.size, Start: cp.start, End: cp.end,
			From: cp.from, Offloaded: cp.offload != sim.NoSpan}
		if !cp.gone {
			l.End = c.t.Makespan
		}
		want = append(want, l)
	}
	return want
}

// inOrder sorts lives by span, operation, value and start. Most are in that order already.
func inOrder(lives []*sim.Life) {
	slices.SortStableFunc(lives, func(a, b *sim.Life) int {
		if a.From != b.From {
			return cmp.Compare(a.From, b.From)
		}
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Start, b.Start))
	})
}

func (c *checker) life(l *sim.Life, found, want string) {
	c.refute(WrongLives, -1, l.From, l.Start, found, want)
}

func (c *checker) showLife(l *sim.Life) string {
	what := "temporaries"
	switch {
	case l.Value >= 0 && int(l.Value) < len(c.g.Values):
		what = c.g.Values[l.Value].Name
	case l.Op >= 0 && int(l.Op) < len(c.g.Ops):
		what += " of " + c.g.Ops[l.Op].Name
	}
	return fmt.Sprintf("%s of %s (%v, from span %d, offloaded %v) from %v to %v", what, count(l.Bytes), l.Category,
		l.From, l.Offloaded, l.Start, l.End)
}

// checkSequence adds the lives up in the order of their sequence numbers. The times must ascend in this order, and
// the largest sum must be the peak of the trace. For streamed transfers the sum is not compared, because lives fill
// gradually.
func (c *checker) checkSequence(lives []*sim.Life) {
	for _, l := range lives {
		if l.EndSeq <= l.StartSeq {
			c.life(l, fmt.Sprintf("events %d to %d", l.StartSeq, l.EndSeq), "an end after its start")
		}
	}
	var last time.Duration
	sum, most := c.g.Fixed, c.g.Fixed
	for _, e := range eventsOf(lives) {
		at := e.life.Start
		if e.bytes < 0 {
			at = e.life.End
		}
		if at < last {
			c.life(e.life, fmt.Sprintf("event %d at %v after one at %v", e.seq, at, last),
				"events in the order of time")
		}
		last = at
		sum += e.bytes
		most = max(most, sum)
	}
	if !c.streamed() && most != c.t.Peak {
		c.atTime(WrongLives, c.t.PeakAt, "lives of at most "+count(most)+" at once", count(c.t.Peak))
	}
}

// event is the start or the end of a life.
type event struct {
	seq   int
	bytes engine.Bytes // added to the memory in use
	life  *sim.Life
}

// eventsOf returns the starts and ends of lives by their sequence number, ends first.
func eventsOf(lives []*sim.Life) []event {
	events := make([]event, 0, 2*len(lives))
	for _, l := range lives {
		events = append(events, event{l.StartSeq, l.Bytes, l}, event{l.EndSeq, -l.Bytes, l})
	}
	slices.SortStableFunc(events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.bytes, b.bytes))
	})
	return events
}
