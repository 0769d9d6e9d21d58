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

// solve finds the persistent optimum of terms, which it scales. If the chain
// does not fit, the error is errNoRoom and the floors say what would do.
func solve(t *terms, use tricks, poll *engine.Poll) (*optimum, error) {
	f, err := prepare(t)
	if err != nil {
		return nil, err
	}
	return f.solve(t, use, unbounded, poll)
}

// prepare scales the terms; their needs by state are found when they are asked
// for. Neither depends on the room.
func prepare(t *terms) (*floors, error) {
	if t.total() > math.MaxInt64/int64(4*t.n+4) {
		return nil, errTooLong
	}
	t.scale()
	return &floors{t: t}, nil
}

// bounds are what is known of an optimum before it is found; -1: nothing.
type bounds struct {
	upper int64 // it is no more than this
	guess int64 // it may be no more than this, which is less
}

var unbounded = bounds{-1, -1}

// solve finds the optimum of scaled terms whose needs by state are f.
func (f *floors) solve(t *terms, use tricks, known bounds, poll *engine.Poll) (*optimum, error) {
	o := &optimum{floors: f}
	if fits, err := f.fit(t, use, poll); err != nil {
		return o, err
	} else if !fits {
		return o, errNoRoom
	}
	if t.room >= t.keepAll() {
		known = bounds{upper: 0, guess: -1}
	}
	err := errTooLarge
	if use.narrow {
		err = solveIn[int32](o, t, use, known, poll)
	}
	if err == errTooLarge {
		err = solveIn[int64](o, t, use, known, poll)
	}
	if err == errTooLarge {
		err = errTooLong
	}
	if err == errTableFull && o.seq == nil && known != unbounded {
		return f.solve(t, use, unbounded, poll) // groups have a schedule at least
	}
	return o, err
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
func falling[T unit](now, before T, power float64) T {
	guess := engine.Int64(float64(now) * math.Pow(float64(now)/float64(before), power) * 1.01)
	if guess > int64(now-now/32) {
		return now
	}
	return T(guess)
}

// solveIn solves with integers of one width.
func solveIn[T unit](o *optimum, t *terms, use tricks, ahead bounds, poll *engine.Poll) error {
	x, err := newTable[T](t, use, poll)
	if err != nil {
		return err
	}
	limit, guess, known, err := x.start(o, t, ahead)
	if err != nil {
		return err
	}
	if guess < limit {
		if _, err := x.fill(guess); err != nil {
			return err
		}
	}
	v, ok := x.value(1, x.n, x.room)
	if !ok || v > x.limit {
		v, err = x.deepen(limit, known)
		if err != nil {
			return err
		}
	}
	o.extra, o.seq, o.group = int64(v)+t.repeatedForward(), x.trace(), 1
	return nil
}

// start finds a limit, which is certain to suffice or only a beginning, and a
// guess that is lower and may not suffice.
func (x *table[T]) start(o *optimum, t *terms, ahead bounds) (limit, guess T, certain bool, err error) {
	if ahead.upper >= 0 {
		if ahead.upper >= int64(largest[T]())/2 {
			return 0, 0, false, errTooLarge
		}
		limit, guess = T(ahead.upper), T(ahead.upper)
		if ahead.guess >= 0 {
			guess = T(ahead.guess)
		}
		return limit, guess, true, nil
	}
	var before T // optimum of the grouping before the last one
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
		y, err := newTable[T](grouped, x.use, x.poll)
		if err != nil {
			return 0, 0, false, err
		}
		if !certain {
			limit = y.until[y.n+1] / 16
		}
		v, ok := T(0), false
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
		o.extra, o.seq, o.group = int64(v)+t.repeatedForward(), t.ungroup(y.trace(), g), g
		if o.floors.found != nil {
			o.floors.found(o)
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
func (x *table[T]) deepen(limit T, certain bool) (T, error) {
	// No stage runs more often than there are stages.
	most := int64(x.until[x.n+1]) * int64(x.n)
	if !x.use.limit {
		limit = T(min(most, int64(largest[T]())))
		if most > int64(largest[T]()) {
			return 0, errTooLarge
		}
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
		if certain || int64(limit) >= most {
			panic("remat: no schedule within a limit that suffices")
		}
		if limit >= largest[T]()/2 {
			return 0, errTooLarge
		}
		more := limit * 2 / 5
		if x.outputOnly {
			more = limit
		}
		limit = T(min(most, int64(limit+more+1)))
	}
}
