package onnx

import (
	"encoding/binary"
	"slices"
	"testing"

	"memtide/profiles/formats/formattest"
)

// A message of protocol buffers as a tree, so that what is mutated is written with
// the right lengths, or with one wrong one.
type wireNode struct {
	number int
	kind   wireKind
	value  uint64
	data   []byte
	kids   []*wireNode // of a message; nil: it is none
}

// onnxInner is which fields of a kind of message are messages, and of what kind.
var onnxInner = map[string]map[int]string{
	"model": {7: "graph", 8: "opset"}, "graph": {1: "node", 5: "tensor", 11: "value", 12: "value", 13: "value"},
	"node": {5: "attr"}, "attr": {5: "tensor"}, "value": {2: "type"}, "type": {1: "tensortype"},
	"tensortype": {2: "shape"}, "shape": {1: "dim"},
}

func parseWire(data []byte, what string) (list []*wireNode) {
	w := wire{data: data}
	for f, ok := w.next(); ok; f, ok = w.next() {
		n := &wireNode{number: f.number, kind: f.kind, value: f.value, data: f.data}
		if inner := onnxInner[what][f.number]; inner != "" && f.kind == wireBytes {
			n.kids = append([]*wireNode{}, parseWire(f.data, inner)...)
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

// mutateWire edits a place of the tree and returns a node whose length is to be
// written wrong, if any.
func mutateWire(list []*wireNode, s *formattest.Script) (out []*wireNode, wrong *wireNode) {
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
		n.data, n.kids, n.kind = []byte(s.Pick(formattest.OddTexts)), nil, wireBytes
	case 5:
		n.data, n.kids, n.kind = []byte(s.Pick(ops)), nil, wireBytes
	case 6:
		n.number = 1 + s.N(20)
	case 7: // numbers of another length
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

// FuzzOnnx mutates the messages of models.
func FuzzOnnx(f *testing.F) {
	formattest.FuzzSamples(f, []string{"block.onnx", "convnet.onnx", "gated.onnx", "spelled.onnx"},
		func(sample []byte, s *formattest.Script) []byte {
			tree := parseWire(sample, "model")
			var wrong *wireNode
			for range 6 {
				if s.More() {
					tree, wrong = mutateWire(tree, s)
				}
			}
			return writeWire(tree, wrong)
		})
}
