package combined

import (
	"errors"
	"slices"
	"sort"
	"time"

	"memtide/engine"
	"memtide/engine/remat"
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

// effort is the work that a solution may still do, in units of about a nanosecond. A search that counts work ends at
// the same place on every machine. Only first searches may exceed the effort, so that there is always a plan.
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

// lowerBound bounds from below the cost of all plans that go on from a label, by the least
// recomputation of the stages that follow.
type lowerBound struct {
	*terms
	needs     [][2]need   // see terms.needs
	rematOnly []rematOnly // by stage; nil if unknown
	slack     int64       // the slack of the last search for rematOnly; unreachable before the first
}

// rematOnly is the least cost of recomputation from a stage on as a function of the room, without a
// link. If a plan offloads bytes from that stage on, the same plan without a link needs that much
// more room. So offloaded bytes count as room here, and also take their time on the link.
type rematOnly struct {
	top   int64   // bytes in which nothing has to be computed again
	steps []lower // both fields rise; the last step needs no bytes
}

// lower is the cost of needing fewer bytes than top.
type lower struct {
	bytes int64
	cost  int64 // ticks of recomputation; in the last step, a lower bound of them
}

func newLowerBound(t *terms, poll *engine.Poll) (*lowerBound, error) {
	needs, err := t.needs(poll)
	return &lowerBound{terms: t, needs: needs, slack: unreachable}, err
}

// sharpen improves the bounds for a search of plans below limit, if limit is much lower than in the last call. Costs
// above the limit are not distinguished. If the table for the limit is too large, a smaller limit takes its place.
func (r *lowerBound) sharpen(limit int64, poll *engine.Poll) error {
	slack := min(limit, 2*r.base[r.n]) - r.base[r.n] // no limit is more than a step that runs everything twice
	if k := r.shared; k.rematOnly != nil && slack <= k.slack {
		r.rematOnly, r.slack = k.rematOnly, slack
	}
	if slack >= r.slack-r.slack/8 || r.rematOnly != nil && (slack <= r.shared.slack || slack/2 >= r.shared.slack) {
		return nil
	}
	r.slack = slack
	for {
		curves, err := remat.Curves(r.chain, time.Duration(slack/r.q), curveBytes, poll)
		switch {
		case err == nil:
			r.keep(curves, slack)
			return nil
		case !errors.Is(err, engine.ErrUnsupported):
			return err
		case slack < r.q:
			return nil
		}
		slack /= 2
	}
}

// keep derives the bounds from the curves of recomputation, which reach up to slack.
func (r *lowerBound) keep(curves [][]remat.Fall, slack int64) {
	r.rematOnly = make([]rematOnly, r.n+1)
	for i, curve := range curves {
		if len(curve) == 0 {
			continue
		}
		a := &r.rematOnly[i]
		a.top = curve[len(curve)-1].Bytes
		for _, c := range slices.Backward(curve) {
			a.steps = append(a.steps, lower{a.top - c.Bytes, int64(c.Extra) * r.q})
		}
		a.steps = append(a.steps, lower{unreachable, slack})
	}
	r.shared.rematOnly, r.shared.slack = r.rematOnly, slack
}

// least returns a lower bound on the cost of all plans that go on from label l before stage i.
func (r *lowerBound) least(i int, l *label) int64 {
	x := 0
	if l.saved {
		x = 1
	}
	if l.held+r.needs[i][x].room > r.room {
		return unreachable
	}
	fwd := r.until[r.n] - r.until[i-1]
	bwd := r.base[r.n] - r.base[i-1] - fwd
	if r.rematOnly == nil || len(r.rematOnly[i].steps) == 0 {
		return l.cost + max(fwd, l.out) + max(bwd, l.in)
	}
	a := &r.rematOnly[i]
	return l.cost + a.least(r, l, l.held+r.input(i, l.saved)+a.top-r.room, fwd, bwd)
}

// least returns a lower bound on the ticks of all plans that go on from label l, which exceeds the
// room by excess bytes. fwd and bwd are the times of the two passes from there on.
func (a *rematOnly) least(r *lowerBound, l *label, excess, fwd, bwd int64) int64 {
	if excess <= 0 {
		return max(fwd, l.out) + max(bwd, l.in)
	}
	// As long as the fetches take longer than the backward pass computes, more recomputation is better.
	x := sort.Search(len(a.steps)-1, func(x int) bool {
		s := &a.steps[x]
		return bwd+s.cost >= l.in+r.in*max(excess-s.bytes, 0)
	})
	best := unreachable
	for _, s := range a.steps[max(x-1, 0):] {
		b := max(excess-s.bytes, 0)
		out, in := l.out+r.out*b, l.in+r.in*b
		best = min(best, max(fwd, out)+max(bwd+s.cost, in))
		if out <= fwd && in <= bwd+s.cost {
			break
		}
	}
	return best
}
