package remat

import (
	"errors"
	"math"

	"memtide/engine"
)

// optimum is the result of solve. If solve stops early, extra and seq belong to the finest grouping
// that was solved, and seq is nil if there is none.
type optimum struct {
	floors *floors // needs by state, in the units of the terms
	extra  int64   // time spent on computing again
	seq    []engine.ChainOp
	group  int // number of stages taken as one; 1 for the chain itself
}

var errNoRoom = errors.New("remat: the room is less than the root of the floors")

// solve finds the persistent optimum of terms. If nothing fits, the error is errNoRoom, and the
// floors say what would fit. found is called with the optimum of every grouping; it may be nil.
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

// coarsest is the largest number of stages taken as one. Groupings of fewer than fewestGroups groups are not solved.
const (
	coarsest     = 16
	fewestGroups = 12
)

// finestOutputOnly is the smallest number of stages taken as one without F_all. Such groups keep all
// their outputs and are far from the optimum: they only give a result if time runs out soon. A
// schedule of groups of 16 is one of the chain, but not one of groups of 8, so its limit is not
// certain there. The chain itself is solved with limits that double.
const finestOutputOnly = 4

// From one grouping to the next, the optimum falls. On the chains that were measured, its ratio to
// the last optimum is at most the ratio before to the power of groupFall, or of lastFall when the
// last groups are taken apart. If that guess is too low, the table is filled once more.
const (
	groupFall = 0.7
	lastFall  = 1.3
)

// falling guesses the next optimum of a falling row, from the last two, now and before. It returns
// now, which certainly suffices as a limit, if the guess is hardly lower.
func falling(now, before int64, power float64) int64 {
	guess := engine.Int64(float64(now) * math.Pow(float64(now)/float64(before), power) * 1.01)
	if guess > now-now/32 {
		return now
	}
	return guess
}

// start returns a limit for the table and a guess that is at most the limit and may be too low.
// certain reports whether the limit suffices; otherwise it is only a beginning.
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
		if !certain || t.outputOnly { // otherwise the groups of the last grouping consist of these groups
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

// deepen fills the table with rising limits until the root has a value, and returns the value. The
// chain must fit. certain means that limit suffices.
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
		step := limit * 2 / 5
		if x.outputOnly {
			step = limit
		}
		limit = min(most, limit+step+1)
	}
}

// floors is the recursion of Theorem 1 without times: least[s][u] is the smallest m with which stages s..u can be done.
type floors struct {
	t     *terms
	least [][]int64
}

// Floors returns the least bytes with which the stages from s to u can be done, besides the input of s, by s and u.
func Floors(c *engine.Chain, poll *engine.Poll) ([][]int64, error) {
	f, err := newFloors(byStage(c), poll)
	if err != nil {
		return nil, err
	}
	return f.least, nil
}

// newFloors fills the table, in time proportional to the cube of the number of stages.
func newFloors(t *terms, poll *engine.Poll) (*floors, error) {
	least := make([][]int64, t.n+2)
	columns := make([][]int64, t.n+1) // columns[u][j]: a^{j-1} + least[j][u], contiguous for the inner loop
	for u := range columns {
		columns[u] = make([]int64, u+1)
	}
	for s := t.n; s >= 1; s-- {
		row := make([]int64, t.n+1)
		least[s] = row
		row[s] = t.single[s]
		columns[s][s] = t.in[s] + row[s]
		mid := int64(0) // largest mid of s+1..u-1
		for u := s + 1; u <= t.n; u++ {
			if err := poll.Err(); err != nil {
				return nil, err
			}
			best := int64(math.MaxInt64)
			if !t.outputOnly {
				best = max(t.all(s, u), t.saved[s]+least[s+1][u])
			}
			none := t.held[u] + max(t.first[s], mid)
			if none < best {
				right := columns[u][s+1:]
				for i, left := range row[s : s+len(right)] {
					best = min(best, max(left, right[i]))
				}
				best = max(best, none)
			}
			row[u] = best
			columns[u][s] = t.in[s] + best
			mid = max(mid, t.mid[u])
		}
	}
	return &floors{t, least}, nil
}

// root returns the smallest room for the whole chain.
func (f *floors) root() int64 { return f.least[1][f.t.n] }

// neediest returns the operation that needs root. It follows the choices that attain root down to that operation.
func (f *floors) neediest() engine.ChainOp {
	s, u := 1, f.t.n
	for s < u {
		want := f.least[s][u]
		if !f.t.outputOnly && max(f.t.all(s, u), f.t.saved[s]+f.least[s+1][u]) == want {
			if f.t.all(s, u) == want {
				break // F_all^s or B^s
			}
			s++
			continue
		}
		none := f.t.none(s, u)
		if none == want {
			return f.neediestForward(s, u)
		}
		for j := s + 1; j <= u; j++ {
			if max(none, f.t.in[j]+f.least[j][u], f.least[s][j-1]) == want {
				if f.least[s][j-1] == want {
					u = j - 1
				} else {
					s = j
				}
				break
			}
		}
	}
	if f.t.held[u]+f.t.allFwd[s] > f.t.allBwd[s] {
		return engine.ChainOp{Kind: engine.FAll, Stage: s}
	}
	return engine.ChainOp{Kind: engine.BStep, Stage: s}
}

// neediestForward returns the forward of stages s..u-1 that needs m_none(s,u).
func (f *floors) neediestForward(s, u int) engine.ChainOp {
	worst, need := s, f.t.first[s]
	for j := s + 1; j < u; j++ {
		if f.t.mid[j] > need {
			worst, need = j, f.t.mid[j]
		}
	}
	return engine.ChainOp{Kind: engine.FNone, Stage: worst}
}
