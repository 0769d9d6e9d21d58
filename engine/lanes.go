package engine

import (
	"fmt"
	"slices"
)

// Lane says where an operation runs.
type Lane uint8

// The lanes of operations; the zero value is the device itself. An operation of
// another lane is queued: the schedule goes on while it waits and runs. One of the
// network reads and writes copies on the device, beside what the device computes; one
// of the host's CPU reads and writes copies on the host, and has nothing on the device.
const (
	LaneCompute Lane = iota
	LaneNetwork
	LaneCPU
)

// LaneNames are the words for the lanes in files and sentences.
var LaneNames = [...]string{"compute", "network", "cpu"}

// HasLanes says whether an operation runs elsewhere than on the compute lane, or is
// ordered by Op.After.
func (g *Graph) HasLanes() bool {
	for i := range g.Ops {
		if g.Ops[i].Lane != LaneCompute || g.Ops[i].After != nil {
			return true
		}
	}
	return false
}

// validLanes is what Validate asks about a graph with other lanes; nil where a program
// does not know them.
var validLanes func(g *Graph) error

// planLanes plans a graph with other lanes by a strategy that plans none; nil where a
// program does not know them.
var planLanes func(s *Strategy, p *Problem, args Parsed, poll *Poll) (*Solution, error)

// LinkLanes makes the program know other lanes: see package engine/lanes.
func LinkLanes(plan func(s *Strategy, p *Problem, args Parsed, poll *Poll) (*Solution, error)) {
	validLanes, planLanes = (*Graph).checkLanes, plan
}

// KnowsLanes says whether the program plays and plans operations of other lanes.
func KnowsLanes() bool { return validLanes != nil }

// checkLanes reports the first operation that its lane or its order makes meaningless.
// What another lane reads or makes is never a part of something, so that one copy
// serves it, and what it makes is made in that lane only.
func (g *Graph) checkLanes() error {
	whole := make([]bool, len(g.Values)) // holds no part
	for i := range whole {
		whole[i] = true
	}
	for i := range g.Values {
		if in := g.Values[i].PartOf; in != NoValue {
			whole[in] = false
		}
	}
	makers := make([]Lane, len(g.Values)) // the lane and 1
	for i := range g.Ops {
		op := &g.Ops[i]
		refuse := func(why string) error { return fmt.Errorf("operation %d (%s) %s", i, op.Name, why) }
		if int(op.Lane) >= len(LaneNames) {
			return refuse(fmt.Sprintf("runs on lane %d, which does not exist", op.Lane))
		}
		for _, a := range op.After {
			if a < 0 || int(a) >= i {
				return refuse(fmt.Sprintf("comes after operation %d; only operations that stand before it can be named", a))
			}
		}
		other := op.Lane != LaneCompute
		switch {
		case other && (op.Alt != nil || op.OutputOnly != nil):
			return refuse("runs on another lane; it cannot have a second algorithm or an output-only run there")
		case op.Lane == LaneCPU && op.Temp != 0:
			return refuse("runs on the host; its workspace is not on the device")
		}
		for _, v := range op.In {
			if other && g.Values[v].PartOf != NoValue {
				return refuse("runs on another lane; it cannot read a part of a value, " + g.Values[v].Name)
			}
		}
		for k, v := range op.Out {
			switch {
			case makers[v] != 0 && makers[v] != op.Lane+1:
				return refuse("makes " + g.Values[v].Name + ", which another lane makes too")
			case other && (g.Values[v].PartOf != NoValue || !whole[v]):
				return refuse("runs on another lane; what it makes cannot be a part or have parts: " + g.Values[v].Name)
			case other && slices.Contains(op.Out[:k], v):
				return refuse("makes " + g.Values[v].Name + " twice")
			}
			makers[v] = op.Lane + 1
		}
	}
	return nil
}
