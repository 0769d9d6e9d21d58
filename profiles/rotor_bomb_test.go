package profiles

import "testing"

// TestBombs: see formattest.Bombs.
func TestBombs_rotor(t *testing.T) {
	runBombs(t, "rotor", 1, []bomb{
		{"a number of 50 MB", content("[(1", rep("0", 50<<20), ", 2, 3, 3, 0, 0)]"), "a word of 52428801 characters"},
		{"10 million entries", content("[", rep("(1,1,1,1,1,1),", 3<<20), "]"), "There are more than 19999 stages"},
		{"brackets", content("[(1,", rep("(", 50<<20)), `"(" where none can be`},
	})
}
