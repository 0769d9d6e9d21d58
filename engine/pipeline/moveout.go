package pipeline

import (
	"math"
	"slices"

	"memtide/engine"
)

// moving searches for the activations to copy to the host, together with the order. It starts from an order that
// would fit in more room. Activations that are held longest are copied out right after their forward, and come back
// some passes before their backward. Every try is played by the player, because with copies bytes depend on times
// (Proposition 1 does not hold).
type moving struct {
	*searching
	w    *work
	lead []int // by cell: how many passes before its backward it is fetched; 0: it stays
	time int64 // step time of the current order
}

// moveOut continues a search with copies.
func (s *searching) moveOut() {
	free := *s.p
	free.Limit = nil
	starts := [][][]Pass{}
	for _, c := range s.top {
		starts = append(starts, c.order)
	}
	// Orders for more room: without a limit, and with twice and one and a half times the room.
	for _, halves := range []int{0, 2, 1} {
		if free.Limit = nil; halves > 0 {
			for r := range s.p.Ranks {
				limit := s.p.limit(r)
				if limit < engine.MaxBytes {
					limit += max(0, limit-s.p.fixed(r)) / 2 * engine.Bytes(halves)
				}
				free.Limit = append(free.Limit, limit)
			}
		}
		found, err := Search(&free, Options{Effort: s.o.Effort / 16, Seed: s.o.Seed,
			Allowed: Allowed{Recompute: s.o.Recompute}}, s.poll)
		if err == nil {
			starts = append(starts, found.Order)
		}
	}
	for _, order := range starts {
		m := &moving{searching: s, w: newWork(&free)}
		free.Limit = nil
		if s.enough() || !m.w.load(order) {
			continue
		}
		m.lead = make([]int, len(m.w.stage))
		for r := range m.w.order {
			m.choose(r)
		}
		m.improve(s.o.Effort / 4 / len(starts))
	}
}

// choose copies out the activations that are held longest, until the rank would not exceed its limit if copies took
// no time.
func (m *moving) choose(r int) {
	for range len(m.w.order[r]) {
		over := m.over(r)
		if over < 0 {
			return
		}
		best, longest := int32(-1), 2
		for i, node := range m.w.order[r][:over] {
			cell := node / 4
			back := int(m.w.place[4*cell+nodeB])
			if node%4 == nodeF && m.movable(cell) && m.lead[cell] == 0 && back > over && back-i > longest {
				best, longest = cell, back-i
			}
		}
		if best < 0 {
			return
		}
		m.lead[best] = 1
	}
}

// movable reports whether a cell can be copied out: it is kept and has bytes to copy.
func (m *moving) movable(cell int32) bool {
	return !m.w.dropped[cell] && m.p.Stages[m.w.stage[cell]].Off > 0
}

// over returns the first place of a rank's order that does not fit, or -1 if all fit.
func (m *moving) over(r int) int {
	now, limit := m.p.fixed(r), m.p.limit(r)
	back := map[int][]int32{}
	for i, node := range m.w.order[r] {
		cell := node / 4
		for _, c := range back[i] {
			now += m.p.Stages[m.w.stage[c]].Off
		}
		use := m.w.use(node)
		if now += use[0]; now > limit {
			return i
		}
		now -= use[1]
		if node%4 == nodeF && m.lead[cell] > 0 {
			now -= m.p.Stages[m.w.stage[cell]].Off
			at := max(i+1, int(m.w.place[4*cell+nodeB])-m.lead[cell])
			back[at] = append(back[at], cell)
		}
	}
	return -1
}

// list returns the order with its copies.
func (m *moving) list() [][]Pass {
	out := make([][]Pass, len(m.w.order))
	for r, nodes := range m.w.order {
		back := map[int][]int32{}
		for i, node := range nodes {
			for _, c := range back[i] {
				x := m.w.pass(4*c + nodeF)
				x.Kind = In
				out[r] = append(out[r], x)
			}
			x := m.w.pass(node)
			out[r] = append(out[r], x)
			if cell := node / 4; node%4 == nodeF && m.lead[cell] > 0 {
				x.Kind = Out
				out[r] = append(out[r], x)
				at := max(i+1, int(m.w.place[4*cell+nodeB])-m.lead[cell])
				back[at] = append(back[at], cell)
			}
		}
	}
	return out
}

// improve changes the order, the copied activations and the time of their return, until effort passes were played.
func (m *moving) improve(effort int) {
	const perPass = 16 // the work of the player, relative to that of the longest path
	m.time = math.MaxInt64
	a := &annealing{work: m.w, rng: m.rng, allowed: m.o.Allowed, best: math.MaxInt64, time: math.MaxInt64 / 2}
	for played := 0; played < effort && !m.enough(); {
		undo := m.change(a)
		order := m.list()
		for r := range order {
			played += perPass * len(order[r])
		}
		t, err := m.p.Play(order)
		switch {
		case err != nil && m.time == math.MaxInt64: // nothing has fitted so far: keep the change
		case err != nil || int64(t.Makespan) > m.time:
			undo()
		default:
			m.time = int64(t.Makespan)
			m.try(order, "with copies")
		}
	}
}

// change makes one random change, and returns a function that takes it back.
func (m *moving) change(a *annealing) (undo func()) {
	r := m.rng.IntN(m.p.Ranks)
	if len(m.w.order[r]) == 0 {
		return func() {}
	}
	i := m.rng.IntN(len(m.w.order[r]))
	cell := m.w.order[r][i] / 4
	if old := m.lead[cell]; m.movable(cell) && (old > 0 && m.rng.IntN(2) == 0 || m.rng.IntN(6) == 0) {
		switch {
		case old == 0:
			m.lead[cell] = 1 + m.rng.IntN(3)
		case m.rng.IntN(4) == 0:
			m.lead[cell] = 0
		default:
			m.lead[cell] = max(1, old+m.rng.IntN(5)-2)
		}
		return func() { m.lead[cell] = old }
	}
	was := slices.Clone(m.w.order[r])
	a.path = append(a.path[:0], spot{r, i})
	if kind := m.rng.IntN(8); kind == 0 && m.o.Recompute && m.lead[cell] == 0 {
		dropped := m.w.dropped[cell]
		a.flip(cell, math.MaxInt64)
		return func() {
			m.w.dropped[cell] = dropped
			m.restore(r, was)
		}
	}
	a.shift(r, i, i+m.rng.IntN(7)-3, math.MaxInt64)
	return func() { m.restore(r, was) }
}

// restore gives a rank an earlier order again.
func (m *moving) restore(r int, order []int32) {
	m.w.order[r] = order
	m.w.settle(r)
	m.w.play(-1, 0, never)
}
