package flow

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// testSegment describes a segment: where it jumps to under a condition, where it continues otherwise, and whether
// its goroutine can be switched at its end.
type testSegment struct {
	if0, next int // indices of segments; -1 means no such jump
	resumes   bool
}

func testFunction(segments ...testSegment) *Function {
	f := &Function{variables: []variables{{1, typeI32}}}
	for i, s := range segments {
		c := codeSegment{next: s.next, resumes: s.resumes}
		if s.if0 >= 0 {
			c.code = []instruction{{op: opLocalGet, raw: []byte{opLocalGet, 1}, n: 1, target: -1},
				{op: opIf, target: s.if0}}
			c.code = append(c.code, make([]instruction, jumpIfLength-1)...)
			for k := range c.code[2:] {
				c.code[k+2].target = -1
			}
		}
		f.segments = append(f.segments, c)
		f.table = append(f.table, i)
	}
	return f
}

// TestArrange checks that a loop that is entered at one place needs no jump through the table, wherever the
// compiler has put that place, and that a loop that is entered after a call does.
func TestArrange(t *testing.T) {
	for _, c := range []struct {
		name     string
		segments []testSegment
		loops    int // number of loops
		table    int // number of jumps through the table
	}{
		{"straight", []testSegment{{-1, 1, false}, {-1, -1, false}}, 0, 0},
		{"loop", []testSegment{{-1, 1, false}, {3, 2, false}, {-1, 1, false}, {-1, -1, false}}, 1, 0},
		{"condition at the end", []testSegment{{-1, 2, false}, {-1, 2, false}, {1, 3, false}, {-1, -1, false}}, 1, 0},
		{"loop in a loop", []testSegment{{-1, 4, false}, {-1, 3, false}, {-1, 3, false}, {2, 4, false}, {1, 5, false},
			{-1, -1, false}}, 2, 0},
		{"itself", []testSegment{{-1, 1, false}, {1, 2, false}, {-1, -1, false}}, 1, 0},
		{"a return in front", []testSegment{{-1, 2, false}, {-1, -1, false}, {1, 3, false}, {1, 2, false}}, 1, 0},
		{"call", []testSegment{{-1, 1, false}, {3, 2, true}, {-1, 1, false}, {-1, -1, false}}, 0, 1},
		{"call in the outer loop", []testSegment{{-1, 1, true}, {4, 2, true}, {2, 3, false}, {-1, 1, false},
			{-1, -1, false}}, 1, 1},
		{"two entries", []testSegment{{2, 1, false}, {-1, 2, false}, {1, 3, false}, {-1, -1, false}}, 0, 1},
		{"two entries in a loop", []testSegment{{-1, 1, false}, {3, 2, false}, {-1, 3, false}, {2, 4, false},
			{1, 5, false}, {-1, -1, false}}, 0, 2},
	} {
		f := testFunction(c.segments...)
		fl := f.arrange()
		loops, table := 0, 0
		for i := range f.segments {
			if fl.loopEnd[i] > 0 {
				loops++
			}
			for _, j := range f.jumps(i) {
				if fl.viaTable(i, j) {
					table++
				}
			}
		}
		if loops != c.loops || table != c.table {
			t.Errorf("%s: %v has %d loops and %d jumps through the table, want %d and %d", c.name, c.segments, loops,
				table, c.loops, c.table)
		}
	}
}

// TestArrangeRandom checks that the jumps of random functions can be written: none leads into a loop other than
// to its start, and the targets of the table are outside of all loops.
func TestArrangeRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		segments := make([]testSegment, 2+random.IntN(12))
		for i := range segments {
			segments[i] = testSegment{random.IntN(len(segments)+8) - 8, random.IntN(len(segments)+1) - 1,
				random.IntN(8) == 0}
			segments[i].if0 = max(segments[i].if0, -1)
		}
		f := testFunction(segments...)
		entered := f.entries()
		fl := f.arrange()
		for h, end := range fl.loopEnd {
			for j := h + 1; j < end; j++ {
				if fl.entered[j] || fl.loopEnd[j] > end {
					t.Fatalf("%+v: in the loop %d to %d, segment %d is entered through the table (%v) or begins a loop that ends at %d", segments, h, end-1, j, fl.entered[j], fl.loopEnd[j])
				}
				for i := range f.segments {
					if (i < h || i >= end) && slices.Contains(f.jumps(i), j) {
						t.Fatalf("%+v: segment %d jumps into the middle of the loop %d to %d", segments, i, h, end-1)
					}
				}
			}
		}
		for i := range f.segments {
			for _, j := range f.jumps(i) {
				if j < 0 || fl.viaTable(i, j) && !fl.entered[j] {
					t.Fatalf("%+v: the jump from segment %d to %d leads nowhere", segments, i, j)
				}
			}
		}
		for place, j := range f.table {
			if j < 0 && entered[place] || j >= 0 && entered[place] && !fl.entered[j] {
				t.Fatalf("%+v: place %d is no longer entered", segments, place)
			}
		}
		testFunction(segments...).write()
	}
}
