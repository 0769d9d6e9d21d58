package offload

import (
	"fmt"
	"slices"

	"memtide/engine"
)

func init() { engine.Register(vdnnThreshold) }

var vdnnThreshold = &engine.Strategy{
	Name:  "vdnnthreshold",
	Title: "Offload long layers (vDNN)",
	Mark:  9,
	Doc:   "Offloads the inputs of layers that compute for long in relation to what they would move.",
	Class: engine.MayOffload,
	Cites: []engine.Cite{
		{Text: "Rhu, Gimelshein, Clemons, Zulfiqar and Keckler: vDNN: Virtualized Deep Neural Networks for Scalable, Memory-Efficient Neural Network Design", ID: "arXiv:1602.08124", Section: "III"},
		Paper000("5 (VDNN)"),
	},
	Solver: solveVDNNThreshold,
}

func solveVDNNThreshold(p *engine.Problem, _ engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	s, err := begin(p)
	if err != nil {
		return nil, err
	}
	set, note := thresholdSet(s, newModel(s, s.rule()), poll)
	if set == nil {
		return nil, poll.Err()
	}
	sol := s.mustPlan(set).solution()
	if note != "" {
		sol.Notes = append(sol.Notes, note)
	}
	return sol.Solution, poll.Err()
}

// thresholdSet returns the best set that a threshold selects, and a note about it. The set is nil
// only if time runs out before any fits.
func thresholdSet(s *step, m *model, poll *engine.Poll) (best []bool, note string) {
	if s.peak() <= s.p.Budget {
		return make([]bool, s.n), ""
	}
	// The values by forward time per byte, the largest first.
	var order []int
	for i, x := range s.size {
		if x > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return s.comparePerByte(b, a) })

	least := int64(never)
	try := func(set []bool, what string, count int) {
		if t := m.time(set); t < least {
			least, best = t, slices.Clone(set)
			note = fmt.Sprintf("Takes %s of the %d values with the longest forward operations per byte.", what, count)
		}
	}
	all := make([]bool, s.n)
	for k, i := range order {
		all[i] = true
		if k+1 < len(order) && s.comparePerByte(i, order[k+1]) == 0 {
			continue // the next value has the same threshold
		}
		if poll.Err() != nil {
			break
		}
		try(all, "all", k+1)
		try(everySecond(all), "every second", k+1)
	}
	return best, note
}

// everySecond returns the first, the third and so on of a set.
func everySecond(set []bool) []bool {
	half := make([]bool, len(set))
	keep := true
	for i, sent := range set {
		if sent {
			half[i] = keep
			keep = !keep
		}
	}
	return half
}

// comparePerByte compares the forward times per byte [uF_i/x_i] exactly.
func (s *step) comparePerByte(a, b int) int {
	return engine.CompareRatios(uint64(s.timeF[a]), uint64(s.size[a]), uint64(s.timeF[b]), uint64(s.size[b]))
}
