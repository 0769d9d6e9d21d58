package minimalloc

import (
	"testing"

	"memtide/profiles/formats/formattest"
)

// TestBombs: see formattest.Bombs.
func TestBombs(t *testing.T) {
	formattest.Bombs(t, "minimalloc", 2, []formattest.Bomb{
		{Name: "500,000 rows", Content: formattest.Content("lower,upper,size\n", formattest.Rep("0,1,0\n", 500_000)),
			Want: "reading takes more than"},
		{Name: "10 million cells", Content: formattest.Content("lower,upper,size\n", formattest.Rep(",", 10<<20),
			"\n"), Want: "a row has more than 1000 cells"},
		{Name: "an id of 2 KB", Content: formattest.Content("id,lower,upper,size\n", formattest.Rep("x", 2000),
			",0,1,1\n"), Want: "a name is 2000 bytes long"},
	})
}
