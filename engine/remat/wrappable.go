package remat

import (
	"cmp"
	"slices"
	"time"

	"memtide/engine"
)

func init() {
	engine.Register(&engine.Strategy{
		Name:   "wrappable",
		Title:  "Optimal unequal segments",
		Mark:   7,
		Doc:    "Finds the fastest schedule of those that a checkpoint around runs of layers executes.",
		Class:  engine.MayRecompute,
		Cost:   engine.CostTable,
		Plans:  "wrappable",
		Cites:  []engine.Cite{sublinear("4.3; the exact program is ours")},
		Solver: solveWrappable,
	})
}

// mostArrivals bounds the number of ways to one border. If there are more, every second one is
// dropped, and the result is not proven optimal.
const mostArrivals = 100_000

// border is a way to a border between stages: what is held there besides gradients, and its cost,
// which is extra time or, if the smallest budget is wanted, the peak.
type border struct {
	held engine.Bytes
	cost int64
	from int32 // index of its predecessor among the ways to border at
	at   int32 // the border before; the stages between are a run, or one stage that is kept
	kept bool
}

// wrapping solves one chain.
type wrapping struct {
	c       *engine.Chain
	budget  engine.Bytes
	smaller bool       // minimize the peak; otherwise the extra time
	ways    [][]border // by border: after stage 0..n
	thinned bool       // some ways were dropped because of mostArrivals
}

func solveWrappable(p *engine.Problem, _ engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	w, err := wrap(p.Chain.Chain, p.Budget, poll)
	if err != nil {
		return nil, err
	}
	if len(w.ways[w.c.Len()]) == 0 {
		return nil, w.infeasible(p, poll)
	}
	sol := solution(p, w.sequence())
	sol.OptimalAmong = p.Graph.FirstWays("runs that are computed again as a whole")
	sol.Optimal, sol.Stopped = !w.thinned, w.thinned
	if w.thinned {
		sol.Notes = []string{"There were more ways than are held at a time; some were forgotten, so a faster schedule may exist."}
		return sol, nil
	}
	sol.Bound = sol.Makespan
	return sol, nil
}

// Runs returns the stages, first and last, of each run that the optimal schedule of strategy wrappable computes again.
// It is for methods that look for plans beyond the chain. Errors are those of the strategy.
func Runs(c *engine.Chain, budget engine.Bytes, poll *engine.Poll) (runs [][2]int, err error) {
	w, err := wrap(c, budget, poll)
	if err != nil {
		return nil, err
	}
	if len(w.ways[c.Len()]) == 0 {
		return nil, &engine.InfeasibleError{Budget: budget}
	}
	for _, g := range w.segments() {
		if !g.kept {
			runs = append(runs, [2]int{g.s, g.t})
		}
	}
	slices.Reverse(runs)
	return runs, nil
}

// wrap returns the solved wrapping of c.
func wrap(c *engine.Chain, budget engine.Bytes, poll *engine.Poll) (*wrapping, error) {
	if err := solvable(c); err != nil {
		return nil, err
	}
	w := &wrapping{c: c, budget: budget}
	return w, w.solve(poll)
}

// infeasible returns the error of a budget that is too small, with the smallest one that suffices.
func (w *wrapping) infeasible(p *engine.Problem, poll *engine.Poll) error {
	if w.thinned {
		return &engine.InfeasibleError{Budget: p.Budget, Why: "of the ways that were held"}
	}
	least := &wrapping{c: w.c, budget: engine.NoLimit, smaller: true}
	if err := least.solve(poll); err != nil {
		return err
	}
	refused := &engine.InfeasibleError{Budget: p.Budget, Why: "with any runs that are computed again as a whole"}
	if seq := least.sequence(); !least.thinned {
		_, refused.Smallest = Replay(w.c, seq)
		refused.Why += ", " + needs(p.Chain, seq)
	}
	return refused
}

// solve finds the ways to all borders.
func (w *wrapping) solve(poll *engine.Poll) error {
	n := w.c.Len()
	w.ways = make([][]border, n+1)
	w.ways[0] = []border{{held: w.c.Input + w.c.Resident.Total()}}
	for s := 1; s <= n; s++ {
		w.ways[s-1] = w.pareto(w.ways[s-1])
		if err := w.keep(s, poll); err != nil {
			return err
		}
		if err := w.recompute(s, poll); err != nil {
			return err
		}
	}
	w.ways[n] = w.pareto(w.ways[n])
	return nil
}

// pareto keeps the ways that no other way beats in both held bytes and cost, and sorts them.
func (w *wrapping) pareto(ways []border) []border {
	slices.SortFunc(ways, func(a, b border) int {
		return cmp.Or(cmp.Compare(a.held, b.held), cmp.Compare(a.cost, b.cost), cmp.Compare(a.at, b.at),
			cmp.Compare(a.from, b.from))
	})
	out := ways[:0]
	for _, b := range ways {
		if len(out) == 0 || b.cost < out[len(out)-1].cost {
			out = append(out, b)
		}
	}
	for len(out) > mostArrivals {
		w.thinned = true
		half := out[:0]
		for i := 0; i < len(out); i += 2 {
			half = append(half, out[i])
		}
		out = half
	}
	return slices.Clip(out)
}

// extend continues the ways to the border before stage s to the border after t. need is the peak of
// the stages above what is held before, and grow is the increase of what is held.
func (w *wrapping) extend(s, t int, need, grow engine.Bytes, extra time.Duration, kept bool) {
	for i, b := range w.ways[s-1] {
		peak := b.held + need
		if peak > w.budget {
			return // the remaining ways hold more
		}
		next := border{held: b.held + grow, cost: b.cost + int64(extra), from: int32(i), at: int32(s - 1), kept: kept}
		if w.smaller {
			next.cost = max(b.cost, int64(peak))
		}
		w.ways[t] = append(w.ways[t], next)
	}
}

// keep continues with stage s kept.
func (w *wrapping) keep(s int, poll *engine.Poll) error {
	st, n := &w.c.Stages[s-1], w.c.Len()
	gone := w.c.Beside(s - 1) // an unsaved output is freed after its last reader
	need := max(w.c.HeldGrad(n)+st.Saved+w.c.Beside(s)+st.FwdTemp, st.Saved-gone+st.Grad+w.c.Grad(s-1)+st.BwdTemp)
	w.extend(s, s, need, st.Saved+w.c.Beside(s)-gone, 0, true)
	return poll.Err()
}

// recompute continues with the runs that begin with stage s.
func (w *wrapping) recompute(s int, poll *engine.Poll) error {
	c, n := w.c, w.c.Len()
	// Needs above what is held. rerun does not include the gradient.
	var lean, rerun, back, saved, before engine.Bytes
	var extra time.Duration
	gone := c.Beside(s - 1)
	for t := s; t < n; t++ {
		if err := poll.Err(); err != nil {
			return err
		}
		st := &c.Stages[t-1]
		lean = max(lean, c.HeldGrad(n)+before+st.Out+st.FwdTemp)
		before = st.Out
		var input engine.Bytes // unsaved output of stage t-1 that is held, less that of s-1, which is freed
		if t > s {
			input = c.Beside(t-1) - gone
		}
		rerun = max(rerun, saved+input+st.Saved+c.Beside(t)+st.FwdTemp)
		saved += st.Saved
		back = max(back, saved-gone+st.Grad+c.Grad(t-1)+st.BwdTemp)
		extra += st.Forward
		w.extend(s, t, max(lean, rerun+st.Grad, back), st.Out, extra, false)
	}
	return nil
}

// segment is a run of stages, or one stage that is kept.
type segment struct {
	s, t int
	kept bool
}

// segments returns the segments of the cheapest way, the last one first.
func (w *wrapping) segments() (segments []segment) {
	end := w.c.Len()
	ways := w.ways[end]
	b := ways[len(ways)-1] // sorted: the last one is the cheapest
	for end > 0 {
		segments = append(segments, segment{int(b.at) + 1, end, b.kept})
		end = int(b.at)
		b = w.ways[end][b.from]
	}
	return segments
}

// sequence returns the sequence of the cheapest way.
func (w *wrapping) sequence() []engine.ChainOp {
	var forward, backward []engine.ChainOp
	for _, g := range w.segments() {
		var ahead []engine.ChainOp
		if g.kept {
			ahead = []engine.ChainOp{{Kind: engine.FAll, Stage: g.s}}
			backward = append(backward, engine.ChainOp{Kind: engine.BStep, Stage: g.s})
		} else {
			ahead = KeepInput(nil, g.s, g.t)
			backward = keepAll(backward, g.s, g.t)
		}
		forward = append(ahead, forward...)
	}
	return append(forward, backward...)
}
