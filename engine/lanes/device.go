package lanes

import (
	"slices"

	"memtide/engine"
)

// device is a graph as the device alone sees it, for strategies that know no other lane,
// with the same values. What is gathered of values that are there from the beginning is a
// temporary of its readers, who read these instead: whoever runs them gathers again. All
// other operations of the network and the host stay, as if the device ran them in no time.
type device struct {
	of      *engine.Graph // with other lanes
	plain   *engine.Graph
	ops     []engine.OpID   // by operation of plain
	gathers [][]engine.OpID // by value: the operations that gather it; nil of values that are none
}

// seen is what the device sees of a graph.
func seen(g *engine.Graph) *device {
	d := &device{of: g, gathers: gathers(g)}
	plain := *g
	plain.Ops = nil
	d.plain = &plain
	for i := range g.Ops {
		op := g.Ops[i]
		if d.isGather(&op) {
			continue
		}
		op.After = nil
		op.In = nil
		for _, v := range g.Ops[i].In {
			switch {
			case d.gathers[v] != nil:
				op.Temp += g.Values[v].Size
				for _, from := range g.Ops[d.gathers[v][0]].In {
					op.In = add(op.In, from)
				}
			case op.Lane == engine.LaneCPU && g.Values[v].Initial&engine.OnHost != 0: // read where it is
			default:
				op.In = add(op.In, v)
			}
		}
		if op.Lane != engine.LaneCompute {
			op.Time = 0
			op.Once = op.Once || op.Lane == engine.LaneCPU
		}
		op.Lane = engine.LaneCompute
		d.ops = append(d.ops, engine.OpID(i))
		plain.Ops = append(plain.Ops, op)
	}
	return d
}

func add(list []engine.ValueID, v engine.ValueID) []engine.ValueID {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

// isGather says whether an operation can run whenever it is needed.
func (d *device) isGather(op *engine.Op) bool {
	return op.Lane == engine.LaneNetwork && len(op.Out) > 0 && d.gathers[op.Out[0]] != nil
}

// gathers finds what is gathered: values that operations of the network alone make, of
// values that are on the device from the beginning, and that operations of the device read
// and no others. One of them at least is a forward operation: others do not run again.
func gathers(g *engine.Graph) [][]engine.OpID {
	made := make([]bool, len(g.Values))
	for i := range g.Ops {
		for _, v := range g.Ops[i].Out {
			made[v] = true
		}
	}
	initial := func(v engine.ValueID) bool { return !made[v] && g.Values[v].Initial == engine.OnDevice }
	out := make([][]engine.OpID, len(g.Values))
	never, read, forward := make([]bool, len(g.Values)), make([]bool, len(g.Values)), make([]bool, len(g.Values))
	for i := range g.Ops {
		op := &g.Ops[i]
		again := op.Lane == engine.LaneNetwork && !op.Once && len(op.Out) == 1 && !slices.ContainsFunc(op.In, func(v engine.ValueID) bool { return !initial(v) })
		for _, v := range op.Out {
			out[v] = append(out[v], engine.OpID(i))
			forward[v] = forward[v] || op.Pass == engine.Forward
			never[v] = never[v] || !again || !slices.Equal(op.In, g.Ops[out[v][0]].In)
		}
		for _, v := range op.In {
			never[v], read[v] = never[v] || op.Lane != engine.LaneCompute, true
		}
	}
	for v := range out {
		if never[v] || !read[v] || !forward[v] {
			out[v] = nil
		}
	}
	return out
}
