package window

import (
	"fmt"
	"sort"

	"memtide/engine"
)

func init() { engine.Register(Window) }

// Window is the strategy, for those that build on it.
var Window = &engine.Strategy{
	Name:  "window",
	Title: "Adaptive window",
	Mark:  10,
	Doc:   "Fetches what the next operations use, as far as it fits into a window of bytes, and offloads everything beyond it.",
	Class: engine.MayOffload, Graphs: true,
	Short: "Adaptive window",
	Rank:  engine.Rank{Chain: 5, Graph: 3},
	Cites: []engine.Cite{paper004},
	Params: []engine.Param{{
		Name: "window", Title: "Window, MiB",
		Doc:     "How far to look ahead, in MiB; 0 searches for the fastest within the budget.",
		Default: "0", Min: 0, Max: 1 << 24,
	}},
	Solver: solveWindow,
}

func solveWindow(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	n, err := newNetwork(p, poll)
	if err != nil {
		return nil, err
	}
	if mib := args.Int("window"); mib > 0 {
		return n.given(n.windowOf(engine.Bytes(mib) << 20))
	}
	var b best
	n.searchWindow(&b)
	return b.found(n, n.windowed(0))
}

// windowOf returns the walk with a window of a size in bytes, and its note for people.
func (n *network) windowOf(bytes engine.Bytes) (walk, string) {
	return n.windowed(bytes), fmt.Sprintf("The window is %s.", bytes.Text())
}

// The search tries searchSteps evenly spaced sizes of the window, and then refineSteps sizes on each side of the
// fastest, between it and its neighbours.
const (
	searchSteps = 64
	refineSteps = 8
)

// searchWindow tries sizes from 0 to the largest that fits. A larger window never needs less memory, because at
// every function it holds all variables that a smaller one holds.
func (n *network) searchWindow(b *best) {
	most, ok := n.largestWindow()
	if !ok {
		return
	}
	var at, step engine.Bytes // the fastest size so far, and its distance to the sizes tried with it
	try := func(w, apart engine.Bytes) {
		before := b.run
		b.try(n, n.windowed(w), fmt.Sprintf("The window is %s, found by search.", w.Text()))
		if b.run != before {
			at, step = w, apart
		}
	}
	even := max(most/searchSteps, 1)
	for k := engine.Bytes(0); k*even < most && n.poll.Err() == nil; k++ {
		try(most-k*even, even)
	}
	if n.poll.Err() == nil {
		try(0, even)
	}
	for n.poll.Err() == nil && step > 1 && step > most>>12 {
		centre, near := at, max(step/refineSteps, 1)
		step = 0
		for k := engine.Bytes(1); k < refineSteps && n.poll.Err() == nil; k++ {
			for _, w := range []engine.Bytes{centre - k*near, centre + k*near} {
				if w >= 0 && w <= most {
					try(w, near)
				}
			}
		}
	}
}

// largestWindow returns the largest window that fits into the budget, at most the size of the whole sequence. ok is
// false if no window fits. A walk that poll stops counts as one that does not fit.
func (n *network) largestWindow() (most engine.Bytes, ok bool) {
	fits := func(w engine.Bytes) bool {
		r, _ := n.windowed(w)(engine.NoLimit)
		return r.need <= n.p.Budget
	}
	most = n.sums[len(n.seq)]
	if !fits(0) {
		return 0, false
	}
	if fits(most) {
		return most, true
	}
	var least engine.Bytes
	for least+1 < most && n.poll.Err() == nil {
		if mid := least + (most-least)/2; fits(mid) {
			least = mid
		} else {
			most = mid
		}
	}
	return least, true
}

// windowed returns the walk with a window of a size in bytes.
func (n *network) windowed(bytes engine.Bytes) walk {
	return func(budget engine.Bytes) (*run, bool) {
		r, right := n.start(budget), 0 // [r] the first index beyond the window
		return r, r.over(func(i int) bool {
			f := n.funcs[i]
			limit := n.sums[f.first] + bytes
			end := sort.Search(len(n.seq), func(k int) bool { return n.sums[k+1] > limit })
			end = max(end, f.last, right)
			for _, v := range n.seq[right:end] {
				switch {
				case r.place[v] == leaving:
					r.stay(v)
				case r.place[v] == onHost && !r.fetch(v):
					return false
				}
			}
			right = end
			return true
		}, func(at int) {
			if n.next[at] >= right {
				r.leave(n.seq[at])
			}
		})
	}
}
