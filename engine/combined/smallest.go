package combined

import (
	"cmp"
	"fmt"

	"memtide/engine"
	"memtide/engine/remat"
)

// smallest returns the least room that any plan fits into: all inputs are offloaded,
// and waiting costs no memory. It is the program of section 3.2 without times.
//
// What needs it is an operation, or if that is one of a group that is computed again, the
// group's first stage, as an operation without a kind.
func (t *terms) smallest(poll *engine.Poll) (room int64, by engine.ChainOp, err error) {
	floors, err := remat.Floors(t.chain, poll)
	if err != nil {
		return 0, by, err
	}
	const kinds = 2 // before the stage: an output alone, or saved activations
	type state struct {
		need int64
		by   engine.ChainOp
	}
	best := make([][kinds]state, t.n+2)
	for i := range best {
		best[i] = [kinds]state{{need: unreachable}, {need: unreachable}}
	}
	best[1][0] = state{need: t.held[t.n] + t.act[0]}
	reach := func(j, x int, from, at state) {
		if from.by.Stage > 0 && from.need >= at.need {
			at = from
		}
		if at.need < best[j][x].need {
			best[j][x] = at
		}
	}
	for i := 1; i <= t.n; i++ {
		for x, from := range best[i] {
			if from.need == unreachable {
				continue
			}
			z := t.input(i, x == 1)
			at := state{z + t.back(i), engine.ChainOp{Kind: engine.BStep, Stage: i}}
			if all := z + t.all(i, t.n); all > at.need {
				at = state{all, engine.ChainOp{Kind: engine.FAll, Stage: i}}
			}
			reach(i+1, 1, from, at)
			lean := state{need: -1}
			for j := i; j < t.n; j++ {
				if need := t.none(i, t.n, j); need > lean.need {
					lean = state{need, engine.ChainOp{Kind: engine.FNone, Stage: j}}
				}
				if j == i {
					lean.need += z
				}
				at := lean
				if again := z + floors[i][j]; again > at.need {
					at = state{again, engine.ChainOp{Kind: group, Stage: i}}
				}
				reach(j+1, 0, from, at)
			}
		}
	}
	end := best[t.n+1][1]
	return end.need, end.by, nil
}

// group is the kind of no operation.
const group = engine.BStep + 1

// tooSmall returns the error of a budget that no plan fits into, or nil if one does.
func (t *terms) tooSmall(p *engine.Problem, poll *engine.Poll) error {
	room, by, err := t.smallest(poll)
	if err != nil {
		return err
	}
	if room <= t.room {
		return nil
	}
	least := engine.Bytes(room) + p.Graph.Fixed
	short := &engine.InfeasibleError{Budget: p.Budget, Smallest: least}
	if by.Kind == group {
		name := cmp.Or(p.Chain.Chain.Stages[by.Stage-1].Name, "a stage without a name")
		short.Why = fmt.Sprintf("the segment that begins with stage %d (%s) needs the most, even with everything else on the host", by.Stage, name)
	} else {
		short.Why = "even with everything else on the host " + p.Chain.Needs(by, least)
	}
	return short
}
