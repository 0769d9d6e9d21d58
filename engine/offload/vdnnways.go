package offload

import (
	"fmt"
	"slices"

	"memtide/engine"
)

// vdnnAlgos are the choices of how stages with two algorithms run. dynamic tries
// the others, and a mixture.
var vdnnAlgos = []string{"dynamic", "m", "p"}

// mixed is the mixture: the faster algorithm of those for which there is room.
const mixed = "mixed"

// ways says which operations run by their second algorithm.
type ways struct {
	alt  []bool // by operation; nil: none does
	what string // for people; empty where there is nothing to choose
}

func (w *ways) of(op engine.OpID) bool { return w.alt != nil && w.alt[op] }

// algos returns the ways to try, in the order of Rhu et al., section III-C, and paper
// 003, section II-B: performance-optimal algorithms first, then where they do
// not fit the other one, then memory-optimal algorithms only. Chains whose stages
// have one algorithm have one way.
func (s *step) algos(choice string) []string {
	switch {
	case !slices.ContainsFunc(s.p.Chain.Chain.Stages, func(st engine.Stage) bool { return st.Fast != nil }):
		return []string{""}
	case choice == "dynamic":
		return []string{"p", mixed, "m"}
	}
	return []string{choice}
}

// by returns the schedule with the operations run as an algorithm's name says.
//
// Mixed is greedy: an operation runs by the faster of the ways for which there is
// room within the budget, the other operations whatever they do. The papers
// choose for each layer. Here its forward and its backward choose for themselves,
// as the convolution library does, which has an algorithm for each.
func (l *layered) by(algo string) *layered {
	if algo == "" {
		return l
	}
	c := l.p.Chain
	alt := make([]bool, len(l.p.Graph.Ops))
	count, of := 0, 0
	l.away(func(i int, pass engine.Pass, away engine.Bytes) {
		op, held := c.Fwd(i+1), l.needF[i]-away
		if pass == engine.Backward {
			op, held = c.Bwd(i+1), l.needB[i]-away
		}
		o := &l.p.Graph.Ops[op]
		if o.Alt == nil {
			return
		}
		of++
		fits, altFits := held <= l.p.Budget, held-o.Temp+o.Alt.Temp <= l.p.Budget
		switch {
		case algo != mixed:
			alt[op] = algo == "p"
		case fits != altFits:
			alt[op] = altFits
		case fits:
			alt[op] = o.Alt.Time < o.Time
		default: // neither: the one that needs less
			alt[op] = o.Alt.Temp < o.Temp
		}
		if alt[op] {
			count++
		}
	})
	m := *l
	m.step = l.step.sped(alt)
	m.fast = ways{alt, fmt.Sprintf("%d of %d operations with two algorithms run by the performance-optimal one.",
		count, of)}
	return &m
}

// sped returns the step with the second algorithm of some operations.
func (s *step) sped(alt []bool) *step {
	q := *s
	q.needF, q.needB = slices.Clone(s.needF), slices.Clone(s.needB)
	q.timeF, q.timeB = slices.Clone(s.timeF), slices.Clone(s.timeB)
	for i := range s.n {
		f, b := s.p.Chain.Fwd(i+1), s.p.Chain.Bwd(i+1)
		if op := &s.p.Graph.Ops[f]; alt[f] {
			q.timeF[i], q.needF[i] = op.Alt.Time, s.needF[i]-op.Temp+op.Alt.Temp
		}
		if op := &s.p.Graph.Ops[b]; alt[b] {
			q.timeB[i], q.needB[i] = op.Alt.Time, s.needB[i]-op.Temp+op.Alt.Temp
		}
	}
	return &q
}
