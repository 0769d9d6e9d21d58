package combined

import (
	"errors"

	"memtide/engine"
)

// optimum is what solve finds.
type optimum struct {
	cost  int64       // ticks of the best plan
	bound int64       // ticks of which no plan takes less
	plans [][]segment // the plans that were the best at some time, the best one last
	note  string      // why cost is above bound, if it is

	ceiling  int64 // the limit that the search began with
	searches int   // that are over
}

// widths are the labels per stage and kind of the searches that come before the
// full one: each finds an upper bound that makes the next one smaller.
var widths = []int{12, 30, 300, 3000, 0}

// Limits that keep the memory below 200 MB: see tables.
const (
	maxTriples = 3 << 19 // of 24 bytes
	maxPoints  = 2 << 21 // of 16 bytes, of remat.Curves
	maxLabels  = 500_000 // of 48 bytes, in lists with room for twice as many
	maxLinks   = 3 << 20 // of 12 bytes
	plansKept  = 12      // per search
	thinned    = 8       // triples per segment of a first search, of short chains
	thinnest   = 3       // and of long ones
	long       = 125     // stages from which the narrowest search is left out
	narrowest  = 24      // width of a search that only has to find something
)

// curveBytes bounds remat.Curves. It is a variable for the tests.
var curveBytes = 16 * maxPoints

// effort is how much work a solution may take, in units of about a nanosecond:
// so it ends at the same place on every machine. Only first searches may exceed it,
// so that there is a plan.
type effort struct{ left int64 }

const (
	modelEffort = 4e9 // for the paper's model
	wholeEffort = 2e9 // more, for schedules of whole transfers
	perPair     = 25  // of triples
	perRun      = 60  // of a timeline
	perLabel    = 80
)

// spend takes work off, and says whether some is left.
func (e *effort) spend(work int64) bool {
	e.left -= work
	return e.left >= 0
}

var errTooMany = errors.New("combined: more states than time and memory are meant for")

// solve finds the best plan that costs less than limit, by searches of rising
// widths. If the error is not nil the plans are the best so far; there may be none.
func solve(t *terms, limit int64, steps []int, poll *engine.Poll) (*optimum, error) {
	base := t.base[t.n]
	o := &optimum{cost: limit, bound: base, ceiling: limit}
	r, err := newLowerBound(t, poll)
	if err != nil {
		return o, err
	}
	if t.n > long {
		steps = steps[1:]
	}
	if err := r.sharpen(limit, poll); err != nil {
		return o, err
	}
	o.bound = min(limit, max(base, r.least(1, &label{})))
	for x, width := range steps {
		if o.bound >= o.cost {
			break
		}
		thin := 0
		if x == 0 && width > 0 {
			thin = max(thinnest, min(thinned, 1000/t.n))
		}
		if err := r.sharpen(o.cost, poll); err != nil {
			return o, err
		}
		err := o.search(t.frontsOf(o.cost-1-base, thin, poll), r, width)
		if errors.Is(err, errTooMany) {
			o.note = "The search was stopped before its end, to bound its time and memory."
			if thin == 0 {
				break
			}
		} else if err != nil {
			return o, err
		}
		o.searches = x + 1
		if t.found != nil && len(o.plans) > 0 {
			t.found(o)
		}
	}
	if o.bound >= o.cost {
		o.note = ""
	}
	return o, nil
}

// search adds what one run of a width finds.
func (o *optimum) search(f *fronts, r *lowerBound, width int) error {
	s, err := search(f, r, o.cost, width)
	if s == nil {
		return err
	}
	if s.last >= 0 {
		o.cost = s.best
		for _, last := range s.lasts[max(0, len(s.lasts)-plansKept):] {
			o.plans = append(o.plans, s.plan(last))
		}
	}
	if f.thin == 0 {
		o.bound = max(o.bound, min(s.best, s.least))
	}
	return err
}

// search is one run through fronts, which are filled if they are not, and labels.
func search(f *fronts, r *lowerBound, limit int64, width int) (*sweep, error) {
	if f.rows == nil {
		if err := f.fill(); err != nil {
			f.rows = nil
			return nil, err
		}
	}
	s := newSweep(f, r, limit, f.poll)
	s.width = width
	err := s.run()
	return s, err
}
