package remat

import (
	"math"

	"memtide/engine"
)

// terms are the quantities of Theorem 1 (arXiv:1911.13214, section 4.2), by stage 1..n; index 0 is
// unused. The theorem reads them only through
//
//	m_all(s,t)  = max(held[t]+allFwd[s], allBwd[s])
//	m_none(s,t) = held[t] + max(first[s], mid[s+1..t-1])
//
// so that stages taken together are again a stage (see group). |delta^{s-1}|, the output of B^s,
// counts while B^s runs, as the paper's text and its section 3.1 say and as devices do.
type terms struct {
	n          int
	fwd        []int64 // [uF]
	in         []int64 // [a^{s-1}] size of the input of s
	saved      []int64 // [abar^s] what F_all^s takes from m; see byStage for unsaved outputs
	held       []int64 // gradient on the device while earlier stages run again
	allFwd     []int64 // [abar^s + oF^s]
	allBwd     []int64 // [|delta^s| + |delta^{s-1}| + abar^s + oB^s]
	first      []int64 // [a^s + oF^s] F_ck, whose input is outside of m
	mid        []int64 // [a^{s-1} + a^s + oF^s] F_none
	single     []int64 // [m_all(s,s)]
	tail       []int64 // [uF] of the last of the stages that are taken together as s (see group)
	outputOnly bool    // F_all^s only right before B^s, as in revolve
	room       int64   // [m] of the root: budget less resident memory and a^0
}

func newTerms(c *engine.Chain, budget engine.Bytes) *terms {
	t := byStage(c)
	// More room than keeping everything needs is of no use.
	t.room = int64(min(budget, c.KeepAllPeak())-c.Resident.Total()) - int64(c.Input)
	return t
}

// printedTerms returns the terms of Theorem 1 to the letter, which leaves |delta^{s-1}| out of
// m_all. Counterexample: with one stage, every size 1, no temporaries and room for 3, it says that
// the stage fits, but B^1 needs a^0, abar^1, delta^1 and delta^0.
func printedTerms(c *engine.Chain, budget engine.Bytes) *terms {
	t := newTerms(c, budget)
	for s := 1; s <= t.n; s++ {
		t.allBwd[s] -= int64(c.Grad(s - 1))
		t.single[s] = t.all(s, s)
	}
	return t
}

// outputOnlyTerms returns the terms of revolve, in which F_all^s runs only right before B^s.
func outputOnlyTerms(c *engine.Chain, budget engine.Bytes) *terms {
	t := byStage(c)
	t.outputOnly = true
	// More room than keeping all outputs needs is of no use. That may be more than KeepAllPeak,
	// because F_all^s then runs beside delta^s.
	t.room = min(int64(budget-c.Resident.Total()-c.Input), t.outputs(1, t.n))
	return t
}

// byStage returns the quantities by stage, without the room.
//
// Unsaved outputs (engine.Stage.Unsaved) are not in the theorem. C(s,t,m) keeps its meaning:
// a^{s-1} is outside of m. If a^{s-1} is unsaved, F_all^s consumes it, because no later forward of
// s follows, and its bytes return to m: the stages after s have m - abar^s + a^{s-1}, and so has
// B^s, beside abar^s. If a^s is unsaved, F_all^s writes it, and it is outside of what the stages
// after s have. Hence, with b^k = a^k for an unsaved output and 0 for others,
//
//	saved[s]  = abar^s + b^s - b^{s-1}        may be negative
//	allFwd[s] = abar^s + b^s + oF^s
//	allBwd[s] = |delta^s| + |delta^{s-1}| + abar^s + oB^s - b^{s-1}
//
// and nothing else changes: a checkpoint of a^k is a^k. That F_all^s is the last forward of s costs nothing: of two
// runs of s, the later one can be the one that keeps abar^s, which then takes memory for a shorter time.
func byStage(c *engine.Chain) *terms {
	n := c.Len()
	t := makeTerms(n)
	for s := 1; s <= n; s++ {
		st := &c.Stages[s-1]
		a, d := int64(c.Act(s-1)), int64(st.Grad)
		t.fwd[s] = int64(st.Forward)
		t.in[s] = a
		before, after := int64(c.Beside(s-1)), int64(c.Beside(s))
		t.saved[s] = int64(st.Saved) + after - before
		t.held[s] = int64(c.HeldGrad(s))
		t.allFwd[s] = int64(st.Saved+st.FwdTemp) + after
		t.allBwd[s] = d + int64(c.Grad(s-1)+st.Saved+st.BwdTemp) - before
		t.first[s] = int64(st.Out + st.FwdTemp)
		t.mid[s] = a + t.first[s]
		t.single[s] = t.all(s, s)
	}
	t.tail = t.fwd
	return t
}

func makeTerms(n int) *terms {
	t := &terms{n: n}
	for _, v := range []*[]int64{&t.fwd, &t.in, &t.saved, &t.held, &t.allFwd, &t.allBwd, &t.first, &t.mid, &t.single} {
		*v = make([]int64, n+1)
	}
	return t
}

// all is m_all(s,u).
func (t *terms) all(s, u int) int64 { return max(t.held[u]+t.allFwd[s], t.allBwd[s]) }

// none is m_none(s,u).
func (t *terms) none(s, u int) int64 {
	need := t.first[s]
	for j := s + 1; j < u; j++ {
		need = max(need, t.mid[j])
	}
	return need + t.held[u]
}

// tooLong reports whether sums of times may not fit into an integer.
func (t *terms) tooLong() bool {
	sum := int64(0)
	for _, u := range t.fwd {
		sum += u
	}
	return sum > math.MaxInt64/int64(4*t.n+4)
}

// repeatedForward returns the part of the time spent on computing again that no schedule can avoid and that the table
// leaves out. Without F_all, every stage but the last runs once to reach the last one and once before its backward.
func (t *terms) repeatedForward() (sum int64) {
	if !t.outputOnly {
		return 0
	}
	for s := 1; s <= t.n; s++ {
		sum += t.fwd[s]
	}
	return sum - t.tail[t.n]
}

// group takes g stages at a time as one. The last stage stays alone, because every schedule runs it
// last. A schedule of the result is one of the chain, with the same needs and the same
// recomputation, so its optimum is an upper bound of the chain's.
func (t *terms) group(g int) *terms {
	count := (t.n-1+g-1)/g + 1
	u := makeTerms(count)
	u.room, u.outputOnly = t.room, t.outputOnly
	u.tail = make([]int64, count+1)
	for i := 1; i < count; i++ {
		a := (i-1)*g + 1
		t.merge(u, i, a, min(a+g-1, t.n-1))
	}
	t.merge(u, count, t.n, t.n)
	return u
}

// merge takes stages a..b of t together as stage i of u: its F_all is F_all^a..F_all^b, and its backward B^b..B^a. With
// outputOnly, its F_all is F_ck^a..F_ck^{b-1}, and F_all^k runs right before B^k.
func (t *terms) merge(u *terms, i, a, b int) {
	u.in[i], u.held[i] = t.in[a], t.held[b]
	u.first[i] = t.first[a]
	before := int64(0) // saved activations of a..k-1
	for k := a; k <= b; k++ {
		u.fwd[i] += t.fwd[k]
		u.allFwd[i] = max(u.allFwd[i], before+t.allFwd[k])
		u.allBwd[i] = max(u.allBwd[i], before+t.allBwd[k])
		u.mid[i] = max(u.mid[i], t.mid[k])
		if k > a {
			u.first[i] = max(u.first[i], t.mid[k])
		}
		before += t.saved[k]
	}
	u.saved[i] = before
	u.tail[i] = t.fwd[b]
	u.single[i] = u.all(i, i)
	if t.outputOnly {
		u.single[i] = t.outputs(a, b)
	}
}

// keepAll returns the room in which nothing is computed again, apart from repeatedForward.
func (t *terms) keepAll() (need int64) {
	if t.outputOnly {
		return t.outputs(1, t.n)
	}
	before := int64(0) // saved activations of the stages before k
	for k := 1; k <= t.n; k++ {
		need = max(need, before+t.held[t.n]+t.allFwd[k], before+t.allBwd[k])
		before += t.saved[k]
	}
	return need
}

// outputs returns what stages a..b need if all their outputs are kept.
func (t *terms) outputs(a, b int) (need int64) {
	before := int64(0) // outputs of a..k-1
	for k := a; k <= b; k++ {
		if k > a {
			before += t.in[k]
		}
		need = max(need, before+t.single[k])
		if k < b {
			need = max(need, before+t.first[k]+t.held[b])
		}
	}
	return need
}
