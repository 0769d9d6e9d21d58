package passes

import (
	"bytes"
	"encoding/binary"
)

// view reads and writes little-endian numbers in a memory. bad is set once something
// lies outside of it; what is read from then on is zero, and nothing is written.
type view struct {
	b   []byte
	bad bool
}

func (v *view) within(at, n int) bool {
	if at < 0 || n < 0 || at > len(v.b)-n {
		v.bad = true
	}
	return !v.bad
}

// word returns a number of 4 bytes.
func (v *view) word(at int) int {
	if !v.within(at, 4) {
		return 0
	}
	return int(binary.LittleEndian.Uint32(v.b[at:]))
}

// long returns a number of 8 bytes; of an address or a length, which is below 2 GiB.
func (v *view) long(at int) int {
	if v.word(at+4) != 0 {
		v.bad = true
	}
	return v.word(at)
}

func (v *view) setWord(at, n int) {
	if v.within(at, 4) {
		binary.LittleEndian.PutUint32(v.b[at:], uint32(n))
	}
}

func (v *view) clear(s span) {
	if v.within(s.at, s.end-s.at) {
		clear(v.b[s.at:s.end])
	}
}

// text returns the text at a place, which a zero ends before the end of the span.
func (v *view) text(s span, off int) string {
	if off < 0 || off >= s.end-s.at || !v.within(s.at+off, 1) {
		v.bad = true
		return ""
	}
	n := bytes.IndexByte(v.b[s.at+off:s.end], 0)
	if n < 0 {
		v.bad = true
		return ""
	}
	return string(v.b[s.at+off:][:n])
}

// span is a part of a memory: from at to before end.
type span struct{ at, end int }

// starts returns the offsets at which the texts of a span begin, each ended by a zero.
// There are no empty ones: zeros at the end are none.
func (v *view) starts(s span) map[int]bool {
	starts := map[int]bool{}
	for at := s.at; at < s.end && !v.bad; {
		n := len(v.text(s, at-s.at))
		if n > 0 {
			starts[at-s.at] = true
		}
		at += n + 1
	}
	return starts
}

// values is what a table by instruction says (runtime/symtab.go, step): pairs of
// numbers (LEB128), the difference of a value, of which the lowest bit is the sign,
// and a distance, until a difference of 0 that is not the first.
type values struct {
	end         int // behind the table
	least, most int // of the values; the runtime begins to count at -1
	places      int // how many it covers
}

func (v *view) values(at int) (t values) {
	value := -1
	t.least, t.most = 1<<31-1, -1
	for first := true; v.within(at, 1) && (first || v.b[at] != 0); first = false {
		diff, n := binary.Uvarint(v.b[at:])
		distance, d := binary.Uvarint(v.b[at+max(n, 0):])
		if n <= 0 || d <= 0 || diff > 1<<32-1 || distance > 1<<16 {
			v.bad = true
			return t
		}
		value += int(int32(-(diff & 1)) ^ int32(diff>>1))
		t.least, t.most = min(t.least, value), max(t.most, value)
		t.places += int(distance)
		at += n + d
	}
	t.end = at + 1
	return t
}
