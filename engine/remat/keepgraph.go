package remat

import (
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/engine/sim"
)

// keepOthers keeps everything of a graph with other lanes; nil in a program that does not
// know them.
var keepOthers func(p *engine.Problem) (*engine.Solution, error)

// LinkLanes makes the program know other lanes: see package engine/lanes.
func LinkLanes(keep func(p *engine.Problem) (*engine.Solution, error)) { keepOthers = keep }

// keepGraph keeps every value of a graph from when it is made to its last use,
// and weights to the end of the step. Nothing moves, so the step takes as long as
// its operations, in the order in which they stand.
func keepGraph(p *engine.Problem) (*engine.Solution, error) {
	if keepOthers != nil && p.Graph.HasLanes() {
		return keepOthers(p)
	}
	g := p.Graph
	servers, err := g.Servers()
	if err != nil {
		return nil, err
	}
	k := &keeper{g: g, servers: servers, there: make([]bool, len(g.Values)), uses: make([]int, len(g.Values))}
	for v := range g.Values {
		k.there[v] = g.Values[v].Initial&engine.OnDevice != 0
	}
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

// keeper walks over the operations once.
type keeper struct {
	g       *engine.Graph
	servers []engine.ValueID // of every value: see Graph.Servers
	there   []bool           // on the device
	uses    []int            // of the values that are made, until the end of the step
	steps   engine.Schedule
}

// countUses counts reads and writes of every value. Operations that read what is
// not there yet are not supported.
func (k *keeper) countUses() error {
	made := slices.Clone(k.there)
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

// run runs an operation and frees what is not used again.
func (k *keeper) run(id engine.OpID) {
	op := &k.g.Ops[id]
	k.steps = append(k.steps, engine.Run(id))
	var touched []engine.ValueID
	for _, v := range op.In {
		touched = append(touched, k.servers[v])
	}
	for _, v := range op.Out {
		k.there[v] = true
		touched = append(touched, v)
	}
	for _, v := range touched {
		k.uses[v]--
		if k.uses[v] == 0 && k.g.Values[v].Kind != engine.KindWeight {
			k.steps = append(k.steps, engine.Free(v))
			k.there[v] = false
		}
	}
}
