//go:build !js

package browsertest

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// part appends a field of a protocol buffer to to: the number of the field and data with its length.
func part(to []byte, number int, data []byte) []byte {
	to = binary.AppendUvarint(to, uint64(number)<<3|2)
	return append(binary.AppendUvarint(to, uint64(len(data))), data...)
}

// integer appends an integer field of a protocol buffer to to.
func integer(to []byte, number int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(to, uint64(number)<<3), v)
}

// value returns the description of an ONNX tensor of 32-bit floats.
func value(name string, dims ...uint64) []byte {
	var shape []byte
	for _, d := range dims {
		shape = part(shape, 1, integer(nil, 1, d))
	}
	tensor := part(integer(nil, 1, 1), 2, shape)
	return part(part(nil, 1, []byte(name)), 2, part(nil, 1, tensor))
}

// writeOnnx writes a model of dense layers together with their weights, all zero, and returns its path and size.
// On file systems with sparse files the weights take no space.
func writeOnnx(t *testing.T, layers int, width uint64) (name string, size int64) {
	t.Helper()
	graph, at := part(nil, 2, []byte("graph")), "x"
	var head []byte // the beginning of a tensor of weights, up to its data
	numbers := 4 * width * width
	var weights [][]byte
	for i := range layers {
		weight, next := fmt.Sprintf("w%d", i), fmt.Sprintf("y%d", i)
		graph = part(graph, 1, part(part(part(part(nil, 1, []byte(at)), 1, []byte(weight)), 2, []byte(next)), 4,
			[]byte("MatMul")))
		graph = part(graph, 1, part(part(part(nil, 1, []byte(next)), 2, []byte(next+"r")), 4, []byte("Relu")))
		at = next + "r"
		head = part(integer(integer(integer(nil, 1, width), 1, width), 2, 1), 8, []byte(weight))
		head = binary.AppendUvarint(binary.AppendUvarint(head, 9<<3|2), numbers)
		weights = append(weights, append(binary.AppendUvarint(binary.AppendUvarint(nil, 5<<3|2),
			uint64(len(head))+numbers), head...))
	}
	graph = part(part(graph, 11, value("x", 64, width)), 12, value(at, 64, width))
	length := uint64(len(graph))
	for _, w := range weights {
		length += uint64(len(w)) + numbers
	}
	model := part(integer(nil, 1, 8), 8, integer(part(nil, 1, nil), 2, 13))
	model = append(binary.AppendUvarint(binary.AppendUvarint(model, 7<<3|2), length), graph...)
	name = filepath.Join(t.TempDir(), "large.onnx")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	put := func(data []byte) {
		if _, err := f.WriteAt(data, size); err != nil {
			t.Fatal(err)
		}
		size += int64(len(data))
	}
	put(model)
	for _, w := range weights {
		put(w)
		size += int64(numbers)
	}
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	return name, size
}

// TestLargeOnnx checks that the worker leaves the weights of a model on the disk. The model with its weights is
// as large as that of VGG-16. The test is not parallel, because it looks at the memory of all tabs.
func TestLargeOnnx(t *testing.T) {
	name, size := writeOnnx(t, 3, 7000)
	if size < 553_000_000 {
		t.Fatalf("the model has %d bytes; the test needs 553 MB", size)
	}
	p := settledPage(t, resnet)
	before := tabMemory()
	dropPath(p, name)
	took := p.Wait(`document.title.startsWith("large") && document.body.dataset.state === "ready"`)
	after := tabMemory()
	t.Logf("%.0f MB: open and solved after %v; most memory of the tab %d MiB, before %d MiB", float64(size)/1e6,
		took.Round(time.Millisecond), after>>20, before>>20)
	if after-before > size/2 {
		t.Errorf("opening a model of %d bytes took %d more; want far less", size, after-before)
	}
	p.Quiet()
}
