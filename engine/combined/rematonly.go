package combined

import (
	"errors"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/remat"
)

// rematOnly is what recomputation costs from a stage on as a function of the room,
// without a link. The bytes that a plan offloads from that stage on are room that
// the same plan would need without a link. So they count as room here, and take
// their time on the link.
type rematOnly struct {
	top   int64   // bytes at which nothing has to be computed again
	steps []lower // rising in both
}

// lower is a way to need fewer bytes than the top.
type lower struct {
	bytes int64
	cost  int64 // ticks of computing again
}

// addSequences finds rematOnly for every stage, if its table is not too large. Plans of more
// than slack ticks are left out.
func (r *lowerBound) addSequences(slack int64, poll *engine.Poll) error {
	if k := r.shared; k.rematOnly != nil && slack <= k.slack {
		r.rematOnly = k.rematOnly
		return nil
	}
	curves, err := remat.Curves(r.chain, time.Duration(slack/r.q), 16*maxPoints, poll)
	if errors.Is(err, engine.ErrUnsupported) {
		return nil
	} else if err != nil {
		return err
	}
	r.rematOnly = make([]rematOnly, r.n+1)
	for i, curve := range curves {
		a := &r.rematOnly[i]
		for _, c := range slices.Backward(curve) {
			if len(a.steps) == 0 {
				a.top = c.Bytes
			}
			a.steps = append(a.steps, lower{a.top - c.Bytes, int64(c.Extra) * r.q})
		}
	}
	r.shared.rematOnly, r.shared.slack = r.rematOnly, slack
	return nil
}

// least bounds the ticks that plans take from a label before stage i on.
func (a *rematOnly) least(r *lowerBound, i int, l *label) int64 {
	fwd := r.until[r.n] - r.until[i-1]
	bwd := r.base[r.n] - r.base[i-1] - fwd
	excess := l.held + r.input(i, l.saved) + a.top - r.room
	if len(a.steps) == 0 || excess <= 0 {
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
