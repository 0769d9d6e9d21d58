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
var widths = []int{30, 300, 3000, 0}

// Limits that keep the tables below 100 MB, so that the heap stays below 200.
const (
	maxTriples = 3 << 19 // of 24 bytes
	maxPoints  = 2 << 21 // of 16 bytes, of curves
	maxLabels  = 500_000 // of 56 bytes
	maxLinks   = 3 << 20 // of 12 bytes
	plansKept  = 12      // per search
	thinned    = 24      // triples per segment of a first search, of short chains
	thinnest   = 3       // and of long ones
	narrowest  = 24      // width of a search that only has to find something
)

// effort is how much work a solution may take, in units of about a nanosecond:
// so it ends at the same place on every machine. Only first searches may exceed it,
// so that there is a plan.
type effort struct{ left int64 }

const (
	modelEffort = 4e9 // for the paper's model
	wholeEffort = 2e9 // more, for schedules of whole transfers
	curveEffort = 2e9 // of it, for what recomputation alone costs
	perPair     = 25  // of triples
	perPoint    = 6   // of a curve
	perRun      = 60  // of a timeline
)

// spend takes work off, and says whether some is left.
func (e *effort) spend(work int64) bool {
	e.left -= work
	return e.left >= 0
}

var errTooMany = errors.New("combined: more states than time and memory are meant for")

// solve finds the best plan that costs less than limit, by searches of rising
// widths. If the error is not nil the plans are the best so far; there may be none.
func solve(t *terms, limit int64, use tricks, steps []int, poll *engine.Poll) (*optimum, error) {
	base := t.base[t.n]
	o := &optimum{cost: limit, bound: base, ceiling: limit}
	r, err := newRest(t, poll)
	if err != nil {
		return o, err
	}
	start := label{}
	o.bound = min(limit, max(base, r.least(1, &start, unreachable)))
	if o.bound == limit {
		return o, nil
	}
	if !use.coarse {
		steps = []int{0}
	}
	sharp := false // the bounds have the costs of sequences
	for x, width := range steps {
		thin := 0
		if x == 0 && width > 0 {
			thin = max(thinnest, min(thinned, 1000/t.n))
		} else if !sharp && use.volume {
			sharp = true
			if err := r.addSequences(o.cost-base, poll); err != nil {
				return o, err
			}
		}
		s, err := search(t, r, o.cost, width, thin, use, poll)
		if s != nil {
			if s.last >= 0 {
				o.cost = s.best
				for _, last := range s.lasts[max(0, len(s.lasts)-plansKept):] {
					o.plans = append(o.plans, s.plan(last))
				}
			}
			if thin == 0 {
				o.bound = max(o.bound, min(s.best, s.least))
			}
		}
		if errors.Is(err, errTooMany) {
			o.note = "The search was stopped before its end, to bound its time and memory."
			err = nil
			if thin == 0 {
				break
			}
		}
		if err != nil {
			return o, err
		}
		if o.searches = x + 1; t.found != nil && len(o.plans) > 0 {
			t.found(o)
		}
		if o.bound >= o.cost {
			break
		}
	}
	if o.bound >= o.cost {
		o.note = ""
	}
	return o, nil
}

// search is one run through fronts and labels.
func search(t *terms, r *rest, limit int64, width, thin int, use tricks, poll *engine.Poll) (*sweep, error) {
	f := &fronts{terms: t, use: use, slack: limit - 1 - t.base[t.n], thin: thin, poll: poll}
	if err := f.fill(); err != nil {
		return nil, err
	}
	s := newSweep(f, r, limit, poll)
	s.width = width
	err := s.run()
	return s, err
}
