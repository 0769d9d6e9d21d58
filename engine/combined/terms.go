package combined

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"memtide/engine"
	"memtide/engine/remat"
)

// terms are the quantities of a chain, named after the symbols of paper 001, by stage 1..n. Sizes are bytes. Times are
// ticks: there are q ticks in a nanosecond, and q is chosen so that a byte takes a whole number of ticks in either
// direction, out and in. If no such q keeps sums in the range of an integer, out and in are rounded down and exact is
// false. The results are then lower bounds: those of a link that needs less time per byte, by less than a tick.
type terms struct {
	chain      *engine.Chain
	n          int
	fwd, bwd   []int64 // [u_F, u_B]
	act        []int64 // [|a^k|], k = 0..n
	saved      []int64 // [|abar^k|], and saved[0] = act[0]
	fwdT, bwdT []int64 // [o_F, o_B]
	grad       []int64 // [|delta^k|], k = 0..n
	held       []int64 // gradient on the device while earlier stages run
	room       int64   // [M] budget less resident memory
	until      []int64 // forward time of stages 1..k
	base       []int64 // forward and backward time of stages 1..k
	out, in    int64   // ticks that a byte takes
	q          int64   // ticks of a nanosecond
	exact      bool    // out and in are not rounded
	everySize  int64   // sum of all sizes
	effort     *effort
	shared     *shared
	found      func(*optimum) // called with the best so far; may be nil
}

// tooLong bounds all sums of ticks.
const tooLong = 1 << 59

func newTerms(p *engine.Problem) (*terms, error) {
	c := p.Chain.Chain
	n := c.Len()
	t := &terms{chain: c, n: n, effort: &effort{modelEffort}, shared: &shared{},
		room: int64(min(p.Budget, c.KeepAllPeak()) - c.Resident.Total())}
	for _, v := range []*[]int64{&t.fwd, &t.bwd, &t.act, &t.saved, &t.fwdT, &t.bwdT, &t.grad, &t.held, &t.until,
		&t.base} {
		*v = make([]int64, n+2)
	}
	t.act[0], t.saved[0], t.grad[0] = int64(c.Input), int64(c.Input), int64(c.InputGrad)
	for k := 1; k <= n; k++ {
		st := &c.Stages[k-1]
		t.act[k], t.saved[k], t.grad[k], t.held[k] = int64(st.Out), int64(st.Saved), int64(st.Grad),
			int64(c.HeldGrad(k))
		t.fwdT[k], t.bwdT[k] = int64(st.FwdTemp), int64(st.BwdTemp)
		t.everySize += t.act[k] + t.saved[k] + t.grad[k] + t.fwdT[k] + t.bwdT[k]
	}
	t.everySize += t.act[0] + t.grad[0]
	if err := t.setTicks(c, p.Device); err != nil {
		return nil, err
	}
	for k := 1; k <= n; k++ {
		st := &c.Stages[k-1]
		t.fwd[k], t.bwd[k] = int64(st.Forward)*t.q, int64(st.Back)*t.q
		t.until[k] = t.until[k-1] + t.fwd[k]
		t.base[k] = t.base[k-1] + t.fwd[k] + t.bwd[k]
	}
	return t, nil
}

// setTicks sets q, out, in and exact.
func (t *terms) setTicks(c *engine.Chain, d engine.Device) error {
	const second = 1_000_000_000
	// Recomputation can run a stage as often as there are stages.
	work := float64(c.ForwardTime())*float64(t.n) + float64(c.BackTime())
	fits := func(q, out, in float64) bool { return q*(work+1)+(out+in)*2*float64(t.everySize+1) < tooLong }
	a, b := int64(d.ToHost), int64(d.ToDev)
	// The least q at which a byte takes whole ticks in both directions.
	qa, qb := a/engine.GCD(a, second), b/engine.GCD(b, second)
	q := float64(qa) / float64(engine.GCD(qa, qb)) * float64(qb)
	if out, in := q*second/float64(a), q*second/float64(b); fits(q, out, in) {
		t.q = qa / engine.GCD(qa, qb) * qb
		t.out, t.in, t.exact = t.q/qa*(second/engine.GCD(a, second)), t.q/qb*(second/engine.GCD(b, second)), true
		return nil
	}
	perOut, perIn := second/float64(a), second/float64(b)
	for q := math.Ldexp(1, 40); q >= 1; q /= 2 {
		if fits(q, q*perOut, q*perIn) {
			// A little less than the quotient, so that its rounding does not matter. For very
			// long steps it is 0, as if transfers took no time.
			t.q, t.out, t.in = engine.Int64(q), engine.Int64(q*perOut*(1-1e-12)), engine.Int64(q*perIn*(1-1e-12))
			return nil
		}
	}
	return fmt.Errorf("%w: its search counts in fractions of a nanosecond, and at %s to the host and %s back a step that recomputes everything is too long for that",
		engine.ErrUnsupported, d.ToHost.Text(), d.ToDev.Text())
}

// none is N(i,j,k): the need of F^k beside Z_i and the bytes held, when stages i..j run without keeping anything.
func (t *terms) none(i, j, k int) int64 {
	need := t.held[j] + t.act[k] + t.fwdT[k]
	if k > i {
		need += t.act[k-1]
	}
	return need
}

// all is A(i,j): the need of F_all^i while delta^j is held.
func (t *terms) all(i, j int) int64 { return t.held[j] + t.saved[i] + t.fwdT[i] }

// back is Bm(i): the need of B^i.
func (t *terms) back(i int) int64 { return t.saved[i] + t.grad[i] + t.grad[i-1] + t.bwdT[i] }

// input is Z_i^x: abar^{i-1} if saved is set, because the stage before i has kept its saved
// activations, and a^{i-1} otherwise.
func (t *terms) input(i int, saved bool) int64 {
	if saved {
		return t.saved[i-1]
	}
	return t.act[i-1]
}

// shared holds results that the searches for several budgets have in common. Neither floors nor the costs of
// recomputation alone depend on the room, so they serve all budgets of a chain. A bound that is exact says the same of
// plans below a limit even if it was computed for a higher limit. A budget therefore gets the same result whether it is
// solved alone or with others. Exact work does not count as effort, for the same reason.
type shared struct {
	shown     func(*engine.Solution) *engine.Solution // converts a solution to be reported; nil: unchanged
	limit     time.Duration                           // only faster plans are of use; 0 if all are
	floors    [][]int64
	rematOnly []rematOnly // by stage; nil if unknown
	slack     int64       // slack of rematOnly
	fronts    *fronts     // the last fronts with all their triples

	// Memory that one search after the other uses.
	filter filter
	lists  [][]label // empty lists
	keys   []key
}

// frontsOf returns fronts for plans that take at most slack ticks more than the sum of all times. Fronts for more room
// and slightly more slack are used again: a triple that needs too much memory or takes too long is never the best one.
func (t *terms) frontsOf(slack int64, thin int, poll *engine.Poll) *fronts {
	if f := t.shared.fronts; f != nil && thin == 0 && f.room >= t.room && f.slack >= slack &&
		f.slack-slack <= slack/4 {
		same := *f
		same.terms, same.poll = t, poll
		return &same
	}
	f := &fronts{terms: t, slack: slack, thin: thin, poll: poll}
	if thin == 0 {
		t.shared.fronts = f
	}
	return f
}

// need is the least room that some plan needs from a stage on, not counting the bytes held, and the operation that
// needs it. For operations of a group that is computed again, by has the kind group and the first stage of the group.
type need struct {
	room int64
	by   engine.ChainOp
}

// max returns the larger of two needs, a if they are equal.
func (a need) max(b need) need {
	if b.room > a.room {
		return b
	}
	return a
}

// needs returns, by stage and kind of its input (0 for an output alone, 1 for saved activations),
// the needs of plans that offload every input from that stage on. Waiting for transfers costs no
// memory. It is the recursion of section 3.2 without times, from the last stage to the first.
func (t *terms) needs(poll *engine.Poll) ([][2]need, error) {
	if t.shared.floors == nil {
		floors, err := remat.Floors(t.chain, poll)
		if err != nil {
			return nil, err
		}
		t.shared.floors = floors
	}
	floors := t.shared.floors
	least := make([][2]need, t.n+2)
	for i := t.n; i >= 1; i-- {
		for x := range 2 {
			z := t.input(i, x == 1)
			best := need{z + t.back(i), engine.ChainOp{Kind: engine.BStep, Stage: i}}.
				max(need{z + t.all(i, t.n), engine.ChainOp{Kind: engine.FAll, Stage: i}}).max(least[i+1][1])
			lean := need{room: -1}
			for j := i; j < t.n; j++ {
				lean = lean.max(need{t.none(i, t.n, j), engine.ChainOp{Kind: engine.FNone, Stage: j}})
				if j == i {
					lean.room += z
				}
				rerun := need{z + floors[i][j], engine.ChainOp{Kind: group, Stage: i}}
				if at := lean.max(rerun).max(least[j+1][0]); at.room < best.room {
					best = at
				}
			}
			least[i][x] = best
		}
	}
	return least, nil
}

// group is a kind that no operation has.
const group = engine.BStep + 1

// tooSmall returns an error if no plan fits into the budget, and nil otherwise.
func (t *terms) tooSmall(p *engine.Problem, poll *engine.Poll) error {
	needs, err := t.needs(poll)
	if err != nil {
		return err
	}
	root := needs[1][0]
	if root.room <= t.room {
		return nil
	}
	least, by := engine.Bytes(root.room)+p.Graph.Fixed, root.by
	short := &engine.InfeasibleError{Budget: p.Budget, Smallest: least}
	if by.Kind == group {
		name := cmp.Or(p.Chain.Chain.Stages[by.Stage-1].Name, "a stage without a name")
		short.Why = fmt.Sprintf("the segment that begins with stage %d (%s) needs the most, even with everything else on the host", by.Stage, name)
	} else {
		short.Why = "even with everything else on the host " + p.Chain.Needs(by, least)
	}
	return short
}
