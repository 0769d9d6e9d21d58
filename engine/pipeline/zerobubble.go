package pipeline

import (
	"slices"

	"memtide/engine"
)

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

// late writes 1F1B with backwards in two parts; the backward of weights runs behind backwards later.
func late(w *writer, n, stage, ahead, behind int) {
	warm(n, ahead, func(int) { w.put(Forward, stage, false) }, func(k int) {
		w.put(Inputs, stage, false)
		if k >= behind {
			w.put(Weights, stage, false)
		}
	})
	w.puts(min(behind, n), Weights, stage)
}

// zeroBubbleH1 returns the order of ZB-H1. No order is faster if no bytes are freed before the backward of weights,
// the number of passes that fit is that of the ranks, and messages take no time (Bound).
func zeroBubbleH1(p *Request, _ *Problem) [][]Pass {
	return eachRank(p, func(w *writer, r int) { late(w, p.Micro, r, p.Ranks-1-r, r) })
}

// zeroBubbleH2 returns the order of ZB-H2, which fills the time until the first backward with forwards.
func zeroBubbleH2(p *Request, _ *Problem) [][]Pass {
	return eachRank(p, func(w *writer, r int) { late(w, p.Micro, r, 2*(p.Ranks-1-r), 2*r) })
}

// withinEffort is the number of passes that the search of a named schedule may play.
const withinEffort = 1_000_000

// within searches for an order that is no slower than the given one and holds at most the given number of passes per
// rank. The paper's own search is a greedy one in eight variants; this one is a short Search.
func within(q *Problem, passes int, order [][]Pass) [][]Pass {
	counted := *q
	counted.Fixed, counted.Limit = nil, nil
	counted.Stages = slices.Clone(q.Stages)
	for s := range counted.Stages {
		counted.Stages[s].Holds = Holds{Act: 1, Rest: 1}
	}
	for range q.Ranks {
		counted.Limit = append(counted.Limit, engine.Bytes(passes))
	}
	found, err := Search(&counted, Options{Effort: withinEffort, Orders: [][][]Pass{order}}, nil)
	if err != nil { // times out of range: Play returns the error
		return order
	}
	return found.Order
}
