package module

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

// laidOut returns a memory of zeros after the segments were copied into it.
func laidOut(segments []segment) []byte {
	m := make([]byte, 4096)
	for _, s := range segments {
		copy(m[s.at:], s.data)
	}
	return m
}

// withData returns the sections of a module with one page of memory and the given data segments.
func withData(segments []segment) []Section {
	return []Section{{Custom, []byte("\x02hi\x0b")}, {Memory, []byte{1, 0, 1}}, {Data, writeSegments(segments)}}
}

// TestWriteMemory checks that the segments that WriteMemory writes lay out the same memory, with fewer segments.
func TestWriteMemory(t *testing.T) {
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range 200 {
		var segments []segment
		for at := int64(r.IntN(100)); at < 3800; at += int64(1 + r.IntN(200)) {
			data := make([]byte, r.IntN(40))
			for j := range data {
				data[j] = byte(r.IntN(256))
			}
			segments = append(segments, segment{at, data})
			at += int64(len(data))
		}
		want := laidOut(segments)
		memory, err := InitialMemory(withData(segments))
		if err != nil {
			t.Fatalf("seed %d, case %d: %v", seed, i, err)
		}
		joined, err := readSegments(WriteMemory(memory, 64))
		if err != nil || !bytes.Equal(laidOut(joined), want) {
			t.Fatalf("seed %d, case %d: the memory differs (%v)", seed, i, err)
		}
		if len(segments) > 20 && len(joined) >= len(segments) {
			t.Errorf("seed %d, case %d: %d segments became %d", seed, i, len(segments), len(joined))
		}
	}
}

// TestWriteMemorySegments checks that WriteMemory stays within the 100,000 segments that engines accept. Where it
// would need more, it also writes longer gaps of zeros.
func TestWriteMemorySegments(t *testing.T) {
	memory := make([]byte, 10*(maxSegments+1))
	for i := 0; i < len(memory); i += 10 {
		memory[i] = 1
	}
	segments, err := readSegments(WriteMemory(memory, 7))
	if err != nil || len(segments) > maxSegments {
		t.Errorf("%d bytes that are not zero, in gaps of 9, became %d segments (%v); want at most %d", maxSegments+1,
			len(segments), err, maxSegments)
	}
}

// TestInitialMemoryRefuses checks that data segments that do more than initialize the module's own memory are
// refused.
func TestInitialMemoryRefuses(t *testing.T) {
	data := Section{Data, writeSegments([]segment{{8, []byte("abc")}})}
	own := Section{Memory, []byte{1, 0, 1}}
	imported := []byte("\x01\x03env\x03mem\x02\x00\x01")
	for name, sections := range map[string][]Section{
		"no memory":           {data},
		"two memories":        {{Memory, []byte{2, 0, 1, 0, 1}}, data},
		"an imported memory":  {{Import, imported}, data},
		"one more, imported":  {{Import, imported}, own, data},
		"laid out later":      {own, {DataCount, []byte{1}}, data},
		"a passive segment":   {own, {Data, []byte{1, 1, 3, 'a', 'b', 'c'}}},
		"another memory":      {own, {Data, []byte{1, 2, 0, OpI32Const, 8, OpEnd, 1, 'a'}}},
		"at a global":         {own, {Data, []byte{1, 0, 0x23, 0, OpEnd, 1, 'a'}}},
		"behind the memory":   {own, {Data, writeSegments([]segment{{pageSize - 1, []byte("abc")}})}},
		"before the memory":   {own, {Data, writeSegments([]segment{{-4, []byte("abc")}})}},
		"fewer than it says":  {own, {Data, []byte{2, 0, OpI32Const, 8, OpEnd, 1, 'a'}}},
		"of 64-bit addresses": {{Memory, []byte{1, 4, 1}}, data},
	} {
		if got, err := InitialMemory(sections); !errors.Is(err, ErrForm) || got != nil {
			t.Errorf("%s: got a memory of %d bytes, %v; want %v", name, len(got), err, ErrForm)
		}
	}
	if got, err := InitialMemory([]Section{own, data}); err != nil || string(got[8:]) != "abc" {
		t.Errorf("a good one: got %q, %v; want abc at 8", got, err)
	}
}

// TestRead checks that a module is written as it was read, and that an incomplete module is refused.
func TestRead(t *testing.T) {
	sections := withData([]segment{{8, []byte("abc")}, {200, []byte("d")}})
	good := Write(sections)
	ends := map[int]bool{} // lengths of the prefixes that end with a whole section
	for n := range sections {
		ends[len(Write(sections[:n]))] = true
	}
	for n := range good {
		if got, err := Read(good[:n]); !ends[n] && !errors.Is(err, ErrForm) {
			t.Errorf("the first %d of %d bytes: got %d sections, %v, want %v", n, len(good), len(got), err, ErrForm)
		}
	}
	again, err := Read(good)
	if err != nil || !bytes.Equal(Write(again), good) {
		t.Errorf("a module, read and written: % x (%v), was % x", Write(again), err, good)
	}
}

// TestSignedNumbers checks that numbers survive AppendSigned and Signed. Addresses in the format are signed, so
// 64 needs two bytes.
func TestSignedNumbers(t *testing.T) {
	for _, n := range []int64{0, 1, 63, 64, 127, 128, 8191, 8192, 1 << 20, 1<<31 - 1, -1, -64, -65, -1 << 31} {
		r := &Reader{B: AppendSigned(nil, n)}
		if got := r.Signed(); got != n || r.Err != nil {
			t.Errorf("%d: written and read back as %d, %v", n, got, r.Err)
		}
	}
}
