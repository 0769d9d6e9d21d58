package pipeline

import "memtide/engine"

func init() {
	const paper = "2401.10241"
	register(
		maker{name: "zb-h1", title: "zero bubble with the memory of 1F1B (ZB-H1, section 2.1)", paper: paper,
			split: true, make: zeroBubbleH1},
		maker{name: "zb-h2", title: "zero bubble with twice that memory (ZB-H2, section 2.2)", paper: paper,
			split: true, make: zeroBubbleH2},
		maker{name: "zb-1p", title: "searched, with the memory of 1F1B (ZB-1p, section 3)", paper: paper, split: true,
			searched: true,
			make:     func(p *Request, q *Problem) [][]Pass { return within(q, p.Ranks, zeroBubbleH1(p, q)) }},
		maker{name: "zb-2p", title: "searched, with twice the memory of 1F1B (ZB-2p, section 3)", paper: paper,
			split: true, searched: true,
			make: func(p *Request, q *Problem) [][]Pass { return within(q, 2*p.Ranks, zeroBubbleH2(p, q)) }},
	)
}

// late writes 1F1B with backwards in two parts: that of the weights runs some backwards later.
func late(w *writer, n, stage, ahead, behind int) {
	warm(n, ahead, func(int) { w.put(Forward, stage, false) }, func(k int) {
		w.put(Inputs, stage, false)
		if k >= behind {
			w.put(Weights, stage, false)
		}
	})
	for range min(behind, n) {
		w.put(Weights, stage, false)
	}
}

// zeroBubbleH1 returns a rule. Where nothing is freed before the weights' backward, as many passes as ranks fit and
// messages take no time, no order is faster (Bound).
func zeroBubbleH1(p *Request, _ *Problem) [][]Pass {
	return eachRank(p, func(w *writer, r int) { late(w, p.Micro, r, p.Ranks-1-r, r) })
}

// zeroBubbleH2 fills the time until the first backward with forwards.
func zeroBubbleH2(p *Request, _ *Problem) [][]Pass {
	return eachRank(p, func(w *writer, r int) { late(w, p.Micro, r, 2*(p.Ranks-1-r), 2*r) })
}

// withinEffort bounds the passes that the search of a named schedule plays.
const withinEffort = 1_000_000

// within searches an order that is no slower than another one and holds no more passes a rank. The paper's own search
// is
// a greedy one in eight variants; this is the one of this package, for a while.
func within(q *Problem, passes int, order [][]Pass) [][]Pass {
	counted := *q
	counted.Fixed, counted.Limit = nil, nil
	counted.Stages = append([]Stage(nil), q.Stages...)
	for s := range counted.Stages {
		counted.Stages[s].Holds = Holds{Act: 1, Rest: 1}
	}
	for range q.Ranks {
		counted.Limit = append(counted.Limit, engine.Bytes(passes))
	}
	found, err := Search(&counted, Options{Effort: withinEffort, Orders: [][][]Pass{order}}, nil)
	if err != nil { // times that cannot be added up: playing says so
		return order
	}
	return found.Order
}
