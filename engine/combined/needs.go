package combined

import (
	"cmp"
	"fmt"

	"memtide/engine"
	"memtide/engine/remat"
)

// need is the least room that some plan needs from a stage on, not counting the bytes held, and the
// operation that needs it. For operations of a group that is computed again, by has the kind group
// and the first stage of the group.
type need struct {
	room int64
	by   engine.ChainOp
}

// max returns the larger of two needs, a if they are equal.
func (a need) max(b need) need {
	if b.room > a.room {
		return b
	}
	return a
}

// needs returns, by stage and kind of its input (0 for an output alone, 1 for saved activations),
// the needs of plans that offload every input from that stage on. Waiting for transfers costs no
// memory. It is the recursion of section 3.2 without times, from the last stage to the first.
func (t *terms) needs(poll *engine.Poll) ([][2]need, error) {
	if t.shared.floors == nil {
		floors, err := remat.Floors(t.chain, poll)
		if err != nil {
			return nil, err
		}
		t.shared.floors = floors
	}
	floors := t.shared.floors
	least := make([][2]need, t.n+2)
	for i := t.n; i >= 1; i-- {
		for x := range 2 {
			z := t.input(i, x == 1)
			best := need{z + t.back(i), engine.ChainOp{Kind: engine.BStep, Stage: i}}.
				max(need{z + t.all(i, t.n), engine.ChainOp{Kind: engine.FAll, Stage: i}}).max(least[i+1][1])
			lean := need{room: -1}
			for j := i; j < t.n; j++ {
				lean = lean.max(need{t.none(i, t.n, j), engine.ChainOp{Kind: engine.FNone, Stage: j}})
				if j == i {
					lean.room += z
				}
				rerun := need{z + floors[i][j], engine.ChainOp{Kind: group, Stage: i}}
				if at := lean.max(rerun).max(least[j+1][0]); at.room < best.room {
					best = at
				}
			}
			least[i][x] = best
		}
	}
	return least, nil
}

// group is a kind that no operation has.
const group = engine.BStep + 1

// tooSmall returns an error if no plan fits into the budget, and nil otherwise.
func (t *terms) tooSmall(p *engine.Problem, poll *engine.Poll) error {
	needs, err := t.needs(poll)
	if err != nil {
		return err
	}
	root := needs[1][0]
	if root.room <= t.room {
		return nil
	}
	least, by := engine.Bytes(root.room)+p.Graph.Fixed, root.by
	short := &engine.InfeasibleError{Budget: p.Budget, Smallest: least}
	if by.Kind == group {
		name := cmp.Or(p.Chain.Chain.Stages[by.Stage-1].Name, "a stage without a name")
		short.Why = fmt.Sprintf("the segment that begins with stage %d (%s) needs the most, even with everything else on the host", by.Stage, name)
	} else {
		short.Why = "even with everything else on the host " + p.Chain.Needs(by, least)
	}
	return short
}
