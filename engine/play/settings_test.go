package play

import "testing"

// TestMemberOf checks that the outermost list of modules that contains a unit is found by its name.
func TestMemberOf(t *testing.T) {
	for unit, want := range map[string]member{
		"3":                     {"", "3"},
		"h.3":                   {"h", "3"},
		"h.3#2":                 {"h", "3"},
		"encoder.layers.0.attn": {"encoder.layers", "0"},
		"stages.1.blocks.7":     {"stages", "1"},
		"a..12":                 {"a.", "12"},
		"h3.conv1":              {},
		"conv#1":                {},
		"":                      {},
	} {
		if got, ok := memberOf(unit); got != want || ok != (want.number != "") {
			t.Errorf("memberOf(%q) = %+v, %t; want %+v", unit, got, ok, want)
		}
	}
}
