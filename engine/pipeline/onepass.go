package pipeline

func init() {
	register(
		maker{name: "gpipe", title: "GPipe: all forwards, then all backwards", paper: "1811.06965", make: gpipe},
		maker{name: "1f1b", title: "1F1B: one forward, one backward (PipeDream-Flush)", paper: "2006.09503", make: oneByOne},
	)
}

func gpipe(p *Request, _ *Problem) [][]Pass {
	return eachRank(p, func(w *writer, r int) {
		w.puts(p.Micro, Forward, r)
		w.puts(p.Micro, Backward, r)
	})
}

func oneByOne(p *Request, _ *Problem) [][]Pass {
	return eachRank(p, func(w *writer, r int) {
		warm(p.Micro, p.Ranks-1-r, func(int) { w.put(Forward, r, false) }, func(int) { w.put(Backward, r, false) })
	})
}

// eachRank returns the orders that write appends for every rank.
func eachRank(p *Request, write func(w *writer, r int)) [][]Pass {
	order := make([][]Pass, p.Ranks)
	for r := range order {
		w := &writer{next: map[Pass]int{}, most: p.Micro}
		write(w, r)
		order[r] = w.list
	}
	return order
}
