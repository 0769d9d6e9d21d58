package remat

import "memtide/engine"

func init() {
	engine.Register(&engine.Strategy{
		Name:   engine.KeepAll,
		Title:  "Keep everything",
		Rank:   engine.Rank{Chain: 6, Graph: 6},
		Doc:    "Keeps every activation from its forward to its backward.",
		Cites:  []engine.Cite{Paper002("3.1, every stage with F_all")},
		Graphs: true, Lanes: true,
		Solver: solveKeepAll,
	})
}

func solveKeepAll(p *engine.Problem, _ engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	if p.Chain == nil {
		return keepGraph(p)
	}
	c := p.Chain.Chain
	if need := c.KeepAllPeak(); need > p.Budget {
		return nil, &engine.InfeasibleError{Budget: p.Budget, Smallest: need,
			Why: "every activation stays; " + needs(p.Chain, keepAll(nil, 1, c.Len()))}
	}
	sol := solution(p, keepAll(nil, 1, c.Len()))
	sol.Optimal = true
	sol.OptimalAmong = p.Graph.FirstWays(withinKept)
	sol.Bound = sol.Makespan
	sol.Notes = []string{"All activations stay from their forward to their backward."}
	if c.HasUnsaved() {
		sol.Note("Without outputs that no backward reads: plain training lets go of them, too.")
	}
	return sol, nil
}

// withinKept names the schedules that keepall is optimal among.
const withinKept = "schedules that keep everything"

// KeepInput appends F_ck^s, F_none^{s+1}..F_none^t, which keep the input of stage s and the output
// of stage t.
func KeepInput(seq []engine.ChainOp, s, t int) []engine.ChainOp {
	seq = append(seq, engine.ChainOp{Kind: engine.FCk, Stage: s})
	for k := s + 1; k <= t; k++ {
		seq = append(seq, engine.ChainOp{Kind: engine.FNone, Stage: k})
	}
	return seq
}

// keepAll appends F_all^s..F_all^t and B^t..B^s.
func keepAll(seq []engine.ChainOp, s, t int) []engine.ChainOp {
	for k := s; k <= t; k++ {
		seq = append(seq, engine.ChainOp{Kind: engine.FAll, Stage: k})
	}
	for k := t; k >= s; k-- {
		seq = append(seq, engine.ChainOp{Kind: engine.BStep, Stage: k})
	}
	return seq
}
