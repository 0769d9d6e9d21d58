package check_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	_ "memtide/engine/lanes"
	"memtide/engine/sim"
)

// lanesPlayed plays a random schedule of a problem with operations of all lanes within a budget that may delay it. It
// returns nil if the schedule does not fit.
func lanesPlayed(t *testing.T, seed uint64) *played {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 18))
	sc := scales[r.IntN(len(scales))]
	p, s := enginetest.Lanes(r, sc.bytes, sc.time, sc.rate)
	if err := p.Validate(); err != nil {
		t.Fatalf("seed %d: %v; expected a valid problem", seed, err)
	}
	free, err := sim.Play(p, s)
	if err != nil {
		t.Fatalf("seed %d: %v\nwithout limit: %v; expected a trace", seed, lanesText(&played{p, s, nil}), err)
	}
	p = p.WithBudget(free.Peak - engine.Bytes(r.IntN(5))*sc.bytes)
	tr, err := sim.Play(p, s)
	var stuck *sim.StuckError
	if errors.As(err, &stuck) || p.Budget < 0 {
		return nil
	}
	if err != nil {
		t.Fatalf("seed %d: %v\n%v; expected a trace or a *sim.StuckError", seed, lanesText(&played{p, s, nil}), err)
	}
	return &played{p, s, tr}
}

func lanesText(c *played) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v, budget %d, fixed %d, link %d\n", c.p.Device.Duplex, c.p.Budget, c.p.Graph.Fixed,
		c.p.Device.ToDev)
	for i, v := range c.p.Graph.Values {
		fmt.Fprintf(&b, "value %d %+v\n", i, v)
	}
	for i, op := range c.p.Graph.Ops {
		fmt.Fprintf(&b, "op %d %+v\n", i, op)
	}
	for i, st := range c.s {
		fmt.Fprintf(&b, "  %d %s, not before %v\n", i, st.Describe(c.p.Graph), st.NotBefore)
	}
	if c.t != nil {
		for i, sp := range c.t.Spans {
			fmt.Fprintf(&b, "span %d: %+v\n", i, sp)
		}
		fmt.Fprintf(&b, "gaps %+v\nmemory %+v\nhost %v\nlives %+v\n", c.t.Gaps, c.t.Memory, c.t.Host, c.t.Lives)
	}
	return b.String()
}

// Traces with operations of all lanes are accepted.
func TestLanesAreAccepted(t *testing.T) {
	var accepted int
	var ran [sim.NumLanes]int
	var waited [sim.NumReasons]int
	for seed := range uint64(20000) {
		c := lanesPlayed(t, seed)
		if c == nil {
			continue
		}
		if err := check.Trace(c.p, c.s, c.t); err != nil && !noStep(err) {
			t.Fatalf("seed %d: %v; expected no refutation\n%v", seed, err, lanesText(c))
		}
		accepted++
		for _, sp := range c.t.Spans {
			ran[sp.Lane]++
		}
		for why, d := range c.t.Waiting {
			if d > 0 {
				waited[why]++
			}
		}
	}
	t.Logf("%d accepted, spans by lane %v, waits by reason %v", accepted, ran, waited)
	if accepted < 4000 || slices.Min(ran[:]) < 500 ||
		min(waited[sim.NeedsData], waited[sim.NeedsRoom], waited[sim.CopyOut], waited[sim.Drain]) < 50 {
		t.Errorf("%d accepted, spans by lane %v, waits by reason %v; expected at least 4000, 500 of each, 50 for data, room, copies and the end", accepted, ran, waited)
	}
}

// noStep reports whether a trace was refuted because its schedule is not a training step.
func noStep(err error) bool {
	var ref *check.Refutation
	return errors.As(err, &ref) &&
		(ref.Reason == check.BackwardTwice || ref.Reason == check.OnceTwice || ref.Reason == check.Incomplete)
}

// A trace in which one time or one copy is changed is refuted.
func TestLanesBrokenAreRefuted(t *testing.T) {
	breaks := map[string]func(r *rand.Rand, c *played) bool{
		"an operation of another lane starts and ends earlier": func(r *rand.Rand,
			c *played) bool {
			return shift(r, c, -time.Nanosecond)
		},
		"an operation of another lane starts and ends later": func(r *rand.Rand,
			c *played) bool {
			return shift(r, c, time.Nanosecond)
		},
		"another lane": func(r *rand.Rand, c *played) bool {
			sp := queued(r, c)
			if sp != nil {
				sp.Lane = sim.Network + sim.CPU - sp.Lane
			}
			return sp != nil
		},
		"a shorter operation": func(r *rand.Rand, c *played) bool {
			sp := queued(r, c)
			if sp == nil || sp.End == sp.Start {
				return false
			}
			sp.End--
			return true
		},
		"a copy of the network stays for longer": func(r *rand.Rand, c *played) bool {
			for i := range c.t.Lives {
				l := &c.t.Lives[i]
				if l.Bytes > 0 && l.From != sim.NoSpan && c.t.Spans[l.From].Lane == sim.Network &&
					l.End < c.t.Makespan {
					l.End++
					return true
				}
			}
			return false
		},
		"no room on the host for what it makes": func(r *rand.Rand, c *played) bool {
			if len(c.t.Host) == 0 || c.t.HostPeak == 0 {
				return false
			}
			c.t.Host, c.t.HostPeak = nil, 0
			return true
		},
		"another cause": func(r *rand.Rand, c *played) bool {
			sp := queued(r, c)
			if sp == nil || sp.Why != sim.NeedsData || sp.Start == 0 {
				return false
			}
			for i := range c.t.Spans {
				if c.t.Spans[i].End < sp.Start {
					sp.Cause = sim.SpanID(i)
					return true
				}
			}
			return false
		},
	}
	for what, change := range breaks {
		refuted := 0
		for seed := range uint64(1500) {
			c := lanesPlayed(t, seed)
			if c == nil || check.Trace(c.p, c.s, c.t) != nil || !change(rand.New(rand.NewPCG(seed, 5)), c) {
				continue
			}
			if check.Trace(c.p, c.s, c.t) == nil {
				t.Fatalf("seed %d, %s: accepted; expected a refutation\n%v", seed, what, lanesText(c))
			}
			refuted++
		}
		if refuted < 30 {
			t.Errorf("%s: %d traces were refuted; expected at least 30", what, refuted)
		}
	}
}

// queued returns a random span of the network or the CPU, or nil.
func queued(r *rand.Rand, c *played) *sim.Span {
	var ids []int
	for i := range c.t.Spans {
		if c.t.Spans[i].Lane >= sim.Network {
			ids = append(ids, i)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return &c.t.Spans[ids[r.IntN(len(ids))]]
}

func shift(r *rand.Rand, c *played, by time.Duration) bool {
	sp := queued(r, c)
	if sp == nil || sp.Start+by < 0 {
		return false
	}
	sp.Start += by
	sp.End += by
	return true
}
