package onnx

import (
	"cmp"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/analytic"
	"memtide/profiles/chainify"
)

// Memory and time of the operators of a model.

// operators adds the operator of a node, or an operator for each part of a split.
func (g *onnxGraph) operators(c *call) {
	first := &c.outs[0]
	o := chainify.Operator{Name: onnxLabel(c.name()), Kind: profiles.Clip(c.node.Op), Family: c.rule.family,
		Traits: c.rule.traits, Out: first.bytes()}
	for _, v := range c.ins {
		if v != nil && v.op >= 0 {
			if !slices.Contains(o.Preds, v.op) {
				o.Preds = append(o.Preds, v.op)
			}
			first.learns = first.learns || v.learns
		}
	}
	g.joinPad(c, &o)
	o.Weights = g.trained(c)
	biased := g.moveBiases(c, &o)
	first.learns = first.learns && isFloat(first.dtype) && c.rule.cost != costCompare
	g.describe(c, &o)
	if c.node.InPlace && o.Is(chainify.SavesIn) && c.node.Op != "LeakyRelu" &&
		c.node.Op != "Elu" { // autograd keeps a copy of the overwritten input
		o.Traits, o.Aux = o.Traits&^chainify.SavesIn, o.Aux+o.Out
	}
	if !first.learns { // autograd does not record it
		o.Traits &^= chainify.SavesIn | chainify.SavesOut
		o.Aux = 0
	}
	if !biased {
		took := g.duration(c, &o)
		o.Forward, o.Back = analytic.Duration(took.Forward), analytic.Duration(took.Back)
	}
	if !first.learns {
		o.Back = 0
	}
	if c.rule.cost == costSplit {
		for i := range c.outs {
			part := o
			part.Out = c.outs[i].bytes()
			c.outs[i].op, c.outs[i].learns = len(g.ops), first.learns
			g.add(part)
		}
		return
	}
	for i := range c.outs {
		c.outs[i].op = len(g.ops)
	}
	inPlace := c.rule.cost == costClip || c.rule.cost == costAdd || c.rule.cost == costScale && len(o.Preds) == 1
	g.add(o)
	g.clip[len(g.ops)-1] = inPlace && (!g.m.traced || c.node.InPlace)
}

// joinPad makes a mean pool read the input of the Pad before it: exporters write the padding of
// the pool as an operator.
func (g *onnxGraph) joinPad(c *call, o *chainify.Operator) {
	if c.node.Op != "AveragePool" || len(o.Preds) != 1 {
		return
	}
	if pad := &g.ops[o.Preds[0]]; pad.Kind == "Pad" && len(pad.Preds) == 1 {
		o.Preds = pad.Preds
		// chainify drops a view without readers
		pad.Traits, pad.Forward, pad.Back = chainify.IsView|chainify.PassesGrad, 0, 0
	}
}

// moveBiases moves the biases of a sum after a product to the product, and reports whether it
// did. Exporters write such biases as a sum; frameworks compute both at once.
func (g *onnxGraph) moveBiases(c *call, o *chainify.Operator) bool {
	if c.rule.cost != costAdd || o.Weights == 0 {
		return false
	}
	if p := o.Preds; len(p) == 1 && (g.ops[p[0]].Family == "fc" || g.ops[p[0]].Family == "conv") &&
		g.ops[p[0]].Out == o.Out {
		g.ops[p[0]].Weights += o.Weights
		o.Weights = 0
		return true
	}
	o.Traits &^= chainify.PassesGrad // it makes a gradient of its own, too
	return false
}

// name returns the name of the node, or of its first output.
func (c *call) name() string {
	if c.node.Name == "" && len(c.node.Out) > 0 {
		return c.node.Out[0]
	}
	return c.node.Name
}

// trained returns the bytes of the weights that an operator is the first to read.
func (g *onnxGraph) trained(c *call) (sum engine.Bytes) {
	if !c.rule.trains {
		return 0
	}
	for i, v := range c.ins {
		if v == nil || v.op >= 0 || v.root.fixed || !isFloat(v.dtype) || elementCount(v.dims) < 2 {
			continue
		}
		if c.node.Op == "BatchNormalization" && i > 2 { // running averages
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

// describe sets the properties that depend on the cost of an operator and on its inputs.
func (g *onnxGraph) describe(c *call, o *chainify.Operator) {
	x, out := c.in(0), &c.outs[0]
	count := elementCount(out.dims)
	switch c.rule.cost {
	case costNothing:
		switch {
		case c.node.Op == "Transpose":
			out.turned = true
		case c.node.Op == "Reshape" && x.turned: // PyTorch copies then
			o.Traits &^= chainify.IsView | chainify.PassesGrad
		case c.node.Op == "Expand": // a view that takes no memory of its own
			o.Out = x.bytes()
		default:
			out.turned = x.turned
		}
	case costNorm:
		o.Aux = engine.Bytes(4 * g.statistics(c))
	case costMaxPool:
		o.Aux = engine.Bytes(8 * count)
	case costDropout:
		o.Aux = engine.Bytes(count)
	case costScale:
		if len(o.Preds) == 1 && len(c.ins) == 2 && o.Weights == 0 && c.in(0) != c.in(1) {
			o.Traits &^= chainify.SavesIn // the constant exists anyway
		}
	case costLookUp:
		switch table := c.in(0); {
		case table.op < 0: // an embedding keeps its indices
		case c.in(1).op < 0 && elementCount(c.in(1).dims) == 1:
			o.Traits, o.Family = chainify.IsView, ""
		default:
			o.Traits, o.Family = 0, ""
		}
	case costAttention: // the logarithm of each row's sum
		o.Aux = engine.Bytes(4 * count / max(1, out.dims[len(out.dims)-1]))
	case costElement:
		if c.node.Op == "Where" && c.in(0).op >= 0 {
			o.Aux = engine.Bytes(elementCount(c.in(0).dims))
		}
	}
}

// statistics returns how many 32-bit numbers a normalisation keeps: the mean and the inverse deviation of each group.
func (g *onnxGraph) statistics(c *call) int64 {
	x := c.in(0)
	count := elementCount(x.dims)
	switch c.node.Op {
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
		at, ok := findAxis(c.node.int("axis", -1), len(x.dims))
		if ok && c.node.Op == "RMSNormalization" {
			return elementCount(x.dims[:at])
		}
		if ok {
			return 2 * elementCount(x.dims[:at])
		}
	}
	return 0
}

// duration returns the time of an operator by the model of package analytic.
func (g *onnxGraph) duration(c *call, o *chainify.Operator) analytic.Time {
	var in float64
	for _, v := range c.ins {
		if v != nil && v.op >= 0 {
			in += float64(v.bytes())
		}
	}
	out := float64(o.Out)
	switch c.rule.cost {
	case costNothing, costSplit:
		if !o.Is(chainify.IsView) {
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
	case costAttention:
		k := c.in(1)
		return g.time.Product(2*float64(elementCount(c.in(0).dims))*float64(k.dims[len(k.dims)-2]), 0)
	case costMaxPool:
		return g.time.MaxPool(in, out)
	case costMeanPool:
		return g.time.MeanPool(in, out)
	case costCopy, costLookUp:
		if o.Is(chainify.IsView) {
			return analytic.Time{}
		}
		return g.time.Element(analytic.Embedding, out)
	}
	return g.time.Element(cmp.Or(map[cost]analytic.Passes{costNorm: analytic.Norm, costAdd: analytic.Add,
		costDropout: analytic.Dropout}[c.rule.cost], analytic.Activation), out)
}

// convolution returns the time of a convolution. Each result of a convolution, and each input of
// a transposed one, takes a product with all weights of its filters.
func (g *onnxGraph) convolution(c *call, bytes float64) analytic.Time {
	x, w := c.in(0), c.in(1)
	group := c.node.int("group", 1)
	in, out, results := x.dims[1], w.dims[0], elementCount(c.outs[0].dims)
	if c.node.Op == "ConvTranspose" {
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

// workInPlace makes activations, sums and factors overwrite their input where a program may: no other operator reads
// the input, and no backward needs it. The file does not say this, but networks for training are usually written so.
func (g *onnxGraph) workInPlace() {
	readers := make([]int, len(g.ops))
	for i := range g.ops {
		for _, p := range g.ops[i].Preds {
			readers[p]++
		}
	}
	for i := range g.ops {
		o := &g.ops[i]
		if !g.clip[i] {
			continue
		}
		at := lastOwn(o, readers)
		if at < 0 || g.ops[at].Out != o.Out || !g.free(at, readers) {
			continue
		}
		o.Traits |= chainify.InPlace
		if o.Is(chainify.SavesIn) && o.Family == "act" { // it keeps its result instead
			o.Traits = o.Traits&^chainify.SavesIn | chainify.SavesOut
		}
	}
}

// lastOwn returns the last input of an operator that has no other reader, or -1. It is the input
// whose memory chainify reuses.
func lastOwn(o *chainify.Operator, readers []int) int {
	at := -1
	for _, p := range o.Preds {
		if readers[p] == 1 {
			at = max(at, p)
		}
	}
	return at
}

// free reports whether the only reader of an operator's result may overwrite its storage.
func (g *onnxGraph) free(i int, readers []int) bool {
	for {
		o := &g.ops[i]
		if o.Is(chainify.IsInput|chainify.SavesOut) || readers[i] != 1 {
			return false
		}
		if !o.Is(chainify.IsView | chainify.InPlace) {
			return true
		}
		if i = lastOwn(o, readers); i < 0 {
			return false
		}
	}
}

// onnxRule describes operators: the shapes of their results, and the memory that PyTorch's
// autograd keeps for the same operators.
type onnxRule struct {
	names  string                      // separated by spaces
	shape  func(c *call, x *onnxValue) // x is the first input
	family string
	traits chainify.Traits
	cost   cost
	trains bool // constant float inputs are parameters
	plain  bool // PyTorch has the same operator, so sizes are exact
}

// cost is the kind of work of an operator, on which its time and further rules depend (see onnxGraph.describe).
type cost uint8

const (
	costNothing cost = iota // renames its input
	costCopy                // moves numbers
	costElement             // an activation, or arithmetic on two
	costAdd                 // hands gradients on
	costScale               // keeps the other factor, unless it is a constant
	costClip                // an activation that may work in place, and then keeps its result
	costNorm                // keeps statistics
	costConv
	costProduct // of matrices
	costMaxPool // keeps indices
	costMeanPool
	costDropout   // keeps a mask
	costLookUp    // rows of a table
	costCompare   // has no gradient
	costSplit     // its outputs are parts of the input
	costAttention // two products; the result of the first is not kept
)

// onnxRules holds the rule of each operator that is read. The saved tensors are those in
// PyTorch's derivatives.yaml: inputs of convolutions, products, normalisations, pools and most
// activations; results of sigmoid, tanh, softmax, exp, sqrt.
var onnxRules = func() map[string]*onnxRule {
	rules := map[string]*onnxRule{}
	for i := range ruleTable {
		for name := range strings.FieldsSeq(ruleTable[i].names) {
			rules[name] = &ruleTable[i]
		}
	}
	return rules
}()

// ruleTable has a row for each set of operators with the same rule.
var ruleTable = []onnxRule{
	{"Conv", convShape, "conv", chainify.SavesIn, costConv, true, true},
	{"ConvTranspose", transposedShape, "conv", chainify.SavesIn, costConv, true, true},
	{"Gemm", gemmShape, "fc", chainify.SavesIn, costProduct, true, true},
	{"MatMul", matMulShape, "fc", chainify.SavesIn, costProduct, true, false},

	{"BatchNormalization InstanceNormalization LayerNormalization GroupNormalization RMSNormalization",
		sameShape, "norm", chainify.SavesIn, costNorm, true, true},
	{"LRN LpNormalization", sameShape, "norm", chainify.SavesIn | chainify.SavesOut, costNorm, false, false},

	{"MaxPool", poolShape, "pool", chainify.SavesIn, costMaxPool, false, true},
	{"AveragePool", poolShape, "pool", chainify.SavesIn, costMeanPool, false, true},
	{"GlobalAveragePool", globalPoolShape, "pool", 0, costMeanPool, false, true},
	{"GlobalMaxPool", globalPoolShape, "pool", chainify.SavesIn, costMaxPool, false, true},

	{"Relu", sameShape, "act", chainify.SavesOut, costClip, false, true},
	{"LeakyRelu Clip", sameShape, "act", chainify.SavesIn, costClip, false, true},
	{"PRelu", sameShape, "act", chainify.SavesIn, costElement, true, true},
	{"Dropout", sameShape, "act", 0, costDropout, false, true},
	{"Sigmoid Tanh Softmax LogSoftmax", sameShape, "act", chainify.SavesOut, costElement, false, true},
	{"Gelu HardSigmoid HardSwish Elu Selu Celu Softplus Softsign Mish Swish ThresholdedRelu",
		sameShape, "act", chainify.SavesIn, costElement, false, true},

	{"Add Sum Sub", broadcastShape, "", chainify.PassesGrad, costAdd, true, true},
	{"Mul Div", broadcastShape, "", chainify.SavesIn, costScale, true, true},
	{"Pow Max Min", broadcastShape, "", chainify.SavesIn, costElement, false, true},
	{"Mean", broadcastShape, "", 0, costElement, false, true},
	{"Where", whereShape, "", 0, costElement, false, false},
	{"Exp Sqrt Reciprocal", sameShape, "", chainify.SavesOut, costElement, false, true},
	{"Erf Log Abs Sin Cos", sameShape, "", chainify.SavesIn, costElement, false, true},
	{"Neg", sameShape, "", 0, costElement, false, true},

	{"Concat", concatShape, "", chainify.PassesGrad, costCopy, false, true},
	{"Split", splitShape, "", chainify.IsView | chainify.PassesGrad, costSplit, false, true},
	{"Slice", sliceShape, "", chainify.IsView, costNothing, false, true},
	{"Gather", gatherShape, "embed", chainify.SavesIn, costLookUp, true, true},
	{"GatherElements", secondShape, "", 0, costCopy, false, false},
	{"Pad", padShape, "", 0, costCopy, false, true},
	{"Tile", tileShape, "", 0, costCopy, false, true},
	{"Resize Upsample", resizeShape, "", 0, costCopy, false, true},
	{"DepthToSpace SpaceToDepth", blockShape, "", 0, costCopy, false, true},
	{"Cast", castShape, "", 0, costCopy, false, true},
	{"Expand", expandShape, "", chainify.IsView, costNothing, false, true},
	{"Reshape", reshapeShape, "", chainify.IsView | chainify.PassesGrad, costNothing, false, true},
	{"Flatten", flattenShape, "", chainify.IsView | chainify.PassesGrad, costNothing, false, true},
	{"Transpose", transposeShape, "", chainify.IsView | chainify.PassesGrad, costNothing, false, true},
	{"Squeeze", squeezeShape, "", chainify.IsView | chainify.PassesGrad, costNothing, false, true},
	{"Unsqueeze", unsqueezeShape, "", chainify.IsView | chainify.PassesGrad, costNothing, false, true},
	{"Identity", sameShape, "", chainify.IsView | chainify.PassesGrad, costNothing, false, true},

	{"ReduceMean ReduceSum", reduceShape, "pool", 0, costMeanPool, false, true},
	{"ReduceMax ReduceMin ReduceL1 ReduceL2 ReduceProd ReduceLogSumExp ReduceSumSquare",
		reduceShape, "", chainify.SavesIn | chainify.SavesOut, costMeanPool, false, false},
	{"ArgMax ArgMin", reduceShape, "", 0, costCompare, false, true},
	{"Floor Ceil Round Sign Not IsNaN IsInf", sameShape, "", 0, costCompare, false, true},
	{"Equal Greater GreaterOrEqual Less LessOrEqual And Or Xor", compareShape, "", 0, costCompare, false, true},

	// not an operator of ONNX, but of traced programs
	{"FusedAttention", sameShape, "attention", chainify.SavesIn | chainify.SavesOut, costAttention, false, true},
}

// refusals are the reasons why common operators are not read.
var refusals = []struct{ names, why string }{
	{"LSTM GRU RNN", "recurrent layers keep sets that depend on the library"},
	{"If", "what it runs depends on values"},
	{"Loop Scan", "how often it runs depends on values"},
	{"NonZero NonMaxSuppression", "the size of its result depends on values"},
	{"QLinearConv QLinearMatMul ConvInteger MatMulInteger QuantizeLinear DequantizeLinear",
		"integer arithmetic is not trained"},
}
