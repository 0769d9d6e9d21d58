package all_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"memtide/engine"
)

// randomStep draws a training step with random features: output-only runs whose whole outputs are read in either pass,
// second algorithms, operations that must not run again, weights, a value that completes the step, and forward
// operations after backward ones. In half of the steps backward operations read the inputs and outputs of their
// forward operation. With lanes, a third of the operations that can run on the network or the host do, and some have
// Op.After.
func randomStep(r *rand.Rand, most int, lanes bool) *engine.Graph {
	b := &stepBuilder{r: r, lanes: lanes, g: &engine.Graph{Done: engine.NoValue, Fixed: engine.Bytes(r.IntN(3))}}
	for range 1 + r.IntN(3) {
		b.value(engine.ValueKind(2*r.IntN(2)), engine.OnDevice)
	}
	n, halves := 2+r.IntN(most-1), 1+r.IntN(4)/3
	b.mirrored = r.IntN(2) == 0
	for i := range n {
		within := i * halves % n // the position in its half, on the scale of the whole step
		switch {
		case halves == 1 && r.IntN(12) == 0:
			b.add(engine.Pass(r.IntN(2)))
		case 2*within < n:
			b.add(engine.Forward)
		default:
			b.add(engine.Backward)
		}
	}
	if last := b.g.Ops[n-1].Out; r.IntN(4) == 0 {
		b.g.Done = last[0]
	}
	return b.g
}

type stepBuilder struct {
	r     *rand.Rand
	g     *engine.Graph
	lanes bool

	mirrored bool
	forward  []engine.OpID // operations of mirrored steps whose gradients have not been computed yet
}

func (b *stepBuilder) value(kind engine.ValueKind, at engine.Place) engine.ValueID {
	size := engine.Bytes(b.r.IntN(9))
	id := engine.ValueID(len(b.g.Values))
	b.g.Values = append(b.g.Values, engine.Value{Name: fmt.Sprintf("v%d", id), Kind: kind, Size: size, Initial: at,
		PartOf: engine.NoValue})
	return id
}

// add adds an operation, which reads some of the existing values, mostly the newest.
func (b *stepBuilder) add(pass engine.Pass) {
	op := engine.Op{Name: fmt.Sprintf("op%d", len(b.g.Ops)), Pass: pass, Time: time.Duration(b.r.IntN(9)),
		Once: b.r.IntN(10) == 0}
	for _, v := range b.inputs(pass) {
		if !slices.Contains(op.In, v) {
			op.In = append(op.In, v)
		}
	}
	kind := engine.KindActivation
	if pass == engine.Backward {
		kind = engine.KindGradient
	}
	op.Out = []engine.ValueID{b.value(kind, 0)}
	if b.r.IntN(5) == 0 {
		op.Out = append(op.Out, b.value(kind, 0))
	}
	if !b.beside(&op) {
		b.ways(&op)
	}
	for a := range b.g.Ops {
		if b.lanes && b.r.IntN(10) == 0 {
			op.After = append(op.After, engine.OpID(a))
		}
	}
	b.g.Ops = append(b.g.Ops, op)
}

// inputs draws the inputs of an operation, some of them twice.
func (b *stepBuilder) inputs(pass engine.Pass) (in []engine.ValueID) {
	newest := engine.ValueID(len(b.g.Values) - 1)
	at := len(b.forward) - 1
	switch {
	case b.mirrored && pass == engine.Backward && at >= 0:
		of := &b.g.Ops[b.forward[at]]
		b.forward = b.forward[:at]
		return slices.Concat([]engine.ValueID{newest}, of.In, of.Out)
	case b.mirrored && pass == engine.Forward:
		b.forward = append(b.forward, engine.OpID(len(b.g.Ops)))
		in = append(in, newest)
	}
	for range 1 + b.r.IntN(3-len(in)) {
		v := engine.ValueID(b.r.IntN(len(b.g.Values)))
		if b.r.IntN(3) == 0 {
			v = newest
		}
		in = append(in, v)
	}
	return in
}

// beside moves an operation to another lane if it can run there, and reports whether it has.
func (b *stepBuilder) beside(op *engine.Op) bool {
	parts := false
	for _, v := range op.In {
		parts = parts || b.g.Values[v].PartOf != engine.NoValue
	}
	if !b.lanes || parts || b.r.IntN(3) > 0 {
		return false
	}
	op.Lane = engine.LaneNetwork
	if b.r.IntN(4) == 0 {
		op.Lane = engine.LaneCPU
	}
	return true
}

// ways gives an operation of the device temporaries, and at random a second algorithm or an output-only run.
func (b *stepBuilder) ways(op *engine.Op) {
	if b.r.IntN(3) == 0 {
		op.Temp = engine.Bytes(b.r.IntN(6))
	}
	if b.r.IntN(3) == 0 {
		op.Alt = &engine.Alt{Time: time.Duration(b.r.IntN(9)), Temp: engine.Bytes(b.r.IntN(9))}
	}
	switch whole := op.Out[0]; {
	case op.Pass == engine.Backward || b.r.IntN(2) == 0:
	case len(op.Out) == 2: // only one of the outputs
		op.OutputOnly = op.Out[1:]
	default: // a part of the output; readers of the part can also read the whole output
		part := b.value(engine.KindActivation, 0)
		b.g.Values[part].PartOf = whole
		b.g.Values[part].Size = min(b.g.Values[part].Size, b.g.Values[whole].Size)
		op.OutputOnly = []engine.ValueID{part}
	}
}
