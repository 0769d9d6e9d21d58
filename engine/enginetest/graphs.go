package enginetest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"memtide/engine"
)

// RandomGraph draws a graph of at most most operations, in which every value is made once. Some graphs have skip
// connections, several outputs, sizes and times of zero, or a value that completes the step.
func RandomGraph(r *rand.Rand, most int) *engine.Graph {
	g := &engine.Graph{Done: engine.NoValue, Fixed: engine.Bytes(r.IntN(3))}
	add := func(initial engine.Place) engine.ValueID {
		size := engine.Bytes(1 + r.IntN(9))
		if r.IntN(10) == 0 {
			size = 0
		}
		id := engine.ValueID(len(g.Values))
		g.Values = append(g.Values, engine.Value{Name: fmt.Sprintf("v%d", id), Size: size, Initial: initial,
			PartOf: engine.NoValue})
		return id
	}
	for range 1 + r.IntN(2) {
		add(engine.OnDevice)
	}
	for i := range 2 + r.IntN(most-1) {
		op := engine.Op{Name: fmt.Sprintf("op%d", i), Time: time.Duration(r.IntN(10))}
		if r.IntN(3) == 0 {
			op.Temp = engine.Bytes(r.IntN(6))
		}
		seen := map[engine.ValueID]bool{}
		for range 1 + r.IntN(3) {
			v := engine.ValueID(r.IntN(len(g.Values)))
			if r.IntN(2) == 0 { // something recent
				v = engine.ValueID(len(g.Values) - 1)
			}
			if !seen[v] {
				op.In = append(op.In, v)
			}
			seen[v] = true
		}
		op.Out = append(op.Out, add(0))
		if r.IntN(4) == 0 {
			op.Out = append(op.Out, add(0))
		}
		g.Ops = append(g.Ops, op)
	}
	if r.IntN(3) == 0 {
		g.Done = engine.ValueID(len(g.Values) - 1)
	}
	return g
}

// DumpGraph returns a graph as text with one line per operation, for the messages of failing tests.
func DumpGraph(g *engine.Graph) string {
	out := fmt.Sprintf("fixed=%d done=%d\n", g.Fixed, g.Done)
	for i := range g.Values {
		out += fmt.Sprintf(" v%d=%d", i, g.Values[i].Size)
		if g.Values[i].Initial != 0 {
			out += "*"
		}
		if in := g.Values[i].PartOf; in != engine.NoValue {
			out += fmt.Sprintf("(in v%d)", in)
		}
	}
	out += "\n"
	for i := range g.Ops {
		o := &g.Ops[i]
		out += fmt.Sprintf("  %d: pass=%d time=%d temp=%d in=%v out=%v or=%v once=%v alt=%+v lane=%d after=%v\n", i,
			o.Pass, int64(o.Time), o.Temp,
			o.In, o.Out, o.OutputOnly, o.Once, o.Alt, o.Lane, o.After)
	}
	return out
}
