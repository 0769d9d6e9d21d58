package profiles

import "testing"

// TestBombs: see formattest.Bombs.
func TestBombs_csv(t *testing.T) {
	runBombs(t, "csv", 1, []bomb{
		{"10 million columns", content(csvHead, rep(",", 20<<20), "\n"), "Line 2: a row has more than 1000 cells"},
		{"10 million columns in the header", content("#"+rep("-", HeadSize-300)+"\n", csvHead[:len(csvHead)-1], rep(",x", 10<<20), "\n"), "The header line is longer than 64 KiB"},
		{"a cell of 50 MB", content(csvHead, rep("x", 50<<20), ",1,2,3\n"), "Line 2: a row is longer than 64 KiB"},
		{"a quote that is not closed", content(csvHead, `"`, rep("a,1,2,3\n", 8<<20)), "Line 2: a row is longer than 64 KiB; its last quote is not closed"},
		{"a name of 2 KB", content(csvHead, rep("x", 2000), ",1,2,3\n"), "Line 2: a name is 2000 bytes long. At most 1000 bytes are read."},
		{"a million stages", content(csvHead, rep("a,1,2,3\n", 1<<20)), "There are more than 19999 stages"},
		{"a million comments", content(rep("#a:b\n", 1000), csvHead, rep("#a:b\n", 1<<20)), "There are no stages"},
		{"a number of 60 KB", content(csvHead, "a,", rep("1", 60_000), ",2,3\n"), "A number is at most 1000 characters long; this one has 60000."},
	})
}
