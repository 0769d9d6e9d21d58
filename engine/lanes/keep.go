package lanes

import (
	"errors"
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/engine/sim"
)

// keep solves p by the strategy keepall if operations run on the network or the host. They are queued in the order
// of Graph.Ops. Values that the host reads are copied there as soon as they are made, and values that it makes are
// fetched as soon as possible. Values that an operation makes, such as gathered weights, stay to their last use.
// Values without a reader, and weights that are on the device when the step begins, stay to the end.
func keep(p *engine.Problem) (*engine.Solution, error) {
	n := len(p.Graph.Values)
	k := &keeper{places: newPlaces(p.Graph), uses: make([]int, n), anew: make([][]int, n), made: make([]bool, n)}
	for v := range k.g.Values {
		if k.g.Values[v].Kind == engine.KindWeight && k.dev[v] {
			k.uses[v] = 1 // stays to the end
		}
	}
	k.in = k.inputs()
	moves := k.countUses()
	if moves && (p.Device.ToHost == 0 || p.Device.ToDev == 0) {
		return nil, engine.ErrNeedsLink
	}
	for i := range k.g.Ops {
		if err := k.add(engine.OpID(i)); err != nil {
			return nil, err
		}
	}
	if err := k.settle(len(k.late), k.onHost); err != nil {
		return nil, err
	}
	sol, err := sim.Solution(p, k.steps)
	switch _, stuck := errors.AsType[*sim.StuckError](err); {
	case stuck:
		why := "every value stays to its last use"
		if t, err := sim.Play(p.WithBudget(engine.NoLimit), k.steps); err == nil {
			why += ", and " + t.Peak.Text() + " would do"
		}
		return nil, &engine.InfeasibleError{Budget: p.Budget, Why: why}
	case err != nil:
		return nil, fmt.Errorf("%w: %w", engine.ErrUnsupported, err)
	}
	sol.Notes = []string{fmt.Sprintf("%d values stay from when they are made to their last use.", n),
		"Operations of the network and the host are queued in the order in which they stand."}
	return sol, nil
}

// keeper walks over the operations once.
type keeper struct {
	*places
	in   [][]engine.ValueID // by operation: the values that serve its inputs
	uses []int              // by value: remaining readers on the device and copies to the host, until it is made again
	anew [][]int            // by value: the uses after each time that it is made again
	made []bool             // by value
}

// inputs returns, for each operation, the values that it reads, each replaced by the value that contains it if no
// operation makes it by itself.
func (k *keeper) inputs() [][]engine.ValueID {
	made := slices.Clone(k.dev)
	for i := range k.g.Ops {
		for _, v := range k.g.Ops[i].Out {
			made[v] = true
		}
	}
	out := make([][]engine.ValueID, len(k.g.Ops))
	for i := range k.g.Ops {
		for _, v := range k.g.Ops[i].In {
			for n := 0; !made[v] && !k.host[v] && k.g.Values[v].PartOf != engine.NoValue && n < len(k.g.Values); n++ {
				v = k.g.Values[v].PartOf
			}
			out[i] = append(out[i], v)
		}
	}
	return out
}

// countUses fills in uses and anew, and reports whether any value has to be copied to or from the host.
func (k *keeper) countUses() (moves bool) {
	sent, made := make([]bool, len(k.g.Values)), make([]bool, len(k.g.Values))
	uses := func(v engine.ValueID) *int {
		if n := len(k.anew[v]); n > 0 {
			return &k.anew[v][n-1]
		}
		return &k.uses[v]
	}
	for i := range k.g.Ops {
		op := &k.g.Ops[i]
		for _, v := range k.in[i] {
			if op.Lane != engine.LaneCPU {
				*uses(v)++
			} else if !k.host[v] && !sent[v] {
				sent[v] = true
				*uses(v)++
			}
		}
		for _, v := range op.Out {
			if op.Lane == engine.LaneNetwork && made[v] { // gathered again
				k.anew[v] = append(k.anew[v], 0)
			}
			made[v] = true
		}
		if op.Lane == engine.LaneCPU {
			for _, v := range op.Out {
				sent[v] = true
			}
		}
	}
	for v := range sent {
		moves = moves || sent[v] || k.host[v] && k.uses[v] > 0
	}
	return moves
}

// add appends an operation to the schedule, with the transfers that it needs.
func (k *keeper) add(id engine.OpID) error {
	op := &k.g.Ops[id]
	wait := k.isLate(op)
	if op.Lane == engine.LaneCPU {
		for _, v := range k.in[id] {
			wait = wait || !k.host[v] && k.coming[v]
		}
		if wait {
			k.late = append(k.late, engine.Run(id))
			return nil
		}
		return k.onHost(engine.Run(id))
	}
	if wait {
		if err := k.settle(len(k.late), k.onHost); err != nil {
			return err
		}
	}
	for _, v := range k.in[id] {
		if k.dev[v] {
			continue
		}
		if !k.host[v] {
			return fmt.Errorf("%w: %s reads %s, which no operation before it makes", engine.ErrUnsupported, op.Name,
				k.g.Values[v].Name)
		}
		k.move(engine.Fetch(v, 0))
	}
	due := len(k.late)
	for _, v := range op.Out {
		if k.made[v] && len(k.anew[v]) > 0 {
			k.uses[v], k.anew[v] = k.anew[v][0], k.anew[v][1:]
		}
		k.made[v] = true
	}
	k.run(engine.Run(id), k.in[id])
	for _, v := range k.in[id] {
		k.used(v)
	}
	if op.Lane == engine.LaneCompute {
		return k.settle(due, k.onHost)
	}
	return nil
}

// isLate reports whether an operation needs an operation of late.
func (k *keeper) isLate(op *engine.Op) bool {
	return slices.ContainsFunc(k.late, func(st engine.Instruction) bool {
		makes := func(v engine.ValueID) bool { return slices.Contains(op.In, v) }
		return st.Kind == engine.DoRun &&
			(slices.Contains(op.After, st.Op) || slices.ContainsFunc(k.g.Ops[st.Op].Out, makes))
	})
}

// onHost appends an operation of the CPU to the schedule, with the offloads of its inputs and with the fetches of
// its outputs that the device reads.
func (k *keeper) onHost(st engine.Instruction) error {
	op := &k.g.Ops[st.Op]
	for _, v := range op.In {
		switch {
		case k.host[v]:
			continue
		case !k.dev[v]:
			return fmt.Errorf("%w: %s reads %s, which no operation before it makes", engine.ErrUnsupported, op.Name,
				k.g.Values[v].Name)
		}
		k.move(engine.Offload(v))
		k.used(v)
	}
	k.run(st, nil) // it reads the copies of the host
	for _, v := range op.Out {
		if k.uses[v] > 0 {
			k.move(engine.Fetch(v, 0))
		}
	}
	return nil
}

// used counts a use of v, and frees v after its last use.
func (k *keeper) used(v engine.ValueID) {
	switch k.uses[v]--; {
	case k.uses[v] > 0:
	case k.coming[v]:
		k.late = append(k.late, engine.Free(v))
	default:
		k.move(engine.Free(v))
	}
}
