package combined

import (
	"errors"
	"slices"
	"sort"
	"time"

	"memtide/engine"
	"memtide/engine/remat"
)

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

// sharpen improves the bounds for a search of plans below limit, if limit is much lower than in the
// last call. Costs above the limit are not distinguished. If the table for the limit is too large,
// a smaller limit takes its place.
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
	// As long as the fetches take longer than the backward pass computes, more recomputation is
	// better.
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
