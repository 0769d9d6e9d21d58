package torchexport

import (
	"cmp"
	_ "embed" // operators.txt
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/formats/onnx"
	"memtide/profiles/jsonfile"
	"memtide/profiles/parse"
)

// reader converts ATen operators to ONNX operators.
type reader struct {
	poll       *engine.Poll
	errs       *parse.Errors
	t          *onnx.Traced
	shapes     map[string]onnx.Tensor
	evaluation bool // an operator has its behaviour for evaluation, not for training
}

// scope maps the names of tensors in a graph. Inputs of an inner graph are aliases of tensors outside.
type scope struct {
	prefix string
	alias  map[string]string
}

func (s scope) name(name string) string {
	if other, ok := s.alias[name]; ok || name == "" {
		return other
	}
	return s.prefix + name
}

//go:embed operators.txt
var operatorsText string

// operators maps names of ATen operators, without namespace, overload and the mark of working in
// place, to ONNX operators.
var operators = func() map[string]string {
	byName := map[string]string{}
	for line := range strings.Lines(operatorsText) {
		op, names, _ := strings.Cut(line, ": ")
		for name := range strings.FieldsSeq(names) {
			byName[name] = op
		}
	}
	return byName
}()

// graph reads the outer graph: its tensors, its inputs, and its operators.
func (r *reader) graph(g, signature *jsonfile.Object) {
	r.shapes = map[string]onnx.Tensor{}
	trained := map[string]bool{}
	raw, _ := g.Fields["tensor_values"].(json.RawMessage)
	(&jsonfile.Stream{Eof: true}).EachField(raw, func(key, value []byte) {
		profiles.End(r.poll.Err())
		var m meta
		name := string(key)
		r.decode(g.At("tensor_values."+profiles.Clip(name)), value, &m)
		r.tensor(name, &m)
		trained[name] = m.RequiresGrad
	})
	outside := map[string]bool{}
	r.each(signature, "input_specs", func(path string, item []byte) {
		var s inputSpec
		r.decode(path, item, &s)
		var name string
		list := &r.t.Fixed
		switch {
		case s.Parameter != nil:
			if name = s.Parameter.Arg.Name; trained[name] {
				list = &r.t.Weights
			}
		case s.Buffer != nil:
			name = s.Buffer.Arg.Name
		case s.Constant != nil:
			name = s.Constant.Arg.Name
		case s.User != nil && s.User.Arg.Tensor != nil:
			name, list = s.User.Arg.Tensor.Name, &r.t.Inputs
		default:
			return // a number, or nothing
		}
		t, ok := r.shapes[name]
		if !ok {
			r.fail(path, fmt.Sprintf("the tensor %q has no shape", profiles.Clip(name)),
				"Every input of the graph is in tensor_values.")
		}
		outside[name] = true
		*list = append(*list, t)
	})
	top := scope{alias: map[string]string{}}
	r.each(g, "nodes", func(path string, item []byte) {
		var n node
		r.decode(path, item, &n)
		r.node(path, &n, top)
	})
	for name, t := range r.shapes {
		if !outside[name] {
			r.t.Inside = append(r.t.Inside, t)
		}
	}
}

// each calls visit with the raw items of a list.
func (r *reader) each(o *jsonfile.Object, key string, visit func(path string, item []byte)) {
	raw, _ := o.Fields[key].(json.RawMessage)
	if len(raw) == 0 || raw[0] != '[' {
		r.fail(o.At(key), "a list is missing", "A list [ ] is expected.")
	}
	s := &jsonfile.Stream{Eof: true}
	i := 0
	for item, rest := s.NextItem(raw[1:]); item != nil; item, rest = s.NextItem(rest) {
		profiles.End(r.poll.Err())
		visit(fmt.Sprintf("%s[%d]", o.At(key), i), item)
		i++
	}
}

// mostPart is the largest operator that is read, in bytes. An operator can contain a graph.
const mostPart = 1 << 20

// decode decodes one part of the program.
func (r *reader) decode(path string, data []byte, into any) {
	if len(data) > mostPart {
		r.fail(path, fmt.Sprintf("this part is %d bytes long", len(data)),
			fmt.Sprintf("At most %d bytes are read.", mostPart))
	}
	if err := json.Unmarshal(data, into); err != nil {
		r.fail(path, "this is something else: "+err.Error(),
			"What PyTorch's schema of exported programs has there is expected.")
	}
}

func (r *reader) fail(path, found, expected string) {
	r.errs.Fail(&profiles.FormatError{Path: path, Found: found, Expected: expected,
		Remedy: "Export the program again, or measure the network with the collector."})
}

// room charges the budget for a part of the program.
func (r *reader) room(path string, bytes int) {
	e := r.errs.Budget.Memory("the operators of this program", bytes)
	if e == nil && len(r.t.Nodes) > mostNodes {
		e = &profiles.FormatError{Found: fmt.Sprintf("There are more than %d operators", mostNodes),
			Expected: "Larger programs are not read.",
			Remedy:   "Measure the network with the collector."}
	}
	r.errs.Fail(e.At(path))
}

// tensor adds the shape of a tensor. Its sizes have to be numbers.
func (r *reader) tensor(name string, m *meta) {
	path := "tensor_values." + profiles.Clip(name)
	t := onnx.Tensor{Name: name, Type: types[m.DType]}
	r.room(path, 600+2*len(name)+16*len(m.Sizes))
	if t.Type == 0 {
		r.fail(path, fmt.Sprintf("numbers are of type %d", m.DType), "A type of PyTorch's schema is expected.")
	}
	for _, d := range m.Sizes {
		switch {
		case d.Expr != nil:
			r.errs.Fail(&profiles.FormatError{Path: path,
				Found:    fmt.Sprintf("a size is not a number but %s", profiles.Clip(d.Expr.Text)),
				Expected: "Sizes of one training step are expected.",
				Remedy:   "Export without dynamic_shapes, with the batch and the length of a training step."})
		case d.Int == nil:
			r.fail(path, "a size is missing", "Every size is a number.")
		}
		t.Dims = append(t.Dims, *d.Int)
	}
	if _, ok := parse.Elements(t.Dims); !ok || len(t.Dims) > mostDims {
		r.fail(path, fmt.Sprintf("the shape %s makes no sense", profiles.Clip(fmt.Sprint(t.Dims))),
			"Sizes are 0 or more, and not above 2^53 together.")
	}
	r.shapes[name] = t
}

// node adds an operator of the program, unless it makes no tensor.
func (r *reader) node(path string, n *node, s scope) {
	o := onnx.Node{Op: n.Target, Name: stageName(n), Attributes: map[string][]int64{}}
	for i := range n.Outputs {
		for _, name := range n.Outputs[i].tensors() {
			if name != "" {
				o.Out = append(o.Out, s.name(name))
			}
		}
	}
	if len(o.Out) == 0 {
		return
	}
	o.Name = cmp.Or(o.Name, o.Out[0])
	number := false
	for i := range n.Inputs {
		in := &n.Inputs[i]
		switch a := &in.Arg; {
		case a.SymInt != nil || a.SymInts != nil:
			r.errs.Fail(&profiles.FormatError{Path: path, Found: in.Name + " is not a number but symbolic",
				Expected: "Sizes of one training step are expected.",
				Remedy:   "Export without dynamic_shapes, with the batch and the length of a training step."})
		case a.Graph != nil && operators[plain(n.Target)] == "":
			r.inline(path, n, &a.Graph.Graph, i, s)
			return
		case a.Ints != nil:
			o.Attributes[in.Name] = a.Ints
		case a.Int != nil:
			o.Attributes[in.Name], number = []int64{*a.Int}, true
		case a.Bool != nil:
			o.Attributes[in.Name] = []int64{0}
			if *a.Bool {
				o.Attributes[in.Name][0] = 1
			}
		case a.Float != nil:
			number = true
		}
		for _, name := range in.Arg.tensors() {
			o.In = append(o.In, s.name(name))
		}
	}
	r.room(path, 800+40*(len(o.In)+len(o.Out))+len(o.Name))
	r.add(n.Target, o, number)
}

// plain returns the name of an ATen operator without namespace, overload and the mark of working in place.
func plain(target string) string {
	name, ok := strings.CutPrefix(target, "torch.ops.aten.")
	if !ok {
		name, _ = strings.CutPrefix(target, "torch.ops.higher_order.")
	}
	name, _, _ = strings.Cut(name, ".")
	return strings.TrimSuffix(name, "_")
}

// add adds an operator, converted to ONNX. number reports whether one of its arguments is a number.
func (r *reader) add(target string, o onnx.Node, number bool) {
	name := plain(target)
	if op := operators[name]; op != "" {
		o.Op = op
		o.InPlace = strings.Contains(target, name+"_.")
	}
	is := func(key string) bool { return len(o.Attributes[key]) == 1 && o.Attributes[key][0] == 1 }
	off := func(key string) bool { return len(o.Attributes[key]) == 1 && o.Attributes[key][0] == 0 }
	switch o.Op {
	case "Conv":
		o.Attributes["strides"], o.Attributes["group"] = o.Attributes["stride"], o.Attributes["groups"]
		if is("transposed") {
			o.Op = "ConvTranspose"
		}
	case "Gemm", "MatMul":
		if (name == "addmm" || name == "baddbmm") && len(o.In) == 3 { // the summand is the first input
			o.In = []string{o.In[1], o.In[2], o.In[0]}
		}
	case "Where":
		if name == "masked_fill" && len(o.In) > 1 {
			o.In[0], o.In[1] = o.In[1], o.In[0]
		}
	case "Mul", "Div":
		if number && len(o.In) == 1 {
			o.In = append(o.In, "") // a number takes no memory
		}
	case "LayerNormalization", "RMSNormalization":
		o.Attributes["axis"] = []int64{-int64(max(1, len(o.Attributes["normalized_shape"])))}
	case "BatchNormalization":
		r.evaluation = r.evaluation || off("training") || name == "_native_batch_norm_legit_no_training"
	case "GroupNormalization":
		if name == "native_group_norm" {
			o.Attributes["num_groups"] = o.Attributes["group"]
		}
	case "Cast":
		if len(o.In) > 0 && r.shapes[o.In[0]].Type == r.shapes[o.Out[0]].Type {
			o.Op = "Identity"
		}
	case "Dropout":
		if off("train") {
			r.evaluation, o.Op = true, "Identity"
		}
	case "CrossEntropy": // it keeps the logarithms of the probabilities
		logs := onnx.Node{Name: o.Name, Op: "LogSoftmax", In: slices.Clone(o.In[:min(1, len(o.In))]),
			Out: []string{o.Out[0] + "/log_softmax"}}
		if len(o.In) > 0 {
			t := r.shapes[o.In[0]]
			t.Name = logs.Out[0]
			r.shapes[t.Name], r.t.Nodes, o.In[0] = t, append(r.t.Nodes, logs), t.Name
		}
		o.Op = "ReduceMean"
	}
	r.t.Nodes = append(r.t.Nodes, o)
}

// inline replaces an operator that runs a graph, such as that of torch.no_grad, by the operators of the graph. Argument
// at is the graph; the tensors after it are the inputs of the graph. jsonfile bounds the depth of graphs.
func (r *reader) inline(path string, n *node, g *graph, at int, s scope) {
	inner := scope{prefix: fmt.Sprintf("%s%d/", s.prefix, len(r.t.Nodes)), alias: map[string]string{}}
	var given, taken, made, out []string
	for i := range n.Inputs[at+1:] {
		given = append(given, n.Inputs[at+1+i].Arg.tensors()...)
	}
	for i := range g.Inputs {
		taken = append(taken, g.Inputs[i].tensors()...)
	}
	for i := range g.Outputs {
		made = append(made, g.Outputs[i].tensors()...)
	}
	for i := range n.Outputs {
		out = append(out, n.Outputs[i].tensors()...)
	}
	if len(given) != len(taken) || len(out) != len(made) {
		r.fail(path, fmt.Sprintf("%s takes %d tensors and makes %d, and its graph %d and %d", profiles.Clip(n.Target),
			len(given), len(out), len(taken), len(made)),
			"Operators are expected whose graph has the same inputs and outputs.")
	}
	for i, name := range taken {
		inner.alias[name] = s.name(given[i])
	}
	for _, name := range slices.Sorted(maps.Keys(g.Tensors)) {
		m := g.Tensors[name]
		if _, outside := inner.alias[name]; !outside {
			r.tensor(inner.prefix+name, &m)
		}
	}
	for i := range g.Nodes {
		r.node(path, &g.Nodes[i], inner)
	}
	for i, name := range out {
		s.alias[name] = inner.name(made[i])
	}
}

// stageName returns the module of an operator, the last of "key,path,class;...", or "" if unknown.
func stageName(n *node) string {
	list := strings.Split(n.Metadata["nn_module_stack"], ";")
	parts := strings.Split(list[len(list)-1], ",")
	if len(parts) < 3 {
		return ""
	}
	return strings.NewReplacer("L['self'].", "", "['", ".", "']", "", "_modules.", "").Replace(parts[1])
}
