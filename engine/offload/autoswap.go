package offload

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"memtide/engine"
)

func init() { engine.Register(autoSwap) }

var autoSwap = &engine.Strategy{
	Name:  "autoswap",
	Title: "Offload by priority scores (AutoSwap)",
	Doc:   "Picks activations by a weighted sum of four scores until the memory curve stays within the budget.",
	Class: engine.MayOffload,
	Cost:  engine.CostSearch,
	Cites: []engine.Cite{
		{Text: "Zhang, Yeung, Shu, He and Wang: Efficient Memory Management for GPU-based Deep Learning Systems",
			ID: "arXiv:1903.06631", Section: "SmartPool and AutoSwap: priority scores and Bayesian optimisation"},
		Paper000("5 (AUTOSWAP)"),
	},
	Params: []engine.Param{
		{Name: "seed", Title: "Seed",
			Doc: "Start of the random numbers. The same seed gives the same result; other seeds can give very different ones.", Default: "1", Min: 0, Max: 1_000_000},
		{Name: "evaluations", Title: "Weights to try",
			Doc: "How many combinations of weights are tried. Stops early at the lower bound.", Default: "24", Min: 1,
			Max: 200},
	},
	Solver: solveAutoSwap,
}

func solveAutoSwap(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	s, err := begin(p)
	if err != nil {
		return nil, err
	}
	if s.peak() <= p.Budget {
		return s.mustPlan(make([]bool, s.n)).solution().Solution, nil
	}
	set, weights := tuned(s, uint64(args.Int("seed")), args.Int("evaluations"), poll)
	if set == nil {
		return nil, poll.Err()
	}
	sol := s.mustPlan(set).solution()
	sol.Note("Seed %d, up to %d weights tried; best: %.2f absence, %.2f area, %.2f excess, %.2f excess after each pick.",
		args.Int("seed"), args.Int("evaluations"), weights[0], weights[1], weights[2], weights[3])
	return sol.Solution, poll.Err()
}

// tuned returns the fastest set that any of the tried weights pick. It is nil only if time runs out before the first.
func tuned(s *step, seed uint64, evaluations int, poll *engine.Poll) (best []bool, weights point) {
	sc := newScores(s)
	m, ideal := newModel(s, s.rule()), newModel(s, fluid)
	value, floor := int64(never), int64(ideal.nanoseconds(ideal.relax()))
	r := rand.New(rand.NewPCG(seed, 0))
	g := gaussian{}
	for k := 0; k < evaluations && value > floor; k++ {
		w := firstPoint(k)
		if k >= firstPoints {
			w = g.next(r)
		}
		set, ok := sc.pick(w, poll)
		if !ok {
			break
		}
		t := m.time(set)
		if t < value {
			value, best, weights = t, set, w
		}
		g.add(w, float64(t)/float64(m.compute+1))
	}
	return best, weights
}

// scores ranks the values that can move.
type scores struct {
	s       *step
	order   []int          // the candidates: indices of values
	starts  []float64      // by operation: its start without a budget
	load    []engine.Bytes // by operation: bytes above the budget; negative: below
	lasts   []float64      // by operation: its time
	absence []float64      // by candidate: DOA
	area    []float64      // by candidate: AOA
	excess  []float64      // by candidate: WDOA
	ranks   [4][]float64   // by score and candidate
	sum     []float64      // scratch: by operation, the excess times time before it
	sorted  []int          // scratch of rank
}

// newScores computes the scores that do not depend on picks. Times are those of a run without a budget.
func newScores(s *step) *scores {
	sc := &scores{s: s, sum: make([]float64, 2*s.n+1)}
	var at float64
	for k := range 2 * s.n {
		sc.starts = append(sc.starts, at)
		sc.load = append(sc.load, s.need(k)-s.p.Budget)
		sc.lasts = append(sc.lasts, float64(s.lasts(k)))
		at += float64(s.lasts(k))
	}
	for i, x := range s.size {
		if x == 0 {
			continue
		}
		dev := s.p.Device
		// From the end of F_i to the start of B_i.
		absence := sc.starts[2*s.n-1-i] - sc.starts[i] - sc.lasts[i] -
			float64(dev.ToHost.Time(x)) - float64(dev.ToDev.Time(x))
		area := absence * float64(x)
		if absence < 0 {
			area = absence / float64(x)
		}
		sc.order = append(sc.order, i)
		sc.absence = append(sc.absence, absence)
		sc.area = append(sc.area, area)
	}
	m := len(sc.order)
	for k := range sc.ranks {
		sc.ranks[k] = make([]float64, m)
	}
	sc.sorted, sc.excess = make([]int, m), make([]float64, m)
	sc.missing(sc.load, sc.excess)
	sc.rank(sc.absence, sc.ranks[0])
	sc.rank(sc.area, sc.ranks[1])
	sc.rank(sc.excess, sc.ranks[2])
	return sc
}

// missing integrates the bytes above the budget over the absence of each candidate.
func (sc *scores) missing(load []engine.Bytes, into []float64) {
	for k, l := range load {
		sc.sum[k+1] = sc.sum[k] + float64(max(0, l))*sc.lasts[k]
	}
	for c, i := range sc.order {
		into[c] = sc.sum[2*sc.s.n-1-i] - sc.sum[i+1]
	}
}

// rank sets into[c] to the number of candidates with a smaller score than c.
func (sc *scores) rank(score, into []float64) {
	for c := range sc.sorted {
		sc.sorted[c] = c
	}
	slices.SortFunc(sc.sorted, func(a, b int) int {
		return cmp.Or(cmp.Compare(score[a], score[b]), cmp.Compare(a, b))
	})
	for k, c := range sc.sorted {
		into[c] = float64(k)
		if k > 0 && score[sc.sorted[k-1]] == score[c] {
			into[c] = into[sc.sorted[k-1]]
		}
	}
}

// pick takes values by their priorities until everything fits. ok is false if time runs out.
func (sc *scores) pick(w point, poll *engine.Poll) (set []bool, ok bool) {
	n := sc.s.n
	set = make([]bool, n)
	load := slices.Clone(sc.load)
	updated := make([]float64, len(sc.order))
	for slices.Max(load) > 0 {
		for range 1 + n/20 {
			if poll.Err() != nil {
				return nil, false
			}
		}
		sc.missing(load, updated)
		sc.rank(updated, sc.ranks[3])
		best, top := -1, 0.0
		for c, i := range sc.order {
			if set[i] {
				continue
			}
			priority := 0.0
			for k := range w {
				priority += w[k] * sc.ranks[k][c]
			}
			if best < 0 || priority > top {
				best, top = i, priority
			}
		}
		set[best] = true
		for k := best + 1; k < 2*n-1-best; k++ {
			load[k] -= sc.s.size[best]
		}
	}
	return set, true
}
