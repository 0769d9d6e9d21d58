package tracetest

import (
	"fmt"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// Skip returns a step of two operations with weights and a skip connection,
// forward and backward, in a graph that names no stages.
func Skip() *engine.Problem {
	g := &engine.Graph{Done: engine.NoValue}
	add := func(name string, kind engine.ValueKind, size engine.Bytes, initial engine.Place) engine.ValueID {
		g.Values = append(g.Values, engine.Value{Name: name, Kind: kind, Size: size, Initial: initial,
			PartOf: engine.NoValue})
		return engine.ValueID(len(g.Values) - 1)
	}
	x := add("x", engine.KindActivation, 10, engine.OnDevice)
	w := add("w", engine.KindWeight, 30, engine.OnDevice)
	y, z := add("y", engine.KindActivation, 20, 0), add("z", engine.KindActivation, 5, 0)
	dy, dw := add("dy", engine.KindGradient, 20, 0), add("dw", engine.KindGradient, 30, 0)
	ids := func(v ...engine.ValueID) []engine.ValueID { return v }
	g.Ops = []engine.Op{
		{Name: "conv", Time: time.Millisecond, In: ids(x, w), Out: ids(y)},
		{Name: "add", Time: time.Millisecond, In: ids(x, y), Out: ids(z)},
		{Name: "add back", Pass: engine.Backward, Time: time.Millisecond, In: ids(z, y), Out: ids(dy)},
		{Name: "conv back", Pass: engine.Backward, Time: time.Millisecond, In: ids(dy, x, w), Out: ids(dw)},
	}
	return &engine.Problem{Graph: g, Device: engine.Device{ToHost: 1e6, ToDev: 1e6}, Budget: 1000}
}

// UNet returns a step of n operations forward and backward in blocks of eight, each with a residual
// connection. Of the first skips operations each has a connection to its mirror image in the second
// half. Values have 1 MiB, those of the connections 1 MiB for each operation between its ends.
func UNet(n, skips int) *engine.Problem {
	g := &engine.Graph{Done: engine.NoValue, Stages: (n + 7) / 8}
	for i := range n {
		size := engine.MiB
		if i < skips {
			size = engine.Bytes(n-2*i) * engine.MiB
		}
		g.Values = append(g.Values, engine.Value{Name: fmt.Sprint("x", i), Size: size, PartOf: engine.NoValue,
			Stage: i/8 + 1})
		op := engine.Op{Name: fmt.Sprint("op", i), Time: time.Millisecond, Out: []engine.ValueID{engine.ValueID(i)},
			Stage: i/8 + 1}
		if i > 0 {
			op.In = append(op.In, engine.ValueID(i-1))
		}
		if i%8 == 7 {
			op.In = append(op.In, engine.ValueID(i-7))
		}
		if mirror := n - 1 - i; mirror < skips && mirror < i {
			op.In = append(op.In, engine.ValueID(mirror))
		}
		g.Ops = append(g.Ops, op)
	}
	for i := range n {
		g.Ops = append(g.Ops, engine.Op{Name: fmt.Sprint("back", n-1-i), Pass: engine.Backward, Time: time.Millisecond,
			In: g.Ops[n-1-i].In, Stage: g.Ops[n-1-i].Stage})
	}
	return &engine.Problem{Graph: g, Device: engine.Device{ToHost: 1e12, ToDev: 1e12}, Budget: 1 << 50}
}

// Played returns the trace of a step in which all values are kept. If away is true, the first
// value is offloaded after operation 8 and fetched near the end.
func Played(t *testing.T, p *engine.Problem, away bool) (*engine.Problem, *sim.Trace) {
	t.Helper()
	var steps engine.Schedule
	n := len(p.Graph.Ops) / 2
	for i := range p.Graph.Ops {
		steps = append(steps, engine.Run(engine.OpID(i)))
		switch {
		case away && i == 8:
			steps = append(steps, engine.Offload(0), engine.Free(0))
		case away && i == n-3:
			steps = append(steps, engine.Fetch(0, 0))
		}
	}
	trace, err := sim.Play(p, steps)
	if err != nil {
		t.Fatal(err)
	}
	return p, trace
}
