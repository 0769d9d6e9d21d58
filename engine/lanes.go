package engine

import (
	"fmt"
	"slices"
)

// Lane says where an operation runs.
type Lane uint8

// The lanes of operations; the zero value is the compute lane of the device. An operation of another lane is
// queued: the schedule goes on while it waits and runs. A network operation reads and writes device copies while
// the device computes. A CPU operation reads and writes copies on the host, and uses no device memory.
const (
	LaneCompute Lane = iota
	LaneNetwork
	LaneCPU
)

// LaneNames are the names of the lanes in files and messages.
var LaneNames = [...]string{"compute", "network", "cpu"}

// HasLanes reports whether any operation runs on another lane than compute, or is ordered by Op.After.
func (g *Graph) HasLanes() bool {
	return slices.ContainsFunc(g.Ops, func(op Op) bool { return op.Lane != LaneCompute || op.After != nil })
}

// validLanes is the part of Validate for graphs with other lanes. It is nil in programs that do not call LinkLanes.
var validLanes func(g *Graph) error

// planLanes plans a graph with other lanes by a strategy that does not support them. It is nil in programs that do
// not call LinkLanes.
var planLanes func(s *Strategy, p *Problem, args Parsed, poll *Poll) (*Solution, error)

// LinkLanes adds support for other lanes to the program. Package engine/lanes calls it.
func LinkLanes(plan func(s *Strategy, p *Problem, args Parsed, poll *Poll) (*Solution, error)) {
	validLanes, planLanes = (*Graph).checkLanes, plan
}

// KnowsLanes reports whether the program plays and plans operations of other lanes.
func KnowsLanes() bool { return validLanes != nil }

// checkLanes reports the first operation whose lane or order is invalid. A value that another lane reads or writes
// must not be a part of another value, so that one copy serves it, and a value must be made by one lane only.
func (g *Graph) checkLanes() error {
	whole := slices.Repeat([]bool{true}, len(g.Values)) // whether the value has no parts
	for i := range g.Values {
		if in := g.Values[i].PartOf; in != NoValue {
			whole[in] = false
		}
	}
	makers := make([]Lane, len(g.Values)) // the lane of the value's makers plus 1; 0 means no maker yet
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
