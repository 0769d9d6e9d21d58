package remat

import (
	"fmt"

	"memtide/engine"
	"memtide/engine/sim"
)

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

// KeepInput appends F_ck^s, F_none^{s+1}..F_none^t, which keep the input of stage s and the output of stage t.
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

// keepOthers keeps everything of a graph with other lanes. It is nil in a program without package engine/lanes.
var keepOthers func(p *engine.Problem) (*engine.Solution, error)

// LinkLanes sets the function that keeps everything of a graph with other lanes; package engine/lanes calls it.
func LinkLanes(keep func(p *engine.Problem) (*engine.Solution, error)) { keepOthers = keep }

// keepGraph keeps every value of a graph from when it is made to its last use, and weights to the end of the step.
// Nothing moves, so the step takes the sum of the times of its operations, which run in the order of the graph.
func keepGraph(p *engine.Problem) (*engine.Solution, error) {
	if keepOthers != nil && p.Graph.HasLanes() {
		return keepOthers(p)
	}
	g := p.Graph
	servers, err := g.Servers()
	if err != nil {
		return nil, err
	}
	k := &keeper{g: g, servers: servers, uses: make([]int, len(g.Values))}
	if err := k.countUses(); err != nil {
		return nil, err
	}
	for i := range g.Ops {
		k.run(engine.OpID(i))
	}
	sol, err := sim.Solution(p.WithBudget(engine.NoLimit), k.steps)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", engine.ErrUnsupported, err)
	case sol.Peak > p.Budget:
		return nil, &engine.InfeasibleError{Budget: p.Budget, Smallest: sol.Peak,
			Why: "every value stays to its last use"}
	}
	sol.Optimal, sol.OptimalAmong, sol.Bound = true, g.FirstWays(withinKept), sol.Makespan
	sol.Notes = []string{fmt.Sprintf("%d values stay from when they are made to their last use.", len(g.Values))}
	return sol, nil
}

// keeper builds the schedule that keeps everything.
type keeper struct {
	g       *engine.Graph
	servers []engine.ValueID // by value: see Graph.Servers
	uses    []int            // by value: reads and writes that are still to come
	steps   engine.Schedule
}

// countUses counts the reads and writes of every value. It returns an error if an operation reads a
// value that is not made before.
func (k *keeper) countUses() error {
	made := make([]bool, len(k.g.Values))
	for v := range made {
		made[v] = k.g.Values[v].Initial&engine.OnDevice != 0
	}
	for i := range k.g.Ops {
		op := &k.g.Ops[i]
		for _, id := range op.In {
			v := k.servers[id]
			if !made[v] {
				return fmt.Errorf("%w: %s reads %s, which no operation before it makes", engine.ErrUnsupported,
					op.Name, k.g.Values[id].Name)
			}
			k.uses[v]++
		}
		for _, v := range op.Out {
			made[v] = true
			k.uses[v]++
		}
	}
	return nil
}

// run runs an operation and frees the values that have no later use.
func (k *keeper) run(id engine.OpID) {
	op := &k.g.Ops[id]
	k.steps = append(k.steps, engine.Run(id))
	var touched []engine.ValueID
	for _, v := range op.In {
		touched = append(touched, k.servers[v])
	}
	for _, v := range append(touched, op.Out...) {
		k.uses[v]--
		if k.uses[v] == 0 && k.g.Values[v].Kind != engine.KindWeight {
			k.steps = append(k.steps, engine.Free(v))
		}
	}
}
