package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

func show(l *level) string {
	return fmt.Sprintf("%s %d", count(l.total()), *l)
}

// differs reports whether a sample differs from a level in total, and in any category. slack is how far the bytes
// in transfer may be off.
func differs(got, want *level, slack engine.Bytes) (total, band bool) {
	if *got == *want {
		return false, false
	}
	for k := range got {
		s := engine.Bytes(0)
		if sim.Category(k) == sim.InTransfer {
			s = slack
		}
		band = band || off(got[k], want[k], s)
	}
	return off(got.total(), want.total(), slack), band
}

// off reports whether two amounts are further apart than slack.
func off(a, b, slack engine.Bytes) bool { return a > b+slack || b > a+slack }

func (c *checker) compare(at time.Duration, got, want *level, slack engine.Bytes) {
	if *got == *want {
		return
	}
	if total, band := differs(got, want, slack); total {
		c.atTime(WrongMemory, at, show(got), show(want))
	} else if band {
		c.atTime(WrongCategory, at, show(got), show(want))
	}
}

// checkMemory compares the samples with the memory in use before and after every instant, at every event within it,
// and between instants.
func (c *checker) checkMemory() {
	m := c.t.Memory
	if len(m) == 0 || m[0].At != 0 {
		c.atTime(WrongMemory, 0, fmt.Sprintf("%d samples, none at the start", len(m)), "samples from 0 on")
	}
	for i := range m {
		if total := m[i].Total(); total > c.p.Budget {
			c.atTime(OverBudget, m[i].At, count(total), "at most "+count(c.p.Budget))
		}
	}
	next := 0
	for k := range c.instants {
		in := &c.instants[k]
		for ; next < len(m) && m[next].At < in.at; next++ {
			if next > 0 && m[next].At < m[next-1].At || k == 0 {
				c.atTime(WrongMemory, m[next].At, "a sample before the one before it",
					"samples in the order of time")
			}
			before := level(c.levels[c.instants[k-1].hi-1])
			got := level(m[next].Used) // with whole transfers nothing changes between two instants
			c.compare(m[next].At, &got, &before, in.slack)
		}
		end := next
		for end < len(m) && m[end].At == in.at {
			end++
		}
		if end > next {
			c.checkInstant(in, m[next:end])
		} else {
			c.checkBetween(in, next)
		}
		next = end
	}
	if next < len(m) {
		c.atTime(WrongMemory, m[next].At, "a sample after the end or out of order",
			"samples until the step ends")
	}
}

// checkInstant compares the samples m of one instant with the events of the instant.
func (c *checker) checkInstant(in *instant, m []sim.Sample) {
	levels := c.levels[in.lo:in.hi]
	if in.at > 0 {
		if first := level(m[0].Used); len(m) > 1 || len(levels) == 1 {
			c.compare(in.at, &first, &levels[0], in.slack)
		}
	}
	var most, want engine.Bytes
	pos := 0
	for i := range m {
		got := level(m[i].Used)
		most = max(most, got.total())
		from := pos
		for ; pos < len(levels); pos++ {
			if total, band := differs(&got, &levels[pos], in.slack); !total && !band {
				break
			}
		}
		if pos == len(levels) {
			c.closest(in, &got, levels[from:])
		}
	}
	for i := range levels {
		want = max(want, levels[i].total())
	}
	if most+in.slack < want {
		c.atTime(WrongMemory, in.at, "at most "+count(most), count(want)+" for a moment")
	}
	last := level(m[len(m)-1].Used)
	c.compare(in.at, &last, &levels[len(levels)-1], in.slack)
}

// closest ends the proof with a refutation of a sample that equals no level. If its total is right, the refutation
// is about the category.
func (c *checker) closest(in *instant, got *level, levels []level) {
	want := &levels[len(levels)-1]
	for i := range levels {
		if total, _ := differs(got, &levels[i], in.slack); !total {
			c.atTime(WrongCategory, in.at, show(got), show(&levels[i]))
		}
	}
	c.atTime(WrongMemory, in.at, show(got), show(want))
}

// checkBetween compares an instant that has no sample with the line between the samples before and after it.
func (c *checker) checkBetween(in *instant, next int) {
	m := c.t.Memory
	if next == 0 {
		return // there is a sample at 0, so checkMemory has refuted the order
	}
	line := level(m[next-1].Used)
	slack := in.slack
	if next < len(m) {
		for k := range line {
			line[k] = between(m[next-1].Used[k], m[next].Used[k], in.at-m[next-1].At, m[next].At-m[next-1].At)
		}
		if c.streamed() {
			// The last nanosecond of a transfer carries less than the others.
			slack += 2 + c.p.Device.ToHost.Moved(1) + c.p.Device.ToDev.Moved(1)
		}
	}
	for i := in.lo; i < in.hi; i++ {
		c.compare(in.at, &line, &c.levels[i], slack)
	}
}

// between returns a + (b-a)*part/whole, rounded towards a.
func between(a, b engine.Bytes, part, whole time.Duration) engine.Bytes {
	sign := engine.Bytes(cmp.Compare(b, a))
	return a + sign*engine.Bytes(engine.MulDiv(int64(sign*(b-a)), int64(part), int64(whole)))
}

// checkPeak compares the peak with the memory in use.
func (c *checker) checkPeak() {
	for k := range c.instants {
		in := &c.instants[k]
		most := engine.Bytes(0)
		for i := in.lo; i < in.hi; i++ {
			most = max(most, c.levels[i].total())
		}
		if most > c.t.Peak+in.slack {
			c.atTime(WrongPeak, in.at, "a peak of "+count(c.t.Peak), count(most)+" in use")
		}
	}
	for i := range c.t.Memory {
		if total := c.t.Memory[i].Total(); total > c.t.Peak {
			c.atTime(WrongPeak, c.t.Memory[i].At, "a peak of "+count(c.t.Peak), count(total)+" in a sample")
		}
	}
	i, _ := slices.BinarySearchFunc(c.t.Memory, c.t.PeakAt,
		func(s sim.Sample, at time.Duration) int { return cmp.Compare(s.At, at) })
	for ; i < len(c.t.Memory) && c.t.Memory[i].At == c.t.PeakAt; i++ {
		if c.t.Memory[i].Total() == c.t.Peak {
			return
		}
	}
	c.atTime(WrongPeak, c.t.PeakAt, "a peak of "+count(c.t.Peak), "a sample of that size at that moment")
}
