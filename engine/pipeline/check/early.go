package check

import (
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/pipeline"
)

// follows proves that the passes of each rank run in the order of its list, and so do its copies in each direction.
func (c *proof) follows(order [][]pipeline.Pass) error {
	for r, list := range order {
		var want [3][]pipeline.Pass
		for _, x := range list {
			way := lane(x.Kind)
			want[way] = append(want[way], x)
		}
		var got [3][]pipeline.Pass
		for _, x := range c.t.Ranks[r] {
			got[0] = append(got[0], x.Pass)
		}
		for _, x := range c.t.Copies[r] {
			way := lane(x.Kind)
			got[way] = append(got[way], x.Pass)
		}
		for way := range want {
			if !slices.Equal(want[way], got[way]) {
				return fmt.Errorf("rank %d runs %v; its list has %v", r, got[way], want[way])
			}
		}
	}
	return nil
}

// lane returns 0 for a pass, 1 for a copy out and 2 for a copy back.
func lane(k pipeline.Kind) int { return max(0, int(k)-int(pipeline.Out)+1) }

// early proves that no pass of a rank started later than it could.
func (c *proof) early(r int) error {
	var free time.Duration
	spans := c.t.Ranks[r]
	for i := 0; i < len(spans); i++ {
		parts := spans[i : i+1]
		if spans[i].Joined {
			i++
			parts = spans[i-1 : i+1]
		}
		ready, receives, sends, take := free, time.Duration(0), time.Duration(0), engine.Bytes(0)
		for _, x := range parts {
			at, _ := c.arrived(x.Pass)
			if x.Kind == pipeline.Backward || x.Kind == pipeline.Inputs {
				for _, in := range c.spans[key{pipeline.In, x.Micro, x.Stage}] {
					at = max(at, in.End)
				}
			}
			ready = max(ready, at)
			receives = max(receives, c.blocking(c.from(x.Pass)))
			sends = max(sends, c.blocking(c.to(x.Pass)))
			take += c.takes(x.Pass)
		}
		start := parts[0].Start - receives
		if start > ready {
			if at, fits := c.fits(r, ready, start, take, 2); fits {
				return fmt.Errorf("%v starts at %d; it could have at %d", parts[0].Pass, start, at)
			}
		}
		free = parts[0].End + sends
	}
	return nil
}

// takes returns the bytes that a pass or a copy allocates at its start.
func (c *proof) takes(x pipeline.Pass) engine.Bytes {
	one := &proof{p: c.p, uses: make([][]taken, 1)}
	one.use(0, pipeline.Span{Pass: x}, 0)
	return one.uses[0][0].bytes
}

// fits returns the first instant in [from, to) at which a rank had room for bytes when it was their turn, and whether
// there is one.
func (c *proof) fits(r int, from, to time.Duration, bytes engine.Bytes, turn int) (time.Duration, bool) {
	instants := []time.Duration{from}
	for _, u := range c.uses[r] {
		if from < u.at && u.at < to {
			instants = append(instants, u.at)
		}
	}
	for _, at := range instants {
		used := bytes + c.fixed(r)
		for _, u := range c.uses[r] {
			if u.at < at || u.at == at && u.turn < turn {
				used += u.bytes
			}
		}
		if used <= c.limit(r) {
			return at, true
		}
	}
	return 0, false
}

// lanes proves that the copies of a rank run one at a time in each direction, first issued first, and no later than
// they could.
func (c *proof) lanes(r int, list []pipeline.Pass) error {
	next, nth, issued := 0, map[key]int{}, time.Duration(0)
	var free [3]time.Duration
	for _, p := range list {
		way := lane(p.Kind)
		if way == 0 {
			next++
			continue
		}
		if next > 0 {
			before := c.t.Ranks[r][next-1]
			start := before.Start - c.blocking(c.from(before.Pass))
			if p.Kind == pipeline.Out {
				start = before.End
			}
			issued = max(issued, start)
		}
		k := key{p.Kind, p.Micro, p.Stage}
		x := c.spans[k][nth[k]]
		nth[k]++
		ready := max(free[way], issued, c.complete(x))
		if x.Start < ready {
			return fmt.Errorf("%v starts at %d, before its turn at %d", x.Pass, x.Start, ready)
		}
		if x.Start > ready {
			if at, fits := c.fits(r, ready, x.Start, c.takes(x.Pass), way+1); fits {
				return fmt.Errorf("%v starts at %d; it could have at %d", x.Pass, x.Start, at)
			}
		}
		free[way] = x.End
	}
	return nil
}

// complete returns when the data of a copy is complete: the end of the pass that makes it, or of the last copy in the
// other direction before it.
func (c *proof) complete(x pipeline.Span) (at time.Duration) {
	for _, kind := range []pipeline.Kind{pipeline.Forward, pipeline.Again, pipeline.Out, pipeline.In} {
		for _, y := range c.spans[key{kind, x.Micro, x.Stage}] {
			if kind != x.Kind && y.Start < x.Start {
				at = max(at, y.End)
			}
		}
	}
	return at
}
