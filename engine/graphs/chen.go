package graphs

import (
	"fmt"
	"slices"

	"memtide/engine"
)

func init() { engine.Register(chen) }

var chen = &engine.Strategy{
	Name:  "chen",
	Title: "Segments of equal size (Chen et al.)",
	Mark:  10,
	Doc:   "Cuts the forward pass into segments of about equal size and keeps only what passes from one to the next.",
	Class: engine.MayRecompute, Graphs: true,
	Plans: "wrappable",
	Cites: []engine.Cite{{Text: "Chen, Xu, Zhang and Guestrin: Training Deep Nets with Sublinear Memory Cost",
		ID: "arXiv:1604.06174", Section: "4 (algorithms 2 and 3)"}},
	Params: []engine.Param{{Name: "segments", Title: "Segments", Default: "0", Min: 0, Max: 1000,
		Doc: "The number of segments; 0 tries up to 64 and takes the fastest within the budget."}},
	Solver: maker(chenPlans).solve, Sweeper: maker(chenPlans).sweep,
}

func chenPlans(l *plans, args engine.Parsed, poll *engine.Poll) {
	forward := l.m.forward()
	low, high := 2, min(64, len(forward))
	if n := args.Int("segments"); n > 0 {
		low, high = n, n
	}
	for n := low; n <= high && poll.Err() == nil; n++ {
		l.addSegments(forward, n)
	}
}

// addSegments adds the plan with n segments.
func (l *plans) addSegments(forward []int32, n int) {
	l.add(l.m.saving(forward, l.m.crossing(forward, n)), fmt.Sprintf("The forward pass is cut into %d segments.", n))
}

// crossing returns a function that reports whether a value passes from one of n segments of about equal bytes to
// another, or is made by the last one.
func (m *model) crossing(forward []int32, n int) func(v int32) bool {
	var total, sum engine.Bytes
	for _, i := range forward {
		total += m.kinds[i].bytes
	}
	segment := slices.Repeat([]int{n}, m.ops+2) // n is after the forward pass
	share, last := total/engine.Bytes(n)+1, 0
	for _, i := range forward {
		last = int(sum / share)
		segment[i] = last
		sum += m.kinds[i].bytes
	}
	return func(v int32) bool {
		own := segment[m.maker[v]]
		return own == last || slices.ContainsFunc(m.users[v],
			func(u int32) bool { return segment[u] != own && segment[u] != n })
	}
}
