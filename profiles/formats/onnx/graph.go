package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/analytic"
	"memtide/profiles/chainify"
	"memtide/profiles/parse"
)

// From the nodes of a model to operators. ONNX requires that nodes are in an order in which they can run. Nodes that
// depend only on constants become no operator. Weights are counted at the first operator that reads them.

// Errors of a node's inputs.
var (
	errOnnxInputs  = errors.New("inputs are missing or have other shapes than the operator takes")
	errOnnxEmpty   = errors.New("it has no operator or no result")
	errOnnxDynamic = errors.New("the shape of its result depends on values that the file does not hold")
)

// onnxValue is a tensor of the model.
type onnxValue struct {
	name   string
	dtype  int64
	dims   []int64
	vals   []int64   // of an integer tensor; nil if unknown
	scales []float32 // of a short float tensor; nil if unknown
	op     int       // the operator that makes it; -1 for a constant
	learns bool      // it depends on trained weights
	turned bool      // a transposed view: reshaping it copies
	root   *onnxValue
	used   bool // in a root: its bytes are counted as weights
	fixed  bool // in a root: it is not trained
}

func (v *onnxValue) bytes() engine.Bytes {
	return engine.Bytes(elementCount(v.dims) * onnxBytes[v.dtype&31])
}

// call is a node with its inputs and its outputs.
type call struct {
	node  *Node
	rule  onnxRule
	ins   []*onnxValue // nil for an omitted optional input
	outs  []onnxValue
	inner int64 // of a product: number of terms of each result
}

// in returns an input, or nil if it is omitted.
func (c *call) in(i int) *onnxValue {
	if i < 0 || i >= len(c.ins) {
		return nil
	}
	return c.ins[i]
}

// need returns an input, and ends reading if it is omitted.
func (c *call) need(i int) *onnxValue {
	v := c.in(i)
	if v == nil {
		profiles.End(errOnnxInputs)
	}
	return v
}

func (c *call) set(i int, dtype int64, dims []int64) {
	c.outs[i].dtype, c.outs[i].dims = dtype, dims
}

// onnxGraph builds the operators.
type onnxGraph struct {
	m       *onnxModel
	values  map[string]*onnxValue
	known   map[string]*Tensor // shapes that the file states
	ops     []chainify.Operator
	clip    []bool // by operator: it may work in place (see workInPlace)
	time    analytic.Rates
	half    bool         // numbers have 16 bits
	dtype   string       // f32, f16 or bf16
	buffers engine.Bytes // running averages
	batch   int64
	norms   int
	plain   bool // every operator is one of PyTorch's
	sized   map[string]int64
	assumed []string // warnings
	names   map[string]int
	over    *profiles.FormatError // a limit is reached
}

// weightInputs holds the index from which the inputs of an operator are weights.
var weightInputs = map[string]int{"Conv": 1, "ConvTranspose": 1, "Gemm": 1, "BatchNormalization": 1,
	"InstanceNormalization": 1,
	"LayerNormalization":    1, "GroupNormalization": 1, "PRelu": 1}

// findWeights moves inputs that are only read as weights to the weights. Models without weights
// (export_params=False) have their weights among the inputs.
func (m *onnxModel) findWeights() {
	asWeight, asData := map[string]bool{}, map[string]bool{}
	for i := range m.nodes {
		from, ok := weightInputs[m.nodes[i].Op]
		for j, name := range m.nodes[i].In {
			switch {
			case ok && j >= from, m.nodes[i].Op == "Gather" && j == 0 && len(m.inputs) > 1:
				asWeight[name] = true
			default:
				asData[name] = true
			}
		}
	}
	rest := m.inputs[:0:0]
	for _, t := range m.inputs {
		_, sized := parse.Elements(t.Dims)
		if asWeight[t.Name] && !asData[t.Name] && t.shaped && sized && isFloat(t.Type) {
			m.weights = append(m.weights, t)
			continue
		}
		rest = append(rest, t)
	}
	m.inputs = rest
}

// buildOnnx returns the operators of a model.
func buildOnnx(m *onnxModel, poll *engine.Poll) *onnxGraph {
	g := &onnxGraph{m: m, values: map[string]*onnxValue{}, known: map[string]*Tensor{}, sized: map[string]int64{},
		plain: true, time: analytic.V100, dtype: "f32", names: map[string]int{}}
	for i := range m.known {
		g.known[m.known[i].Name] = &m.known[i]
	}
	for i := range m.weights {
		t := &m.weights[i]
		fixed := m.traced && i >= m.fixed
		v := g.define(onnxValue{name: t.Name, dtype: t.Type, dims: t.Dims, vals: t.vals, scales: t.scales, op: -1,
			fixed: fixed})
		if fixed {
			g.buffers += v.bytes()
		}
	}
	g.choosePrecision()
	for i := range m.inputs {
		if t := &m.inputs[i]; g.values[t.Name] == nil {
			g.input(t)
		}
	}
	for i := range m.nodes {
		profiles.End(poll.Err())
		if _, err := profiles.Try(func() *call { return g.node(&m.nodes[i]) }); err != nil {
			profiles.End(g.nodeError(i, &m.nodes[i], err))
		}
		if len(g.ops) > engine.MaxStages {
			tooMany("operators", engine.MaxStages)
		}
	}
	g.workInPlace()
	return g
}

func (g *onnxGraph) nodeError(i int, n *Node, err error) error {
	if e, ok := errors.AsType[*profiles.FormatError](err); ok {
		e.Found = nodeLabel(i, n) + e.Found
		return e
	}
	remedy := "Check the model with onnx.checker, or export it again."
	if g.m.traced {
		remedy = "Export the program again, or measure the network with the collector."
	}
	if err == errOnnxDynamic {
		remedy = "Export the model with fixed shapes, or simplify it with onnx-simplifier."
	}
	return &profiles.FormatError{Found: nodeLabel(i, n) + err.Error(),
		Expected: "Shapes of every operator follow from those before it.", Remedy: remedy}
}

// nodeLabel returns the number, operator and name of a node, for the start of an error.
func nodeLabel(i int, n *Node) string {
	label := fmt.Sprintf("Node %d", i+1)
	if n.Op != "" {
		label += ", " + profiles.Clip(n.Op)
	}
	switch {
	case n.Name != "":
		label += " (" + profiles.Clip(n.Name) + ")"
	case len(n.Out) > 0 && n.Out[0] != "":
		label += " (makes " + profiles.Clip(n.Out[0]) + ")"
	}
	return label + ": "
}

func (g *onnxGraph) define(v onnxValue) *onnxValue {
	p := &v
	if p.root == nil {
		p.root = p
	}
	g.values[v.name] = p
	if e := g.m.budget.Memory("the shapes of this model", 200+8*(len(v.dims)+len(v.vals))); e != nil && g.over == nil {
		g.over = e
	}
	return p
}

// choosePrecision sets the precision to that of most weights.
func (g *onnxGraph) choosePrecision() {
	var half, brain, full int64
	for i := range g.m.weights {
		switch t := &g.m.weights[i]; t.Type {
		case onnxFloat16:
			half += elementCount(t.Dims) >> 8
		case onnxBfloat16:
			brain += elementCount(t.Dims) >> 8
		case onnxFloat:
			full += elementCount(t.Dims) >> 8
		}
	}
	if g.half = half+brain > full; g.half {
		g.time, g.dtype = analytic.V100Half, "f16"
	}
	if g.half && brain > half {
		g.dtype = "bf16"
	}
}

// input adds the operator of an input.
func (g *onnxGraph) input(t *Tensor) {
	if !t.shaped || onnxBytes[t.Type&31] == 0 {
		profiles.End(&profiles.FormatError{
			Found:    fmt.Sprintf("The input %q has no shape, or is not a tensor", profiles.Clip(t.Name)),
			Expected: "Inputs of a network are tensors of known dimensions.",
			Remedy:   "Export the model with an example input."})
	}
	dims := make([]int64, len(t.Dims))
	for i, d := range t.Dims {
		if d < 0 {
			d = g.assume(t, i)
		}
		dims[i] = d
	}
	if _, ok := parse.Elements(dims); !ok {
		profiles.End(&profiles.FormatError{
			Found:    fmt.Sprintf("The input %q has the shape %s", profiles.Clip(t.Name), shapeText(dims)),
			Expected: "Sizes of tensors are not above 2^53.", Remedy: "Export the model with a smaller example input."})
	}
	v := g.define(onnxValue{name: t.Name, dtype: t.Type, dims: dims, op: len(g.ops)})
	if g.batch == 0 && len(dims) > 0 {
		g.batch = dims[0]
	}
	g.add(chainify.Operator{Name: onnxLabel(t.Name), Kind: "Input", Out: v.bytes(), Traits: chainify.IsInput})
}

// Assumed sizes of dimensions that the file leaves open.
const (
	assumedSide   = 224
	assumedTokens = 128
)

// assume returns the assumed size of dimension i of an input: one sample, images of 224 px, 128
// tokens. Dimensions with the same name have the same size.
func (g *onnxGraph) assume(t *Tensor, i int) int64 {
	name := t.params[i]
	if n, ok := g.sized[name]; ok && name != "" {
		return n
	}
	n, what := int64(assumedTokens), "tokens"
	switch {
	case i == 0:
		n, what = 1, "sample"
	case i == 1 && len(t.Dims) == 4:
		n, what = 3, "channels"
	case len(t.Dims) == 4 || len(t.Dims) == 5:
		n, what = assumedSide, "px"
	}
	label := fmt.Sprintf("dimension %d of the input %q", i, profiles.Clip(t.Name))
	if name != "" {
		g.sized[name] = n
		label = fmt.Sprintf("dimension %q of the input %q", profiles.Clip(name), profiles.Clip(t.Name))
	}
	verb := "are"
	if n == 1 {
		verb = "is"
	}
	if len(g.assumed) < 8 {
		g.assumed = append(g.assumed,
			fmt.Sprintf("The file leaves %s open: %d %s %s taken. Export with the sizes of a training step for others.",
				label, n, what, verb))
	}
	return n
}

// onnxLabel returns a name of the file, shortened for the name of a stage.
func onnxLabel(name string) string {
	return profiles.Clip(strings.Trim(name, "/"))
}

func (g *onnxGraph) add(o chainify.Operator) {
	g.ops, g.clip = append(g.ops, o), append(g.clip, false)
}

// node makes the outputs of one node and its operators. Errors describe the node.
func (g *onnxGraph) node(n *Node) *call {
	if n.Op == "" || len(n.Out) == 0 {
		profiles.End(errOnnxEmpty)
	}
	c := &call{node: n, outs: make([]onnxValue, len(n.Out))}
	constant := true
	for _, name := range n.In {
		v := g.values[name]
		if v == nil && name != "" {
			wrongShape("no node before it makes its input %q", profiles.Clip(name))
		}
		constant = constant && (v == nil || v.op < 0)
		c.ins = append(c.ins, v)
	}
	for i := range c.outs {
		c.outs[i].op = -1
	}
	done := !g.m.traced && c.source()
	if !done {
		g.infer(c, constant)
	}
	for i := range c.outs {
		o := &c.outs[i]
		if _, ok := parse.Elements(o.dims); !ok || len(o.dims) > onnxMostDims {
			wrongShape("its result would have the shape %s", shapeText(o.dims))
		}
	}
	if !done && !g.m.traced {
		c.fold()
	}
	if !done && !constant {
		g.operators(c)
	} else if !done && c.in(0) != nil && isFloat(c.outs[0].dtype) {
		c.outs[0].root = c.in(0).root // transposed weights or parts of weights are the same weights
	}
	for i, name := range n.Out {
		if name != "" {
			c.outs[i].name, c.outs[i].fixed = name, g.m.traced && c.outs[i].op < 0
			g.define(c.outs[i])
		}
	}
	if g.over != nil {
		profiles.End(g.over)
	}
	return c
}

// infer sets the rule of a call and the shapes of its outputs. An operator without a rule is
// accepted if the file states the shapes of its results.
func (g *onnxGraph) infer(c *call, constant bool) {
	n := c.node
	rule, ok := onnxRules[n.Op]
	if standard := n.domain == "" || n.domain == "ai.onnx"; ok && standard {
		c.rule = *rule
		if g.m.traced {
			g.stated(c)
			return
		}
		g.plain = g.plain && rule.plain
		rule.shape(c, c.need(0))
		// The other outputs are masks, indices and statistics. What is kept of them is part of
		// the rule, so their sizes matter only to their readers.
		for i := 1; i < len(c.outs) && rule.cost != costSplit; i++ {
			c.set(i, c.outs[0].dtype, c.outs[0].dims)
		}
		return
	}
	for _, r := range refusals {
		if slices.Contains(strings.Fields(r.names), n.Op) {
			profiles.End(&profiles.FormatError{Found: "the operator is not supported: " + r.why,
				Expected: "Operators of convolutional networks and transformers are read.",
				Remedy:   "Measure the network with the collector."})
		}
	}
	for i, name := range n.Out {
		t := g.known[name]
		if name == "" {
			continue
		}
		if t == nil || !t.shaped || onnxBytes[t.Type&31] == 0 {
			profiles.End(&profiles.FormatError{Found: "the operator is not known",
				Expected: "Operators of convolutional networks and transformers are read; of others, the file has to state the shapes of the results.",
				Remedy:   "Run onnx.shape_inference.infer_shapes on the model, or measure the network with the collector."})
		}
		dims := make([]int64, len(t.Dims))
		for j, d := range t.Dims {
			if dims[j] = d; d < 0 {
				dims[j] = g.sized[t.params[j]]
			}
		}
		c.set(i, t.Type, dims)
	}
	if constant && g.m.traced {
		return
	}
	g.plain = false
	c.rule = onnxRule{traits: chainify.SavesIn | chainify.SavesOut, cost: costElement, trains: true}
	if g.names[n.Op]++; g.names[n.Op] == 1 && len(g.assumed) < 16 {
		g.assumed = append(g.assumed,
			fmt.Sprintf("The operator %s is not known: it is assumed to keep its inputs and its result, and to take as long as an activation.", profiles.Clip(n.Op)))
	}
}
