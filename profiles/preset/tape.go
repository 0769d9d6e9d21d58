package preset

import (
	"memtide/engine"
	"memtide/profiles/analytic"
)

// opKind says what an operator computes, as far as memory and time care.
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
	opRotate // positions turned into queries and keys
	opGate   // the activation of a gated feed-forward net
)

// valueID numbers the values of a tape. Value 0 is the stage's input.
type valueID int

const stageInput valueID = 0

// value is a tensor at the whole batch.
type value struct {
	bytes   engine.Bytes
	c, h, w int64   // channels, rows, columns; features, tokens, 1 in transformers
	root    valueID // the value whose storage this one shares, itself mostly
}

// op is one operator of a stage, in the order the forward runs them.
type op struct {
	kind        opKind
	in          []valueID
	out         valueID
	keeps       []valueID      // what its backward reads
	aux         engine.Bytes   // kept besides: pool indices, masks, statistics
	byRef       bool           // its backward hands the gradient on without a copy
	macs        int64          // multiply-adds of the forward
	params      int64          // trained numbers that it reads
	class       analytic.Class // of a convolution
	transformed *transformed   // a convolution's performance-optimal way, nil if it has none
	weight      engine.Bytes   // of a linear layer
}

// tape records the operators of one stage at one batch size.
type tape struct {
	batch  int64
	elem   engine.Bytes // of one activation: 4 (f32) or 2 (f16)
	values []value
	ops    []op

	params  int64        // trained numbers
	buffers engine.Bytes // numbers that are kept but not trained
}

// stage is a stage of a network before it is measured.
type stage struct {
	name, kind string
	tape       *tape
	output     valueID
	fromData   bool // its input is data, which needs no gradient
	time       func(*tape, *op) opTime
}

func newTape(batch int64, elem engine.Bytes, in value) *tape {
	in.root = stageInput
	return &tape{batch: batch, elem: elem, values: []value{in}}
}

// shaped returns a value of this shape, for each sample of the batch.
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

// overwrite appends an operator that works in place: its output takes the
// storage of x.
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

// axis is what a filter extends over.
type axis uint8

const (
	bothAxes   axis = iota
	rowOnly         // 1 x size
	columnOnly      // size x 1
)

// taps returns how many numbers of a channel a filter looks at.
func (f filter) taps() int64 {
	if f.along == bothAxes {
		return f.size * f.size
	}
	return f.size
}

func (f filter) slide(n int64) int64 { return (n+2*f.pad-f.size)/f.stride + 1 }

// over returns the height and width of what the filter makes of a value.
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

// groupConv returns a convolution in which each group of channels sees only its own.
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

// batchNorm keeps its input and the mean and inverse deviation of each channel.
// Its running averages and their counter stay on the device.
func (t *tape) batchNorm(x valueID) valueID {
	in := t.values[x]
	t.buffers += engine.Bytes(2*in.c)*4 + 8
	return t.add(op{kind: opNorm, in: []valueID{x}, keeps: []valueID{x}, aux: engine.Bytes(2*in.c) * 4,
		params: 2 * in.c}, in)
}

// layerNorm keeps its input and the mean and inverse deviation of each token,
// in 32 bits.
func (t *tape) layerNorm(x valueID) valueID {
	in := t.values[x]
	return t.add(op{kind: opNorm, in: []valueID{x}, keeps: []valueID{x}, aux: engine.Bytes(2*t.batch*in.h) * 4,
		params: 2 * in.c}, in)
}

// rmsNorm keeps its input and the inverse size of each token, in 32 bits.
func (t *tape) rmsNorm(x valueID) valueID {
	in := t.values[x]
	return t.add(op{kind: opNorm, in: []valueID{x}, keeps: []valueID{x}, aux: engine.Bytes(t.batch*in.h) * 4,
		params: in.c}, in)
}

// relu works in place and keeps its result, from which the backward reads the sign.
func (t *tape) relu(x valueID) valueID {
	y := valueID(len(t.values))
	return t.overwrite(op{kind: opReLU, in: []valueID{x}, keeps: []valueID{y}}, x)
}

// reluCopy returns a ReLU whose input belongs to the stage before, which it must not
// change.
func (t *tape) reluCopy(x valueID) valueID {
	y := valueID(len(t.values))
	return t.add(op{kind: opReLU, in: []valueID{x}, keeps: []valueID{y}}, t.values[x])
}

func (t *tape) gelu(x valueID) valueID {
	return t.add(op{kind: opGELU, in: []valueID{x}, keeps: []valueID{x}}, t.values[x])
}

// maxPool keeps its input and the index of each maximum, 8 bytes wide.
func (t *tape) maxPool(x valueID, f filter) valueID {
	in := t.values[x]
	h, w := f.over(in)
	v := t.shaped(in.c, h, w)
	return t.add(op{kind: opMaxPool, in: []valueID{x}, keeps: []valueID{x}, aux: v.bytes / t.elem * 8}, v)
}

// meanPool keeps its input, of which the backward reads no more than the shape:
// that is what PyTorch does.
func (t *tape) meanPool(x valueID, f filter) valueID {
	in := t.values[x]
	h, w := f.over(in)
	return t.add(op{kind: opAvgPool, in: []valueID{x}, keeps: []valueID{x}}, t.shaped(in.c, h, w))
}

// avgPool averages to side x side; the backward needs only the shape.
func (t *tape) avgPool(x valueID, side int64) valueID {
	return t.add(op{kind: opAvgPool, in: []valueID{x}}, t.shaped(t.values[x].c, side, side))
}

// flatten gives a stage of its own an output of its own: where a framework
// renames the input, the chain counts a copy, since its values are separate.
func (t *tape) flatten(x valueID) valueID {
	in := t.values[x]
	return t.add(op{kind: opReshape, in: []valueID{x}, byRef: true}, t.shaped(in.c*in.h*in.w, 1, 1))
}

// linear keeps its input, for the gradient of the weights. The products of a
// transformer act on each token.
func (t *tape) linear(x valueID, out int64) valueID {
	return t.project(x, out, out)
}

// project returns a linear layer with so many biases.
func (t *tape) project(x valueID, out, biases int64) valueID {
	in := t.values[x]
	return t.add(op{
		kind: opMatmul, in: []valueID{x}, keeps: []valueID{x}, params: in.c*out + biases,
		weight: engine.Bytes(in.c*out) * t.elem, macs: t.batch * out * in.h * in.w * in.c,
	}, t.shaped(out, in.h, in.w))
}

// matmul returns a product of values with the given inner dimension. It keeps its operands.
func (t *tape) matmul(in []valueID, out value, inner int64) valueID {
	return t.add(op{kind: opMatmul, in: in, keeps: in, macs: t.batch * out.c * out.h * out.w * inner}, out)
}

// dropout keeps its mask, one byte for each number.
func (t *tape) dropout(x valueID) valueID {
	in := t.values[x]
	return t.add(op{kind: opDropout, in: []valueID{x}, aux: in.bytes / t.elem}, in)
}

// sum adds two values; it keeps nothing.
func (t *tape) sum(x, y valueID) valueID {
	return t.add(op{kind: opAdd, in: []valueID{x, y}, byRef: true}, t.values[x])
}

// accumulate adds y to x in place.
func (t *tape) accumulate(x, y valueID) valueID {
	return t.overwrite(op{kind: opAdd, in: []valueID{x, y}, byRef: true}, x)
}

// concat puts values behind each other as channels. It keeps nothing, and its
// backward hands out parts of the gradient as they are.
func (t *tape) concat(in ...valueID) valueID {
	v := t.values[in[0]]
	var channels int64
	for _, x := range in {
		channels += t.values[x].c
	}
	return t.add(op{kind: opConcat, in: in, byRef: true}, t.shaped(channels, v.h, v.w))
}
