package onnx

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/parse"
)

// The parts of an ONNX model that determine memory and time: nodes, the shapes of tensors, and the values of small
// integer tensors, from which shapes are computed. Numbers of fields are those of onnx.proto (ir_version 3 to 13).

// Limits of a model. They keep reading below a second or two and are far above the sizes of networks.
const (
	onnxMostNodes  = 4 * engine.MaxStages // constants and shapes included
	onnxMostDims   = 16
	onnxMostValues = 4096 // of an integer tensor, and of an attribute
)

// onnxModel is the content of a model.
type onnxModel struct {
	producer string
	nodes    []Node
	weights  []Tensor // initializers
	inputs   []Tensor
	known    []Tensor // values between operators whose shape the file states
	hasGraph bool
	traced   bool   // it comes from a Traced
	fixed    int    // index in weights of the first weight that is not trained, in a traced model
	tool     string // kind of file, for Source.Tool
	budget   *profiles.Budget
}

// Node is an operator of the file.
type Node struct {
	Name, Op, domain string
	In, Out          []string // "" in In for an omitted input
	attrs            []attr
	InPlace          bool               // in a traced model: it overwrites its input
	Attributes       map[string][]int64 // in a traced model; only the operator's ONNX attributes are used
}

// attr is an attribute of a node.
type attr struct {
	name   string
	i      int64
	text   string
	ints   []int64
	floats []float32
	tensor *Tensor
}

// Tensor is a tensor of the file: an initializer, or an input, whose dimensions may have names instead of sizes.
type Tensor struct {
	Name   string
	Type   int64     // TensorProto.DataType of onnx.proto
	Dims   []int64   // -1 for an unknown size
	params []string  // names of dimensions; nil for initializers
	vals   []int64   // of a small integer tensor; nil if unknown
	scales []float32 // of a short tensor of 32-bit floats, such as factors of a resize
	shaped bool      // the number of dimensions is known
}

// reader reads the messages of one file.
type reader struct {
	w *wire
	m onnxModel
}

func (r *reader) name(f wireField, into *string) {
	r.within(r.m.budget.Name("a name", f.size()))
	*into = profiles.CleanText(strings.ToValidUTF8(string(f.bytes()), "?"))
}

// names appends a name to a list.
func (r *reader) names(f wireField, list *[]string) {
	var name string
	r.name(f, &name)
	*list = append(*list, name)
	r.room(32)
}

// room charges the budget for bytes of memory.
func (r *reader) room(bytes int) { r.within(r.m.budget.Memory("this model", bytes)) }

// within ends reading if e is not nil.
func (r *reader) within(e *profiles.FormatError) {
	if e == nil {
		return
	}
	e.Found = fmt.Sprintf("After %s and %s, %s", profiles.Count(len(r.m.nodes), "node"),
		profiles.Count(len(r.m.weights)+len(r.m.known), "tensor"), e.Found)
	profiles.End(e)
}

// Memory of nodes, attributes and tensors without their content, in bytes.
const (
	nodeRoom   = 400
	attrRoom   = 200
	tensorRoom = 400
)

// mostBuilt bounds the size from which the memory budget of a model follows: most of a larger model is weights.
const mostBuilt = 64 << 20

// readOnnx reads a model of total bytes; total is 0 if unknown.
func readOnnx(content io.Reader, total int, poll *engine.Poll) *onnxModel {
	r := &reader{w: newWire(content, total, poll)}
	r.m.budget, r.m.tool = profiles.FileBudget(min(total, mostBuilt)), "ONNX model"
	end := int64(math.MaxInt64)
	if r.w.seek != nil {
		end = int64(total)
	}
	r.w.each("the model", end, func(f wireField) {
		switch f.number {
		case 2: // producer_name
			r.m.producer = profiles.Clip(string(f.w.take(min(f.size(), profiles.MaxName), f.end)))
		case 7:
			r.m.hasGraph = true
			r.graph(f)
		}
	})
	return &r.m
}

// damaged ends reading because a message is invalid.
func damaged(what string, err error) {
	profiles.End(&profiles.FormatError{Found: "Reading " + what + " fails: " + err.Error(),
		Expected: "A complete ONNX model is expected.", Remedy: "Copy, download or export the model again."})
}

// tooMany ends reading because a limit is reached.
func tooMany(what string, most int) {
	profiles.End(&profiles.FormatError{Found: fmt.Sprintf("There are more than %d %s", most, what),
		Expected: "Larger models are not read.", Remedy: "Simplify the model, or measure it with the collector."})
}

func (r *reader) graph(f wireField) {
	f.is(wireBytes)
	r.w.each("the graph", f.end, func(f wireField) {
		if f.number == 2 || f.number == 10 { // name, documentation
			return
		}
		f.is(wireBytes)
		switch f.number {
		case 1:
			r.node(f)
		case 5:
			r.m.weights = append(r.m.weights, r.tensor("a tensor of weights", f))
		case 11, 12, 13: // inputs, outputs and values between operators
			t := r.valueInfo(f)
			if f.number == 11 {
				r.m.inputs = append(r.m.inputs, t)
			}
			r.m.known = append(r.m.known, t)
		}
		if max(len(r.m.nodes), len(r.m.weights), len(r.m.known)) > onnxMostNodes {
			tooMany("nodes or tensors", onnxMostNodes)
		}
	})
}

func (r *reader) node(f wireField) {
	var n Node
	r.room(nodeRoom)
	r.w.each(fmt.Sprintf("node %d", len(r.m.nodes)+1), f.end, func(f wireField) {
		if f.kind != wireBytes {
			return
		}
		switch f.number {
		case 1:
			r.names(f, &n.In)
		case 2:
			r.names(f, &n.Out)
		case 3:
			r.name(f, &n.Name)
		case 4:
			r.name(f, &n.Op)
		case 5:
			n.attrs = append(n.attrs, r.attribute(f))
		case 7:
			r.name(f, &n.domain)
		}
	})
	r.m.nodes = append(r.m.nodes, n)
}

func (r *reader) attribute(f wireField) (a attr) {
	r.room(attrRoom)
	r.w.each(fmt.Sprintf("an attribute of node %d", len(r.m.nodes)+1), f.end, func(f wireField) {
		switch f.number {
		case 1:
			r.name(f, &a.name)
		case 3:
			a.i = int64(f.value)
		case 4: // texts can also be long programs for special hardware
			if a.text = ""; f.size() <= profiles.MaxName {
				r.name(f, &a.text)
			}
		case 5:
			t := r.tensor("a constant", f)
			a.tensor = &t
		case 7:
			a.floats = f.floats(a.floats, onnxMostValues)
		case 8:
			a.ints = f.ints(a.ints, onnxMostValues)
		}
	})
	r.room(4*cap(a.floats) + 8*cap(a.ints))
	return a
}

// tensor reads the shape of a tensor, and its values if they are few integers or floats. Other values are skipped.
func (r *reader) tensor(what string, f wireField) (t Tensor) {
	t.shaped = true
	r.room(tensorRoom)
	var vals []int64
	var floats []float32
	var raw []byte
	r.w.each(what, f.end, func(f wireField) {
		switch f.number {
		case 1:
			t.Dims = f.ints(t.Dims, onnxMostDims+1)
		case 2:
			t.Type = int64(f.value)
		case 4: // float_data
			floats = f.floats(floats, onnxMostDims)
		case 5, 7: // int32_data, int64_data
			vals = f.ints(vals, onnxMostValues+1)
		case 8:
			r.name(f, &t.Name)
		case 9:
			if raw = nil; f.size() <= short {
				raw = slices.Clone(f.bytes())
			}
		}
	})
	count, ok := parse.Elements(t.Dims)
	if !ok || len(t.Dims) > onnxMostDims {
		profiles.End(&profiles.FormatError{
			Found:    fmt.Sprintf("The tensor %q has the shape %s", profiles.Clip(t.Name), shapeText(t.Dims)),
			Expected: "Sizes of tensors are 0 or more, and not above 2^53 together.",
			Remedy:   "Export the model again."})
	}
	if count <= onnxMostValues {
		if t.vals = values(t.Type, count, vals, raw); t.vals != nil {
			r.room(8 * len(t.vals))
		}
	}
	if t.Type == onnxFloat && count <= onnxMostDims {
		if len(raw) > 0 {
			floats = nil
			for ; len(raw) >= 4 && len(floats) < onnxMostDims; raw = raw[4:] {
				floats = append(floats, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
			}
		}
		t.scales = floats
	}
	return t
}

// values returns the values of an integer tensor. It returns nil for tensors of other types, and
// if the values are not in the file.
func values(dtype, count int64, vals []int64, raw []byte) []int64 {
	if dtype != onnxInt64 && dtype != onnxInt32 {
		return nil
	}
	if int64(len(vals)) == count {
		return append([]int64{}, vals...)
	}
	size := onnxBytes[dtype]
	if int64(len(raw)) != count*size {
		return nil
	}
	vals = make([]int64, count)
	for i := range vals {
		if b := raw[int64(i)*size:]; dtype == onnxInt64 {
			vals[i] = int64(binary.LittleEndian.Uint64(b))
		} else {
			vals[i] = int64(int32(binary.LittleEndian.Uint32(b)))
		}
	}
	return vals
}

// valueInfo reads the name, the type and the shape of a value.
func (r *reader) valueInfo(f wireField) (t Tensor) {
	r.room(tensorRoom)
	r.w.each("the type of a value", f.end, func(f wireField) {
		switch f.number {
		case 1:
			r.name(f, &t.Name)
		case 2:
			r.tensorType(&t, f)
		}
	})
	return t
}

// tensorType reads a type if it is a tensor: other types have no field with this number and kind.
func (r *reader) tensorType(t *Tensor, f wireField) {
	r.w.each("the type of a value", f.end, func(f wireField) {
		if f.number != 1 || f.kind != wireBytes {
			return
		}
		r.w.each("the type of a tensor", f.end, func(f wireField) {
			switch f.number {
			case 1:
				t.Type = int64(f.value)
			case 2:
				t.shaped = true
				r.dims(t, f)
			}
		})
	})
}

// dims reads the dimensions of a shape, each with a size, a name or neither.
func (r *reader) dims(t *Tensor, f wireField) {
	r.w.each("a shape", f.end, func(f wireField) {
		if f.number != 1 {
			return
		}
		if len(t.Dims) == onnxMostDims {
			tooMany("dimensions", onnxMostDims)
		}
		size, param := int64(-1), ""
		r.w.each("a dimension", f.end, func(f wireField) {
			switch {
			case f.number == 1 && int64(f.value) > 0: // some exporters write 0 or -1 for unknown sizes
				size = int64(f.value)
			case f.number == 2:
				r.name(f, &param)
			}
		})
		t.Dims, t.params = append(t.Dims, size), append(t.params, param)
	})
}
