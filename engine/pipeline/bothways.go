package pipeline

import "fmt"

func init() {
	const paper = "2412.19437"
	register(
		maker{name: "dualpipe", title: "DualPipe: both directions at once, every stage twice (DeepSeek-V3, section 3.2.1)",
			paper: paper, shape: BothWays, split: true, refuse: refuseDual, make: dualPipe},
		maker{name: "dualpipev", title: "DualPipe cut in half: two stages a rank in the form of a V", paper: paper,
			shape: Vee, split: true, refuse: func(p *Request) error { return refuseFew(p, "DualPipeV") },
			make: dualPipeV},
	)
}

func refuseDual(p *Request) error {
	switch {
	case p.Micro%2 != 0:
		return fmt.Errorf("%d micro batches do not divide between two directions; %d do", p.Micro, p.Micro+1)
	case p.Ranks%2 != 0:
		return fmt.Errorf("DualPipe needs an even number of ranks; there are %d, and dualpipev takes any number",
			p.Ranks)
	}
	return refuseFew(p, "DualPipe")
}

// refuseFew refuses fewer micro batches than twice the ranks.
func refuseFew(p *Request, name string) error {
	if p.Micro < 2*p.Ranks {
		return fmt.Errorf("%s on %d ranks needs %d micro batches or more; there are %d", name, p.Ranks, 2*p.Ranks,
			p.Micro)
	}
	return nil
}

// dualPipe sends half of the micro batches each way. A rank's own direction is the one whose entry is nearer.
func dualPipe(p *Request, _ *Problem) [][]Pass {
	half := p.Ranks / 2
	return eachRank(&Request{Ranks: p.Ranks, Micro: p.Micro / 2}, func(w *writer, r int) {
		own, other := r, 2*p.Ranks-1-r
		if r >= half {
			own, other = other, own
		}
		eightPhases(w, half, min(r, p.Ranks-1-r), own, other)
	})
}

func dualPipeV(p *Request, _ *Problem) [][]Pass {
	return eachRank(p, func(w *writer, r int) { eightPhases(w, p.Ranks, r, r, 2*p.Ranks-1-r) })
}

// eightPhases writes the order of a rank as the authors' program does (deepseek-ai/DualPipe). The ranks of half a
// pipeline have distances 0 to half-1 from its end. own and other are the stages of the two directions.
func eightPhases(w *writer, half, distance, own, other int) {
	var waiting []Pass // backwards of weights that are still to run
	back := func(k Kind, stage int) {
		w.put(k, stage, false)
		if k == Inputs {
			waiting = append(waiting, Pass{Kind: Weights, Micro: w.ran(Backward, stage) - 1, Stage: stage})
		}
	}
	weights := func() {
		if len(waiting) > 0 {
			w.list, waiting = append(w.list, waiting[0]), waiting[1:]
		}
	}
	pair := func(f, a int, joined bool) {
		w.put(Forward, f, joined)
		w.put(Backward, a, false)
	}
	rest := half - 1 - distance
	w.puts(2*rest, Forward, own) // phase 1
	for range distance + 1 {     // 2
		w.put(Forward, own, false)
		w.put(Forward, other, false)
	}
	for range rest { // 3
		back(Inputs, other)
		weights()
		w.put(Forward, other, false)
	}
	for i := range w.most - 2*half + distance + 1 { // 4
		// The first forward of the middle rank gets its input too late to be joined.
		pair(own, other, i > 0 || rest > 0)
		pair(other, own, true)
	}
	for range rest { // 5
		back(Backward, other)
		pair(other, own, true)
	}
	for i := range 2 * (distance + 1) { // 6, with split backwards in its second half
		kind, stage := Backward, other
		if i > distance {
			kind = Inputs
		}
		if i%2 == 1 {
			stage = own
		}
		back(kind, stage)
	}
	for range rest { // 7
		weights()
		back(Inputs, own)
	}
	for range distance + 1 { // 8
		weights()
	}
}
