package enginetest

import (
	"fmt"
	"slices"
	"time"

	"memtide/engine"
)

// Graph is the graph of a vector of paper 004: functions in order, each with its
// variables. A variable that is not on the host when the step begins is made by
// the first function that names it. A unit of time is a nanosecond.
func (v *Vector) Graph() *engine.Graph {
	g := &engine.Graph{Done: engine.NoValue}
	ids := map[string]engine.ValueID{}
	for i, names := range v.Functions {
		op := engine.Op{Name: fmt.Sprintf("f%d", i), Time: time.Duration(v.Durations[i])}
		for _, name := range names {
			id, known := ids[name]
			onHost := slices.Contains(v.OnCPU, name)
			if !known {
				id = engine.ValueID(len(g.Values))
				ids[name] = id
				val := engine.Value{Name: name, Size: engine.Bytes(v.Sizes[name]), PartOf: engine.NoValue}
				if onHost {
					val.Initial = engine.OnHost
				}
				g.Values = append(g.Values, val)
			}
			if known || onHost {
				op.In = append(op.In, id)
			} else {
				op.Out = append(op.Out, id)
			}
		}
		g.Ops = append(g.Ops, op)
	}
	return g
}
