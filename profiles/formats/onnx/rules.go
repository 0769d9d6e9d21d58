package onnx

import "memtide/profiles/chainify"

// onnxRule is what an operator means: its shape, and how PyTorch's autograd treats
// memory in the operator that does the same. See traits.
type onnxRule struct {
	shape  func(c *call, x *onnxValue) // x is the first input
	family string
	traits chainify.Traits
	cost   cost
	// trains: constant inputs of floats are parameters.
	trains bool
	// plain: PyTorch has the same operator, so that sizes are exact.
	plain bool
}

// cost is what kind of work an operator is, and with that the further rules of
// its kind (see onnxGraph.describe).
type cost uint8

const (
	costNothing   cost = iota // renames its input
	costCopy                  // moves numbers
	costElement               // an activation, or arithmetic on two
	costAdd                   // hands gradients on
	costScale                 // keeps the other factor, which may be a constant
	costClip                  // an activation that may work in place, and keeps its result then
	costNorm                  // keeps statistics
	costConv                  //
	costProduct               // of matrices
	costMaxPool               // keeps indices
	costMeanPool              //
	costDropout               // keeps a mask
	costLookUp                // rows of a table
	costCompare               // has no gradient
	costSplit                 // several outputs, each a part of the input
	costAttention             // two products, of which what is between them is not kept
)

// onnxRules are the operators that are read. What each keeps is what PyTorch's
// derivatives.yaml names: inputs of convolutions, products, normalisations, pools
// and most activations; results of sigmoid, tanh, softmax, exp, sqrt.
var onnxRules = makeOnnxRules()

func makeOnnxRules() map[string]onnxRule {
	rules := ownRules()
	for _, g := range groups {
		for _, name := range g.names {
			rules[name] = g.rule
		}
	}
	return rules
}

// ownRules returns those of operators that differ from all others.
func ownRules() map[string]onnxRule {
	return map[string]onnxRule{
		"Conv":          {convShape, "conv", chainify.SavesIn, costConv, true, true},
		"ConvTranspose": {transposedShape, "conv", chainify.SavesIn, costConv, true, true},
		"Gemm":          {gemmShape, "fc", chainify.SavesIn, costProduct, true, true},
		"MatMul":        {matMulShape, "fc", chainify.SavesIn, costProduct, true, false},

		"BatchNormalization":    {sameShape, "norm", chainify.SavesIn, costNorm, true, true},
		"InstanceNormalization": {sameShape, "norm", chainify.SavesIn, costNorm, true, true},
		"LayerNormalization":    {sameShape, "norm", chainify.SavesIn, costNorm, true, true},
		"GroupNormalization":    {sameShape, "norm", chainify.SavesIn, costNorm, true, true},
		"RMSNormalization":      {sameShape, "norm", chainify.SavesIn, costNorm, true, true},
		"LRN":                   {sameShape, "norm", chainify.SavesIn | chainify.SavesOut, costNorm, false, false},
		"LpNormalization":       {sameShape, "norm", chainify.SavesIn | chainify.SavesOut, costNorm, false, false},

		"MaxPool":           {poolShape, "pool", chainify.SavesIn, costMaxPool, false, true},
		"AveragePool":       {poolShape, "pool", chainify.SavesIn, costMeanPool, false, true},
		"GlobalAveragePool": {globalPoolShape, "pool", 0, costMeanPool, false, true},
		"GlobalMaxPool":     {globalPoolShape, "pool", chainify.SavesIn, costMaxPool, false, true},

		"Relu":      {sameShape, "act", chainify.SavesOut, costClip, false, true},
		"LeakyRelu": {sameShape, "act", chainify.SavesIn, costClip, false, true},
		"Clip":      {sameShape, "act", chainify.SavesIn, costClip, false, true},
		"PRelu":     {sameShape, "act", chainify.SavesIn, costElement, true, true},
		"Dropout":   {sameShape, "act", 0, costDropout, false, true},

		"Add":   {broadcastShape, "", chainify.PassesGrad, costAdd, true, true},
		"Sum":   {broadcastShape, "", chainify.PassesGrad, costAdd, true, true},
		"Sub":   {broadcastShape, "", chainify.PassesGrad, costAdd, true, true},
		"Mul":   {broadcastShape, "", chainify.SavesIn, costScale, true, true},
		"Div":   {broadcastShape, "", chainify.SavesIn, costScale, true, true},
		"Pow":   {broadcastShape, "", chainify.SavesIn, costElement, false, true},
		"Max":   {broadcastShape, "", chainify.SavesIn, costElement, false, true},
		"Min":   {broadcastShape, "", chainify.SavesIn, costElement, false, true},
		"Mean":  {broadcastShape, "", 0, costElement, false, true},
		"Where": {whereShape, "", 0, costElement, false, false},

		"Concat":         {concatShape, "", chainify.PassesGrad, costCopy, false, true},
		"Split":          {splitShape, "", chainify.IsView | chainify.PassesGrad, costSplit, false, true},
		"Slice":          {sliceShape, "", chainify.IsView, costNothing, false, true},
		"Gather":         {gatherShape, "embed", chainify.SavesIn, costLookUp, true, true},
		"GatherElements": {secondShape, "", 0, costCopy, false, false},
		"Pad":            {padShape, "", 0, costCopy, false, true},
		"Tile":           {tileShape, "", 0, costCopy, false, true},
		"Resize":         {resizeShape, "", 0, costCopy, false, true},
		"Upsample":       {resizeShape, "", 0, costCopy, false, true},
		"DepthToSpace":   {blockShape, "", 0, costCopy, false, true},
		"SpaceToDepth":   {blockShape, "", 0, costCopy, false, true},
		"Cast":           {castShape, "", 0, costCopy, false, true},
		"Expand":         {expandShape, "", chainify.IsView, costNothing, false, true},
		"Reshape":        {reshapeShape, "", chainify.IsView | chainify.PassesGrad, costNothing, false, true},
		"Flatten":        {flattenShape, "", chainify.IsView | chainify.PassesGrad, costNothing, false, true},
		"Transpose":      {transposeShape, "", chainify.IsView | chainify.PassesGrad, costNothing, false, true},
		"Squeeze":        {squeezeShape, "", chainify.IsView | chainify.PassesGrad, costNothing, false, true},
		"Unsqueeze":      {unsqueezeShape, "", chainify.IsView | chainify.PassesGrad, costNothing, false, true},
		"Identity":       {sameShape, "", chainify.IsView | chainify.PassesGrad, costNothing, false, true},
		"ArgMax":         {reduceShape, "", 0, costCompare, false, true},
		"ArgMin":         {reduceShape, "", 0, costCompare, false, true},

		// This is no operator of ONNX: traced programs have it.
		"FusedAttention": {sameShape, "attention", chainify.SavesIn | chainify.SavesOut, costAttention, false, true},
	}
}

// groups are operators that are treated alike.
var groups = []struct {
	names []string
	rule  onnxRule
}{
	{[]string{"Sigmoid", "Tanh", "Softmax", "LogSoftmax"},
		onnxRule{sameShape, "act", chainify.SavesOut, costElement, false, true}},
	{[]string{"Exp", "Sqrt", "Reciprocal"}, onnxRule{sameShape, "", chainify.SavesOut, costElement, false, true}},
	{[]string{"Gelu", "HardSigmoid", "HardSwish", "Elu", "Selu", "Celu", "Softplus", "Softsign", "Mish", "Swish",
		"ThresholdedRelu"},
		onnxRule{sameShape, "act", chainify.SavesIn, costElement, false, true}},
	{[]string{"Erf", "Log", "Abs", "Sin", "Cos"}, onnxRule{sameShape, "", chainify.SavesIn, costElement, false, true}},
	{[]string{"Neg"}, onnxRule{sameShape, "", 0, costElement, false, true}},
	{[]string{"Floor", "Ceil", "Round", "Sign", "Not", "IsNaN", "IsInf"},
		onnxRule{sameShape, "", 0, costCompare, false, true}},
	{[]string{"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor"},
		onnxRule{compareShape, "", 0, costCompare, false, true}},
	{[]string{"ReduceMean", "ReduceSum"}, onnxRule{reduceShape, "pool", 0, costMeanPool, false, true}},
	{[]string{"ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceProd", "ReduceLogSumExp", "ReduceSumSquare"},
		onnxRule{reduceShape, "", chainify.SavesIn | chainify.SavesOut, costMeanPool, false, false}},
}

// refusals say of operators that people will have why they are not read.
var refusals = map[string]string{
	"LSTM": "recurrent layers keep sets that depend on the library",
	"GRU":  "recurrent layers keep sets that depend on the library",
	"RNN":  "recurrent layers keep sets that depend on the library",
	"If":   "what it runs depends on values", "Loop": "how often it runs depends on values",
	"Scan":              "how often it runs depends on values",
	"NonZero":           "the size of its result depends on values",
	"NonMaxSuppression": "the size of its result depends on values",
	"QLinearConv":       "integer arithmetic is not trained", "QLinearMatMul": "integer arithmetic is not trained",
	"ConvInteger": "integer arithmetic is not trained", "MatMulInteger": "integer arithmetic is not trained",
	"QuantizeLinear": "integer arithmetic is not trained", "DequantizeLinear": "integer arithmetic is not trained",
}
