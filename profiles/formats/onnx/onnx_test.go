package onnx

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest/golden"
	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// convNet returns a small residual network as exporters write it: the batch has a name, and the flattening is
// spelled out in operations on shapes.
func convNet() *file {
	f := &file{}
	f.input("image", onnxFloat, "N", 3, 32, 32)
	conv := func(in, out string, from, to, size, stride int64) {
		f.weight(out+".w", to, from, size, size)
		for _, s := range []string{"scale", "shift", "mean", "var"} {
			f.weight(out+"."+s, to)
		}
		f.node("Conv", []string{in, out + ".w"}, []string{out + ".conv"}, attrInts("kernel_shape", size, size),
			attrInts("strides", stride, stride), attrInts("pads", size/2, size/2, size/2, size/2))
		f.node("BatchNormalization", []string{out + ".conv", out + ".scale", out + ".shift", out + ".mean",
			out + ".var"}, []string{out})
	}
	conv("image", "stem", 3, 16, 3, 1)
	f.node("Relu", []string{"stem"}, []string{"stem.relu"})
	f.node("MaxPool", []string{"stem.relu"}, []string{"pool"}, attrInts("kernel_shape", 2, 2),
		attrInts("strides", 2, 2))
	conv("pool", "a", 16, 32, 3, 2)
	f.node("Relu", []string{"a"}, []string{"a.relu"})
	conv("a.relu", "b", 32, 32, 3, 1)
	conv("pool", "short", 16, 32, 1, 2)
	f.node("Add", []string{"b", "short"}, []string{"sum"})
	f.node("Relu", []string{"sum"}, []string{"sum.relu"})
	f.node("GlobalAveragePool", []string{"sum.relu"}, []string{"mean"})
	f.node("Shape", []string{"mean"}, []string{"shape"})
	f.scalar("zero", 0)
	f.integers("minus", -1)
	f.node("Gather", []string{"shape", "zero"}, []string{"n"})
	f.node("Unsqueeze", []string{"n"}, []string{"n1"}, attrInts("axes", 0))
	f.node("Concat", []string{"n1", "minus"}, []string{"flat.shape"}, attrInt("axis", 0))
	f.node("Reshape", []string{"mean", "flat.shape"}, []string{"flat"})
	f.node("Dropout", []string{"flat"}, []string{"drop"})
	f.weight("fc.w", 10, 32)
	f.weight("fc.b", 10)
	f.node("Gemm", []string{"drop", "fc.w", "fc.b"}, []string{"logits"}, attrInt("transB", 1))
	f.output("logits")
	return f
}

// attentionNet returns a transformer layer of width 8 with 2 heads, after an embedding, on 4 tokens with batch 2.
func attentionNet() *file {
	f := &file{}
	f.input("ids", onnxInt64, 2, 4)
	f.weight("table", 100, 8)
	f.node("Gather", []string{"table", "ids"}, []string{"x"})
	f.weight("ln.w", 8)
	f.weight("ln.b", 8)
	f.node("LayerNormalization", []string{"x", "ln.w", "ln.b"}, []string{"normed"}, attrInt("axis", -1))
	f.weight("qkv", 8, 24)
	f.node("MatMul", []string{"normed", "qkv"}, []string{"all"})
	f.node("Split", []string{"all"}, []string{"q", "k", "v"}, attrInt("axis", 2))
	f.integers("heads", 0, 0, 2, 4)
	for _, s := range []string{"q", "k", "v"} {
		f.node("Reshape", []string{s, "heads"}, []string{s + ".split"})
		f.node("Transpose", []string{s + ".split"}, []string{s + ".t"}, attrInts("perm", 0, 2, 1, 3))
	}
	f.node("Transpose", []string{"k.t"}, []string{"k.tt"}, attrInts("perm", 0, 1, 3, 2))
	f.node("MatMul", []string{"q.t", "k.tt"}, []string{"scores"})
	f.node("Constant", nil, []string{"root"},
		attrTensor("value", message{}.number(2, onnxFloat).part(9, []byte{0, 0, 0, 64})))
	f.node("Div", []string{"scores", "root"}, []string{"scaled"})
	f.node("Softmax", []string{"scaled"}, []string{"weights"}, attrInt("axis", -1))
	f.node("MatMul", []string{"weights", "v.t"}, []string{"mixed"})
	f.node("Transpose", []string{"mixed"}, []string{"mixed.t"}, attrInts("perm", 0, 2, 1, 3))
	f.integers("joined", 0, 0, -1)
	f.node("Reshape", []string{"mixed.t", "joined"}, []string{"heads.joined"})
	f.weight("out.w", 8, 8)
	f.weight("out.b", 8)
	f.node("MatMul", []string{"heads.joined", "out.w"}, []string{"out"})
	f.node("Add", []string{"out", "out.b"}, []string{"biased"})
	f.node("Add", []string{"x", "biased"}, []string{"y"})
	f.node("Gelu", []string{"y"}, []string{"z"})
	f.output("z")
	return f
}

// TestOnnxSamples checks that the samples are what these tests write. Run go test -update after a change here.
func TestOnnxSamples(t *testing.T) {
	for name, data := range map[string][]byte{"testdata/convnet.onnx": convNet().bytes(11),
		"testdata/block.onnx":   attentionNet().bytes(20),
		"testdata/spelled.onnx": spelledNet(true).bytes(14), "testdata/gated.onnx": gatedNet().bytes(14)} {
		golden.File(t, name, data)
	}
}

func TestTooManyStages(t *testing.T) {
	for _, n := range []int{engine.MaxStages - 1, engine.MaxStages} {
		f := &file{}
		f.input("x0", onnxFloat, 1, 16384)
		for i := range n {
			f.node("Sigmoid", []string{fmt.Sprintf("x%d", i)}, []string{fmt.Sprintf("x%d", i+1)})
		}
		f.weight("w", 2, 16384)
		p, err := profiles.Decode("x", profiles.Bytes(f.bytes(13)), nil)
		if n == engine.MaxStages {
			if err == nil || !strings.Contains(err.Error(), "more than ") {
				t.Errorf("%d stages: %v, want to be refused", n, err)
			}
		} else if err != nil || p.Totals().Stages != n {
			t.Errorf("%d stages: %v, want to be read", n, err)
		}
	}
}

// TestOnnxConvNet checks what is kept, counted by hand with 4 bytes for each number.
func TestOnnxConvNet(t *testing.T) {
	p := formattest.MustDecode(t, "convnet.onnx", convNet().bytes(11))
	const image = 4 * 16 * 32 * 32
	want := []engine.Bytes{
		image,                // stem, for the normalisation
		image + 2*16*4,       // normalised in place of the activation, and statistics
		image/4 + 8*16*16*16, // pool and its indices
		// The block keeps the results of three convolutions, the activation of the first, and its own result. The
		// sum overwrites the second normalisation.
		5*4*32*8*8 + 3*2*32*4,
		0,         // no operator saves the mean; dropout keeps a mask
		4*32 + 32, // dropout and its mask
		4 * 10,
	}
	var got []engine.Bytes
	for _, s := range p.Chain.Stages[:p.Chain.Len()-1] {
		got = append(got, s.Saved)
	}
	if !slices.Equal(got, want) {
		t.Errorf("saved sets %d, want %d", got, want)
	}
	params := engine.Bytes(16*3*9 + 2*16 + 32*16*9 + 2*32 + 32*32*9 + 2*32 + 32*16 + 2*32 + 320 + 10)
	if r := p.Chain.Resident; r.Weights != 4*params || r.Grads != r.Weights || r.Pinned != 4*2*(16+3*32) {
		t.Errorf("resident %+v; want %d parameters and averages of 112 channels", r, params)
	}
	if p.Batch != 1 || len(p.Warnings) == 0 || !strings.Contains(p.Warnings[0], `dimension "N" of the input "image"`) {
		t.Errorf("batch %d, warnings %q; want 1 and a warning that names N", p.Batch, p.Warnings)
	}
}

// TestOnnxTransformer checks what a layer keeps, counted by hand.
func TestOnnxTransformer(t *testing.T) {
	p := formattest.MustDecode(t, "block.onnx", attentionNet().bytes(20))
	const sbh, pairs = 4 * 2 * 4 * 8, 4 * 2 * 2 * 4 * 4
	total := p.Totals()
	// The embedded x; the normalised x and its statistics; queries, keys and values as one product; the softmax;
	// the joined heads; the sum that Gelu reads; and its result.
	want := engine.Bytes(sbh + sbh + 2*8*4 + 3*sbh + pairs + sbh + sbh + sbh)
	if total.Saved != want {
		t.Errorf("%d bytes kept, want %d\n%s", total.Saved, want, formattest.Text(p))
	}
	if want := engine.Bytes(4 * (800 + 16 + 8*24 + 64 + 8)); total.Resident.Weights != want {
		t.Errorf("%d bytes of weights, want %d", total.Resident.Weights, want)
	}
	if p.Source.Sizes != profiles.Analytic || p.Batch != 2 {
		t.Errorf("sizes are %s, batch %d; want analytic and 2", p.Source.Sizes, p.Batch)
	}
}

// TestOnnxShapes checks shape rules one by one, by the size of the last result.
func TestOnnxShapes(t *testing.T) {
	for _, c := range []struct {
		name  string
		in    []int
		build func(f *file)
		want  engine.Bytes // numbers
	}{
		{"a convolution with stride, padding and dilation", []int{2, 4, 20, 20}, func(f *file) {
			f.weight("w", 6, 2, 3, 3)
			f.node("Conv", []string{"x", "w"}, []string{"y"}, attrInt("group", 2), attrInts("strides", 2, 2),
				attrInts("dilations", 2, 2), attrInts("pads", 1, 1, 1, 1))
		}, 2 * 6 * 9 * 9},
		{"a convolution padded to the same size", []int{1, 3, 15, 15}, func(f *file) {
			f.weight("w", 8, 3, 5, 5)
			f.node("Conv", []string{"x", "w"}, []string{"y"}, attrText("auto_pad", "SAME_UPPER"),
				attrInts("strides", 2, 2))
		}, 8 * 8 * 8},
		{"a transposed convolution", []int{1, 8, 7, 7}, func(f *file) {
			f.weight("w", 8, 4, 4, 4)
			f.node("ConvTranspose", []string{"x", "w"}, []string{"y"}, attrInts("strides", 2, 2),
				attrInts("pads", 1, 1, 1, 1))
		}, 4 * 14 * 14},
		{"a pool that rounds up", []int{1, 2, 13, 13}, func(f *file) {
			f.node("MaxPool", []string{"x"}, []string{"y"}, attrInts("kernel_shape", 3, 3), attrInts("strides", 2, 2),
				attrInt("ceil_mode", 1))
		}, 2 * 6 * 6},
		{"a mean of two dimensions", []int{2, 3, 4, 5}, func(f *file) {
			f.node("ReduceMean", []string{"x"}, []string{"y"}, attrInts("axes", -1, -2), attrInt("keepdims", 0))
		}, 6},
		{"a slice backwards", []int{2, 10}, func(f *file) {
			for name, v := range map[string]int64{"s": -1, "e": -1 << 63, "a": 1, "t": -3} {
				f.integers(name, v)
			}
			f.node("Slice", []string{"x", "s", "e", "a", "t"}, []string{"y"})
		}, 2 * 4},
		{"a pad", []int{1, 2, 3, 4}, func(f *file) {
			f.integers("p", 0, 0, 1, 1, 0, 0, 2, 0)
			f.node("Pad", []string{"x", "p"}, []string{"y"})
		}, 2 * 6 * 5},
		{"a resize by factors", []int{1, 2, 3, 4}, func(f *file) {
			f.factors("f", 1, 1, 2, 2.5)
			f.node("Resize", []string{"x", "", "f"}, []string{"y"})
		}, 2 * 6 * 10},
		{"a product of many matrices", []int{2, 1, 3, 4}, func(f *file) {
			f.weight("w", 5, 4, 7)
			f.node("MatMul", []string{"x", "w"}, []string{"y"})
		}, 2 * 5 * 3 * 7},
		{"a concatenation", []int{2, 3}, func(f *file) {
			f.node("Concat", []string{"x", "x"}, []string{"y"}, attrInt("axis", -1))
		}, 12},
		{"a broadcast sum", []int{4, 1}, func(f *file) {
			f.weight("w", 5)
			f.node("Add", []string{"x", "w"}, []string{"y"})
		}, 20},
		{"depth to space", []int{1, 8, 3, 3}, func(f *file) {
			f.node("DepthToSpace", []string{"x"}, []string{"y"}, attrInt("blocksize", 2))
		}, 72},
		{"an expansion by a computed shape takes nothing", []int{3, 1}, func(f *file) {
			f.node("Shape", []string{"x"}, []string{"s"})
			f.integers("k", 1, 4)
			f.node("Mul", []string{"s", "k"}, []string{"t"})
			f.node("Expand", []string{"x", "t"}, []string{"e"})
			f.weight("w", 3, 4)
			f.node("Mul", []string{"e", "w"}, []string{"y"})
		}, 12},
	} {
		f := &file{}
		var dims []any
		for _, d := range c.in {
			dims = append(dims, d)
		}
		f.input("x", onnxFloat, dims...)
		c.build(f)
		f.node("Neg", []string{"y"}, []string{"z"}) // y may be a view
		f.output("z")
		p := formattest.MustDecode(t, c.name, f.bytes(13))
		if got := p.Chain.Stages[p.Chain.Len()-2].Out; got != 4*c.want {
			t.Errorf("%s: the result has %d bytes, want %d", c.name, got, 4*c.want)
		}
	}
}

// TestOnnxRefusals checks that errors name the operator and the node, and have a remedy.
func TestOnnxRefusals(t *testing.T) {
	one := func(op string, attrs ...message) []byte {
		f := &file{}
		f.input("x", onnxFloat, 1, 3, 8, 8)
		f.node(op, []string{"x"}, []string{"y"}, attrs...)
		f.output("y")
		return f.bytes(13)
	}
	for _, c := range []struct {
		data []byte
		want string
	}{
		{one("FancyOp"), "Node 1, FancyOp (y/FancyOp): the operator is not known."},
		{one("LSTM"), "Node 1, LSTM (y/LSTM): the operator is not supported: recurrent layers keep sets that depend on the library."},
		{one("Conv"), "Node 1, Conv (y/Conv): inputs are missing or have other shapes than the operator takes."},
		{one("MaxPool", attrInts("kernel_shape", 9, 9)),
			"Node 1, MaxPool (y/MaxPool): a kernel of 9 does not fit 8 positions."},
		{one("Concat", attrInt("axis", 7)), "Node 1, Concat (y/Concat): axis 7 of 4 dimensions does not exist."},
		{message{}.number(1, 8).part(7, message{}.text(2, "g")).part(8, nil), "The model has no graph of operators."},
		{message{}.number(1, 8).part(7, message{}.part(1, message{}.text(1, "a"))).part(8, nil),
			"Node 1: it has no operator or no result."},
		{message{}.number(1, 8).part(7, message{}.part(1,
			message{}.text(2, "a").text(4, "Constant").part(5, attrInt("value_int", 1)))).part(8, nil),
			"No operator of the model depends on an input."},
		{one("Relu")[:40], "Reading the model fails: it ends early."},
	} {
		_, err := profiles.Decode("x.onnx", profiles.Bytes(c.data), nil)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("Decode(%q) = %v, want %s", c.data, err, c.want)
		}
		formattest.CheckProblems(t, err)
	}
}

// TestOnnxUnknownOperator checks that an unknown operator is accepted with a warning if the file states its shapes.
func TestOnnxUnknownOperator(t *testing.T) {
	f := &file{}
	f.input("x", onnxFloat, 2, 8)
	f.weight("w", 8, 8)
	f.node("MatMul", []string{"x", "w"}, []string{"a"})
	f.node("FancyOp", []string{"a"}, []string{"b"})
	f.node("Relu", []string{"b"}, []string{"c"})
	f.known = f.known.part(13, typed("b", onnxFloat, 2, 8))
	f.output("c")
	p := formattest.MustDecode(t, "fancy", f.bytes(13))
	if len(p.Warnings) == 0 || !strings.Contains(p.Warnings[0], "FancyOp is not known") ||
		p.Source.Sizes != profiles.Analytic {
		t.Errorf("warnings %q, sizes %s; want one about FancyOp, and analytic", p.Warnings, p.Source.Sizes)
	}
	if got := p.Totals().Saved; got != 3*4*16 {
		t.Errorf("%d bytes kept, want the input, the result and the activation of 64 each", got)
	}
}

// TestOnnxHalf checks that weights of 16 bits make a profile of 16 bits.
func TestOnnxHalf(t *testing.T) {
	for dtype, want := range map[int64]string{onnxFloat16: "f16", onnxBfloat16: "bf16"} {
		f := &file{}
		f.input("x", dtype, 2, 64)
		f.weights = f.weights.part(5, tensorOf("w", dtype, 64, 64))
		f.node("MatMul", []string{"x", "w"}, []string{"y"})
		f.output("y")
		p := formattest.MustDecode(t, want, f.bytes(13))
		if got := p.Totals(); p.DType != want || p.Source.Times != profiles.Estimated ||
			got.Resident.Weights != 2*64*64 || got.Out != 2*2*64 {
			t.Errorf("%s, times %s, %+v; want %s, estimated, 8192 bytes of weights, 256 out", p.DType, p.Source.Times,
				got, want)
		}
	}
}

// TestWireNumbers checks that numbers of up to ten bytes are read and that longer ones are refused.
func TestWireNumbers(t *testing.T) {
	next := func(data []byte) (wireField, error) {
		w := newWire(bytes.NewReader(data), len(data), nil)
		return profiles.Try(func() wireField {
			f := w.next(int64(len(data)))
			w.skip(int64(f.size()))
			return f
		})
	}
	if f, err := next(message{}.number(1, -1)); err != nil || f.number != 1 || int64(f.value) != -1 {
		t.Errorf("next() = %+v (%v), want -1", f, err)
	}
	for data, want := range map[string]error{
		"\x08": errWireEnds, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01": errWireVarint,
		"\x0a\x05ab": errWireEnds, "\x0b": errWireKind, "\x00\x00": errWireNumber,
		"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01": errWireEnds,
	} {
		if f, err := next([]byte(data)); err == nil || !strings.Contains(err.Error(), want.Error()) {
			t.Errorf("next() of %q = %+v, error %v; want %v", data, f, err, want)
		}
	}
}

// productNet returns a network that multiplies 4 x 64 numbers by a matrix. The caller adds what follows.
func productNet() *file {
	f := &file{}
	f.input("x", onnxFloat, 4, 64)
	for _, name := range []string{"w", "b"} {
		f.weight(name, 64)
	}
	for _, name := range []string{"two", "eps", "root2", "one", "half"} {
		f.factors(name, 1)
	}
	f.weight("m", 64, 64)
	f.node("MatMul", []string{"x", "m"}, []string{"y"})
	return f
}

// spelledNet returns a network whose normalisation and GELU are spelled out in elementary operators. halfFirst
// selects the order of the products in the GELU.
func spelledNet(halfFirst bool) *file {
	f := productNet()
	f.node("ReduceMean", []string{"y"}, []string{"mean"}, attrInts("axes", -1))
	f.node("Sub", []string{"y", "mean"}, []string{"d"})
	f.node("Pow", []string{"d", "two"}, []string{"d2"})
	f.node("ReduceMean", []string{"d2"}, []string{"var"}, attrInts("axes", -1))
	f.node("Add", []string{"var", "eps"}, []string{"var.eps"})
	f.node("Sqrt", []string{"var.eps"}, []string{"root"})
	f.node("Div", []string{"d", "root"}, []string{"q"})
	f.node("Mul", []string{"q", "w"}, []string{"qw"})
	f.node("Add", []string{"qw", "b"}, []string{"n"})
	f.node("Div", []string{"n", "root2"}, []string{"n2"})
	f.node("Erf", []string{"n2"}, []string{"e"})
	f.node("Add", []string{"e", "one"}, []string{"e1"})
	if halfFirst {
		f.node("Mul", []string{"n", "half"}, []string{"h"})
		f.node("Mul", []string{"h", "e1"}, []string{"z"})
	} else {
		f.node("Mul", []string{"n", "e1"}, []string{"h"})
		f.node("Mul", []string{"h", "half"}, []string{"z"})
	}
	f.output("z")
	return f
}

// gatedNet returns a network whose normalisation and activation, those of gated networks, are spelled out in
// elementary operators.
func gatedNet() *file {
	f := productNet()
	f.node("Pow", []string{"y", "two"}, []string{"y2"})
	f.node("ReduceMean", []string{"y2"}, []string{"mean"}, attrInts("axes", -1))
	f.node("Add", []string{"mean", "eps"}, []string{"mean.eps"})
	f.node("Sqrt", []string{"mean.eps"}, []string{"root"})
	f.node("Div", []string{"one", "root"}, []string{"inverse"})
	f.node("Mul", []string{"y", "inverse"}, []string{"q"})
	f.node("Mul", []string{"w", "q"}, []string{"n"})
	f.node("Sigmoid", []string{"n"}, []string{"s"})
	f.node("Mul", []string{"n", "s"}, []string{"z"})
	f.output("z")
	return f
}

// TestOnnxSpelledOut checks that what exporters spell out in elementary operators is read as the one operator
// that the program ran, for both orders of the GELU.
func TestOnnxSpelledOut(t *testing.T) {
	whole := func(norm, act string, in ...string) profiles.Totals {
		f := productNet()
		f.node(norm, in, []string{"n"})
		f.node(act, []string{"n"}, []string{"z"})
		return formattest.MustDecode(t, "whole", f.bytes(24)).Totals()
	}
	layer, gated := whole("LayerNormalization", "Gelu", "y", "w", "b"), whole("RMSNormalization", "Swish", "y", "w")
	for _, c := range []struct {
		name string
		net  *file
		want profiles.Totals
	}{{"half last", spelledNet(false), layer}, {"half first", spelledNet(true), layer}, {"gated", gatedNet(), gated}} {
		if got := formattest.MustDecode(t, c.name, c.net.bytes(14)).Totals(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestOnnxWithoutWeights checks that weights that the file declares as inputs are read as weights, and that a
// padded mean pool keeps no padded copy.
func TestOnnxWithoutWeights(t *testing.T) {
	f := &file{}
	f.input("x", onnxFloat, 2, 3, 8, 8)
	f.input("w", onnxFloat, 4, 3, 3, 3)
	f.input("b", onnxFloat, 4)
	f.node("Conv", []string{"x", "w", "b"}, []string{"y"})
	f.integers("pads", 0, 0, 1, 1, 0, 0, 1, 1)
	f.node("Pad", []string{"y", "pads"}, []string{"wide"})
	f.node("AveragePool", []string{"wide"}, []string{"z"}, attrInts("kernel_shape", 3, 3))
	f.output("z")
	p := formattest.MustDecode(t, "x", f.bytes(13))
	got := p.Totals()
	if want := engine.Bytes(4 * (4*27 + 4)); got.Resident.Weights != want || got.Input != 4*2*3*64 {
		t.Errorf("weights %d and input %d, want %d and %d", got.Resident.Weights, got.Input, want, 4*2*3*64)
	}
	if want := engine.Bytes(4 * (2*4*36 + 2*4*36)); got.Saved != want || p.Chain.Len() != 3 {
		t.Errorf("%d bytes kept in %d stages, want %d in 2 and the loss", got.Saved, p.Chain.Len(), want)
	}
}
