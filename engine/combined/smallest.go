package combined

import (
	"fmt"

	"memtide/engine"
	"memtide/engine/remat"
)

// smallest is the least room that any plan fits into: all inputs are offloaded,
// and waiting costs no memory. It is the program of section 3.2 without times.
func (t *terms) smallest(poll *engine.Poll) (room int64, stage int, err error) {
	floors, err := remat.Floors(t.chain, poll)
	if err != nil {
		return 0, 0, err
	}
	const kinds = 2 // before the stage: an output alone, or saved activations
	type state struct {
		need  int64
		stage int // at which it is needed
	}
	best := make([][kinds]state, t.n+2)
	for i := range best {
		best[i] = [kinds]state{{unreachable, 0}, {unreachable, 0}}
	}
	best[1][0] = state{t.held[t.n] + t.act[0], 1}
	reach := func(j, x int, from state, need int64, stage int) {
		if from.need >= need {
			need, stage = from.need, from.stage
		}
		if need < best[j][x].need {
			best[j][x] = state{need, stage}
		}
	}
	for i := 1; i <= t.n; i++ {
		for x, from := range best[i] {
			if from.need == unreachable {
				continue
			}
			z := t.input(i, x == 1)
			reach(i+1, 1, from, z+max(t.all(i, t.n), t.back(i)), i)
			need := int64(0)
			for j := i; j < t.n; j++ {
				need = max(need, t.none(i, t.n, j))
				if j == i {
					need += z
				}
				reach(j+1, 0, from, max(need, z+floors[i][j]), i)
			}
		}
	}
	end := best[t.n+1][1]
	return end.need, end.stage, nil
}

// tooSmall is the error of a budget that no plan fits into; nil if one does.
func (t *terms) tooSmall(p *engine.Problem, poll *engine.Poll) error {
	least, stage, err := t.smallest(poll)
	if err != nil {
		return err
	}
	if least <= t.room {
		return nil
	}
	return &engine.InfeasibleError{
		Budget:   p.Budget,
		Smallest: engine.Bytes(least) + p.Graph.Fixed,
		Why:      fmt.Sprintf("the segment that begins with stage %d (%s) needs the most, even with everything else on the host", stage, remat.StageName(p.Chain.Chain, stage)),
	}
}
