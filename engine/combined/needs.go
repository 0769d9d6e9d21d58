package combined

import (
	"cmp"
	"fmt"

	"memtide/engine"
	"memtide/engine/remat"
)

// need is the least room, less what is held, that some plan needs from a stage on, and what
// needs it: an operation, or if that is one of a group that is computed again, the group's
// first stage, as an operation without a kind.
type need struct {
	room int64
	by   engine.ChainOp
}

// or returns the larger of two needs, the first of equal ones.
func (a need) or(b need) need {
	if b.room > a.room {
		return b
	}
	return a
}

// needs returns, by stage and kind of the input before it (an output alone, or saved
// activations), what plans need that offload every input from there on: waiting costs no
// memory. It is the program of section 3.2 without times, from the last stage to the first.
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
				or(need{z + t.all(i, t.n), engine.ChainOp{Kind: engine.FAll, Stage: i}}).or(least[i+1][1])
			lean := need{room: -1}
			for j := i; j < t.n; j++ {
				lean = lean.or(need{t.none(i, t.n, j), engine.ChainOp{Kind: engine.FNone, Stage: j}})
				if j == i {
					lean.room += z
				}
				again := need{z + floors[i][j], engine.ChainOp{Kind: group, Stage: i}}
				if at := lean.or(again).or(least[j+1][0]); at.room < best.room {
					best = at
				}
			}
			least[i][x] = best
		}
	}
	return least, nil
}

// group is the kind of no operation.
const group = engine.BStep + 1

// tooSmall returns the error of a budget that no plan fits into, or nil if one does.
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
