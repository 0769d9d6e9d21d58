package jsonfile

import "testing"

// TestNoteOthersAllocatesNothing checks that looking for unknown keys does not allocate if there are no such
// keys, because lists hold millions of objects.
func TestNoteOthersAllocatesNothing(t *testing.T) {
	o := &Object{Fields: map[string]any{"lower": 1, "upper": 2, "size": 3},
		Known: &Keys{known: []string{"lower", "upper", "size"}}}
	if n := testing.AllocsPerRun(100, o.NoteOthers); n > 0 || o.Known.other != nil {
		t.Errorf("%v allocations, %q; want none", n, o.Known.other)
	}
	o.Fields["uper"] = 4
	if o.NoteOthers(); len(o.Known.other) != 1 || o.Known.other[0] != `"uper"` {
		t.Errorf("the others are %q; want uper", o.Known.other)
	}
}

// TestMicroseconds reads times with fractions and signs, in both notations.
func TestMicroseconds(t *testing.T) {
	for text, want := range map[string]int64{"1.5": 1500, "-1.5": -1500, "-0.5": -500, "0.0019": 1, "-2": -2000,
		"1.5e1": 15000, "-1.5e1": -15000} {
		if got, ok := Microseconds([]byte(text)); got != want || !ok {
			t.Errorf("%s microseconds are %d ns, %v; want %d", text, got, ok, want)
		}
	}
}
