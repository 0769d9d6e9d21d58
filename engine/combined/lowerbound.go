package combined

import (
	"errors"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/remat"
)

// lowerBound bounds from below what a plan still costs when it stands before stage i: by
// what recomputation alone costs from there on.
type lowerBound struct {
	*terms
	needs     [][2]need   // see terms.needs
	rematOnly []rematOnly // by i; nil: not known
	slack     int64       // that rematOnly was looked for with; unreachable: it was not
}

// rematOnly is what recomputation costs from a stage on as a function of the room,
// without a link. The bytes that a plan offloads from that stage on are room that
// the same plan would need without a link. So they count as room here, and take
// their time on the link.
type rematOnly struct {
	top   int64   // bytes at which nothing has to be computed again
	steps []lower // rising in both; the last one does without any of these bytes
}

// lower is a way to need fewer bytes than the top.
type lower struct {
	bytes int64
	cost  int64 // ticks of computing again; of the last one, less than it takes
}

func newLowerBound(t *terms, poll *engine.Poll) (*lowerBound, error) {
	needs, err := t.needs(poll)
	return &lowerBound{terms: t, needs: needs, slack: unreachable}, err
}

// sharpen makes the bounds better for a search of plans below a limit, if that is much
// closer than the one before. What takes longer than the limit is not told apart, and
// where the table for that is too large, nor is what takes longer than a part of it.
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

// keep makes bounds of what computing again costs, up to slack.
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

// least bounds the cost of all plans that go on from a label before stage i.
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

// least bounds the ticks that plans take from a label on which has some bytes too many; fwd
// and bwd are the times of the passes from there on.
func (a *rematOnly) least(r *lowerBound, l *label, excess, fwd, bwd int64) int64 {
	if excess <= 0 {
		return max(fwd, l.out) + max(bwd, l.in)
	}
	// While the transfers of the backward pass take longer than what it computes,
	// computing more is better.
	x, hi := 0, len(a.steps)-1
	for x < hi {
		mid := (x + hi) / 2
		if s := &a.steps[mid]; bwd+s.cost < l.in+r.in*max(excess-s.bytes, 0) {
			x = mid + 1
		} else {
			hi = mid
		}
	}
	best := unreachable
	for x = max(x-1, 0); x < len(a.steps); x++ {
		s := &a.steps[x]
		b := max(excess-s.bytes, 0)
		out, in := l.out+r.out*b, l.in+r.in*b
		best = min(best, max(fwd, out)+max(bwd+s.cost, in))
		if out <= fwd && in <= bwd+s.cost {
			break
		}
	}
	return best
}
