package graphs

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// Vector is a vector of a general graph.
type Vector struct {
	enginetest.Vector
	Values []struct {
		Size     int64
		OnDevice bool `json:"on_device"`
	}
	Ops []struct {
		Time, Temp int64
		In, Out    []engine.ValueID
	}
	Fixed  int64
	Done   *int // nil: the step is complete when every operation has run
	Duplex string
}

// Vectors returns the vectors of a file.
func Vectors(file string) []Vector { return enginetest.LoadAs[Vector](file) }

// GraphProblem returns the problem of a vector. A unit of time is a nanosecond.
func (v *Vector) GraphProblem() *engine.Problem {
	g := &engine.Graph{Done: engine.NoValue, Fixed: engine.Bytes(v.Fixed)}
	if v.Done != nil {
		g.Done = engine.ValueID(*v.Done)
	}
	for i, x := range v.Values {
		val := engine.Value{Name: fmt.Sprintf("v%d", i), Size: engine.Bytes(x.Size), PartOf: engine.NoValue}
		if x.OnDevice {
			val.Initial = engine.OnDevice
		}
		g.Values = append(g.Values, val)
	}
	for i, o := range v.Ops {
		g.Ops = append(g.Ops, engine.Op{Name: fmt.Sprintf("op%d", i), Time: time.Duration(o.Time),
			Temp: engine.Bytes(o.Temp), In: o.In, Out: o.Out})
	}
	duplex := engine.HalfDuplex
	if v.Duplex == "full" {
		duplex = engine.FullDuplex
	}
	return &engine.Problem{Graph: g, Device: enginetest.Device(duplex), Budget: v.BudgetBytes()}
}
