package offload

import (
	"fmt"
	"slices"

	"memtide/engine"
)

// vdnnAlgos are the choices of the algorithm of stages that have two. dynamic tries the others, and
// mixed.
var vdnnAlgos = []string{"dynamic", "m", "p"}

// mixed means, for each operation, the faster algorithm that there is room for.
const mixed = "mixed"

// ways says which operations run by their second algorithm.
type ways struct {
	alt  []bool // by operation; nil: no operation does
	what string // note for people; empty if there is nothing to choose
}

func (w *ways) of(op engine.OpID) bool { return w.alt != nil && w.alt[op] }

// algos returns the algorithms to try, in the order of Rhu et al., section III-C, and paper 003,
// section II-B: performance-optimal algorithms first, then the other one where they do not fit,
// then memory-optimal algorithms only. For a chain whose stages have one algorithm it returns one
// empty name.
func (s *step) algos(choice string) []string {
	switch {
	case !slices.ContainsFunc(s.p.Chain.Chain.Stages, func(st engine.Stage) bool { return st.Fast != nil }):
		return []string{""}
	case choice == "dynamic":
		return []string{"p", mixed, "m"}
	}
	return []string{choice}
}

// by returns the schedule whose operations run by the named algorithm.
//
// Mixed is greedy: an operation runs by the faster algorithm for which there is room within the
// budget, regardless of the other operations. The papers choose for each layer. Here its forward
// and its backward are separate choices, as in the convolution library, which has an algorithm for
// each.
func (l *layered) by(algo string) *layered {
	if algo == "" {
		return l
	}
	alt := make([]bool, len(l.p.Graph.Ops))
	count, of := 0, 0
	l.needs(func(op engine.OpID, need engine.Bytes) {
		o := &l.p.Graph.Ops[op]
		if o.Alt == nil {
			return
		}
		of++
		fits, altFits := need <= l.p.Budget, need-o.Temp+o.Alt.Temp <= l.p.Budget
		switch {
		case algo != mixed:
			alt[op] = algo == "p"
		case fits != altFits:
			alt[op] = altFits
		case fits:
			alt[op] = o.Alt.Time < o.Time
		default: // neither fits: the one that needs less
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

// sped returns the step with the second algorithm of the operations in alt.
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
