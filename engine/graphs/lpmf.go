package graphs

import (
	"cmp"
	"slices"

	"memtide/engine"
)

func init() { engine.Register(lpmf) }

var lpmf = &engine.Strategy{
	Name:   "lpmf",
	Title:  "Least memory first (LPMF)",
	Mark:   1,
	Doc:    "Keeps everything, and runs next whichever operation leaves the least memory in use.",
	Graphs: true,
	Cites:  []engine.Cite{{Text: "Ansel et al.: PyTorch 2: Faster Machine Learning Through Dynamic Python Bytecode Transformation and Graph Compilation. ASPLOS 2024; torch/_inductor/memory.py, topological_sort_lpmf", ID: "10.1145/3620665.3640366", Section: "4 (TorchInductor)"}},
	Solver: maker(lpmfPlans).solve, Sweeper: maker(lpmfPlans).sweep,
}

func lpmfPlans(l *plans, _ engine.Parsed, poll *engine.Poll) {
	if seq := l.m.leastMemoryFirst(poll); seq != nil {
		l.add(seq, "Operations run in the order of the least memory after them.")
	}
}

// leastMemoryFirst returns the greedy order, or nil if poll ended it.
func (m *model) leastMemoryFirst(poll *engine.Poll) (seq []kindID) {
	wait := make([]int, m.ops+2)     // by operation: inputs that are not made yet
	left := make([]int, len(m.size)) // by value: readers that have not run
	var ready []int32
	for v := range m.size {
		left[v] = len(m.users[v])
	}
	for _, i := range m.order {
		for _, v := range m.in[i] {
			if m.maker[v] != m.source() {
				wait[i]++
			}
		}
		if wait[i] == 0 {
			ready = append(ready, i)
		}
	}
	// grows returns the change of the memory in use by an operation.
	grows := func(i int32) (sum engine.Bytes) {
		for _, v := range m.kinds[i].writes {
			if len(m.users[v]) > 0 {
				sum += m.size[v]
			}
		}
		for _, v := range m.in[i] {
			if left[v] == 1 {
				sum -= m.size[v]
			}
		}
		return sum
	}
	needs := func(i int32) engine.Bytes { return m.kinds[i].bytes + m.kinds[i].temp }
	for len(seq) < len(m.order) {
		best := 0
		for k, i := range ready {
			if poll.Err() != nil {
				return nil
			}
			j := ready[best]
			if cmp.Or(cmp.Compare(grows(i), grows(j)), cmp.Compare(needs(i), needs(j)), cmp.Compare(i, j)) < 0 {
				best = k
			}
		}
		i := ready[best]
		ready = slices.Delete(ready, best, best+1)
		seq = append(seq, i)
		for _, v := range m.in[i] {
			left[v]--
		}
		for _, sv := range m.kinds[i].serves {
			for _, u := range m.users[sv.value] {
				wait[u]--
				if wait[u] == 0 && u != m.sink() {
					ready = append(ready, u)
				}
			}
		}
	}
	return seq
}
