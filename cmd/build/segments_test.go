//go:build !js

package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

// memory is what segments make of a zeroed memory.
func memory(segments []segment) []byte {
	m := make([]byte, 4096)
	for _, s := range segments {
		copy(m[s.at:], s.data)
	}
	return m
}

func module(segments []segment, rest string) []byte {
	body := writeSegments(segments)
	m := appendUnsigned([]byte("\x00asm\x01\x00\x00\x00\x00\x03\x02hi\x0b"), uint64(len(body)))
	return append(append(m, body...), rest...)
}

// Joined segments make the same memory, and every other section is kept.
func TestJoinSegments(t *testing.T) {
	const seed, rest = 5, "\x00\x04\x03end"
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
		want := memory(segments)
		out, err := shrink(module(segments, rest))
		if err != nil {
			t.Fatalf("seed %d, case %d: %v", seed, i, err)
		}
		if !bytes.HasSuffix(out, []byte(rest)) || !bytes.HasPrefix(out, []byte("\x00asm\x01\x00\x00\x00\x00\x03\x02hi")) {
			t.Fatalf("seed %d, case %d: the other sections have changed", seed, i)
		}
		rd := &moduleReader{b: out, i: 8}
		rd.section()
		_, body := rd.section()
		joined, err := readSegments(body)
		if err != nil || !bytes.Equal(memory(joined), want) {
			t.Fatalf("seed %d, case %d: the memory differs (%v)", seed, i, err)
		}
		if len(segments) > 20 && len(joined) >= len(segments) {
			t.Errorf("seed %d, case %d: %d segments became %d", seed, i, len(segments), len(joined))
		}
	}
}

func TestShrinkRefuses(t *testing.T) {
	good := module([]segment{{8, []byte("abc")}, {200, []byte("d")}}, "")
	for n := range good {
		if n == 8 || n == 13 {
			continue // whole modules, without data
		}
		if _, err := shrink(good[:n]); !errors.Is(err, errModule) {
			t.Errorf("the first %d of %d bytes: got %v, want %v", n, len(good), err, errModule)
		}
	}
}

// Addresses are signed numbers in the format: 64 needs two bytes.
func TestSignedNumbers(t *testing.T) {
	for _, n := range []int64{0, 1, 63, 64, 127, 128, 8191, 8192, 1 << 20, 1<<31 - 1, -1, -64, -65, -1 << 31} {
		r := &moduleReader{b: appendSigned(nil, n)}
		if got := r.signed(); got != n || r.err != nil {
			t.Errorf("%d: written and read back as %d, %v", n, got, r.err)
		}
	}
}
