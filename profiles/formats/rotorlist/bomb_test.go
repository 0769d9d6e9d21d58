package rotorlist

import (
	"testing"

	"memtide/profiles/formats/formattest"
)

// TestBombs: see formattest.Bombs.
func TestBombs(t *testing.T) {
	formattest.Bombs(t, "rotor", 1, []formattest.Bomb{
		{Name: "a number of 50 MB", Content: formattest.Content("[(1", formattest.Rep("0", 50<<20),
			", 2, 3, 3, 0, 0)]"), Want: "a word of 52428801 characters"},
		{Name: "10 million entries", Content: formattest.Content("[", formattest.Rep("(1,1,1,1,1,1),", 3<<20), "]"),
			Want: "There are more than 19999 stages"},
		{Name: "brackets", Content: formattest.Content("[(1,", formattest.Rep("(", 50<<20)),
			Want: `"(" where none can be`},
	})
}
