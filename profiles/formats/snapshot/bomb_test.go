package snapshot

import (
	"testing"

	"memtide/profiles/formats/formattest"
)

// TestBombs: see formattest.Bombs.
func TestBombs(t *testing.T) {
	formattest.Bombs(t, "snapshot", 1, []formattest.Bomb{
		{Name: "16 million dictionaries", Content: formattest.Content("\x80\x04", formattest.Rep("}", 16<<20)),
			Want: "more than 1048576 values wait"},
		{Name: "a list of 16 million dictionaries",
			Content: formattest.Content("\x80\x04](", formattest.Rep(formattest.Rep("}", 1000)+"e(", 16_000)),
			Want:    "would take more than 94 MiB of memory to read"},
		{Name: "a memo of 40 million", Content: formattest.Content("\x80\x04]", formattest.Rep("\x94", 40<<20), "."),
			Want: "would take more than"},
		{Name: "nested lists", Content: formattest.Content("\x80\x04", formattest.Rep("](", 1<<20)),
			Want: "nested deeper than 100"},
		{Name: "a long integer beyond the file", Content: formattest.Content("\x80\x04\x8a\xff\x01."),
			Want: "ends early"},
		{Name: "a text beyond the file", Content: formattest.Content("\x80\x04X\xff\xff\xff\xff."), Want: "ends early"},
		{Name: "LONG4", Content: formattest.Content("\x80\x04\x8b\xff\xff\xff\x7f."),
			Want: "LONG4, which memory snapshots do not use"},
	})
}
