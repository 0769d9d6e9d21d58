package chainify

import (
	"slices"

	"memtide/engine"
)

// From operators to one training step
//
// Every storage is a value that its first operator makes; views and operators in place work on
// it without making a value. The backward of an operator reads what autograd saves for it:
// inputs, output, masks. Gradients are buffers as in stageMemory: the first contribution allocates the buffer, later
// ones are added in place, and Add, Concat and views pass on the same buffer. Weights are values that exist from the
// beginning. The backward makes their gradients, and an update without duration at the end of the step reads both (the
// order of Hayakawa and Narihira, arXiv:2010.14109: forward, backward, update).

// graphBuilder makes the graph of one step.
type graphBuilder struct {
	l       *linearizer
	g       *engine.Graph
	act     []engine.ValueID // by the node that allocates the storage
	aux     []engine.ValueID // masks and indices, by node
	weights []engine.ValueID
	stages  int // so far; the graph counts only those with a value or an operation
	stage   []int
	needs   []bool // the node or a node before it has a backward or weights
	grads   map[int]*gradValue
	updates []engine.Op
}

// gradValue is a gradient that refs nodes hold.
type gradValue struct {
	id   engine.ValueID
	size engine.Bytes
	refs int
}

// graph returns the training step of the operators.
func (l *linearizer) graph() *engine.Graph {
	n := len(l.ops)
	b := &graphBuilder{l: l, g: &engine.Graph{Done: engine.NoValue}, stage: make([]int, n), needs: make([]bool, n),
		grads: map[int]*gradValue{},
		act:   noValues(n), aux: noValues(n), weights: noValues(n)}
	for i := range l.ops {
		b.forward(i)
	}
	for i := range l.ops { // the gradient of each output
		if o := &l.ops[i]; b.needs[i] && o.Out > 0 && l.tensorReaders(i) == 0 {
			b.grads[i] = b.newGrad(i)
			b.op(engine.Op{Name: "loss of " + o.Name, Pass: engine.Backward, Stage: b.stage[i],
				In: with(nil, b.act[l.root[i]]), Out: with(nil, b.grads[i].id)})
		}
	}
	for i := n - 1; i >= 0; i-- {
		if b.needs[i] && !l.ops[i].Is(IsShape) {
			b.backward(i)
		}
	}
	slices.Reverse(b.updates)
	b.g.Ops = append(b.g.Ops, b.updates...)
	return b.g
}

func noValues(n int) []engine.ValueID { return slices.Repeat([]engine.ValueID{engine.NoValue}, n) }

// value adds a value of node i and returns its number, or engine.NoValue without adding it if size is 0.
func (b *graphBuilder) value(i int, what string, kind engine.ValueKind, size engine.Bytes,
	at engine.Place) engine.ValueID {
	if size == 0 {
		return engine.NoValue
	}
	b.g.Stages = max(b.g.Stages, b.stage[i])
	b.g.Values = append(b.g.Values, engine.Value{Name: b.l.ops[i].Name + " " + what, Kind: kind, Size: size,
		Stage: b.stage[i], Initial: at, PartOf: engine.NoValue})
	return engine.ValueID(len(b.g.Values) - 1)
}

// op adds an operation, unless it does nothing.
func (b *graphBuilder) op(op engine.Op) {
	if op.Time > 0 || len(op.Out) > 0 || len(op.In) > 1 {
		b.g.Ops = append(b.g.Ops, op)
		b.g.Stages = max(b.g.Stages, op.Stage)
	}
}

// with appends to list the ids that it does not have yet, except engine.NoValue.
func with(list []engine.ValueID, ids ...engine.ValueID) []engine.ValueID {
	for _, id := range ids {
		if id != engine.NoValue && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

// inputs returns the storages that a node reads.
func (b *graphBuilder) inputs(i int) (ids []engine.ValueID) {
	for _, p := range b.l.ops[i].Preds {
		if !b.l.ops[p].Is(IsShape) {
			ids = with(ids, b.act[b.l.root[p]])
		}
	}
	return ids
}

func (b *graphBuilder) forward(i int) {
	l, o := b.l, &b.l.ops[i]
	if l.role[i] == dataIn {
		b.act[i] = b.value(i, o.Kind, engine.KindActivation, l.size[i], engine.OnDevice)
		return
	}
	if o.Is(IsShape) {
		return
	}
	b.needs[i] = o.Back > 0 || o.Weights > 0 || slices.ContainsFunc(o.Preds, func(p int) bool { return b.needs[p] })
	reads := b.inputs(i)
	if l.root[i] != i && o.Forward+o.Back == 0 && o.Aux+o.Weights == 0 && len(reads) < 2 {
		return // a view
	}
	b.stages++
	b.stage[i] = b.stages
	b.weights[i] = b.value(i, "weights", engine.KindWeight, o.Weights, engine.OnDevice)
	op := engine.Op{Name: o.Name + " " + o.Kind, Stage: b.stage[i], Time: o.Forward, In: with(reads, b.weights[i])}
	if l.root[i] == i {
		b.act[i] = b.value(i, o.Kind, engine.KindActivation, l.size[i], 0)
	}
	b.aux[i] = b.value(i, "mask", engine.KindActivation, o.Aux, 0)
	op.Out = with(nil, b.act[i], b.aux[i])
	b.op(op)
}

// newGrad adds a buffer for the gradient of node i.
func (b *graphBuilder) newGrad(i int) *gradValue {
	size := b.l.ops[i].Out
	return &gradValue{b.value(i, "gradient", engine.KindGradient, size, 0), size, 1}
}

func (b *graphBuilder) backward(i int) {
	o, grad := &b.l.ops[i], b.grads[i]
	delete(b.grads, i)
	op := engine.Op{Name: "backward of " + o.Name + " " + o.Kind, Pass: engine.Backward, Stage: b.stage[i],
		Time: o.Back}
	if grad != nil {
		op.In = with(op.In, grad.id)
	}
	if o.Is(PassesGrad) {
		b.op(op)
		if grad != nil {
			b.pass(i, grad)
		}
		return
	}
	if o.Is(SavesIn) {
		op.In = with(op.In, b.inputs(i)...)
	}
	if o.Is(SavesOut) {
		op.In = with(op.In, b.act[b.l.root[i]])
	}
	op.In = with(op.In, b.aux[i], b.weights[i])
	if grad != nil {
		for _, p := range b.readers(i) {
			b.give(&op, p)
		}
		grad.refs--
	}
	if w := b.weights[i]; w != engine.NoValue {
		dw := b.value(i, "weight gradients", engine.KindWeight, o.Weights, 0)
		op.Out = with(op.Out, dw)
		b.updates = append(b.updates, engine.Op{Name: "update of " + o.Name, Pass: engine.Backward, Stage: b.stage[i],
			In: []engine.ValueID{w, dw}})
	}
	b.op(op)
}

// readers returns the nodes that node i reads from and gives a gradient in its backward.
func (b *graphBuilder) readers(i int) (nodes []int) {
	for _, p := range b.l.ops[i].Preds {
		if b.needs[p] && b.l.ops[p].Out > 0 && !b.l.ops[p].Is(IsShape) {
			nodes = append(nodes, p)
		}
	}
	return nodes
}

// give makes op contribute to the gradient of node p.
func (b *graphBuilder) give(op *engine.Op, p int) {
	size, old := b.l.ops[p].Out, b.grads[p]
	if old != nil {
		op.In = with(op.In, old.id)
		if old.refs == 1 && old.size == size {
			op.Temp += size // the contribution, until it is added
			return
		}
		old.refs--
	}
	b.grads[p] = b.newGrad(p)
	op.Out = with(op.Out, b.grads[p].id)
}

// pass passes a gradient on to the nodes that node i has read, without a copy where it is the first contribution.
func (b *graphBuilder) pass(i int, grad *gradValue) {
	for _, p := range b.readers(i) {
		old := b.grads[p]
		if old == nil {
			grad.refs++
			b.grads[p] = grad
			continue
		}
		sum := engine.Op{Name: "gradients of " + b.l.ops[p].Name, Pass: engine.Backward, Stage: b.stage[p],
			In: with(nil, old.id, grad.id)}
		if old.refs > 1 || old.size != b.l.ops[p].Out {
			old.refs--
			b.grads[p] = b.newGrad(p)
			sum.Out = with(nil, b.grads[p].id)
		}
		b.op(sum)
	}
	grad.refs--
}
