package profiles

import "testing"

// TestBombs: see formattest.Bombs.
func TestBombs_minimalloc(t *testing.T) {
	runBombs(t, "minimalloc", 2, []bomb{
		{"500,000 rows", content("lower,upper,size\n", rep("0,1,0\n", 500_000)), "reading takes more than"},
		{"10 million cells", content("lower,upper,size\n", rep(",", 10<<20), "\n"), "a row has more than 1000 cells"},
		{"an id of 2 KB", content("id,lower,upper,size\n", rep("x", 2000), ",0,1,1\n"), "a name is 2000 bytes long"},
	})
}
