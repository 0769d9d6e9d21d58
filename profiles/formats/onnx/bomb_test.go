package onnx

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"memtide/profiles/formats/formattest"
)

// TestBombs: see formattest.Bombs.
func TestBombs(t *testing.T) {
	formattest.Bombs(t, "onnx", 1, []formattest.Bomb{
		{Name: "a name of 50 MB", Content: onnxBomb(message{}.part(1, message{}.text(3, formattest.Rep("x", 50<<20))),
			1), Want: "a name is 52428800 bytes long. At most 1000 bytes are read."},
		{Name: "a node of 10 million inputs",
			Content: onnxBomb(message{}.part(1, bytes.Repeat(message{}.text(1, ""), 10<<20)), 1),
			Want:    "reading takes more than"},
		{Name: "a node of 10 million attributes",
			Content: onnxBomb(message{}.part(1, bytes.Repeat(message{}.part(5, nil), 10<<20)), 1),
			Want:    "reading takes more than"},
		{Name: "5 million empty nodes", Content: onnxBomb(message{}.part(1, nil), 5<<20),
			Want: "There are more than 80000 nodes or tensors"},
		{Name: "a length beyond the file", Content: func() []byte {
			return binary.AppendUvarint(message{}.number(1, 8).key(7, wireBytes), 1<<60)
		}, Want: "it ends early"},
		{Name: "8,000 constants of 4096 numbers", Content: func() []byte {
			numbers := message{}.text(1, "value_ints")
			numbers = binary.AppendUvarint(numbers.key(8, wireBytes), 4096)
			return onnxBomb(message{}.part(1, message{}.part(5, append(numbers, make([]byte, 4096)...))), 8000)()
		}, Want: "reading takes more than"},
		{Name: "20,000 nodes that make 4096 numbers each", Content: expanding, Want: "takes more than"},
	})
}

// onnxBomb is a model whose graph is one field again and again.
func onnxBomb(field message, n int) func() []byte {
	return func() []byte {
		graph := message(bytes.Repeat(field, n))
		return message{}.number(1, 8).part(7, graph)
	}
}

// expanding is a model of small nodes whose outputs are known integers.
func expanding() []byte {
	var f file
	f.input("x", onnxFloat, 1, 4)
	var graph message
	graph = append(graph, message{}.part(5, tensorOf("one", onnxInt64, 1).key(7, wireBytes).raw(1, 1))...)
	graph = append(graph, message{}.part(5, tensorOf("shape", onnxInt64, 1).key(7, wireBytes).raw(2, 0x80, 0x20))...)
	for i := range 20_000 {
		graph = append(graph, message{}.part(1,
			message{}.text(1, "one").text(1, "shape").text(2, fmt.Sprintf("e%d", i)).text(4, "Expand"))...)
	}
	return message{}.number(1, 8).part(7, slices3(f.nodes, graph, f.inputs)).part(8,
		message{}.text(1, "").number(2, 13))
}

func slices3(parts ...message) (out message) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// raw appends a length and so many bytes.
func (m message) raw(length byte, data ...byte) message { return append(append(m, length), data...) }
