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
	if t.total() > math.MaxInt64/int64(4*t.n+4) {
		return nil, errTooLong
	}
	t.scale()
	f, err := newFloors(t, poll)
	if err != nil {
		return nil, err
	}
	o := &optimum{floors: f}
	if f.root() > t.room {
		return o, errNoRoom
	}
	err = errTooLarge
	if use.narrow {
		err = solveIn[int32](o, t, use, poll)
	}
	if err == errTooLarge {
		err = solveIn[int64](o, t, use, poll)
	}
	if err == errTooLarge {
		err = errTooLong
	}
	return o, err
}

// coarsest is the largest group of stages, and fewestGroups the shortest
// grouped chain that is worth solving first.
const (
	coarsest     = 16
	fewestGroups = 12
)

// solveIn solves with integers of one width.
func solveIn[T unit](o *optimum, t *terms, use tricks, poll *engine.Poll) error {
	var limit, before T // optimum of the last grouping and of the one before it
	known := false
	for g := coarsest; g > 1; g /= 2 {
		if !use.coarse || !use.limit || (t.n-1)/g < fewestGroups {
			continue
		}
		grouped := t.group(g)
		f, err := newFloors(grouped, poll)
		if err != nil {
			return err
		}
		if f.root() > t.room {
			continue
		}
		x, err := newTable[T](grouped, use, poll)
		if err != nil {
			return err
		}
		if !known {
			limit = x.until[x.n+1] / 16
		}
		v, err := x.deepen(limit, known)
		if err != nil {
			return err
		}
		before, limit, known = limit, v, true
		o.extra, o.seq, o.group = int64(v)+t.again(), t.ungroup(x.trace(), g), g
	}
	x, err := newTable[T](t, use, poll)
	if err != nil {
		return err
	}
	if known && before > limit {
		// The optimum falls from grouping to grouping at a similar rate.
		guess := T(float64(limit) * float64(limit) / float64(before) * 1.01)
		if _, err := x.fill(min(guess, limit)); err != nil {
			return err
		}
	}
	v, ok := x.value(1, x.n, x.room)
	if !ok || v > x.limit {
		if !known {
			limit = x.until[x.n+1] / 16
		}
		if v, err = x.deepen(limit, known); err != nil {
			return err
		}
	}
	o.extra, o.seq, o.group = int64(v)+t.again(), x.trace(), 1
	return nil
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
		limit = T(min(most, int64(limit+limit*2/5+1)))
	}
}
