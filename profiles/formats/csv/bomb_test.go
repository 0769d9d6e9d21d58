package csv

import (
	"testing"

	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// TestBombs: see formattest.Bombs.
func TestBombs(t *testing.T) {
	formattest.Bombs(t, "csv", 1, []formattest.Bomb{
		{Name: "10 million columns", Content: formattest.Content(csvHead, formattest.Rep(",", 20<<20), "\n"),
			Want: "Line 2: a row has more than 1000 cells"},
		{Name: "10 million columns in the header",
			Content: formattest.Content("#"+formattest.Rep("-", profiles.HeadSize-300)+"\n", csvHead[:len(csvHead)-1],
				formattest.Rep(",x", 10<<20), "\n"), Want: "The header line is longer than 64 KiB"},
		{Name: "a cell of 50 MB", Content: formattest.Content(csvHead, formattest.Rep("x", 50<<20), ",1,2,3\n"),
			Want: "Line 2: a row is longer than 64 KiB"},
		{Name: "a quote that is not closed",
			Content: formattest.Content(csvHead, `"`, formattest.Rep("a,1,2,3\n", 8<<20)),
			Want:    "Line 2: a row is longer than 64 KiB; its last quote is not closed"},
		{Name: "a name of 2 KB", Content: formattest.Content(csvHead, formattest.Rep("x", 2000), ",1,2,3\n"),
			Want: "Line 2: a name is 2000 bytes long. At most 1000 bytes are read."},
		{Name: "a million stages", Content: formattest.Content(csvHead, formattest.Rep("a,1,2,3\n", 1<<20)),
			Want: "There are more than 19999 stages"},
		{Name: "a million comments", Content: formattest.Content(formattest.Rep("#a:b\n", 1000), csvHead,
			formattest.Rep("#a:b\n", 1<<20)), Want: "There are no stages"},
		{Name: "a number of 60 KB", Content: formattest.Content(csvHead, "a,", formattest.Rep("1", 60_000), ",2,3\n"),
			Want: "A number is at most 1000 characters long; this one has 60000."},
	})
}
