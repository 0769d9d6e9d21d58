package torchexport_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// program builds an exported program.
type program struct {
	tensors         map[string]any
	specs, nodes    []any
	major, lastName int
}

func newProgram() *program { return &program{tensors: map[string]any{}, major: 8} }

// tensor adds a tensor of 32-bit floats with the given dimensions and returns its name.
func (p *program) tensor(name string, grad bool, dims ...int) string {
	sizes := []any{}
	for _, d := range dims {
		sizes = append(sizes, map[string]any{"as_int": d})
	}
	p.tensors[name] = map[string]any{"dtype": 7, "sizes": sizes, "requires_grad": grad}
	return name
}

func (p *program) input(name string, dims ...int) string {
	p.specs = append(p.specs, map[string]any{"user_input": map[string]any{"arg": tensor(p.tensor(name, false,
		dims...))}})
	return name
}

func (p *program) weight(name string, dims ...int) string {
	p.specs = append(p.specs, map[string]any{"parameter": map[string]any{"arg": map[string]any{"name": p.tensor(name,
		true, dims...)}}})
	return name
}

func (p *program) buffer(name string, dims ...int) string {
	p.specs = append(p.specs, map[string]any{"buffer": map[string]any{"arg": map[string]any{"name": p.tensor(name,
		false, dims...)}}})
	return name
}

func tensor(name string) any { return map[string]any{"as_tensor": map[string]any{"name": name}} }

// op adds an operator with one result. Texts among the arguments are names of tensors, and pairs are names with
// values.
func (p *program) op(target string, dims []int, args ...any) string {
	p.lastName++
	out := p.tensor(fmt.Sprintf("t%d", p.lastName), false, dims...)
	p.nodes = append(p.nodes, operator(target, out, args...))
	return out
}

func operator(target, out string, args ...any) map[string]any {
	inputs := []any{}
	for _, a := range args {
		name, arg := "self", any(nil)
		switch a := a.(type) {
		case string:
			arg = tensor(a)
		case [2]any:
			name = a[0].(string)
			arg = a[1]
		case nil:
			arg = map[string]any{"as_none": true}
		}
		inputs = append(inputs, map[string]any{"name": name, "arg": arg, "kind": 1})
	}
	return map[string]any{"target": "torch.ops." + target, "inputs": inputs, "outputs": []any{tensor(out)},
		"metadata": map[string]any{}}
}

func ints(name string, v ...int) [2]any { return [2]any{name, map[string]any{"as_ints": v}} }
func flag(name string, v bool) [2]any   { return [2]any{name, map[string]any{"as_bool": v}} }
func number(name string, v int) [2]any  { return [2]any{name, map[string]any{"as_int": v}} }

func (p *program) bytes(t testing.TB) []byte {
	t.Helper()
	data, err := json.Marshal(map[string]any{"graph_module": map[string]any{
		"graph": map[string]any{"inputs": []any{}, "outputs": []any{}, "nodes": p.nodes,
			"tensor_values": p.tensors},
		"signature": map[string]any{"input_specs": p.specs},
	}, "schema_version": map[string]any{"major": p.major, "minor": 1}})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (p *program) read(t *testing.T) *profiles.Profile {
	t.Helper()
	return formattest.MustDecode(t, "net.pt2", p.bytes(t))
}

// network returns a convolution with a norm, an activation in place, and a linear layer. If whole is set, it has
// the operators that torch.export writes, otherwise those that they are made of.
func network(whole bool) *program {
	p := newProgram()
	x := p.input("x", 4, 3, 8, 8)
	w, g, b := p.weight("w", 16, 3, 3, 3), p.weight("g", 16), p.weight("b", 16)
	fw, fb := p.weight("fw", 10, 1024), p.weight("fb", 10)
	m, v := p.buffer("m", 16), p.buffer("v", 16)
	image := []int{4, 16, 8, 8}
	if whole {
		x = p.op("aten.conv2d.default", image, x, w, nil, ints("stride", 1, 1))
		x = p.op("aten.batch_norm.default", image, x, g, b, m, v, flag("training", true))
		x = p.op("aten.relu_.default", image, x)
		x = p.op("aten.flatten.using_ints", []int{4, 1024}, x)
		p.op("aten.linear.default", []int{4, 10}, x, fw, fb)
		return p
	}
	x = p.op("aten.convolution.default", image, x, w, nil, ints("stride", 1, 1), flag("transposed", false),
		number("groups", 1))
	x = p.op("aten._native_batch_norm_legit_functional.default", image, x, g, b, m, v, flag("training", true))
	x = p.op("aten.relu_.default", image, x)
	x = p.op("aten.view.default", []int{4, 1024}, x)
	turned := p.op("aten.t.default", []int{1024, 10}, fw)
	p.op("aten.addmm.default", []int{4, 10}, fb, x, turned)
	return p
}

// TestForms checks that a network is the same whether its layers are whole operators or spelled out. It keeps
// what PyTorch keeps: the input of the norm with its statistics, the result of the activation, which is also the
// input of the linear layer, and the output.
func TestForms(t *testing.T) {
	whole, parts := network(true).read(t), network(false).read(t)
	if got, want := parts.Totals(), whole.Totals(); got != want {
		t.Errorf("in single operators: %+v, whole layers: %+v; want the same", got, want)
	}
	const image = 4 * 16 * 8 * 8 * 4
	if got, want := whole.Totals().Saved, engine.Bytes(2*image+2*16*4+4*10*4); got != want {
		t.Errorf("it keeps %d bytes; want %d", got, want)
	}
	weights := engine.Bytes(4 * (16*3*3*3 + 2*16 + 10*1024 + 10))
	if r := whole.Chain.Resident; r.Weights != weights || r.Grads != weights || r.Pinned != 2*16*4 {
		t.Errorf("resident are %+v; want %d of weights and of gradients, and 128 of buffers", r, weights)
	}
}

// TestInPlace checks that an activation in place overwrites its input. If its backward needs the overwritten
// values, autograd keeps a copy.
func TestInPlace(t *testing.T) {
	const size = 64 * 64 * 4
	for _, c := range []struct {
		name, op string
		want     engine.Bytes
	}{
		{"apart", "aten.relu.default", 3 * size}, // the norm's input, its activated result, the last product
		{"in place", "aten.relu_.default", 3 * size},
		{"of the input", "aten.silu.default", 4 * size},
		{"of the input, in place", "aten.silu_.default", 4 * size},
	} {
		p := newProgram()
		x, w, v := p.input("x", 64, 64), p.weight("w", 64, 64), p.weight("v", 64, 64)
		x = p.op("aten.linear.default", []int{64, 64}, x, w)
		x = p.op("aten.layer_norm.default", []int{64, 64}, x, ints("normalized_shape", 64))
		x = p.op(c.op, []int{64, 64}, x)
		p.op("aten.linear.default", []int{64, 64}, x, v)
		if got := p.read(t).Totals().Saved - 2*64*4; got != c.want {
			t.Errorf("%s: %d bytes are kept; want %d", c.name, got, c.want)
		}
	}
}

// TestAttention checks that fused attention keeps its three inputs, its result, and a number for each row.
func TestAttention(t *testing.T) {
	p := newProgram()
	x, w := p.input("x", 2, 32, 24), p.weight("w", 72, 24)
	x = p.op("aten.linear.default", []int{2, 32, 72}, x, w)
	heads := []string{}
	for range 3 {
		part := p.op("aten.slice.Tensor", []int{2, 32, 24}, x)
		part = p.op("aten.view.default", []int{2, 32, 3, 8}, part)
		heads = append(heads, p.op("aten.transpose.int", []int{2, 3, 32, 8}, part))
	}
	p.op("aten.scaled_dot_product_attention.default", []int{2, 3, 32, 8}, heads[0], heads[1], heads[2])
	got := p.read(t)
	if got, want := got.Totals().Saved, engine.Bytes(4*(2*32*72+2*32*24+2*3*32)); got != want {
		t.Errorf("attention keeps %d bytes; want %d", got, want)
	}
}

// TestGraphWithin checks that a nested graph that runs without gradients is inlined, and that its results are
// kept only by operators that need them.
func TestGraphWithin(t *testing.T) {
	p := newProgram()
	x, w, f := p.input("x", 8, 8), p.weight("w", 8, 8), p.buffer("f", 8, 8)
	x = p.op("aten.linear.default", []int{8, 8}, x, w)
	shape := p.tensors[p.tensor("shape", false, 8, 8)]
	inner := map[string]any{"inputs": []any{tensor("x")}, "outputs": []any{tensor("cos")},
		"nodes":         []any{operator("aten.cos.default", "cos", "x")},
		"tensor_values": map[string]any{"x": shape, "cos": shape}}
	within := [2]any{"wrapped_func", map[string]any{"as_graph": map[string]any{"name": "submod_1", "graph": inner}}}
	angle := p.op("higher_order.wrap_with_set_grad_enabled", []int{8, 8}, flag("enable_grad", false), within, f)
	p.op("aten.mul.Tensor", []int{8, 8}, x, angle)
	got := p.read(t)
	if s := got.Totals().Saved; s != 256 { // the result only, since the angle is made without gradients
		t.Errorf("it keeps %d bytes; want 256", s)
	}
	if len(got.Warnings) > 0 && strings.Contains(got.Warnings[0], "not known") {
		t.Errorf("the graph within is taken for an operator: %q", got.Warnings)
	}
}

// TestViewOfInput checks that a layer that keeps a view of the input keeps the input itself.
func TestViewOfInput(t *testing.T) {
	p := newProgram()
	x, w := p.input("x", 8, 4, 4), p.weight("w", 8, 16)
	x = p.op("aten.flatten.using_ints", []int{8, 16}, x)
	p.op("aten.linear.default", []int{8, 8}, x, w)
	if got := p.read(t).Chain; got.Input != 512 || got.Stages[0].Saved != 256 || len(got.Stages) != 2 {
		t.Errorf("input %d, stages %+v; want 512 bytes of input, and a stage that keeps its result", got.Input,
			got.Stages)
	}
}

// TestFrozen checks that frozen weights have no gradient, and that values computed only from them need none.
func TestFrozen(t *testing.T) {
	p := newProgram()
	x, w, v := p.input("x", 8, 8), p.weight("w", 8, 8), p.weight("v", 8, 8)
	p.tensor("w", false, 8, 8)
	x = p.op("aten.linear.default", []int{8, 8}, x, w)
	p.op("aten.linear.default", []int{8, 8}, x, v)
	if r := p.read(t).Chain.Resident; r.Weights != 256 || r.Grads != 256 || r.Pinned != 256 {
		t.Errorf("resident are %+v; want 256 bytes of weights, of gradients, and of what is frozen", r)
	}
}

func TestEvaluation(t *testing.T) {
	p := network(true)
	p.nodes[1].(map[string]any)["inputs"].([]any)[5].(map[string]any)["arg"] = map[string]any{"as_bool": false}
	if w := p.read(t).Warnings; len(w) == 0 || !strings.Contains(strings.Join(w, " "), "evaluation mode") {
		t.Errorf("warnings %q; want to hear of the evaluation mode", w)
	}
}

func TestRejected(t *testing.T) {
	symbolic := network(true)
	symbolic.tensors["x"] = map[string]any{"dtype": 7,
		"sizes": []any{map[string]any{"as_expr": map[string]any{"expr_str": "Symbol('s77')"}}}}
	newer := network(true)
	newer.major = 9
	shapeless := network(true)
	delete(shapeless.tensors, "fw")
	lost := network(true)
	delete(lost.tensors, "t3")
	wrong := network(true)
	wrong.tensors["x"] = 5
	sample, err := os.ReadFile("testdata/conv.pt2")
	if err != nil {
		t.Fatal(err)
	}
	archive := func(name string, method uint16) string {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, file := range []string{"net/data/weights/weight_0", name} {
			w, err := z.CreateHeader(&zip.FileHeader{Name: file, Method: method})
			if err == nil {
				_, err = w.Write([]byte(strings.Repeat("{}", 50)))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, r := range []struct{ name, input, want string }{
		{"a symbolic size", string(symbolic.bytes(t)),
			"tensor_values.x: a size is not a number but Symbol('s77'). Sizes of one training step are expected."},
		{"a newer schema", string(newer.bytes(t)),
			"schema_version.major: The program has version 9 of its schema. " +
				"Versions 5 to 8 are read, as PyTorch writes them from 2.4 on."},
		{"a weight without a shape", string(shapeless.bytes(t)),
			`graph_module.signature.input_specs[4]: the tensor "fw" has no shape. ` +
				"Every input of the graph is in tensor_values."},
		{"a result without a shape", string(lost.bytes(t)),
			`Node 3, Relu (t3): the file states no shape of its result "t3". ` +
				"Shapes of every operator follow from those before it."},
		{"a number for a shape", string(wrong.bytes(t)),
			"graph_module.graph.tensor_values.x: this is something else: json: cannot unmarshal number into Go value of type torchexport.meta. " +
				"What PyTorch's schema of exported programs has there is expected."},
		{"no graph", `{"graph_module":{}, "schema_version":{"major":8}}`,
			"The program has no graph or no signature. A program of torch.export is expected."},
		{"a cut archive", string(sample[:len(sample)-40]),
			"The archive has no list of its files, or a wrong one. A complete .pt2 archive is expected."},
		{"a compiled program alone", archive("net/data/aotinductor/model.so", zip.Store),
			"The archive has no exported program. models/model.json is expected in it."},
		{"compressed", archive("net/models/model.json", zip.Deflate),
			"The file net/models/model.json of the archive is compressed. PyTorch stores it as it is."},
	} {
		_, err := profiles.Decode("some file.csv", profiles.Bytes(r.input), nil)
		if err == nil || err.Error() != r.want {
			t.Errorf("%s\ngot  %v\nwant %s", r.name, err, r.want)
		}
		formattest.CheckProblems(t, err)
	}
}
