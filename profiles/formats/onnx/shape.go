package onnx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"memtide/profiles"
	"memtide/profiles/parse"
)

// Shapes of outputs, as defined in https://onnx.ai/onnx/operators/. A rule sets the shapes of a
// call's outputs from those of its inputs. Its error is a sentence about the node.

// Types of elements, with their numbers in onnx.proto.
const (
	onnxFloat    = 1
	onnxInt32    = 6
	onnxInt64    = 7
	onnxBool     = 9
	onnxFloat16  = 10
	onnxDouble   = 11
	onnxBfloat16 = 16
)

// onnxBytes holds the size of an element of each type in bytes; 0 for other types.
var onnxBytes = [32]int64{1: 4, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8, 12: 4, 13: 8, 14: 8, 15: 16,
	16: 2, 17: 1, 18: 1, 19: 1, 20: 1}

func isFloat(dtype int64) bool {
	return dtype == onnxFloat || dtype == onnxFloat16 || dtype == onnxBfloat16 || dtype == onnxDouble
}

// elementCount returns the number of elements of a valid shape.
func elementCount(dims []int64) int64 {
	n, _ := parse.Elements(dims)
	return n
}

func shapeText(dims []int64) string {
	list := make([]string, len(dims))
	for i, d := range dims {
		list[i] = strconv.FormatInt(d, 10)
	}
	return profiles.Clip("[" + strings.Join(list, ", ") + "]")
}

// attr returns an attribute, or nil if the node does not have it.
func (n *Node) attr(name string) *attr {
	for i := range n.attrs {
		if n.attrs[i].name == name {
			return &n.attrs[i]
		}
	}
	return nil
}

func (n *Node) int(name string, otherwise int64) int64 {
	if a := n.attr(name); a != nil {
		return a.i
	}
	if v := n.Attributes[name]; len(v) == 1 {
		return v[0]
	}
	return otherwise
}

func (n *Node) ints(name string) []int64 {
	if a := n.attr(name); a != nil {
		return a.ints
	}
	return n.Attributes[name]
}

func (n *Node) text(name string) string {
	if a := n.attr(name); a != nil {
		return a.text
	}
	return ""
}

// list returns an attribute, or the values of the input that replaces it in later operator sets,
// or nil if both are missing. It ends reading if the values depend on data.
func (c *call) list(name string, input int) []int64 {
	if a := c.node.attr(name); a != nil {
		return a.ints
	}
	v := c.in(input)
	if v == nil {
		return nil
	}
	if v.vals == nil {
		profiles.End(errOnnxDynamic)
	}
	return v.vals
}

// wrongShape ends reading with an error about the node.
func wrongShape(format string, args ...any) { profiles.End(fmt.Errorf(format, args...)) }

// findAxis returns the index of axis a among rank dimensions, and whether it exists. A negative a counts from the end.
func findAxis(a int64, rank int) (at int, ok bool) {
	if a < 0 {
		a += int64(rank)
	}
	return int(a), a >= 0 && a < int64(rank)
}

// axis is findAxis for an axis that has to exist: otherwise it ends reading.
func axis(a int64, rank int) int {
	at, ok := findAxis(a, rank)
	if !ok {
		wrongShape("axis %d of %d dimensions does not exist", at, rank)
	}
	return at
}

// marked reports for each of rank dimensions whether it is in axes.
func marked(axes []int64, rank int) []bool {
	marks := make([]bool, rank)
	for _, a := range axes {
		marks[axis(a, rank)] = true
	}
	return marks
}

func (c *call) axis(name string, otherwise int64, rank int) int {
	return axis(c.node.int(name, otherwise), rank)
}

// spatial describes a filter and how it slides over the dimensions after the first two.
type spatial struct {
	kernel, stride, dilation, before, after []int64
	ceil                                    bool
	auto                                    string
}

func (c *call) spatial(kernel []int64, rank int) spatial {
	n := rank - 2
	if n < 1 || len(kernel) != n {
		wrongShape("a kernel of shape %s does not fit %d dimensions", shapeText(kernel), rank)
	}
	s := spatial{kernel: kernel, auto: c.node.text("auto_pad"), ceil: c.node.int("ceil_mode", 0) != 0}
	fill := func(name string, n int, v int64) []int64 {
		list := c.node.ints(name)
		if len(list) == 0 {
			return slices.Repeat([]int64{v}, n)
		}
		if len(list) != n {
			wrongShape("%s has %d numbers, not %d", name, len(list), n)
		}
		for _, x := range list {
			if x < v || x > 1<<31 {
				wrongShape("%s is %s", name, shapeText(list))
			}
		}
		return list
	}
	s.stride, s.dilation = fill("strides", n, 1), fill("dilations", n, 1)
	pads := fill("pads", 2*n, 0)
	s.before, s.after = pads[:n], pads[n:]
	return s
}

// slide returns the number of positions of a filter along dimension i of an input with in positions.
func (s *spatial) slide(i int, in int64) int64 {
	stride := s.stride[i]
	if strings.HasPrefix(s.auto, "SAME") {
		return (in + stride - 1) / stride
	}
	reach := (s.kernel[i]-1)*s.dilation[i] + 1
	room := in - reach
	if s.auto != "VALID" {
		room += s.before[i] + s.after[i]
	}
	if s.kernel[i] < 1 || s.kernel[i] > 1<<31 || room < 0 {
		wrongShape("a kernel of %d does not fit %d positions", s.kernel[i], in)
	}
	if s.ceil {
		// As in PyTorch, every window starts within the input or the padding before it.
		out := (room+stride-1)/stride + 1
		if (out-1)*stride >= in+s.before[i] {
			out--
		}
		return out
	}
	return room/stride + 1
}

// convShape is [batch, filters, ...]; the weights are [filters, channels/group, ...].
func convShape(c *call, _ *onnxValue) {
	x, w := c.image2()
	group := c.node.int("group", 1)
	if group < 1 || w.dims[1] > parse.MaxNumber/group || x.dims[1] != w.dims[1]*group {
		wrongShape("an input of shape %s does not go with weights of shape %s in %d groups", shapeText(x.dims),
			shapeText(w.dims), group)
	}
	out := []int64{x.dims[0], w.dims[0]}
	s := c.spatial(w.dims[2:], len(x.dims))
	for i := range s.kernel {
		out = append(out, s.slide(i, x.dims[2+i]))
	}
	c.set(0, x.dtype, out)
}

// transposedShape is the shape of an input whose convolution has the shape of x.
func transposedShape(c *call, _ *onnxValue) {
	x, w := c.image2()
	group := c.node.int("group", 1)
	if group < 1 || w.dims[1] > parse.MaxNumber/group || x.dims[1] != w.dims[0] {
		wrongShape("an input of shape %s does not go with weights of shape %s in %d groups", shapeText(x.dims),
			shapeText(w.dims), group)
	}
	out := []int64{x.dims[0], w.dims[1] * group}
	s := c.spatial(w.dims[2:], len(x.dims))
	given, extra := c.node.ints("output_shape"), c.node.ints("output_padding")
	for i := range s.kernel {
		if s.kernel[i] > 1<<31 || x.dims[2+i] < 1 {
			wrongShape("a kernel of %d does not fit %d positions", s.kernel[i], x.dims[2+i])
		}
		n := (x.dims[2+i]-1)*s.stride[i] + (s.kernel[i]-1)*s.dilation[i] + 1 - s.before[i] - s.after[i]
		switch {
		case len(given) == len(s.kernel):
			n = given[i]
		case strings.HasPrefix(s.auto, "SAME"):
			n = x.dims[2+i] * s.stride[i]
		case len(extra) == len(s.kernel):
			n += extra[i]
		}
		out = append(out, n)
	}
	c.set(0, x.dtype, out)
}

// image2 returns the first two inputs, which have the same rank of at least 3.
func (c *call) image2() (x, w *onnxValue) {
	x, w = c.need(0), c.need(1)
	if len(x.dims) < 3 || len(x.dims) != len(w.dims) {
		wrongShape("inputs have the shapes %s and %s", shapeText(x.dims), shapeText(w.dims))
	}
	return x, w
}

func poolShape(c *call, x *onnxValue) {
	s := c.spatial(c.node.ints("kernel_shape"), len(x.dims))
	out := slices.Clone(x.dims[:2])
	for i := range s.kernel {
		out = append(out, s.slide(i, x.dims[2+i]))
	}
	c.set(0, x.dtype, out)
}

func globalPoolShape(c *call, x *onnxValue) {
	if len(x.dims) < 3 {
		profiles.End(errOnnxInputs)
	}
	c.set(0, x.dtype, append(slices.Clone(x.dims[:2]), slices.Repeat([]int64{1}, len(x.dims)-2)...))
}

// sameShape is the shape of the first input.
func sameShape(c *call, x *onnxValue) {
	c.set(0, x.dtype, x.dims)
}

func castShape(c *call, x *onnxValue) {
	sameShape(c, x)
	c.outs[0].dtype = c.node.int("to", c.outs[0].dtype)
}

// broadcastShape broadcasts the shapes of all inputs.
func broadcastShape(c *call, x *onnxValue) {
	out := x.dims
	for i := 1; i < len(c.ins); i++ {
		v := c.need(i)
		joined, ok := broadcast(out, v.dims)
		if !ok {
			wrongShape("shapes %s and %s do not go together", shapeText(out), shapeText(v.dims))
		}
		out = joined
	}
	c.set(0, x.dtype, out)
}

// broadcast returns the shape of an element-wise operation on two tensors, and whether the shapes fit.
func broadcast(a, b []int64) ([]int64, bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := slices.Clone(a)
	if out == nil {
		out = []int64{}
	}
	for i, d := range b {
		at := len(a) - len(b) + i
		switch {
		case out[at] == 1:
			out[at] = d
		case d != 1 && d != out[at]:
			return nil, false
		}
	}
	return out, true
}

func compareShape(c *call, x *onnxValue) {
	broadcastShape(c, x)
	c.outs[0].dtype = onnxBool
}

func whereShape(c *call, x *onnxValue) {
	broadcastShape(c, x)
	if v := c.in(1); v != nil {
		c.outs[0].dtype = v.dtype
	}
}

func gemmShape(c *call, x *onnxValue) {
	a, b := x, c.in(1)
	if b == nil || len(a.dims) != 2 || len(b.dims) != 2 {
		profiles.End(errOnnxInputs)
	}
	m, k := a.dims[0], a.dims[1]
	if c.node.int("transA", 0) != 0 {
		m, k = k, m
	}
	k2, n := b.dims[0], b.dims[1]
	if c.node.int("transB", 0) != 0 {
		k2, n = n, k2
	}
	if k != k2 {
		wrongShape("a matrix of shape %s does not go with one of shape %s", shapeText(a.dims), shapeText(b.dims))
	}
	c.inner = k
	c.set(0, a.dtype, []int64{m, n})
}

// matMulShape is the shape of numpy.matmul.
func matMulShape(c *call, x *onnxValue) {
	a, b := x, c.in(1)
	if b == nil || len(a.dims) == 0 || len(b.dims) == 0 {
		profiles.End(errOnnxInputs)
	}
	left, right := a.dims, b.dims
	if len(left) == 1 {
		left = []int64{1, left[0]}
	}
	if len(right) == 1 {
		right = []int64{right[0], 1}
	}
	n, m := len(left), len(right)
	out, ok := broadcast(left[:n-2], right[:m-2])
	if !ok || left[n-1] != right[m-2] {
		wrongShape("a matrix of shape %s does not go with one of shape %s", shapeText(a.dims), shapeText(b.dims))
	}
	c.inner = left[n-1]
	if len(a.dims) > 1 {
		out = append(out, left[n-2])
	}
	if len(b.dims) > 1 {
		out = append(out, right[m-1])
	}
	c.set(0, a.dtype, out)
}

// reduceShape removes the reduced dimensions, or keeps them as 1.
func reduceShape(c *call, x *onnxValue) {
	axes := c.list("axes", 1)
	if a := c.node.attr("axis"); a != nil || strings.HasPrefix(c.node.Op, "Arg") {
		axes = []int64{c.node.int("axis", 0)}
	}
	if len(axes) == 0 && c.node.int("noop_with_empty_axes", 0) != 0 {
		sameShape(c, x)
		return
	}
	gone := marked(axes, len(x.dims))
	out, keep := []int64{}, c.node.int("keepdims", 1) != 0
	for i, d := range x.dims {
		switch {
		case !gone[i] && len(axes) > 0:
			out = append(out, d)
		case keep:
			out = append(out, 1)
		}
	}
	c.set(0, x.dtype, out)
	if strings.HasPrefix(c.node.Op, "Arg") {
		c.outs[0].dtype = onnxInt64
	}
}
