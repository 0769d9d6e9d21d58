package rotorlist

import (
	"strings"
	"testing"

	"memtide/profiles/formats/formattest"
)

var refused = []formattest.Rejection{
	{Name: "no loss entry", Input: "[(1, 2, 3, 3, 0, 0), (1, 2, 3, 3, 0, 0)]",
		Want: "Line 1: uF of entry 1 is 1. The last entry is the loss, whose uF and tmpF are None.\n" +
			"Line 1: tmpF of entry 1 is 0. The last entry is the loss, whose uF and tmpF are None."},
	{Name: "a negative in a list", Input: "[(1, 2, 3, 3, 0, 0),\n(1, -2, 3, 3, 0, 0),\n(None, 0, 3, 3, None, 0)]",
		Want: "Line 2: uB of entry 1 is -2. Times cannot be negative."},
	{Name: "a short tuple", Input: "[(1, 2, 3), (None, 0, 3, 3, None, 0)]",
		Want: "Line 1: entry 0 has 3 numbers. An entry is (uF, uB, x, xbar, tmpF, tmpB)."},
	{Name: "half a list", Input: "[(1, 2, 3, 3, 0, 0), (1, 2",
		Want: "Line 1: the list ends early. A list of entries (uF, uB, x, xbar, tmpF, tmpB) is expected."},
	{Name: "a name in a list", Input: "[(1, 2, \"x\", 3, 0, 0)]",
		Want: `Line 1: there is "\"" where none can be. A list of entries (uF, uB, x, xbar, tmpF, tmpB) is expected.`},
}

// TestRejections: see formattest.Rejections.
func TestRejections(t *testing.T) { formattest.Rejections(t, refused) }

func TestTooManyStages(t *testing.T) {
	formattest.TooManyStages(t, func(n int) string {
		return "[" + strings.Repeat("(1, 2, 65536, 65536, 0, 0), ", n) + "(None, 0, 65536, 65536, None, 0)]"
	})
}

// FuzzRefused: see formattest.FuzzContent.
func FuzzRefused(f *testing.F) { formattest.FuzzContent(f, nil, refused) }
