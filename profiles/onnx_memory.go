package profiles

import (
	"slices"

	"memtide/engine"
	"memtide/profiles/analytic"
)

// What the operators of a model keep and how long they take.

// operators adds the operator of a node, or one for each part of a split.
func (g *onnxGraph) operators(c *onnxCall) error {
	first := &c.outs[0]
	o := operator{name: onnxLabel(c.name()), kind: clip(c.node.op), family: c.rule.family, traits: c.rule.traits, out: first.bytes()}
	for _, v := range c.ins {
		if v != nil && v.op >= 0 {
			if !slices.Contains(o.preds, v.op) {
				o.preds = append(o.preds, v.op)
			}
			first.learns = first.learns || v.learns
		}
	}
	g.joinPad(c, &o)
	o.weights = g.trained(c)
	biased := g.moveBiases(c, &o)
	first.learns = first.learns && isFloat(first.dtype) && c.rule.cost != costCompare
	g.describe(c, &o)
	if !first.learns { // autograd does not record it
		o.traits &^= savesIn | savesOut
		o.aux = 0
	}
	if !biased {
		took := g.duration(c, &o)
		o.forward, o.back = analytic.Duration(took.Forward), analytic.Duration(took.Back)
	}
	if !first.learns {
		o.back = 0
	}
	if c.rule.cost == costSplit {
		for i := range c.outs {
			part := o
			part.out = c.outs[i].bytes()
			c.outs[i].op, c.outs[i].learns = len(g.ops), first.learns
			g.add(part)
		}
		return nil
	}
	for i := range c.outs {
		c.outs[i].op = len(g.ops)
	}
	inPlace := c.rule.cost == costClip || c.rule.cost == costAdd || c.rule.cost == costScale && len(o.preds) == 1
	g.add(o)
	g.clip[len(g.ops)-1] = inPlace
	return nil
}

// joinPad lets a mean pool read what was padded for it: exporters write its padding
// as an operator, and frameworks do it in the pool.
func (g *onnxGraph) joinPad(c *onnxCall, o *operator) {
	if c.node.op != "AveragePool" || len(o.preds) != 1 {
		return
	}
	if pad := &g.ops[o.preds[0]]; pad.kind == "Pad" && len(pad.preds) == 1 {
		o.preds = pad.preds
		pad.traits, pad.forward, pad.back = isView|passesGrad, 0, 0 // nobody reads it any more: it is dropped
	}
}

// moveBiases counts the biases of a product, which exporters write as a sum behind
// it, with the product: frameworks compute both at once.
func (g *onnxGraph) moveBiases(c *onnxCall, o *operator) bool {
	if c.rule.cost != costAdd || o.weights == 0 {
		return false
	}
	if p := o.preds; len(p) == 1 && (g.ops[p[0]].family == "fc" || g.ops[p[0]].family == "conv") && g.ops[p[0]].out == o.out {
		g.ops[p[0]].weights += o.weights
		o.weights = 0
		return true
	}
	o.traits &^= passesGrad // it makes a gradient of its own, too
	return false
}

// name is that of the node, or of what it makes.
func (c *onnxCall) name() string {
	if c.node.name == "" && len(c.node.out) > 0 {
		return c.node.out[0]
	}
	return c.node.name
}

// trained counts the weights that an operator is the first to read.
func (g *onnxGraph) trained(c *onnxCall) (sum engine.Bytes) {
	if !c.rule.trains {
		return 0
	}
	for i, v := range c.ins {
		if v == nil || v.op >= 0 || !isFloat(v.dtype) || elementCount(v.dims) < 2 {
			continue
		}
		if c.node.op == "BatchNormalization" && i > 2 { // running averages
			g.buffers += v.bytes()
			continue
		}
		if c.outs[0].learns = true; !v.root.used {
			v.root.used = true
			sum += v.root.bytes()
		}
	}
	return sum
}

// describe fills in what depends on the kind of operator and on its inputs.
func (g *onnxGraph) describe(c *onnxCall, o *operator) {
	x, out := c.in(0), &c.outs[0]
	count := elementCount(out.dims)
	switch c.rule.cost {
	case costNothing:
		switch {
		case c.node.op == "Transpose":
			out.turned = true
		case c.node.op == "Reshape" && x.turned: // as PyTorch does
			o.traits &^= isView
			o.traits &^= passesGrad
		case c.node.op == "Expand": // a view that takes no memory of its own
			o.out = x.bytes()
		default:
			out.turned = x.turned
		}
	case costNorm:
		o.aux = engine.Bytes(4 * g.statistics(c))
	case costMaxPool:
		o.aux = engine.Bytes(8 * count)
	case costDropout:
		o.aux = engine.Bytes(count)
	case costScale:
		if len(o.preds) == 1 && len(c.ins) == 2 && o.weights == 0 && c.in(0) != c.in(1) {
			o.traits &^= savesIn // the constant is there anyway
		}
	case costLookUp:
		switch table := c.in(0); {
		case table.op < 0: // an embedding keeps the numbers of its rows
		case c.in(1).op < 0 && elementCount(c.in(1).dims) == 1:
			o.traits, o.family = isView, ""
		default:
			o.traits, o.family = 0, ""
		}
	case costElement:
		if c.node.op == "Where" && c.in(0).op >= 0 {
			o.aux = engine.Bytes(elementCount(c.in(0).dims))
		}
	}
}

// statistics is how many 32-bit numbers a normalisation keeps: the mean and the
// inverse deviation of each group of numbers.
func (g *onnxGraph) statistics(c *onnxCall) int64 {
	x := c.in(0)
	count := elementCount(x.dims)
	switch c.node.op {
	case "BatchNormalization":
		if len(x.dims) > 1 {
			g.norms++
			return 2 * x.dims[1]
		}
	case "InstanceNormalization":
		if len(x.dims) > 1 {
			return 2 * x.dims[0] * x.dims[1]
		}
	case "GroupNormalization":
		if len(x.dims) > 1 {
			return 2 * min(count, x.dims[0]*max(1, min(c.node.int("num_groups", 1), count)))
		}
	case "LayerNormalization", "RMSNormalization":
		at, err := axis(c.node.int("axis", -1), len(x.dims))
		if err == nil && c.node.op == "RMSNormalization" {
			return elementCount(x.dims[:at])
		}
		if err == nil {
			return 2 * elementCount(x.dims[:at])
		}
	}
	return 0
}

// duration is the model's time for an operator. What has no gradient has no
// backward.
func (g *onnxGraph) duration(c *onnxCall, o *operator) analytic.Time {
	var in float64
	for _, v := range c.ins {
		if v != nil && v.op >= 0 {
			in += float64(v.bytes())
		}
	}
	out := float64(o.out)
	switch c.rule.cost {
	case costNothing, costSplit:
		if !o.is(isView) {
			return g.time.Element(analytic.Concat, out)
		}
		return analytic.Time{}
	case costConv:
		return g.convolution(c, in+out)
	case costProduct:
		weights := 0.0
		if v := c.in(1); v.op < 0 {
			weights = float64(v.bytes())
		}
		return g.time.Product(float64(elementCount(c.outs[0].dims))*float64(c.inner), weights)
	case costMaxPool:
		return g.time.MaxPool(in, out)
	case costMeanPool:
		return g.time.MeanPool(in, out)
	case costNorm:
		return g.time.Element(analytic.Norm, out)
	case costAdd:
		return g.time.Element(analytic.Add, out)
	case costCopy, costLookUp:
		if o.is(isView) {
			return analytic.Time{}
		}
		return g.time.Element(analytic.Embedding, out)
	case costDropout:
		return g.time.Element(analytic.Dropout, out)
	}
	return g.time.Element(analytic.Activation, out)
}

// convolution is the time of one: each result of a convolution, and each input of
// a transposed one, takes a product with all the taps of its filters.
func (g *onnxGraph) convolution(c *onnxCall, bytes float64) analytic.Time {
	x, w := c.in(0), c.in(1)
	group := c.node.int("group", 1)
	in, out, results := x.dims[1], w.dims[0], elementCount(c.outs[0].dims)
	if c.node.op == "ConvTranspose" {
		out, results = w.dims[1]*group, elementCount(x.dims)
	}
	taps := float64(elementCount(w.dims[1:]))
	stride := int64(1)
	for _, s := range c.node.ints("strides") {
		stride = max(stride, s)
	}
	height, width := w.dims[2], int64(1)
	if len(w.dims) > 3 {
		width = w.dims[3]
	}
	return g.time.Conv(analytic.Classify(in, out, height, width, stride, group), float64(results)*taps, bytes)
}

// workInPlace lets activations, sums and factors overwrite their input where a
// program may: nobody else reads it, and no backward needs it. Networks for
// training are written that way; the file does not tell.
func (g *onnxGraph) workInPlace() {
	readers := make([]int, len(g.ops))
	for i := range g.ops {
		for _, p := range g.ops[i].preds {
			readers[p]++
		}
	}
	for i := range g.ops {
		o := &g.ops[i]
		if !g.clip[i] {
			continue
		}
		at := -1 // the input that a linearizer would let it take over
		for _, p := range o.preds {
			if readers[p] == 1 && p > at {
				at = p
			}
		}
		if at < 0 || g.ops[at].out != o.out || !g.free(at, readers) {
			continue
		}
		o.traits |= inPlace
		if o.is(savesIn) && o.family == "act" { // it keeps what is left: its result
			o.traits = o.traits&^savesIn | savesOut
		}
	}
}

// free tells whether the storage of an operator's result may be overwritten by its
// only reader.
func (g *onnxGraph) free(i int, readers []int) bool {
	for {
		o := &g.ops[i]
		if o.is(isInput|savesOut) || readers[i] != 1 {
			return false
		}
		if !o.is(isView | inPlace) {
			return true
		}
		next := -1
		for _, p := range o.preds {
			if readers[p] == 1 && p > next {
				next = p
			}
		}
		if next < 0 {
			return false
		}
		i = next
	}
}
