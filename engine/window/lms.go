package window

import (
	"cmp"
	"fmt"
	"slices"

	"memtide/engine"
)

func init() { engine.Register(LMS) }

// LMS is the strategy, for those that build on it.
var LMS = &engine.Strategy{
	Name:  "lms",
	Title: "Large model support (LMS)",
	Mark:  3,
	Doc:   "Offloads a value whose next use is many operations away, and fetches it a fixed number of operations before that use.",
	Class: engine.MayOffload, Graphs: true,
	Rank: engine.Rank{Graph: 4},
	Cites: []engine.Cite{
		{Text: "Le, Imai, Negishi and Kawachiya: TFLMS: Large Model Support in TensorFlow by Graph Rewriting",
			ID: "arXiv:1807.02037", Section: "3"},
		{Text: paper004.Text, ID: paper004.ID, Section: "2 (LMS)"},
	},
	Params: []engine.Param{
		{Name: "threshold", Title: "Swap-out threshold", Default: "0", Min: 0, Max: 100_000,
			Doc: "A value is offloaded if its next use is at least this many operations away [swapout_threshold]; 0 searches for the fastest within the budget."},
		{Name: "ahead", Title: "Swap-in ahead", Default: "0", Min: 0, Max: 100_000,
			Doc: "A value is fetched this many operations before its next use [swapin_ahead]; 0 searches for the fastest within the budget."},
	},
	Solver: solveLMS,
}

func solveLMS(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	n, err := newNetwork(p, poll)
	if err != nil {
		return nil, err
	}
	thresholds, leads := n.thresholds(), n.leads()
	if t := args.Int("threshold"); t > 0 {
		thresholds = []int{t}
	}
	if a := args.Int("ahead"); a > 0 {
		leads = []int{a}
	}
	var b best
	// Larger numbers never need less memory, so all numbers above one that does not fit do not fit either. The
	// largest come last and move least. Of equal times the smaller numbers are kept, because they need less memory.
	for _, threshold := range thresholds {
		for k, ahead := range leads {
			if poll.Err() != nil {
				break
			}
			if !b.try(n, n.lms(threshold, ahead), lmsNote(threshold, ahead)) {
				leads = leads[:k]
				break
			}
		}
	}
	return b.found(n, n.lms(thresholds[0], max(args.Int("ahead"), 1)))
}

func lmsNote(threshold, ahead int) string {
	return fmt.Sprintf("Offloads values whose next use is %d or more operations away, and fetches them %d operations before it.", threshold, ahead)
}

// maxThresholds is how many distances the search tries.
const maxThresholds = 24

// thresholds returns the thresholds that the search tries, ascending: distances between two uses of a value, and a
// number above all of them.
func (n *network) thresholds() []int {
	list := []int{1, len(n.funcs) + 1}
	for at, next := range n.next {
		if next < len(n.seq) {
			list = append(list, n.owner[next]-n.owner[at])
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) <= maxThresholds {
		return list
	}
	some := make([]int, maxThresholds)
	for i := range some {
		some[i] = list[i*(len(list)-1)/(maxThresholds-1)]
	}
	return some
}

// leads returns the numbers of functions ahead that the search tries, ascending.
func (n *network) leads() (list []int) {
	for a := 1; a <= max(len(n.funcs)-1, 1) && len(list) < 18; a += max(1, a/2) {
		list = append(list, a)
	}
	return list
}

// due is a variable that has to be fetched before a function. use is the function that reads it.
type due struct {
	use int
	v   engine.ValueID
}

// lms returns the walk of large model support with a threshold and a number of functions ahead.
func (n *network) lms(threshold, ahead int) walk {
	return func(budget engine.Bytes) (*run, bool) {
		r := n.start(budget)
		in := make([][]due, len(n.funcs))
		fetch := func(from, use int, v engine.ValueID) {
			at := max(from, use-ahead)
			in[at] = append(in[at], due{use, v})
		}
		seen := make([]bool, len(n.p.Graph.Values))
		for at, v := range n.seq {
			if !seen[v] && r.place[v] == onHost {
				fetch(0, n.owner[at], v)
			}
			seen[v] = true
		}
		return r, r.over(func(i int) bool {
			slices.SortStableFunc(in[i], n.order)
			for _, d := range in[i] {
				for r.place[d.v] == leaving {
					r.evict()
				}
				if !r.fetch(d.v) {
					return false
				}
			}
			return true
		}, func(at int) {
			if i, use := n.owner[at], n.owner[n.next[at]]; use-i >= threshold {
				r.leave(n.seq[at])
				fetch(i+1, use, n.seq[at])
			}
		})
	}
}

// order compares two variables that are fetched before the same function, by their use and then by their name.
func (n *network) order(a, b due) int {
	return cmp.Or(cmp.Compare(a.use, b.use), cmp.Compare(n.p.Graph.Values[a.v].Name, n.p.Graph.Values[b.v].Name))
}
