package profiles

// onnxRule is what an operator means: its shape, and how PyTorch's autograd treats
// memory in the operator that does the same. See traits.
type onnxRule struct {
	shape  func(c *onnxCall) error
	family string
	traits traits
	cost   onnxCost
	// trains: constant inputs of floats are parameters.
	trains bool
	// plain: PyTorch has the same operator, so that sizes are exact.
	plain bool
}

// onnxCost is what kind of work an operator is, and with that the further rules of
// its kind (see onnxGraph.describe).
type onnxCost uint8

const (
	costNothing  onnxCost = iota // renames its input
	costCopy                     // moves numbers
	costElement                  // an activation, or arithmetic on two
	costAdd                      // hands gradients on
	costScale                    // keeps the other factor, which may be a constant
	costClip                     // an activation that may work in place, and keeps its result then
	costNorm                     // keeps statistics
	costConv                     //
	costProduct                  // of matrices
	costMaxPool                  // keeps indices
	costMeanPool                 //
	costDropout                  // keeps a mask
	costLookUp                   // rows of a table
	costCompare                  // has no gradient
	costSplit                    // several outputs, each a part of the input
)

// onnxRules are the operators that are read. What each keeps is what PyTorch's
// derivatives.yaml names: inputs of convolutions, products, normalisations, pools
// and most activations; results of sigmoid, tanh, softmax, exp, sqrt.
var onnxRules = makeOnnxRules()

func makeOnnxRules() map[string]onnxRule {
	rules := onnxOwnRules()
	for _, g := range onnxGroups {
		for _, name := range g.names {
			rules[name] = g.rule
		}
	}
	return rules
}

// onnxOwnRules are those of operators that differ from all others.
func onnxOwnRules() map[string]onnxRule {
	return map[string]onnxRule{
		"Conv":          {convShape, "conv", savesIn, costConv, true, true},
		"ConvTranspose": {transposedShape, "conv", savesIn, costConv, true, true},
		"Gemm":          {gemmShape, "fc", savesIn, costProduct, true, true},
		"MatMul":        {matMulShape, "fc", savesIn, costProduct, true, false},

		"BatchNormalization":    {sameShape, "norm", savesIn, costNorm, true, true},
		"InstanceNormalization": {sameShape, "norm", savesIn, costNorm, true, true},
		"LayerNormalization":    {sameShape, "norm", savesIn, costNorm, true, true},
		"GroupNormalization":    {sameShape, "norm", savesIn, costNorm, true, true},
		"RMSNormalization":      {sameShape, "norm", savesIn, costNorm, true, true},
		"LRN":                   {sameShape, "norm", savesIn | savesOut, costNorm, false, false},
		"LpNormalization":       {sameShape, "norm", savesIn | savesOut, costNorm, false, false},

		"MaxPool":           {poolShape, "pool", savesIn, costMaxPool, false, true},
		"AveragePool":       {poolShape, "pool", savesIn, costMeanPool, false, true},
		"GlobalAveragePool": {globalPoolShape, "pool", 0, costMeanPool, false, true},
		"GlobalMaxPool":     {globalPoolShape, "pool", savesIn, costMaxPool, false, true},

		"Relu":      {sameShape, "act", savesOut, costClip, false, true},
		"LeakyRelu": {sameShape, "act", savesIn, costClip, false, true},
		"Clip":      {sameShape, "act", savesIn, costClip, false, true},
		"PRelu":     {sameShape, "act", savesIn, costElement, true, true},
		"Dropout":   {sameShape, "act", 0, costDropout, false, true},

		"Add":   {broadcastShape, "", passesGrad, costAdd, true, true},
		"Sum":   {broadcastShape, "", passesGrad, costAdd, true, true},
		"Sub":   {broadcastShape, "", passesGrad, costAdd, true, true},
		"Mul":   {broadcastShape, "", savesIn, costScale, true, true},
		"Div":   {broadcastShape, "", savesIn, costScale, true, true},
		"Pow":   {broadcastShape, "", savesIn, costElement, false, true},
		"Max":   {broadcastShape, "", savesIn, costElement, false, true},
		"Min":   {broadcastShape, "", savesIn, costElement, false, true},
		"Mean":  {broadcastShape, "", 0, costElement, false, true},
		"Where": {whereShape, "", 0, costElement, false, false},

		"Concat":         {concatShape, "", passesGrad, costCopy, false, true},
		"Split":          {splitShape, "", isView | passesGrad, costSplit, false, true},
		"Slice":          {sliceShape, "", isView, costNothing, false, true},
		"Gather":         {gatherShape, "embed", savesIn, costLookUp, true, true},
		"GatherElements": {secondShape, "", 0, costCopy, false, false},
		"Pad":            {padShape, "", 0, costCopy, false, true},
		"Tile":           {tileShape, "", 0, costCopy, false, true},
		"Resize":         {resizeShape, "", 0, costCopy, false, true},
		"Upsample":       {resizeShape, "", 0, costCopy, false, true},
		"DepthToSpace":   {blockShape, "", 0, costCopy, false, true},
		"SpaceToDepth":   {blockShape, "", 0, costCopy, false, true},
		"Cast":           {castShape, "", 0, costCopy, false, true},
		"Expand":         {expandShape, "", isView, costNothing, false, true},
		"Reshape":        {reshapeShape, "", isView | passesGrad, costNothing, false, true},
		"Flatten":        {flattenShape, "", isView | passesGrad, costNothing, false, true},
		"Transpose":      {transposeShape, "", isView | passesGrad, costNothing, false, true},
		"Squeeze":        {squeezeShape, "", isView | passesGrad, costNothing, false, true},
		"Unsqueeze":      {unsqueezeShape, "", isView | passesGrad, costNothing, false, true},
		"Identity":       {sameShape, "", isView | passesGrad, costNothing, false, true},
		"ArgMax":         {reduceShape, "", 0, costCompare, false, true},
		"ArgMin":         {reduceShape, "", 0, costCompare, false, true},
	}
}

// onnxGroups are operators that are treated alike.
var onnxGroups = []struct {
	names []string
	rule  onnxRule
}{
	{[]string{"Sigmoid", "Tanh", "Softmax", "LogSoftmax"}, onnxRule{sameShape, "act", savesOut, costElement, false, true}},
	{[]string{"Exp", "Sqrt", "Reciprocal"}, onnxRule{sameShape, "", savesOut, costElement, false, true}},
	{[]string{"Gelu", "HardSigmoid", "HardSwish", "Elu", "Selu", "Celu", "Softplus", "Softsign", "Mish", "Swish", "ThresholdedRelu"},
		onnxRule{sameShape, "act", savesIn, costElement, false, true}},
	{[]string{"Erf", "Log", "Abs", "Sin", "Cos"}, onnxRule{sameShape, "", savesIn, costElement, false, true}},
	{[]string{"Neg"}, onnxRule{sameShape, "", 0, costElement, false, true}},
	{[]string{"Floor", "Ceil", "Round", "Sign", "Not", "IsNaN", "IsInf"}, onnxRule{sameShape, "", 0, costCompare, false, true}},
	{[]string{"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor"},
		onnxRule{compareShape, "", 0, costCompare, false, true}},
	{[]string{"ReduceMean", "ReduceSum"}, onnxRule{reduceShape, "pool", 0, costMeanPool, false, true}},
	{[]string{"ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceProd", "ReduceLogSumExp", "ReduceSumSquare"},
		onnxRule{reduceShape, "", savesIn | savesOut, costMeanPool, false, false}},
}

// onnxRefusals say of operators that people will have why they are not read.
var onnxRefusals = map[string]string{
	"LSTM": "recurrent layers keep sets that depend on the library", "GRU": "recurrent layers keep sets that depend on the library",
	"RNN": "recurrent layers keep sets that depend on the library",
	"If":  "what it runs depends on values", "Loop": "how often it runs depends on values", "Scan": "how often it runs depends on values",
	"NonZero": "the size of its result depends on values", "NonMaxSuppression": "the size of its result depends on values",
	"QLinearConv": "integer arithmetic is not trained", "QLinearMatMul": "integer arithmetic is not trained",
	"ConvInteger": "integer arithmetic is not trained", "MatMulInteger": "integer arithmetic is not trained",
	"QuantizeLinear": "integer arithmetic is not trained", "DequantizeLinear": "integer arithmetic is not trained",
}
