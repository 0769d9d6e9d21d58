package onnx

import (
	"encoding/binary"
	"math"
)

// message is a protocol buffer that a test writes, so that tests do not depend on files of other programs.
type message []byte

func (m message) key(number int, kind wireKind) message {
	return binary.AppendUvarint(m, uint64(number)<<3|uint64(kind))
}

func (m message) number(number int, v int64) message {
	return binary.AppendUvarint(m.key(number, wireVarint), uint64(v))
}

func (m message) part(number int, data []byte) message {
	return append(binary.AppendUvarint(m.key(number, wireBytes), uint64(len(data))), data...)
}

func (m message) text(number int, s string) message { return m.part(number, []byte(s)) }

func (m message) packed(number int, list ...int64) message {
	var data []byte
	for _, v := range list {
		data = binary.AppendUvarint(data, uint64(v))
	}
	return m.part(number, data)
}

// file writes a model. Its fields are in the order of their numbers.
type file struct {
	nodes, weights, inputs, outputs, known message
}

// bytes returns the whole model, with the given version of the standard operators.
func (f *file) bytes(opset int64) []byte {
	var graph message
	graph = append(graph, f.nodes...)
	graph = graph.text(2, "graph")
	graph = append(graph, f.weights...)
	graph = append(append(append(graph, f.inputs...), f.outputs...), f.known...)
	return message{}.number(1, 8).text(2, "memtide's tests").part(7, graph).part(8,
		message{}.text(1, "").number(2, opset))
}

// node adds an operator. attrs are made by attrInt, attrInts and similar functions.
func (f *file) node(op string, in []string, out []string, attrs ...message) {
	var n message
	for _, s := range in {
		n = n.text(1, s)
	}
	for _, s := range out {
		n = n.text(2, s)
	}
	n = n.text(3, out[0]+"/"+op).text(4, op)
	for _, a := range attrs {
		n = n.part(5, a)
	}
	f.nodes = f.nodes.part(1, n)
}

func attrInt(name string, v int64) message {
	return message{}.text(1, name).number(3, v).number(20, 2)
}

func attrInts(name string, list ...int64) message {
	return message{}.text(1, name).packed(8, list...).number(20, 7)
}

func attrText(name, v string) message { return message{}.text(1, name).text(4, v).number(20, 3) }

func attrTensor(name string, tensor message) message {
	return message{}.text(1, name).part(5, tensor).number(20, 4)
}

// tensorOf returns a tensor with a shape but without numbers, like one whose numbers are in another file.
func tensorOf(name string, dtype int64, dims ...int64) message {
	return message{}.packed(1, dims...).number(2, dtype).text(8, name)
}

// weight adds a tensor of 32-bit floats.
func (f *file) weight(name string, dims ...int64) {
	f.weights = f.weights.part(5, tensorOf(name, onnxFloat, dims...).number(14, 1))
}

// integers adds a list of 64-bit integers as raw bytes.
func (f *file) integers(name string, list ...int64) {
	var raw []byte
	for _, v := range list {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	f.weights = f.weights.part(5, tensorOf(name, onnxInt64, int64(len(list))).part(9, raw))
}

// scalar adds a 64-bit integer without dimensions.
func (f *file) scalar(name string, v int64) {
	f.weights = f.weights.part(5, message{}.number(2, onnxInt64).packed(7, v).text(8, name))
}

// factors adds a list of 32-bit floats with their values.
func (f *file) factors(name string, list ...float32) {
	var raw []byte
	for _, v := range list {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	f.weights = f.weights.part(5, tensorOf(name, onnxFloat, int64(len(list))).part(9, raw))
}

// typed returns the description of a value. dims are sizes or names.
func typed(name string, dtype int64, dims ...any) message {
	var shape message
	for _, d := range dims {
		switch d := d.(type) {
		case int:
			shape = shape.part(1, message{}.number(1, int64(d)))
		case string:
			shape = shape.part(1, message{}.text(2, d))
		}
	}
	tensor := message{}.number(1, dtype).part(2, shape)
	return message{}.text(1, name).part(2, message{}.part(1, tensor))
}

func (f *file) input(name string, dtype int64, dims ...any) {
	f.inputs = f.inputs.part(11, typed(name, dtype, dims...))
}

// output names a result and leaves its shape open.
func (f *file) output(name string) {
	tensor := message{}.number(1, onnxFloat)
	f.outputs = f.outputs.part(12, message{}.text(1, name).part(2, message{}.part(1, tensor)))
}
