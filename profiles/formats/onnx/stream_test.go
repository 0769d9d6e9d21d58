package onnx

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"

	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// large returns a network of dense layers twice: without the numbers of its weights, and with them in the file.
func large(layers int, width int64) (weightless []byte, whole *sparse) {
	var f file
	f.input("x", onnxFloat, "batch", int(width))
	var weights []segment
	value := "x"
	for i := range layers {
		name, next := fmt.Sprintf("w%d", i), fmt.Sprintf("y%d", i)
		f.weight(name, width, width)
		head := tensorOf(name, onnxFloat, width, width).number(14, 0).key(9, wireBytes)
		head = binary.AppendUvarint(head, uint64(4*width*width))
		field := binary.AppendUvarint(message{}.key(5, wireBytes), uint64(int64(len(head))+4*width*width))
		weights = append(weights, segment{Data: append(field, head...), Zeros: 4 * width * width})
		f.node("MatMul", []string{value, name}, []string{next})
		value = next + "r"
		f.node("Relu", []string{next}, []string{value})
	}
	f.output(value)
	weightless = f.bytes(13)
	graph := slices.Concat(f.nodes, message{}.text(2, "graph"))
	rest := slices.Concat(f.inputs, f.outputs)
	size := int64(len(graph) + len(rest))
	for _, w := range weights {
		size += int64(len(w.Data)) + w.Zeros
	}
	head := binary.AppendUvarint(message{}.number(1, 8).text(2, "memtide's tests").key(7, wireBytes), uint64(size))
	whole = &sparse{Parts: []segment{{Data: append(head, graph...)}}}
	whole.Parts = append(whole.Parts, weights...)
	whole.Parts = append(whole.Parts, segment{Data: slices.Concat(rest,
		message{}.part(8, message{}.text(1, "").number(2, 13)))})
	return weightless, whole
}

// TestOnnxLargeWeights checks that a model of more than a gigabyte reads like the same model without its numbers,
// and that reading takes little memory.
func TestOnnxLargeWeights(t *testing.T) {
	weightless, whole := large(5, 8000)
	if whole.Size() < 1<<30 {
		t.Fatalf("the model has %d bytes; the test needs more than a GiB", whole.Size())
	}
	want, err := profiles.Decode("m", profiles.Bytes(weightless), nil)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := profiles.Decode("m", whole, nil)
	runtime.ReadMemStats(&after)
	if err != nil || formattest.Text(got) != formattest.Text(want) {
		t.Fatalf("the large model: %v\n%s\nwant\n%s", err, formattest.Text(got), formattest.Text(want))
	}
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 32<<20 {
		t.Errorf("reading %d bytes allocates %d; want at most 32 MiB in all", whole.Size(), spent)
	}
	if w := got.Chain.Resident.Weights; int64(w) != 5*4*8000*8000 {
		t.Errorf("the weights are %d bytes, want %d", w, 5*4*8000*8000)
	}
}

// TestOnnxLargePacked checks that reading a large packed model takes little memory. Its numbers have to be
// unpacked, but they are not kept.
func TestOnnxLargePacked(t *testing.T) {
	weightless, whole := large(2, 2800)
	plain := make([]byte, whole.Size())
	if _, err := whole.ReadAt(plain, 0); err != nil {
		t.Fatal(err)
	}
	packed := formattest.Pack(t, plain)
	want, err := profiles.Decode("m", profiles.Bytes(weightless), nil)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := profiles.Decode("m", profiles.Bytes(packed), nil)
	runtime.ReadMemStats(&after)
	if err != nil || formattest.Text(got) != formattest.Text(want) {
		t.Fatalf("the packed model: %v\n%s\nwant\n%s", err, formattest.Text(got), formattest.Text(want))
	}
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 16<<20 {
		t.Errorf("reading %d bytes, packed, allocates %d; want at most 16 MiB in all", len(plain), spent)
	}
}

// TestOnnxPieces checks that a model that is read in small pieces from a reader without Seek is read the same,
// also if it is damaged.
func TestOnnxPieces(t *testing.T) {
	for _, name := range []string{"block.onnx", "convnet.onnx", "gated.onnx", "spelled.onnx"} {
		whole := formattest.Read(t, "testdata/"+name)
		refused := 0
		for seed := range 500 {
			data := whole
			if seed > 0 {
				data = mutated(whole, uint64(seed))
			}
			read := func(r io.Reader, total int) (*profiles.Profile, error) {
				return profiles.Try(func() *profiles.Profile { return decode("m", r, total, profiles.AnyDevice, nil) })
			}
			want, wrong := read(bytes.NewReader(data), len(data))
			got, err := read(iotest.HalfReader(iotest.DataErrReader(bytes.NewReader(data))), 0)
			if (err == nil) != (wrong == nil) || err == nil && formattest.Text(got) != formattest.Text(want) {
				t.Errorf("%s, mutation %d: %v, of the whole model %v", name, seed, err, wrong)
			}
			if err != nil {
				refused++
			}
			formattest.CheckProblems(t, err)
		}
		if refused == 0 || refused == 500 {
			t.Errorf("%s: %d of 500 are refused; want some", name, refused)
		}
	}
}

// TestOnnxLargeDamaged checks that a large model that is cut or has a wrong length is an error.
func TestOnnxLargeDamaged(t *testing.T) {
	for eighth := range int64(8) {
		_, whole := large(4, 300)
		at := whole.Size() * eighth / 8
		cut := &sparse{}
		for _, p := range whole.Parts {
			n := int64(len(p.Data)) + p.Zeros
			if at < n {
				cut.Parts = append(cut.Parts,
					segment{Data: p.Data[:min(at, int64(len(p.Data)))], Zeros: max(at-int64(len(p.Data)), 0)})
				break
			}
			cut.Parts = append(cut.Parts, p)
			at -= n
		}
		_, err := profiles.Decode("m", cut, nil)
		formattest.CheckProblems(t, err)
		if err == nil {
			t.Errorf("%d/8 of a model is read", eighth)
		}
	}
	_, whole := large(1, 300)
	whole.Parts[1].Data[3] ^= 0x40 // a length within the weight tensor
	_, err := profiles.Decode("m", whole, nil)
	formattest.CheckProblems(t, err)
	if err == nil {
		t.Error("a model with a wrong length is read")
	}
}

// segment is a part of a sparse file: data, followed by zeros.
type segment struct {
	Data  []byte
	Zeros int64
}

// sparse is a large file of which only the parts that are not zero are in memory.
type sparse struct {
	Parts []segment
	Read  int64
}

// Size returns the size of the whole file.
func (s *sparse) Size() (n int64) {
	for _, p := range s.Parts {
		n += int64(len(p.Data)) + p.Zeros
	}
	return n
}

// ReadAt adds the number of requested bytes to Read.
func (s *sparse) ReadAt(p []byte, off int64) (n int, err error) {
	s.Read += int64(len(p))
	take := func(data []byte, size int64) {
		if off >= size {
			off -= size
			return
		}
		m := int(min(size-off, int64(len(p)-n)))
		if data == nil {
			clear(p[n : n+m])
		} else {
			copy(p[n:n+m], data[off:])
		}
		n, off = n+m, 0
	}
	for _, part := range s.Parts {
		take(part.Data, int64(len(part.Data)))
		take(nil, part.Zeros)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// mutated returns content with one to four changes: a changed byte, or a piece that is removed or doubled.
func mutated(whole []byte, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := bytes.Clone(whole)
	for range 1 + rng.IntN(4) {
		at := rng.IntN(len(out))
		size := min(1+rng.IntN(16), len(out)-at)
		switch rng.IntN(3) {
		case 0:
			out[at] = byte(rng.IntN(256))
		case 1:
			out = append(out[:at:at], out[at+size:]...)
		case 2:
			out = append(out[:at+size:at+size], out[at:]...)
		}
	}
	return out
}
