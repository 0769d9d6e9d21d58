package remat

import "memtide/engine"

// visit is a state still to be unfolded, or a backward still to be emitted.
type visit struct {
	s, t int // t == 0: emit B^s
	m    int64
}

// trace returns the sequence that attains the root's value, by finding the choices again (OptRec of
// arXiv:1911.13214, algorithm 2). It keeps its own stack, because the recursion can be as deep as
// the chain is long.
//
// A state may be visited with more memory than its row covers, because rows end where nothing more
// is of interest. Its value is then one that less memory attains, and its branches may turn out
// better, never worse.
func (x *table) trace() (seq []engine.ChainOp) {
	emit := func(kind engine.ChainOpKind, k int) { seq = append(seq, engine.ChainOp{Kind: kind, Stage: k}) }
	stack := []visit{{1, x.n, x.room}}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if v.t == 0 {
			emit(engine.BStep, v.s)
			continue
		}
		if v.s == v.t {
			emit(engine.FAll, v.s)
			emit(engine.BStep, v.s)
			continue
		}
		j := x.choice(v.s, v.t, v.m)
		if j == v.s {
			emit(engine.FAll, v.s)
			stack = append(stack, visit{s: v.s}, visit{v.s + 1, v.t, v.m - x.saved[v.s]})
			continue
		}
		seq = KeepInput(seq, v.s, j-1) // the paper prints ..s', which would consume a^{s'-1}
		stack = append(stack, visit{v.s, j - 1, v.m}, visit{j, v.t, v.m - x.in[j]})
	}
	return seq
}

// choice returns the split j that attains the value of (s,t,m), or s if F_all^s does.
func (x *table) choice(s, t int, m int64) int {
	want, ok := x.value(s, t, m)
	if !ok {
		panic("remat: a state of the optimum has no value")
	}
	if !x.outputOnly && m >= x.all(s, t) {
		if v, ok := x.value(s+1, t, m-x.saved[s]); ok && v <= want {
			return s
		}
	}
	none := x.first[s]
	for j := s + 1; j < t; j++ {
		none = max(none, x.mid[j])
	}
	if m >= x.held[t]+none {
		for j := s + 1; j <= t; j++ {
			right, okR := x.value(j, t, m-x.in[j])
			left, okL := x.value(s, j-1, m)
			if okR && okL && x.till[j]-x.until[s]+right+left <= want {
				return j
			}
		}
	}
	panic("remat: no choice attains the value of a state")
}

// ungroup converts a sequence of the chain grouped by g into one of the chain itself (see
// terms.group).
func (t *terms) ungroup(grouped []engine.ChainOp, g int) []engine.ChainOp {
	n := t.n
	count := (n-1+g-1)/g + 1
	var seq []engine.ChainOp
	emit := func(kind engine.ChainOpKind, k int) { seq = append(seq, engine.ChainOp{Kind: kind, Stage: k}) }
	for _, op := range grouped {
		a, b := (op.Stage-1)*g+1, min(op.Stage*g, n-1)
		if op.Stage == count {
			a, b = n, n
		}
		switch op.Kind {
		case engine.FCk: // keeps only the input of the group
			seq = KeepInput(seq, a, b)
		case engine.FNone:
			for k := a; k <= b; k++ {
				emit(engine.FNone, k)
			}
		case engine.FAll:
			kind := engine.FAll
			if t.outputOnly {
				kind = engine.FCk
			}
			for k := a; k < b; k++ {
				emit(kind, k)
			}
			emit(engine.FAll, b)
		case engine.BStep:
			for k := b; k >= a; k-- {
				if t.outputOnly && k < b {
					emit(engine.FAll, k)
				}
				emit(engine.BStep, k)
			}
		}
	}
	return seq
}
