package combined

import (
	"errors"

	"memtide/engine"
)

// optimum is the result of solve.
type optimum struct {
	cost  int64       // ticks of the best plan
	bound int64       // ticks: no plan takes less
	plans [][]segment // the plans that were the best when they were found, the best one last
	note  string      // the reason if cost is above bound

	ceiling  int64 // limit at the start of the search
	searches int   // searches that have ended
}

// widths are the numbers of labels kept per stage and kind, for one search after the other. Each
// search gives the next one a smaller upper bound. The last width, 0, keeps all labels.
var widths = []int{12, 30, 300, 3000, 0}

// Limits of the searches. The first four keep the memory below 200 MB: see tables.
const (
	maxTriples = 3 << 19 // 24 bytes each
	maxPoints  = 2 << 21 // 16 bytes each, in remat.Curves
	maxLabels  = 500_000 // 48 bytes each, in lists with a capacity of twice as many
	maxLinks   = 3 << 20 // 12 bytes each
	plansKept  = 12      // plans kept per search
	thinned    = 8       // triples per segment in the first search, for short chains
	thinnest   = 3       // the same for long chains
	long       = 125     // chains with more stages skip the narrowest search
	narrowest  = 24      // width of a search that has to find any plan
)

// curveBytes bounds the memory of remat.Curves. It is a variable so that tests can change it.
var curveBytes = 16 * maxPoints

// effort is the work that a solution may still do, in units of about a nanosecond. A search that
// counts work ends at the same place on every machine. Only first searches may exceed the effort,
// so that there is always a plan.
type effort struct{ left int64 }

const (
	modelEffort = 4e9 // for plans of the paper's model
	wholeEffort = 2e9 // additional effort for whole transfers
	perPair     = 25  // a pair of triples
	perRun      = 60  // a run of a timeline
	perLabel    = 80
)

// spend subtracts work, and reports whether any effort was left for it.
func (e *effort) spend(work int64) bool {
	e.left -= work
	return e.left >= 0
}

var errTooMany = errors.New("combined: more states than time and memory are meant for")

// solve finds the best plan that costs less than limit, by searches of rising width. If the error
// is not nil, the plans are the best found so far, possibly none.
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

// search runs one search of the given width and adds its plans and its bound.
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

// search runs one sweep over the labels. It fills the fronts first if they are empty.
func search(f *fronts, r *lowerBound, limit int64, width int) (*sweep, error) {
	if f.rows == nil {
		if err := f.fill(); err != nil {
			f.rows = nil
			return nil, err
		}
	}
	s := &sweep{terms: f.terms, f: f, poll: f.poll, width: width, best: limit, last: -1, lower: r, least: unreachable,
		open: make([][]label, 2*(f.n+2)), cleaned: make([]int, 2*(f.n+2))}
	err := s.run()
	return s, err
}
