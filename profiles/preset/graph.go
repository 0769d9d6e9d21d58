package preset

import (
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/profiles/analytic"
)

// The operators of a network become a graph of functions and variables, as in Hayakawa and Narihira
// (arXiv:2010.14109, section 3).
//
// A function is an operator together with the operators that work in place on its result, and runs where the
// last of them does. A variable is a storage: the output of a function, what the function also keeps
// (statistics, indices, masks), its weights, or a gradient. Weights exist from the beginning. Their gradients, the
// optimizer's state and the running averages never move, and are part of the fixed memory. A gradient that is
// passed on by reference is one variable. If a value has several readers, each backward that adds to its gradient
// writes a new variable beside the old one, which an addition in place needs as well.

// function is a set of operators on one storage.
type function struct {
	stage   *stage
	number  int // number of the stage, from 1
	ops     []*op
	out     engine.ValueID
	aux     engine.ValueID // indices, masks and statistics; NoValue if there are none
	weights engine.ValueID // NoValue if there are none
}

// grapher writes the graph of a network.
type grapher struct {
	g         *engine.Graph
	functions []function
	values    [][]engine.ValueID // the variable of a storage, by stage and root
	grads     []engine.ValueID   // the gradient so far, by variable
	users     []int              // by gradient, the number of its variables whose backward has not run
	data      engine.ValueID     // the network's input
}

// graph returns the network as operators.
func (n *network) graph() *engine.Graph {
	r := n.resident
	b := &grapher{g: &engine.Graph{Done: engine.NoValue, Fixed: r.Grads + r.Optimizer + r.Pinned}}
	last := b.value(engine.Value{Name: "input", Size: n.input, Initial: engine.OnDevice})
	b.data = last
	for i := range n.stages {
		last = b.forward(&n.stages[i], i+1, last)
	}
	b.g.Stages = len(n.blocks()) + 1 // with the loss, which may have no cost
	v := b.g.Values[last]            // which the loss turns into its gradient
	grad := b.value(engine.Value{Name: "d " + v.Name, Kind: engine.KindGradient, Size: v.Size, Stage: b.g.Stages})
	b.g.Ops = append(b.g.Ops, engine.Op{Name: "loss", Pass: engine.Backward, Stage: b.g.Stages,
		In: []engine.ValueID{last}, Out: []engine.ValueID{grad}})
	b.grads[last], b.users[grad] = grad, 1
	for i := len(b.functions) - 1; i >= 0; i-- {
		b.backward(&b.functions[i])
	}
	return b.g
}

// separate gives every value a storage of its own, so that no operator works in place and each is a function, as
// in frameworks without in-place operators. A function that combines a normalisation with the addition and the
// activation after it needs five tensors at once in its backward; each of the three alone needs three.
func (n *network) separate() {
	for i := range n.stages {
		for v := range n.stages[i].tape.values {
			n.stages[i].tape.values[v].root = valueID(v)
		}
	}
}

func (b *grapher) value(v engine.Value) engine.ValueID {
	v.PartOf = engine.NoValue
	b.g.Values = append(b.g.Values, v)
	b.grads, b.users = append(b.grads, engine.NoValue), append(b.users, 0)
	return engine.ValueID(len(b.g.Values) - 1)
}

// forward writes the functions of a stage that reads the variable in, and returns the variable of its output.
func (b *grapher) forward(s *stage, number int, in engine.ValueID) engine.ValueID {
	t := s.tape
	at := make([]engine.ValueID, len(t.values))
	at[stageInput] = in
	b.values = append(b.values, at)
	for _, ops := range inPlace(t) {
		first := ops[0]
		f := function{stage: s, number: number, ops: ops, aux: engine.NoValue, weights: engine.NoValue}
		name := s.name
		if len(t.ops) > len(ops) {
			name = fmt.Sprintf("%s/%s%d", s.name, opNames[first.kind], first.out)
		}
		f.out = b.value(engine.Value{Name: name, Size: t.values[first.out].bytes, Stage: number})
		at[first.out] = f.out
		o := engine.Op{Name: "F " + name, Stage: number, Out: []engine.ValueID{f.out}}
		var aux, weights engine.Bytes
		var seconds float64
		for _, op := range ops {
			o.In = b.reads(o.In, f.out, t, at, op.in)
			aux += op.aux
			weights += engine.Bytes(op.params) * t.elem
			seconds += s.time(t, op).Forward
		}
		o.Time = analytic.Duration(seconds)
		if weights > 0 {
			f.weights = b.value(engine.Value{Name: name + " weights", Kind: engine.KindWeight, Size: weights,
				Stage: number, Initial: engine.OnDevice})
			o.In = append(o.In, f.weights)
		}
		if aux > 0 {
			f.aux = b.value(engine.Value{Name: name + " kept", Size: aux, Stage: number})
			o.Out = append(o.Out, f.aux)
		}
		b.g.Ops = append(b.g.Ops, o)
		b.functions = append(b.functions, f)
	}
	return at[t.values[s.output].root]
}

// inPlace groups the operators of a stage by the storage that they write, in the order of the last operator of
// each group.
func inPlace(t *tape) (groups [][]*op) {
	last := make([]int, len(t.values)) // by root: the last operator that writes it
	for i := range t.ops {
		last[t.values[t.ops[i].out].root] = i
	}
	byRoot := make([][]*op, len(t.values))
	for i := range t.ops {
		root := t.values[t.ops[i].out].root
		byRoot[root] = append(byRoot[root], &t.ops[i])
		if last[root] == i {
			groups = append(groups, byRoot[root])
		}
	}
	return groups
}

// reads appends the variables of values to list, except own.
func (b *grapher) reads(list []engine.ValueID, own engine.ValueID, t *tape, at []engine.ValueID,
	values []valueID) []engine.ValueID {
	for _, v := range values {
		if id := at[t.values[v].root]; id != own && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

// backward writes the backward of a function. It reads the gradient of the function's variable and what its
// operators keep, and makes the gradients of what it read.
func (b *grapher) backward(f *function) {
	t, at := f.stage.tape, b.values[f.number-1]
	grad := b.grads[f.out]
	o := engine.Op{Name: "B " + b.g.Values[f.out].Name, Pass: engine.Backward, Stage: f.number,
		In: []engine.ValueID{grad}}
	b.users[grad]--
	current, own := grad, false // own: current is a buffer of this function, not a variable
	var seconds float64
	for i := len(f.ops) - 1; i >= 0; i-- {
		op := f.ops[i]
		seconds += f.stage.time(t, op).Back
		o.In = b.reads(o.In, engine.NoValue, t, at, op.keeps)
		if !op.byRef && i > 0 {
			// For an operator in place the gradient is a buffer until the next operator has run.
			o.Temp, own = max(o.Temp, b.g.Values[f.out].Size), true
			current = engine.NoValue
		}
		for _, v := range op.in {
			id := at[t.values[v].root]
			if id == f.out || id == b.data {
				continue
			}
			if op.byRef && own && b.grads[id] == engine.NoValue {
				// The buffer becomes a variable, which the other reader keeps.
				current, own, o.Temp = b.gradient(&o, id), false, 0
				continue
			}
			b.give(&o, id, op.byRef, current)
		}
	}
	if f.aux != engine.NoValue {
		o.In = append(o.In, f.aux)
	}
	if f.weights != engine.NoValue {
		o.In = append(o.In, f.weights)
	}
	if b.users[grad] == 0 { // the gradient that was read is freed before the others are made
		for _, v := range o.Out {
			o.Temp -= min(o.Temp, b.g.Values[v].Size)
		}
	}
	o.Time = analytic.Duration(seconds)
	b.g.Ops = append(b.g.Ops, o)
}

// give adds to the gradient of a variable. The first contribution is the buffer itself if it is passed on.
func (b *grapher) give(o *engine.Op, id engine.ValueID, byRef bool, buffer engine.ValueID) {
	if byRef && b.grads[id] == engine.NoValue && buffer != engine.NoValue {
		b.grads[id] = buffer
		b.users[buffer]++
		return
	}
	b.gradient(o, id)
}

// gradient returns a new variable for the gradient of id that an operation makes, and adds the earlier gradient
// to what the operation reads.
func (b *grapher) gradient(o *engine.Op, id engine.ValueID) engine.ValueID {
	if old := b.grads[id]; old != engine.NoValue {
		o.In = append(o.In, old)
		b.users[old]--
	}
	v := b.g.Values[id]
	grad := b.value(engine.Value{Name: "d " + v.Name, Kind: engine.KindGradient, Size: v.Size, Stage: v.Stage})
	o.Out = append(o.Out, grad)
	b.grads[id], b.users[grad] = grad, 1
	return grad
}

// opNames are the names of operators in the names of functions.
var opNames = [...]string{
	opConv: "conv", opNorm: "norm", opReLU: "relu", opGELU: "gelu", opMaxPool: "maxpool", opAvgPool: "avgpool",
	opAdd:     "add",
	opReshape: "view", opDropout: "dropout", opMatmul: "matmul", opSoftmax: "softmax", opCast: "cast",
	opEmbed:   "embedding",
	opEntropy: "entropy", opConcat: "concat",
}
