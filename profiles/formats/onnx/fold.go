package onnx

import (
	"math"
	"slices"

	"memtide/profiles"
	"memtide/profiles/parse"
)

// Values of the integers from which shapes are computed. Exporters write what the program did:
// Shape, Gather one dimension, Unsqueeze, Concat, Reshape. If the inputs of a call are known
// integers, its outputs are known; unknown values are nil.

// fold sets the values of the outputs if they follow from those of the inputs.
func (c *call) fold() {
	out := &c.outs[0]
	count, ok := parse.Elements(out.dims)
	if c.node.Op == "Concat" && isFloat(out.dtype) && count <= onnxMostDims { // factors of a resize
		for i := range c.ins {
			out.scales = append(out.scales, c.in(i).scales...)
		}
	}
	if !ok || count > onnxMostValues || out.vals != nil || isFloat(out.dtype) && c.node.Op != "Cast" {
		return
	}
	var in [3][]int64
	for i := range c.ins {
		v := c.in(i)
		if v == nil {
			continue
		}
		if v.vals == nil {
			return
		}
		if i < len(in) {
			in[i] = v.vals
		}
	}
	if len(c.ins) == 0 || c.in(0) == nil {
		return
	}
	switch c.node.Op {
	case "Reshape", "Squeeze", "Unsqueeze", "Identity", "Cast", "Flatten":
		out.vals = in[0]
	case "Concat":
		if len(out.dims) == 1 {
			for i := range c.ins {
				out.vals = append(out.vals, c.in(i).vals...)
			}
		}
	case "Gather":
		c.foldGather(out, in[0], in[1])
	case "Slice":
		c.foldSlice(out, in[0])
	case "Expand":
		out.vals = spread(in[0], count)
	case "Where":
		foldWhere(out, spread(in[0], count), spread(in[1], count), spread(in[2], count))
	case "ReduceProd":
		if count == 1 {
			if n, ok := parse.Elements(in[0]); ok {
				out.vals = []int64{n}
			}
		}
	default:
		f, a, b := integerOps[c.node.Op], spread(in[0], count), spread(in[1], count)
		if f != nil && len(c.ins) == 2 && a != nil && b != nil {
			out.vals = make([]int64, count)
			for i := range out.vals {
				out.vals[i] = f(a[i], b[i])
			}
		}
	}
	if int64(len(out.vals)) != count {
		out.vals = nil
	}
}

// spread returns n values: vals itself, or its single value repeated. It returns nil for other lengths.
func spread(vals []int64, n int64) []int64 {
	if int64(len(vals)) == n {
		return vals
	}
	if len(vals) == 1 {
		return slices.Repeat(vals, int(n))
	}
	return nil
}

// integerOps holds the operators on two integers. Overflow wraps: a result is checked when it is used as a size.
var integerOps = map[string]func(a, b int64) int64{
	"Add": func(a, b int64) int64 { return a + b },
	"Sub": func(a, b int64) int64 { return a - b },
	"Mul": func(a, b int64) int64 { return a * b },
	"Div": func(a, b int64) int64 {
		if b == 0 || a == math.MinInt64 {
			return 0
		}
		return a / b
	},
	"Mod": func(a, b int64) int64 {
		if b == 0 || a == math.MinInt64 {
			return 0
		}
		return a % b
	},
	"Min":     func(a, b int64) int64 { return min(a, b) },
	"Max":     func(a, b int64) int64 { return max(a, b) },
	"Equal":   func(a, b int64) int64 { return truth(a == b) },
	"Greater": func(a, b int64) int64 { return truth(a > b) },
	"Less":    func(a, b int64) int64 { return truth(a < b) },
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// foldWhere sets out to the elements of a where cond is not 0, and to those of b elsewhere.
func foldWhere(out *onnxValue, cond, a, b []int64) {
	if cond == nil || a == nil || b == nil {
		return
	}
	out.vals = slices.Clone(b)
	for i := range cond {
		if cond[i] != 0 {
			out.vals[i] = a[i]
		}
	}
}

// foldGather sets out to elements of a list.
func (c *call) foldGather(out *onnxValue, list, index []int64) {
	if len(c.in(0).dims) != 1 {
		return
	}
	vals := make([]int64, 0, len(index))
	for _, i := range index {
		at, ok := findAxis(i, len(list))
		if !ok {
			return
		}
		vals = append(vals, list[at])
	}
	out.vals = vals
}

// foldSlice sets out to a slice of a list.
func (c *call) foldSlice(out *onnxValue, list []int64) {
	starts := c.list("starts", 1)
	ends := c.list("ends", 2)
	steps := c.list("steps", 4)
	if len(c.in(0).dims) != 1 || len(starts) != 1 || len(ends) != 1 {
		return
	}
	step := int64(1)
	if len(steps) == 1 {
		step = steps[0]
	}
	first, n := sliceSpan(starts[0], ends[0], step, int64(len(list)))
	vals := make([]int64, n)
	for i := range vals {
		vals[i] = list[first+int64(i)*step]
	}
	out.vals = vals
}

// source sets the values of a node that needs no values of inputs: a constant, a shape or a
// range. It reports whether the node is one of these.
func (c *call) source() bool {
	out := &c.outs[0]
	switch c.node.Op {
	case "Constant":
		c.constant(out)
	case "ConstantOfShape":
		c.constantOfShape(out)
	case "Shape", "Size":
		x := c.need(0)
		out.vals = slices.Clone(x.dims)
		if c.node.Op == "Size" {
			c.set(0, onnxInt64, nil)
			out.vals = []int64{elementCount(x.dims)}
			return true
		}
		from, n := sliceSpan(c.node.int("start", 0), c.node.int("end", math.MaxInt64), 1, int64(len(x.dims)))
		out.vals = out.vals[from : from+n]
		c.set(0, onnxInt64, []int64{n})
	case "Range":
		var v [3]int64
		for i := range v {
			x := c.in(i)
			if x == nil || len(x.vals) != 1 {
				profiles.End(errOnnxDynamic)
			}
			v[i] = x.vals[0]
		}
		if v[2] == 0 || max(v[0], v[1])-min(v[0], v[1]) < 0 {
			profiles.End(errOnnxDynamic)
		}
		_, n := sliceSpan(0, max(0, v[1]-v[0]), max(1, v[2]), max(0, v[1]-v[0]))
		c.set(0, onnxInt64, []int64{n})
		for i := int64(0); i < n && n <= onnxMostValues; i++ {
			out.vals = append(out.vals, v[0]+i*v[2])
		}
	default:
		return false
	}
	return true
}

func (c *call) constant(out *onnxValue) {
	for i := range c.node.attrs {
		switch a := &c.node.attrs[i]; a.name {
		case "value":
			if a.tensor == nil {
				profiles.End(errOnnxInputs)
			}
			c.set(0, a.tensor.Type, a.tensor.Dims)
			out.vals, out.scales = a.tensor.vals, a.tensor.scales
			return
		case "value_int":
			c.set(0, onnxInt64, nil)
			out.vals = []int64{a.i}
			return
		case "value_ints":
			c.set(0, onnxInt64, []int64{int64(len(a.ints))})
			out.vals = a.ints
			return
		case "value_float":
			c.set(0, onnxFloat, nil)
			return
		case "value_floats":
			c.set(0, onnxFloat, []int64{int64(len(a.floats))})
			out.scales = a.floats
			return
		}
	}
	profiles.End(errOnnxDynamic)
}

// constantOfShape fills a shape with one number. The default is 0 as a 32-bit float.
func (c *call) constantOfShape(out *onnxValue) {
	shape := c.in(0)
	if shape == nil || shape.vals == nil {
		profiles.End(errOnnxDynamic)
	}
	dtype, value := int64(onnxFloat), []int64(nil)
	if a := c.node.attr("value"); a != nil && a.tensor != nil {
		dtype, value = a.tensor.Type, a.tensor.vals
	}
	c.set(0, dtype, shape.vals)
	if n, ok := parse.Elements(shape.vals); ok && n <= onnxMostValues && len(value) == 1 {
		out.vals = spread(value, n)
	}
}

// Before operator sets 17 and 20, ONNX has no layer normalisation and no GELU: exporters write nine and five operators
// instead, which would keep much more than the single operator that the program ran. The same holds for the
// normalisation and the activation of gated networks. fuse restores the single operators.

// fuser has the maker and the readers of each value, as indices of nodes.
type fuser struct {
	m       *onnxModel
	makers  map[string]int
	readers map[string][]int
	fixed   map[string]bool // initializers and constants
	gone    []bool
}

// fuse replaces groups of operators by the operator that they spell out.
func (m *onnxModel) fuse() {
	f := &fuser{m: m, makers: map[string]int{}, readers: map[string][]int{}, fixed: map[string]bool{},
		gone: make([]bool, len(m.nodes))}
	for i := range m.weights {
		f.fixed[m.weights[i].Name] = true
	}
	for i := range m.nodes {
		n := &m.nodes[i]
		for _, name := range n.Out {
			f.makers[name] = i
			f.fixed[name] = f.fixed[name] || n.Op == "Constant"
		}
		for _, name := range n.In {
			f.readers[name] = append(f.readers[name], i)
		}
	}
	for i := range m.nodes {
		switch m.nodes[i].Op {
		case "Erf":
			f.gelu(i)
		case "Sqrt":
			if !f.layerNorm(i) {
				f.rmsNorm(i)
			}
		case "Sigmoid":
			if times := f.after(i, "Mul"); times >= 0 && len(m.nodes[i].In) == 1 &&
				f.other(times, i) == m.nodes[i].In[0] {
				f.replace("Swish", m.nodes[i].In, i, times)
			}
		}
	}
	at := 0
	m.nodes = slices.DeleteFunc(m.nodes, func(Node) bool {
		at++
		return f.gone[at-1]
	})
}

// before returns the node that makes an input of a node, if it is one of the operators ops, or
// -1.
func (f *fuser) before(node, input int, ops ...string) int {
	if node < 0 || input >= len(f.m.nodes[node].In) {
		return -1
	}
	i, ok := f.makers[f.m.nodes[node].In[input]]
	if !ok || i >= node || !slices.Contains(ops, f.m.nodes[i].Op) || len(f.m.nodes[i].Out) != 1 ||
		len(f.m.nodes[i].In) == 0 {
		return -1
	}
	return i
}

// after returns the only node that reads the result of a node, if it has two inputs and is one
// of the operators ops, or -1.
func (f *fuser) after(node int, ops ...string) int {
	if node < 0 || len(f.m.nodes[node].Out) != 1 {
		return -1
	}
	r := f.readers[f.m.nodes[node].Out[0]]
	if len(r) != 1 || r[0] <= node || !slices.Contains(ops, f.m.nodes[r[0]].Op) || len(f.m.nodes[r[0]].In) != 2 ||
		len(f.m.nodes[r[0]].Out) != 1 {
		return -1
	}
	return r[0]
}

// other returns the input of a node with two inputs that the node than does not make.
func (f *fuser) other(node, than int) string {
	in := f.m.nodes[node].In
	if in[0] == f.m.nodes[than].Out[0] {
		return in[1]
	}
	return in[0]
}

// readOnce reports whether each of the nodes has a result with exactly one reader.
func (f *fuser) readOnce(nodes ...int) bool {
	return !slices.ContainsFunc(nodes, func(i int) bool { return len(f.readers[f.m.nodes[i].Out[0]]) != 1 })
}

// replace replaces nodes by an operator at the position of the last one.
func (f *fuser) replace(op string, in []string, nodes ...int) {
	last := slices.Max(nodes)
	for _, i := range nodes {
		f.gone[i] = true
	}
	f.gone[last] = false
	n := &f.m.nodes[last]
	n.Op, n.domain, n.In, n.attrs = op, "", in, nil
}

// gelu replaces x/2 (1 + erf(x/√2)), whose products occur in either of two orders.
func (f *fuser) gelu(erf int) {
	scaled := f.before(erf, 0, "Div", "Mul")
	plus := f.after(erf, "Add")
	times := f.after(plus, "Mul")
	if scaled < 0 || times < 0 || !f.readOnce(scaled) {
		return
	}
	x := f.m.nodes[scaled].In[0]
	factor := f.other(times, plus)
	if factor == x {
		if last := f.after(times, "Mul"); last >= 0 && f.fixed[f.other(last, times)] {
			f.replace("Gelu", []string{x}, scaled, erf, plus, times, last)
		}
		return
	}
	half, ok := f.makers[factor]
	if ok && f.m.nodes[half].Op == "Mul" && half < times && len(f.m.nodes[half].In) == 2 &&
		slices.Contains(f.m.nodes[half].In, x) && len(f.readers[factor]) == 1 {
		f.replace("Gelu", []string{x}, scaled, erf, plus, half, times)
	}
}

// layerNorm replaces (x-mean)/√(variance+ε), times weights, plus biases. It reports whether the
// root belongs to such an expression.
func (f *fuser) layerNorm(root int) bool {
	eps := f.before(root, 0, "Add")
	variance := f.before(eps, 0, "ReduceMean")
	square := f.before(variance, 0, "Pow", "Mul")
	centred := f.before(square, 0, "Sub")
	mean := f.before(centred, 1, "ReduceMean")
	quotient := f.after(root, "Div")
	if mean < 0 || quotient < 0 || f.m.nodes[centred].In[0] != f.m.nodes[mean].In[0] ||
		f.other(quotient, root) != f.m.nodes[centred].Out[0] {
		return false
	}
	// The difference may be read only by its square and the quotient, and the other results only once.
	if !f.readOnce(eps, variance, square, mean) || slices.ContainsFunc(f.readers[f.m.nodes[centred].Out[0]],
		func(r int) bool { return r != square && r != quotient }) {
		return false
	}
	in := []string{f.m.nodes[centred].In[0]}
	nodes := []int{mean, centred, square, variance, eps, root, quotient}
	if times := f.after(quotient, "Mul"); times >= 0 && f.fixed[f.other(times, quotient)] {
		in, nodes = append(in, f.other(times, quotient)), append(nodes, times)
		if plus := f.after(times, "Add"); plus >= 0 && f.fixed[f.other(plus, times)] {
			in, nodes = append(in, f.other(plus, times)), append(nodes, plus)
		}
	}
	f.replace("LayerNormalization", in, nodes...)
	return true
}

// rmsNorm replaces x/√(mean of squares+ε), times weights. The expression divides by the root, or
// multiplies with its inverse.
func (f *fuser) rmsNorm(root int) {
	eps := f.before(root, 0, "Add")
	mean := f.before(eps, 0, "ReduceMean")
	square := f.before(mean, 0, "Pow", "Mul")
	quotient := f.after(root, "Div")
	if square < 0 || quotient < 0 {
		return
	}
	x := f.m.nodes[square].In[0]
	nodes := []int{square, mean, eps, root, quotient}
	if f.other(quotient, root) != x {
		if quotient = f.after(quotient, "Mul"); quotient < 0 || f.other(quotient, nodes[4]) != x {
			return
		}
		nodes = append(nodes, quotient)
	}
	if !f.readOnce(square, mean, eps) {
		return
	}
	in := []string{x}
	if times := f.after(quotient, "Mul"); times >= 0 && f.fixed[f.other(times, quotient)] {
		in, nodes = append(in, f.other(times, quotient)), append(nodes, times)
	}
	f.replace("RMSNormalization", in, nodes...)
}
