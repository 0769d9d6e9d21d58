package preset

import (
	"memtide/engine"
	"memtide/profiles/analytic"
)

// opKind is the kind of an operator, as far as memory and time depend on it.
type opKind uint8

const (
	opConv opKind = iota
	opNorm        // batch or layer normalisation
	opReLU
	opGELU
	opMaxPool
	opAvgPool
	opAdd
	opReshape
	opDropout
	opMatmul // linear layers too
	opSoftmax
	opCast
	opEmbed
	opEntropy
	opConcat
)

// valueID numbers the values of a tape. Value 0 is the stage's input.
type valueID int

const stageInput valueID = 0

// value is a tensor for the whole batch.
type value struct {
	bytes   engine.Bytes
	c, h, w int64   // channels, rows, columns; features, tokens, 1 in transformers
	root    valueID // the value whose storage this one shares; usually itself
}

// op is one operator of a stage. Operators are in the order of the forward.
type op struct {
	kind        opKind
	in          []valueID
	out         valueID
	keeps       []valueID      // values that its backward reads
	aux         engine.Bytes   // also kept: pool indices, masks, statistics
	byRef       bool           // its backward passes the gradient on without a copy
	macs        int64          // multiply-adds of the forward
	params      int64          // parameters that it reads
	class       analytic.Class // for convolutions
	transformed *transformed   // the performance-optimal algorithm of a convolution, or nil
	weight      engine.Bytes   // weights of a linear layer
}

// tape records the operators of one stage at one batch size.
type tape struct {
	batch  int64
	elem   engine.Bytes // bytes of a number of an activation: 4 (f32) or 2 (f16)
	values []value
	ops    []op

	params  int64        // parameters of the stage
	buffers engine.Bytes // numbers that stay on the device but are not trained
}

// stage is a stage of a network, with the tape from which its sizes and times follow.
type stage struct {
	name, kind string
	tape       *tape
	output     valueID
	fromData   bool // the input is data, which needs no gradient
	time       func(*tape, *op) opTime
}

func newTape(batch int64, elem engine.Bytes, in value) *tape {
	in.root = stageInput
	return &tape{batch: batch, elem: elem, values: []value{in}}
}

// shaped returns a value with this shape for each sample of the batch.
func (t *tape) shaped(c, h, w int64) value {
	return value{bytes: engine.Bytes(t.batch*c*h*w) * t.elem, c: c, h: h, w: w}
}

// add appends an operator whose output has its own storage.
func (t *tape) add(o op, out value) valueID {
	o.out = valueID(len(t.values))
	out.root = o.out
	t.values = append(t.values, out)
	t.record(o)
	return o.out
}

func (t *tape) record(o op) {
	t.params += o.params
	t.ops = append(t.ops, o)
}

// overwrite appends an operator that works in place: its output takes the storage of x.
func (t *tape) overwrite(o op, x valueID) valueID {
	out := t.values[x]
	o.out = valueID(len(t.values))
	t.values = append(t.values, out)
	t.record(o)
	return o.out
}

// filter is the geometry of a convolution or a pool.
type filter struct {
	size, stride, pad int64
	along             axis
}

// axis is the direction in which a filter extends.
type axis uint8

const (
	bothAxes   axis = iota
	rowOnly         // 1 x size
	columnOnly      // size x 1
)

// taps returns how many numbers of a channel a filter reads.
func (f filter) taps() int64 {
	if f.along == bothAxes {
		return f.size * f.size
	}
	return f.size
}

func (f filter) slide(n int64) int64 { return (n+2*f.pad-f.size)/f.stride + 1 }

// over returns the height and width of the filter's output for an input.
func (f filter) over(in value) (h, w int64) {
	switch f.along {
	case rowOnly:
		return in.h, f.slide(in.w)
	case columnOnly:
		return f.slide(in.h), in.w
	}
	return f.slide(in.h), f.slide(in.w)
}

// conv keeps its input, for the gradient of the weights.
func (t *tape) conv(x valueID, out int64, f filter, bias bool) valueID {
	return t.groupConv(x, out, f, 1, bias)
}

// groupConv is a convolution in which each group of output channels reads only its own input channels.
func (t *tape) groupConv(x valueID, out int64, f filter, groups int64, bias bool) valueID {
	in := t.values[x]
	weights := in.c / groups * out * f.taps()
	h, w := f.over(in)
	o := op{
		kind: opConv, in: []valueID{x}, keeps: []valueID{x}, params: weights,
		macs: t.batch * h * w * weights, class: classify(in.c, out, f, groups),
	}
	if bias {
		o.params += out
	}
	made := t.shaped(out, h, w)
	if groups == 1 {
		o.transformed = t.byTransforms(in, made, f, o.macs)
	}
	return t.add(o, made)
}

// batchNorm keeps its input, and the mean and inverse deviation of each channel. Its running averages and their
// counter stay on the device.
func (t *tape) batchNorm(x valueID) valueID {
	in := t.values[x]
	t.buffers += engine.Bytes(2*in.c)*4 + 8
	return t.add(op{kind: opNorm, in: []valueID{x}, keeps: []valueID{x}, aux: engine.Bytes(2*in.c) * 4,
		params: 2 * in.c}, in)
}

// layerNorm keeps its input, and the mean and inverse deviation of each token in 32 bits.
func (t *tape) layerNorm(x valueID) valueID {
	in := t.values[x]
	return t.add(op{kind: opNorm, in: []valueID{x}, keeps: []valueID{x}, aux: engine.Bytes(2*t.batch*in.h) * 4,
		params: 2 * in.c}, in)
}

// relu works in place and keeps its result, whose sign the backward reads.
func (t *tape) relu(x valueID) valueID {
	y := valueID(len(t.values))
	return t.overwrite(op{kind: opReLU, in: []valueID{x}, keeps: []valueID{y}}, x)
}

// reluCopy is a ReLU with an output of its own, for an input that belongs to the stage before.
func (t *tape) reluCopy(x valueID) valueID {
	y := valueID(len(t.values))
	return t.add(op{kind: opReLU, in: []valueID{x}, keeps: []valueID{y}}, t.values[x])
}

func (t *tape) gelu(x valueID) valueID {
	return t.add(op{kind: opGELU, in: []valueID{x}, keeps: []valueID{x}}, t.values[x])
}

// maxPool keeps its input, and the index of each maximum in 8 bytes.
func (t *tape) maxPool(x valueID, f filter) valueID {
	in := t.values[x]
	h, w := f.over(in)
	v := t.shaped(in.c, h, w)
	return t.add(op{kind: opMaxPool, in: []valueID{x}, keeps: []valueID{x}, aux: v.bytes / t.elem * 8}, v)
}

// meanPool keeps its input although the backward reads only the shape, as PyTorch does.
func (t *tape) meanPool(x valueID, f filter) valueID {
	in := t.values[x]
	h, w := f.over(in)
	return t.add(op{kind: opAvgPool, in: []valueID{x}, keeps: []valueID{x}}, t.shaped(in.c, h, w))
}

// avgPool averages to side x side. The backward needs only the shape.
func (t *tape) avgPool(x valueID, side int64) valueID {
	return t.add(op{kind: opAvgPool, in: []valueID{x}}, t.shaped(t.values[x].c, side, side))
}

// flatten is a stage of its own with an output of its own. A framework would only rename the input, but values of
// a chain are separate, so that the chain counts a copy.
func (t *tape) flatten(x valueID) valueID {
	in := t.values[x]
	return t.add(op{kind: opReshape, in: []valueID{x}, byRef: true}, t.shaped(in.c*in.h*in.w, 1, 1))
}

// linear keeps its input, for the gradient of the weights. In a transformer it acts on each token.
func (t *tape) linear(x valueID, out int64) valueID { return t.project(x, out, out) }

// project is a linear layer with the given number of biases.
func (t *tape) project(x valueID, out, biases int64) valueID {
	in := t.values[x]
	return t.add(op{
		kind: opMatmul, in: []valueID{x}, keeps: []valueID{x}, params: in.c*out + biases,
		weight: engine.Bytes(in.c*out) * t.elem, macs: t.batch * out * in.h * in.w * in.c,
	}, t.shaped(out, in.h, in.w))
}

// matmul is a product of two values with the given inner dimension. It keeps both.
func (t *tape) matmul(in []valueID, out value, inner int64) valueID {
	return t.add(op{kind: opMatmul, in: in, keeps: in, macs: t.batch * out.c * out.h * out.w * inner}, out)
}

// dropout keeps its mask, one byte for each number.
func (t *tape) dropout(x valueID) valueID {
	in := t.values[x]
	return t.add(op{kind: opDropout, in: []valueID{x}, aux: in.bytes / t.elem}, in)
}

// sum adds two values and keeps nothing.
func (t *tape) sum(x, y valueID) valueID {
	return t.add(op{kind: opAdd, in: []valueID{x, y}, byRef: true}, t.values[x])
}

// accumulate adds y to x in place.
func (t *tape) accumulate(x, y valueID) valueID {
	return t.overwrite(op{kind: opAdd, in: []valueID{x, y}, byRef: true}, x)
}

// concat joins values along their channels. It keeps nothing, and its backward passes parts of the gradient on
// without a copy.
func (t *tape) concat(in ...valueID) valueID {
	v := t.values[in[0]]
	var channels int64
	for _, x := range in {
		channels += t.values[x].c
	}
	return t.add(op{kind: opConcat, in: in, byRef: true}, t.shaped(channels, v.h, v.w))
}
