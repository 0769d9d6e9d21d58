package graphs

import (
	"cmp"
	"slices"
	"time"

	"memtide/engine"
)

func init() { engine.Register(kusumoto) }

var kusumoto = &engine.Strategy{
	Name:  "kusumoto",
	Title: "Lower sets (Kusumoto et al.)",
	Mark:  12,
	Doc:   "Grows the forward pass from lower set to lower set and keeps only what the rest of it reads.",
	Class: engine.MayRecompute, Graphs: true,
	Cost:   engine.CostTable,
	Cites:  []engine.Cite{{Text: "Kusumoto, Inoue, Watanabe, Akiba and Koyama: A Graph Theoretic Framework of Recomputation Algorithms for Memory-Efficient Backpropagation. NeurIPS 2019", ID: "arXiv:1905.11722", Section: "3 (canonical strategies) and 4 (dynamic programming)"}},
	Solver: maker(kusumotoPlans).solve, Sweeper: maker(kusumotoPlans).sweep,
}

// Limits of the search.
const (
	maxFamily = 200 // lower sets
	maxFront  = 48  // trade-offs of a set
	limits    = 20  // limits for what is kept
	perLimit  = 12  // chains for each limit
)

// lowerSet is a set of forward operations that contains all that they need.
type lowerSet struct {
	holds  []uint64   // a bit for each operation
	size   int        // number of operations
	border []bool     // by value: it is made in the set and read by other forward operations
	edges  []stepTo   // steps to larger sets
	front  []tradeOff // trade-offs of the chains that end with the set
}

// stepTo is a step to a larger lower set.
type stepTo struct {
	to         int
	again      time.Duration // time to make dropped values again
	kept, made engine.Bytes  // of the values of the step
}

// tradeOff is a chain of lower sets so far.
type tradeOff struct {
	again   time.Duration
	kept    engine.Bytes
	set, at int // its predecessor: a trade-off of that set
}

func (s *lowerSet) has(i int32) bool { return s.holds[i>>6]>>(uint(i)&63)&1 == 1 }
func (s *lowerSet) add(i int32)      { s.holds[i>>6] |= 1 << (uint(i) & 63) }

func kusumotoPlans(l *plans, _ engine.Parsed, poll *engine.Poll) {
	m := l.m.whole()
	forward := m.firstForward()
	if len(forward) == 0 {
		return
	}
	family := m.family(forward)
	if !m.join(family, forward, poll) {
		return
	}
	peak := l.list[0].peak
	for k := range engine.Bytes(limits) {
		limit := peak/10 + peak/limits*7/5*(k+1)
		for _, chain := range chains(family, limit, poll) {
			if poll.Err() != nil {
				return
			}
			l.add(m.canonical(family, chain, forward),
				"A chain of lower sets is chosen with a limit of "+limit.Text()+".")
		}
	}
}

// family returns the empty set, the needs of each operation, the beginnings of the order, and the whole forward
// pass, by size.
func (m *model) family(forward []int32) []*lowerSet {
	words := (m.ops + 63) / 64
	empty := &lowerSet{holds: make([]uint64, words)}
	family := []*lowerSet{empty}
	needs := make([]*lowerSet, m.ops)
	before := empty
	for _, i := range forward {
		s := &lowerSet{holds: make([]uint64, words)}
		for _, v := range m.in[i] {
			if j := m.maker[v]; j != m.source() {
				for k, w := range needs[j].holds {
					s.holds[k] |= w
				}
			}
		}
		s.add(i)
		needs[i] = s
		next := &lowerSet{holds: slices.Clone(before.holds)}
		next.add(i)
		before = next
		family = append(family, s, next)
	}
	for _, s := range family {
		for _, i := range forward {
			if s.has(i) {
				s.size++
			}
		}
	}
	slices.SortStableFunc(family, func(a, b *lowerSet) int { return cmp.Compare(a.size, b.size) })
	family = slices.CompactFunc(family, func(a, b *lowerSet) bool { return slices.Equal(a.holds, b.holds) })
	return evenly(family, maxFamily)
}

// join finds the steps between the sets of a family. It returns false if poll ended it.
func (m *model) join(family []*lowerSet, forward []int32, poll *engine.Poll) bool {
	inside := make([]bool, m.ops+2)
	for _, i := range forward {
		inside[i] = true
	}
	for _, s := range family {
		s.border = make([]bool, len(m.size))
		for v, i := range m.maker {
			if i == none || i == m.source() || !inside[i] || !s.has(i) {
				continue
			}
			s.border[v] = slices.ContainsFunc(m.users[v], func(u int32) bool { return inside[u] && !s.has(u) })
		}
	}
	for a, from := range family {
		for b := a + 1; b < len(family); b++ {
			to, subset := family[b], true
			for k, w := range from.holds {
				subset = subset && w&^to.holds[k] == 0
			}
			if !subset || to.size == from.size {
				continue
			}
			e := stepTo{to: b}
			for _, i := range forward {
				if poll.Err() != nil {
					return false
				}
				if to.has(i) && !from.has(i) {
					m.count(&e, i, to, to.size == len(forward))
				}
			}
			from.edges = append(from.edges, e)
		}
	}
	return true
}

// count adds an operation to a step. The last step drops nothing.
func (m *model) count(e *stepTo, i int32, to *lowerSet, last bool) {
	k, whole := &m.kinds[i], true
	for _, v := range k.writes {
		e.made += m.size[v]
		if to.border[v] || m.once[i] {
			e.kept += m.size[v]
		} else {
			whole = false
		}
	}
	if !whole && !last {
		e.again += k.time
	}
}

// chains returns chains of sets, from the empty one to the whole forward pass, with different trade-offs between
// kept bytes and the time to make values again.
func chains(family []*lowerSet, limit engine.Bytes, poll *engine.Poll) (list [][]int) {
	for _, s := range family {
		s.front = s.front[:0]
	}
	family[0].front = append(family[0].front, tradeOff{set: -1})
	for a, s := range family {
		s.front = thinned(s.front)
		for _, e := range s.edges {
			if poll.Err() != nil {
				return nil
			}
			for at, q := range s.front {
				if q.kept+e.made <= limit {
					family[e.to].front = append(family[e.to].front, tradeOff{q.again + e.again, q.kept + e.kept, a, at})
				}
			}
		}
	}
	end := len(family) - 1
	front := family[end].front
	for k := 0; k < len(front); k += len(front)/perLimit + 1 {
		chain, q := []int{end}, front[k]
		for q.set >= 0 {
			chain = append(chain, q.set)
			q = family[q.set].front[q.at]
		}
		slices.Reverse(chain)
		list = append(list, chain)
	}
	return list
}

// thinned returns at most maxFront of the trade-offs that no other one beats in both.
func thinned(list []tradeOff) (front []tradeOff) {
	slices.SortStableFunc(list, func(a, b tradeOff) int {
		return cmp.Or(cmp.Compare(a.again, b.again), cmp.Compare(a.kept, b.kept))
	})
	for _, q := range list {
		if len(front) == 0 || q.kept < front[len(front)-1].kept {
			front = append(front, q)
		}
	}
	return evenly(front, maxFront)
}

// canonical returns the sequence of a chain of lower sets.
func (m *model) canonical(family []*lowerSet, chain []int, forward []int32) []kindID {
	var order []int32
	keeps := make([]bool, len(m.size))
	for k := 1; k < len(chain); k++ {
		from, to := family[chain[k-1]], family[chain[k]]
		for _, i := range forward {
			if !to.has(i) || from.has(i) {
				continue
			}
			order = append(order, i)
			for _, v := range m.kinds[i].writes {
				keeps[v] = k == len(chain)-1
			}
		}
		for v, b := range to.border {
			keeps[v] = keeps[v] || b
		}
	}
	return m.saving(order, func(v int32) bool { return keeps[v] })
}
