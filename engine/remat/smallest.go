package remat

import (
	"math"

	"memtide/engine"
)

// floors is the recursion of Theorem 1 without times: least[s][u] is the smallest m with which
// stages s..u can be done.
type floors struct {
	t     *terms
	least [][]int64
}

// Floors returns the least bytes with which the stages from s to u can be done, besides the input
// of s, by s and u.
func Floors(c *engine.Chain, poll *engine.Poll) ([][]int64, error) {
	f, err := newFloors(byStage(c), poll)
	if err != nil {
		return nil, err
	}
	return f.least, nil
}

// newFloors fills the table, in time proportional to the cube of the number of stages.
func newFloors(t *terms, poll *engine.Poll) (*floors, error) {
	least := make([][]int64, t.n+2)
	columns := make([][]int64, t.n+1) // columns[u][j]: a^{j-1} + least[j][u], contiguous for the inner loop
	for u := range columns {
		columns[u] = make([]int64, u+1)
	}
	for s := t.n; s >= 1; s-- {
		row := make([]int64, t.n+1)
		least[s] = row
		row[s] = t.single[s]
		columns[s][s] = t.in[s] + row[s]
		mid := int64(0) // largest mid of s+1..u-1
		for u := s + 1; u <= t.n; u++ {
			if err := poll.Err(); err != nil {
				return nil, err
			}
			best := int64(math.MaxInt64)
			if !t.outputOnly {
				best = max(t.all(s, u), t.saved[s]+least[s+1][u])
			}
			none := t.held[u] + max(t.first[s], mid)
			if none < best {
				right := columns[u][s+1:]
				for i, left := range row[s : s+len(right)] {
					best = min(best, max(left, right[i]))
				}
				best = max(best, none)
			}
			row[u] = best
			columns[u][s] = t.in[s] + best
			mid = max(mid, t.mid[u])
		}
	}
	return &floors{t, least}, nil
}

// root returns the smallest room for the whole chain.
func (f *floors) root() int64 { return f.least[1][f.t.n] }

// neediest returns the operation that needs root. It follows the choices that attain root down to
// that operation.
func (f *floors) neediest() engine.ChainOp {
	s, u := 1, f.t.n
	for s < u {
		want := f.least[s][u]
		if !f.t.outputOnly && max(f.t.all(s, u), f.t.saved[s]+f.least[s+1][u]) == want {
			if f.t.all(s, u) == want {
				break // F_all^s or B^s
			}
			s++
			continue
		}
		none := f.t.none(s, u)
		if none == want {
			return f.neediestForward(s, u)
		}
		for j := s + 1; j <= u; j++ {
			if max(none, f.t.in[j]+f.least[j][u], f.least[s][j-1]) == want {
				if f.least[s][j-1] == want {
					u = j - 1
				} else {
					s = j
				}
				break
			}
		}
	}
	if f.t.held[u]+f.t.allFwd[s] > f.t.allBwd[s] {
		return engine.ChainOp{Kind: engine.FAll, Stage: s}
	}
	return engine.ChainOp{Kind: engine.BStep, Stage: s}
}

// neediestForward returns the forward of stages s..u-1 that needs m_none(s,u).
func (f *floors) neediestForward(s, u int) engine.ChainOp {
	worst, need := s, f.t.first[s]
	for j := s + 1; j < u; j++ {
		if f.t.mid[j] > need {
			worst, need = j, f.t.mid[j]
		}
	}
	return engine.ChainOp{Kind: engine.FNone, Stage: worst}
}
