package profiles

import (
	"strings"
	"testing"
)

var refused_rotor = []rejection{
	{"no loss entry", "[(1, 2, 3, 3, 0, 0), (1, 2, 3, 3, 0, 0)]",
		"Line 1: uF of entry 1 is 1. The last entry is the loss, whose uF and tmpF are None.\n" +
			"Line 1: tmpF of entry 1 is 0. The last entry is the loss, whose uF and tmpF are None."},
	{"a negative in a list", "[(1, 2, 3, 3, 0, 0),\n(1, -2, 3, 3, 0, 0),\n(None, 0, 3, 3, None, 0)]",
		"Line 2: uB of entry 1 is -2. Times cannot be negative."},
	{"a short tuple", "[(1, 2, 3), (None, 0, 3, 3, None, 0)]", "Line 1: entry 0 has 3 numbers. An entry is (uF, uB, x, xbar, tmpF, tmpB)."},
	{"half a list", "[(1, 2, 3, 3, 0, 0), (1, 2", "Line 1: the list ends early. A list of entries (uF, uB, x, xbar, tmpF, tmpB) is expected."},
	{"a name in a list", "[(1, 2, \"x\", 3, 0, 0)]", `Line 1: there is "\"" where none can be. A list of entries (uF, uB, x, xbar, tmpF, tmpB) is expected.`},
}

// TestRejections: see formattest.Rejections.
func TestRejections_rotor(t *testing.T) { runRejections(t, refused_rotor) }

func TestTooManyStages_rotor(t *testing.T) {
	runTooManyStages(t, func(n int) string {
		return "[" + strings.Repeat("(1, 2, 65536, 65536, 0, 0), ", n) + "(None, 0, 65536, 65536, None, 0)]"
	})
}

// FuzzRefused: see formattest.FuzzContent.
func FuzzRefused_rotor(f *testing.F) { fuzzContent(f, nil, refused_rotor) }
