package graphs_test

import (
	"slices"
	"time"

	"memtide/engine"
)

// BestGraph returns the smallest step time of all schedules of runs and frees of a graph. It follows the
// definitions of package sim directly: it is Dijkstra's algorithm with every run and every free as a separate
// step. With kept, the first runs are in the order of the operations; some may be left out. ok is false if
// nothing fits. It supports up to 8 operations and 12 values, and neither parts of values nor output-only runs.
func BestGraph(g *engine.Graph, budget engine.Bytes, kept bool) (best time.Duration, ok bool) {
	start := graphState{}
	used := g.Fixed
	for v := range g.Values {
		if g.Values[v].Initial&engine.OnDevice != 0 {
			start.have |= 1 << v
			used += g.Values[v].Size
		}
	}
	if used > budget {
		return 0, false
	}
	s := &graphSearcher{g: g, budget: budget, kept: kept, seen: map[graphState]time.Duration{start: 0}}
	s.open.Push(graphEntry{start, 0})
	for len(s.open) > 0 {
		e := s.open.Pop()
		if e.cost > s.seen[e.state] {
			continue
		}
		if s.complete(e.state) {
			return e.cost, true
		}
		for v := range g.Values {
			if e.state.have>>v&1 == 1 {
				next := e.state
				next.have &^= 1 << v
				s.reach(next, e.cost)
			}
		}
		for i := range g.Ops {
			s.run(e, i, g.Ops[i].Time, g.Ops[i].Temp)
			if a := g.Ops[i].Alt; a != nil {
				s.run(e, i, a.Time, a.Temp)
			}
		}
	}
	return 0, false
}

// graphState is the set of values on the device, the set of operations that have run, and whether Done was made.
type graphState struct {
	have, ran uint32
	done      bool
}

type graphEntry struct {
	state graphState
	cost  time.Duration
}

func (a graphEntry) Before(b graphEntry) bool { return a.cost < b.cost }

type graphSearcher struct {
	g      *engine.Graph
	budget engine.Bytes
	kept   bool
	seen   map[graphState]time.Duration
	open   engine.Heap[graphEntry]
}

func (s *graphSearcher) complete(st graphState) bool {
	return st.done || s.g.Done == engine.NoValue && st.ran == 1<<len(s.g.Ops)-1
}

func (s *graphSearcher) reach(st graphState, cost time.Duration) {
	if old, ok := s.seen[st]; !ok || cost < old {
		s.seen[st] = cost
		s.open.Push(graphEntry{st, cost})
	}
}

// run runs an operation by one of its algorithms, if the rules allow it.
func (s *graphSearcher) run(e graphEntry, i int, time time.Duration, temp engine.Bytes) {
	op, next := &s.g.Ops[i], e.state
	first := next.ran>>i&1 == 0
	if first && s.kept && next.ran>>i != 0 || !first && (op.Once || op.Pass == engine.Backward) {
		return
	}
	used := s.g.Fixed + temp
	for v := range s.g.Values {
		if next.have>>v&1 == 1 {
			used += s.g.Values[v].Size
		}
	}
	for _, v := range op.In {
		if next.have>>v&1 == 0 {
			return
		}
	}
	for _, v := range op.Out {
		used += s.g.Values[v].Size
		next.have |= 1 << v
	}
	if used > s.budget {
		return
	}
	next.ran |= 1 << i
	next.done = next.done || slices.Contains(op.Out, s.g.Done)
	s.reach(next, e.cost+time)
}
