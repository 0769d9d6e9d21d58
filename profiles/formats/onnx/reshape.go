package onnx

import (
	"slices"

	"memtide/profiles"
	"memtide/profiles/parse"
)

// Shapes of operators that move numbers without computing.

// reshapeShape: a size of 0 keeps a dimension, and -1 is inferred.
func reshapeShape(c *call, x *onnxValue) {
	want := c.list("shape", 1)
	out := slices.Clone(want)
	rest := -1
	for i, d := range out {
		switch {
		case d == 0 && c.node.int("allowzero", 0) == 0:
			if i >= len(x.dims) {
				wrongShape("shape %s keeps a dimension that %s does not have", shapeText(want), shapeText(x.dims))
			}
			out[i] = x.dims[i]
		case d == -1 && rest < 0:
			rest, out[i] = i, 1
		case d < 0:
			wrongShape("shape %s is not valid", shapeText(want))
		}
	}
	known, ok := parse.Elements(out)
	count := elementCount(x.dims)
	if rest >= 0 && ok && known > 0 {
		out[rest] = count / known
	}
	if n, ok := parse.Elements(out); !ok || n != count {
		wrongShape("%s does not hold the %d numbers of %s", shapeText(want), count, shapeText(x.dims))
	}
	c.set(0, x.dtype, out)
}

func flattenShape(c *call, x *onnxValue) {
	at := c.node.int("axis", 1)
	if at < 0 {
		at += int64(len(x.dims))
	}
	if at < 0 || at > int64(len(x.dims)) {
		wrongShape("axis %d of %d dimensions does not exist", at, len(x.dims))
	}
	c.set(0, x.dtype, []int64{elementCount(x.dims[:at]), elementCount(x.dims[at:])})
}

func transposeShape(c *call, x *onnxValue) {
	perm := c.node.ints("perm")
	if perm == nil {
		for i := range x.dims {
			perm = append(perm, int64(len(x.dims)-1-i))
		}
	}
	out := make([]int64, len(x.dims))
	seen := make([]bool, len(x.dims))
	for i, p := range perm {
		at := axis(p, len(x.dims))
		if i >= len(out) || seen[at] {
			wrongShape("perm is %s for %d dimensions", shapeText(perm), len(x.dims))
		}
		out[i], seen[at] = x.dims[at], true
	}
	if len(perm) != len(out) {
		wrongShape("perm is %s for %d dimensions", shapeText(perm), len(x.dims))
	}
	c.set(0, x.dtype, out)
}

func squeezeShape(c *call, x *onnxValue) {
	axes := c.list("axes", 1)
	gone := marked(axes, len(x.dims))
	out := []int64{}
	for i, d := range x.dims {
		if !gone[i] && (len(axes) > 0 || d != 1) {
			out = append(out, d)
		}
	}
	c.set(0, x.dtype, out)
}

func unsqueezeShape(c *call, x *onnxValue) {
	axes := c.list("axes", 1)
	rank := len(x.dims) + len(axes)
	if rank > onnxMostDims {
		wrongShape("%d dimensions are more than %d", rank, onnxMostDims)
	}
	out, rest := []int64{}, x.dims
	for _, one := range marked(axes, rank) {
		if one || len(rest) == 0 {
			out = append(out, 1)
			continue
		}
		out, rest = append(out, rest[0]), rest[1:]
	}
	c.set(0, x.dtype, out)
}

func concatShape(c *call, x *onnxValue) {
	at := c.axis("axis", 1, len(x.dims))
	out := slices.Clone(x.dims)
	for i := 1; i < len(c.ins); i++ {
		v := c.need(i)
		same := len(v.dims) == len(out)
		for j := range v.dims {
			same = same && (j == at || v.dims[j] == out[j])
		}
		if !same {
			wrongShape("shapes %s and %s do not go together along dimension %d", shapeText(x.dims),
				shapeText(v.dims), at)
		}
		out[at] += v.dims[at]
	}
	c.set(0, x.dtype, out)
}

// splitShape has an output for each part.
func splitShape(c *call, x *onnxValue) {
	parts := c.list("split", 1)
	at := c.axis("axis", 0, len(x.dims))
	n := int64(len(c.outs))
	if len(parts) == 0 {
		each := (x.dims[at] + n - 1) / n
		for left := x.dims[at]; int64(len(parts)) < n; left -= each {
			parts = append(parts, max(0, min(each, left)))
		}
	}
	if int64(len(parts)) != n {
		wrongShape("%d sizes for %d outputs", len(parts), n)
	}
	for i := range c.outs {
		out := slices.Clone(x.dims)
		out[at] = parts[i]
		c.set(i, x.dtype, out)
	}
}

// sliceShape: the bounds are attributes until operator set 9, and inputs afterwards.
func sliceShape(c *call, x *onnxValue) {
	var bounds [4][]int64
	for i, name := range [4]string{"starts", "ends", "axes", "steps"} {
		bounds[i] = c.list(name, i+1)
	}
	starts, ends, axes, steps := bounds[0], bounds[1], bounds[2], bounds[3]
	if len(starts) != len(ends) || axes != nil && len(axes) != len(starts) || steps != nil &&
		len(steps) != len(starts) {
		wrongShape("%d starts and %d ends", len(starts), len(ends))
	}
	out := slices.Clone(x.dims)
	for i := range starts {
		at, step := i, int64(1)
		if axes != nil {
			at = axis(axes[i], len(out))
		}
		if steps != nil {
			step = steps[i]
		}
		if at >= len(out) || step == 0 {
			wrongShape("there is no dimension %d, or the step is 0", at)
		}
		_, out[at] = sliceSpan(starts[i], ends[i], step, x.dims[at])
	}
	c.set(0, x.dtype, out)
}

// sliceSpan returns the first index of a slice of a dimension, and the length of the slice.
func sliceSpan(start, end, step, size int64) (first, n int64) {
	low, high := int64(0), size
	if step < 0 {
		low, high = -1, size-1
	}
	bound := func(v int64) int64 {
		if v < 0 {
			v = max(v, -size-1) + size // an end before the first element may be the smallest integer
		}
		return min(max(v, low), high)
	}
	first, last := bound(start), bound(end)
	if step > 0 {
		return first, max(0, (last-first+min(step, size+1)-1)/min(step, size+1))
	}
	step = max(step, -size-1)
	return first, max(0, (first-last-step-1)/-step)
}

// gatherShape replaces a dimension by the shape of the indices.
func gatherShape(c *call, x *onnxValue) {
	indices, at := c.need(1), c.axis("axis", 0, len(x.dims))
	c.set(0, x.dtype, slices.Concat(x.dims[:at], indices.dims, x.dims[at+1:]))
}

// secondShape is the shape of the second input, with the type of the first.
func secondShape(c *call, x *onnxValue) {
	c.set(0, x.dtype, c.need(1).dims)
}

func padShape(c *call, x *onnxValue) {
	pads := c.list("pads", 1)
	if c.in(3) != nil { // axes
		profiles.End(errOnnxDynamic)
	}
	if len(pads) != 2*len(x.dims) {
		wrongShape("%d pads for %d dimensions", len(pads), len(x.dims))
	}
	out := slices.Clone(x.dims)
	for i := range out {
		if pads[i] > parse.MaxNumber || pads[i+len(out)] > parse.MaxNumber {
			wrongShape("pads are %s", shapeText(pads))
		}
		out[i] += pads[i] + pads[i+len(out)]
	}
	c.set(0, x.dtype, out)
}

// expandShape broadcasts the input to a shape.
func expandShape(c *call, x *onnxValue) {
	want := c.list("shape", 1)
	out, ok := broadcast(x.dims, want)
	if !ok {
		wrongShape("shape %s does not become %s", shapeText(x.dims), shapeText(want))
	}
	c.set(0, x.dtype, out)
}

func tileShape(c *call, x *onnxValue) {
	times := c.list("repeats", 1)
	if len(times) != len(x.dims) {
		wrongShape("%d repeats for %d dimensions", len(times), len(x.dims))
	}
	out := slices.Clone(x.dims)
	for i := range out {
		if times[i] < 0 || times[i] > 0 && out[i] > parse.MaxNumber/times[i] {
			wrongShape("repeats are %s", shapeText(times))
		}
		out[i] *= times[i]
	}
	c.set(0, x.dtype, out)
}

// resizeShape reads sizes or factors of the dimensions.
func resizeShape(c *call, x *onnxValue) {
	if sizes := c.in(3); sizes != nil {
		if len(sizes.vals) != len(x.dims) {
			profiles.End(errOnnxDynamic)
		}
		c.set(0, x.dtype, sizes.vals)
		return
	}
	scales := c.scales()
	if len(scales) != len(x.dims) {
		profiles.End(errOnnxDynamic)
	}
	out := make([]int64, len(x.dims))
	for i, d := range x.dims {
		n := float64(d) * float64(scales[i])
		if !(n >= 0 && n < parse.MaxNumber) {
			wrongShape("a factor of %g", scales[i])
		}
		out[i] = int64(n)
	}
	c.set(0, x.dtype, out)
}

// scales returns the factors: an attribute until operator set 8, and the second or third input afterwards.
func (c *call) scales() []float32 {
	if a := c.node.attr("scales"); a != nil {
		return a.floats
	}
	for _, i := range []int{2, 1} {
		if v := c.in(i); v != nil && len(v.scales) > 0 {
			return v.scales
		}
	}
	return nil
}

// blockShape moves blocks of numbers between channels and positions.
func blockShape(c *call, x *onnxValue) {
	b := c.node.int("blocksize", 0)
	if len(x.dims) != 4 || b < 1 || b > 1<<15 {
		profiles.End(errOnnxInputs)
	}
	n, ch, h, w := x.dims[0], x.dims[1], x.dims[2], x.dims[3]
	out := []int64{n, ch / (b * b), h * b, w * b}
	if c.node.Op == "SpaceToDepth" {
		out = []int64{n, ch * b * b, h / b, w / b}
	}
	c.set(0, x.dtype, out)
}
