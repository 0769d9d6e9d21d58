package remat

import (
	"errors"
	"math"

	"memtide/engine"
)

// optimum is what solve finds. If it has to stop early, extra and seq are those
// of the finest grouping that was solved, and seq is nil if there is none.
type optimum struct {
	floors *floors // needs by state, in units of the terms
	extra  int64   // time spent on computing again, in units of the terms
	seq    []engine.ChainOp
	group  int // number of stages taken as one; 1 for the optimum
}

var errNoRoom = errors.New("remat: the room is less than the root of the floors")

// solve finds the persistent optimum of terms. If the chain does not fit, the
// error is errNoRoom and the floors say what would do. found, which may be nil, is
// called with the schedules of groups.
func solve(t *terms, use tricks, found func(*optimum), poll *engine.Poll) (*optimum, error) {
	o := &optimum{}
	if t.tooLong() {
		return o, errTooLong
	}
	var err error
	if o.floors, err = newFloors(t, poll); err != nil {
		return o, err
	}
	if o.floors.root() > t.room {
		return o, errNoRoom
	}
	x := newTable(t, use, poll)
	limit, guess, known, err := x.start(o, t, found)
	if err != nil {
		return o, err
	}
	if guess < limit {
		if _, err := x.fill(guess); err != nil {
			return o, err
		}
	}
	v, ok := x.value(1, x.n, x.room)
	if !ok || v > x.limit {
		v, err = x.deepen(limit, known)
		if err != nil {
			return o, err
		}
	}
	o.extra, o.seq, o.group = v+t.repeatedForward(), x.trace(), 1
	return o, nil
}

// coarsest is the largest group of stages, and fewestGroups the shortest
// grouped chain that is worth solving first.
const (
	coarsest     = 16
	fewestGroups = 12
)

// Without F_all, groups keep all their outputs and are far from the optimum:
// they only give something for the case that the time is over soon. What is a
// schedule of groups of 16 is one of the chain, but none of groups of 8, so that
// its limit is not certain there. The chain itself is solved with limits that
// double.
const finestOutputOnly = 4

// From grouping to grouping the optimum falls, on the chains that were measured by
// at least this power of the rate at which it fell before, and most when the last
// groups are taken apart. If it does not, the table is filled once more.
const (
	groupFall = 0.7
	lastFall  = 1.3
)

// falling guesses the next optimum in a row of them, if it is worth it: now is
// certain to suffice.
func falling(now, before int64, power float64) int64 {
	guess := engine.Int64(float64(now) * math.Pow(float64(now)/float64(before), power) * 1.01)
	if guess > now-now/32 {
		return now
	}
	return guess
}

// start finds a limit, which is certain to suffice or only a beginning, and a
// guess that is lower and may not suffice.
func (x *table) start(o *optimum, t *terms, found func(*optimum)) (limit, guess int64, certain bool, err error) {
	if t.room >= t.keepAll() {
		return 0, 0, true, nil
	}
	var before int64 // optimum of the grouping before the last one
	for g := coarsest; g > 1; g /= 2 {
		if !x.use.coarse || !x.use.limit || (t.n-1)/g < fewestGroups || t.outputOnly && g < finestOutputOnly {
			continue
		}
		grouped := t.group(g)
		if !certain || t.outputOnly { // else the groups before were groups of these
			f, err := newFloors(grouped, x.poll)
			if err != nil {
				return 0, 0, false, err
			}
			if f.root() > t.room {
				continue
			}
		}
		y := newTable(grouped, x.use, x.poll)
		if !certain {
			limit = y.until[y.n+1] / 16
		}
		v, ok := int64(0), false
		if certain && !t.outputOnly && before > limit {
			ok, err = y.fill(falling(limit, before, groupFall))
			if err != nil {
				return 0, 0, false, err
			}
			v, _ = y.value(1, y.n, y.room)
		}
		if !ok {
			v, err = y.deepen(limit, certain && !t.outputOnly)
			if err != nil {
				return 0, 0, false, err
			}
		}
		if certain && v >= limit {
			continue
		}
		before, limit, certain = limit, v, true
		o.extra, o.seq, o.group = v+t.repeatedForward(), t.ungroup(y.trace(), g), g
		if found != nil {
			found(o)
		}
	}
	if !certain {
		limit = x.until[x.n+1] / 16
	}
	if t.outputOnly {
		limit, certain = min(limit, x.until[x.n+1]/256), false
	}
	guess = limit
	if certain && before > limit {
		guess = falling(limit, before, lastFall)
	}
	return limit, guess, certain, nil
}

// deepen fills the table with rising limits until the root has a value. It is
// for chains that fit; certain says that the limit is one that suffices.
func (x *table) deepen(limit int64, certain bool) (int64, error) {
	// No stage runs more often than there are stages.
	most := x.until[x.n+1] * int64(x.n)
	if !x.use.limit {
		limit = most
	}
	for {
		found, err := x.fill(limit)
		if err != nil {
			return 0, err
		}
		if found {
			v, _ := x.value(1, x.n, x.room)
			return v, nil
		}
		if certain || limit >= most {
			panic("remat: no schedule within a limit that suffices")
		}
		more := limit * 2 / 5
		if x.outputOnly {
			more = limit
		}
		limit = min(most, limit+more+1)
	}
}
