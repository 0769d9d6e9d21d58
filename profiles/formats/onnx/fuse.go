package onnx

import "slices"

// Before operator set 17 and 20 there is no layer normalisation and no GELU in
// ONNX: exporters spell them out, in nine and five operators that would keep much
// more than the one that the program ran. The same holds for the normalisation and
// the activation of gated networks. They are put together again.

// fuser knows who makes and who reads each value.
type fuser struct {
	m       *onnxModel
	makers  map[string]int
	readers map[string][]int
	fixed   map[string]bool // initializers and constants
	gone    []bool
}

// fuse puts spelled-out operators together.
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

// before returns the node that makes an input of a node, if it is one of these
// operators; -1 otherwise.
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

// after returns the only node that reads the result of a node, if it is one of these
// operators with two inputs; -1 otherwise.
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

// other returns the input of a node of two that another node does not make.
func (f *fuser) other(node, than int) string {
	in := f.m.nodes[node].In
	if in[0] == f.m.nodes[than].Out[0] {
		return in[1]
	}
	return in[0]
}

// replace puts an operator into the place of the last of some nodes.
func (f *fuser) replace(op string, in []string, nodes ...int) {
	last := slices.Max(nodes)
	for _, i := range nodes {
		f.gone[i] = true
	}
	f.gone[last] = false
	n := &f.m.nodes[last]
	n.Op, n.domain, n.In, n.attrs = op, "", in, nil
}

// gelu is x/2 (1 + erf(x/√2)), in one of two orders.
func (f *fuser) gelu(erf int) {
	scaled := f.before(erf, 0, "Div", "Mul")
	plus := f.after(erf, "Add")
	times := f.after(plus, "Mul")
	if scaled < 0 || times < 0 || len(f.readers[f.m.nodes[scaled].Out[0]]) != 1 {
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

// layerNorm is (x-mean)/√(variance+ε), times weights, plus biases. It says whether
// this root is one of these.
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
	// The difference is read by its square and by the quotient, and nothing else is
	// read by others.
	for _, i := range []int{eps, variance, square, mean} {
		if len(f.readers[f.m.nodes[i].Out[0]]) != 1 {
			return false
		}
	}
	for _, r := range f.readers[f.m.nodes[centred].Out[0]] {
		if r != square && r != quotient {
			return false
		}
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

// rmsNorm is x/√(mean of squares+ε), times weights; the root divides, or its
// inverse multiplies.
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
	for _, i := range nodes[:3] {
		if len(f.readers[f.m.nodes[i].Out[0]]) != 1 {
			return
		}
	}
	in := []string{x}
	if times := f.after(quotient, "Mul"); times >= 0 && f.fixed[f.other(times, quotient)] {
		in, nodes = append(in, f.other(times, quotient)), append(nodes, times)
	}
	f.replace("RMSNormalization", in, nodes...)
}
