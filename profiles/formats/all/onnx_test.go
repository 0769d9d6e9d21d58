package all

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

func init() {
	owns["onnx"] = &own{
		bombs:   onnxBombs,
		samples: []string{"block.onnx", "convnet.onnx", "gated.onnx", "spelled.onnx"},
		mutate: func(sample []byte, s *script) []byte {
			tree := parseWire(sample, "model")
			var wrong *wireNode
			for range 6 {
				if s.more() {
					tree, wrong = mutateWire(tree, s)
				}
			}
			return writeWire(tree, wrong)
		},
	}
}

// field returns a field of a protocol buffer message whose value is a text or a message.
func field[T ~string | ~[]byte](number byte, data T) []byte {
	return append(binary.AppendUvarint([]byte{number<<3 | wireBytes}, uint64(len(data))), data...)
}

// onnxModel returns a model with the given graph.
func onnxModel(graph []byte) string { return "\x08\x08" + string(field(7, graph)) }

// onnxBomb returns a function that builds a model whose graph is one field repeated n times.
func onnxBomb(field []byte, n int) func() string {
	return func() string { return onnxModel(bytes.Repeat(field, n)) }
}

func onnxBombs() []bomb {
	return []bomb{
		{name: "a name of 50 MB", content: onnxBomb(field(1, field(3, bytes.Repeat([]byte("x"), 50<<20))), 1),
			want: "a name is 52428800 bytes long. At most 1000 bytes are read."},
		{name: "a node of 10 million inputs", content: onnxBomb(field(1, bytes.Repeat(field(1, ""), 10<<20)), 1),
			want: "reading takes more than"},
		{name: "a node of 10 million attributes", content: onnxBomb(field(1, bytes.Repeat(field(5, ""), 10<<20)), 1),
			want: "reading takes more than"},
		{name: "5 million empty nodes", content: onnxBomb(field(1, ""), 5<<20),
			want: "There are more than 80000 nodes or tensors"},
		{name: "a length beyond the file", content: func() string {
			return string(binary.AppendUvarint([]byte{1 << 3, 8, 7<<3 | wireBytes}, 1<<60))
		}, want: "it ends early"},
		{name: "8,000 constants of 4096 numbers", content: func() string {
			numbers := slices.Concat(field(1, "value_ints"), field(8, make([]byte, 4096)))
			return onnxBomb(field(1, field(5, numbers)), 8000)()
		}, want: "reading takes more than"},
		{name: "20,000 nodes that make 4096 numbers each", content: expanding, want: "takes more than"},
	}
}

// expanding returns a model of small nodes whose outputs are known integers.
func expanding() string {
	tensor := func(name string, value ...byte) []byte { // a list of one 64-bit integer
		return field(5, slices.Concat(field(1, "\x01"), []byte{2 << 3, 7}, field(8, name), field(7, value)))
	}
	graph := slices.Concat(tensor("one", 1), tensor("shape", 0x80, 0x20))
	for i := range 20_000 {
		graph = append(graph, field(1, slices.Concat(field(1, "one"), field(1, "shape"),
			field(2, fmt.Sprintf("e%d", i)), field(4, "Expand")))...)
	}
	return onnxModel(graph)
}

// wireNode is a field of a protocol buffer message, as a tree. Mutated messages are written from the tree with
// correct lengths, or with a single wrong one.
type wireNode struct {
	number int
	kind   byte
	value  uint64
	data   []byte
	kids   []*wireNode // fields of a message; nil for any other value
}

// onnxInner gives, for each kind of message, the fields that are messages, with their kinds.
var onnxInner = map[string]map[int]string{
	"model": {7: "graph", 8: "opset"}, "graph": {1: "node", 5: "tensor", 11: "value", 12: "value", 13: "value"},
	"node": {5: "attr"}, "attr": {5: "tensor"}, "value": {2: "type"}, "type": {1: "tensortype"},
	"tensortype": {2: "shape"}, "shape": {1: "dim"},
}

// These are the wire types of fields.
const (
	wireVarint = 0
	wireFixed8 = 1
	wireBytes  = 2
	wireFixed4 = 5
)

// parseWire parses a complete message of a sample.
func parseWire(data []byte, what string) (list []*wireNode) {
	number := func() uint64 {
		v, size := binary.Uvarint(data)
		data = data[size:]
		return v
	}
	for len(data) > 0 {
		key := number()
		n := &wireNode{number: int(key >> 3), kind: byte(key & 7)}
		size := uint64(0)
		switch n.kind {
		case wireVarint:
			n.value = number()
		case wireFixed8:
			n.value, size = binary.LittleEndian.Uint64(data), 8
		case wireFixed4:
			n.value, size = uint64(binary.LittleEndian.Uint32(data)), 4
		case wireBytes:
			size = number()
			n.data = data[:size]
		}
		data = data[size:]
		if inner := onnxInner[what][n.number]; inner != "" && n.kind == wireBytes {
			n.kids = append([]*wireNode{}, parseWire(n.data, inner)...)
		}
		list = append(list, n)
	}
	return list
}

func writeWire(list []*wireNode, wrong *wireNode) (out []byte) {
	for _, n := range list {
		out = binary.AppendUvarint(out, uint64(n.number)<<3|uint64(n.kind))
		switch n.kind {
		case wireVarint:
			out = binary.AppendUvarint(out, n.value)
		case wireFixed8:
			out = binary.LittleEndian.AppendUint64(out, n.value)
		case wireFixed4:
			out = binary.LittleEndian.AppendUint32(out, uint32(n.value))
		case wireBytes:
			data := n.data
			if n.kids != nil {
				data = writeWire(n.kids, wrong)
			}
			size := uint64(len(data))
			if n == wrong {
				size = n.value
			}
			out = append(binary.AppendUvarint(out, size), data...)
		}
	}
	return out
}

// mutateWire edits one place of the tree. It also returns the node whose length is to be written wrong, or nil.
func mutateWire(list []*wireNode, s *script) (out []*wireNode, wrong *wireNode) {
	if len(list) == 0 {
		return []*wireNode{{number: 1 + s.N(14), kind: wireBytes}}, nil
	}
	i := s.N(len(list))
	n := list[i]
	if n.kids != nil && s.N(5) > 0 {
		n.kids, wrong = mutateWire(n.kids, s)
		return list, wrong
	}
	numbers := []uint64{0, 1, 2, 7, 16, 127, 1 << 20, 1 << 31, 1 << 53, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	ops := []string{"Conv", "MatMul", "Gemm", "Relu", "Add", "Concat", "Reshape", "Shape", "Gather", "Expand",
		"Range", "Slice", "Split", "Where", "Constant", "ConstantOfShape", "Resize", "Pad",
		"Squeeze", "Unsqueeze", "Flatten", "MaxPool", "AveragePool", "BatchNormalization", "LayerNormalization",
		"Softmax", "Transpose", "Tile", "Einsum", "LSTM", "If", "Loop", "Nothing"}
	switch s.N(10) {
	case 0:
		return append(list[:i:i], list[i+1:]...), nil
	case 1:
		return slices.Insert(list, i, n), nil
	case 2:
		k := s.N(len(list))
		list[i], list[k] = list[k], list[i]
	case 3:
		n.value, n.kids, n.kind = numbers[s.N(len(numbers))], nil, wireVarint
	case 4:
		n.data, n.kids, n.kind = []byte(s.pick(oddTexts)), nil, wireBytes
	case 5:
		n.data, n.kids, n.kind = []byte(s.pick(ops)), nil, wireBytes
	case 6:
		n.number = 1 + s.N(20)
	case 7: // numbers of different lengths
		n.kids, n.kind, n.data = nil, wireBytes, nil
		for range 1 + s.N(8) {
			n.data = binary.AppendUvarint(n.data, numbers[s.N(len(numbers))])
		}
	case 8:
		if n.kind == wireBytes {
			n.value = numbers[s.N(len(numbers))]
			return list, n
		}
	case 9: // a name or a value from elsewhere in the message
		n.data, n.kids, n.value = list[s.N(len(list))].data, nil, list[s.N(len(list))].value
	}
	return list, nil
}
