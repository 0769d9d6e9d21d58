package pipeline

func init() {
	const paper = "2401.10241"
	register(
		maker{name: "zb-h1", title: "zero bubble with the memory of 1F1B (ZB-H1, section 2.1)", paper: paper, split: true, make: zeroBubbleH1},
		maker{name: "zb-h2", title: "zero bubble with twice that memory (ZB-H2, section 2.2)", paper: paper, split: true, make: zeroBubbleH2},
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

// zeroBubbleH1 is a rule. Where nothing is freed before the weights' backward, as many passes as ranks fit and messages
// take no time, no order is faster (Bound).
func zeroBubbleH1(p *Plan, _ *Problem) [][]Pass {
	return eachRank(p, func(w *writer, r int) { late(w, p.Micro, r, p.Ranks-1-r, r) })
}

// zeroBubbleH2 fills the time until the first backward with forwards.
func zeroBubbleH2(p *Plan, _ *Problem) [][]Pass {
	return eachRank(p, func(w *writer, r int) { late(w, p.Micro, r, 2*(p.Ranks-1-r), 2*r) })
}
