package operators_test

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/play"
)

// checkPlan verifies what package play claims about a plan, using only the log and the trace. Every operator of
// the step runs once, in order, while its inputs are there, and with room for its outputs. An operator that runs
// again belongs to a segment that allows it. Autograd gets all that it needs, nothing is made or freed twice, and
// the peak, the times and the bytes left and sent follow. It does not verify how long copies take, nor that
// PyTorch does the same.
func checkPlan(t *play.Trace, segments []*play.Segment, said play.Result, log []play.Entry) error {
	c := &planned{t: t, there: map[[2]int]bool{}, count: make([]int, len(t.Storages)), again: make([]bool, len(t.Ops))}
	c.allow(segments)
	for i, e := range log {
		if err := c.entry(e); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
	}
	if c.next != len(t.Ops) {
		return fmt.Errorf("%d of %d operators ran", c.next, len(t.Ops))
	}
	if got := (play.Result{Peak: c.peak, Time: t.Time() + c.twice + said.Copies, Again: c.twice, Left: c.now,
		Sent: c.sent, Copies: said.Copies}); got != said {
		return fmt.Errorf("the log adds up to %+v, and %+v is said", got, said)
	}
	return nil
}

// planned is the state of checkPlan while it follows a log.
type planned struct {
	t         *play.Trace
	again     []bool          // operators that may run again
	there     map[[2]int]bool // by storage and run
	count     []int           // instances of each storage
	now, peak engine.Bytes
	sent      engine.Bytes
	twice     time.Duration
	next      int // the operator of the step that is to run next
}

// allow marks the operators within the calls of segments that may run again.
func (c *planned) allow(segments []*play.Segment) {
	units := map[string]bool{}
	for _, s := range segments {
		if s.Do == play.DoRecompute {
			for _, u := range s.Units {
				units[u] = true
			}
		}
	}
	for _, call := range c.t.Calls {
		for i := call.Op; i < call.End && units[call.Path]; i++ {
			c.again[i] = true
		}
	}
}

func (c *planned) entry(e play.Entry) error {
	key := [2]int{e.ID, e.Run}
	switch e.Kind {
	case play.EntryMade:
		if c.there[key] || c.t.Resident[e.ID] {
			return fmt.Errorf("storage %d of run %d takes room that it has", e.ID, e.Run)
		}
		c.there[key] = true
		c.count[e.ID]++
		c.now += c.t.Storages[e.ID]
		c.peak = max(c.peak, c.now)
	case play.EntryGone:
		if !c.there[key] {
			return fmt.Errorf("storage %d of run %d goes and is not there", e.ID, e.Run)
		}
		delete(c.there, key)
		c.count[e.ID]--
		c.now -= c.t.Storages[e.ID]
	case play.EntrySent:
		if c.count[e.ID] == 0 {
			return fmt.Errorf("storage %d is sent to the host and is not there", e.ID)
		}
		c.sent += c.t.Storages[e.ID]
	case play.EntryNeeded:
		if s := c.t.Keeps[e.ID].Storage; c.count[s] == 0 {
			return fmt.Errorf("autograd asks for storage %d, which is not there", s)
		}
	case play.EntryRan:
		return c.ran(e.ID, e.Run)
	}
	return nil
}

// ran checks that operator i may run now and updates the state. run is 0 in the step itself.
func (c *planned) ran(i, run int) error {
	op := &c.t.Ops[i]
	switch {
	case run == 0 && i != c.next:
		return fmt.Errorf("operator %d runs, and %d is due", i, c.next)
	case run == 0:
		c.next++
	case !c.again[i]:
		return fmt.Errorf("operator %d (%s) runs again, and no segment says so", i, op.Name)
	default:
		c.twice += op.Time
	}
	for _, s := range op.In {
		if !c.t.Resident[s] && c.count[s] == 0 {
			return fmt.Errorf("operator %d (%s) reads storage %d, which is not there", i, op.Name, s)
		}
	}
	for _, s := range op.New {
		if !c.t.Resident[s] && !c.there[[2]int{s, run}] {
			return fmt.Errorf("operator %d (%s) makes storage %d, which has no room", i, op.Name, s)
		}
	}
	c.peak = max(c.peak, c.now+op.Temp)
	return nil
}
