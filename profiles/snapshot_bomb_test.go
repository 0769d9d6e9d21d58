package profiles

import "testing"

// TestBombs: see formattest.Bombs.
func TestBombs_snapshot(t *testing.T) {
	runBombs(t, "snapshot", 1, []bomb{
		{"16 million dictionaries", content("\x80\x04", rep("}", 16<<20)), "more than 1048576 values wait"},
		{"a list of 16 million dictionaries", content("\x80\x04](", rep(rep("}", 1000)+"e(", 16_000)), "would take more than 109 MiB of memory to read"},
		{"a memo of 30 million", content("\x80\x04]", rep("\x94", 30<<20), "."), "would take more than"},
		{"nested lists", content("\x80\x04", rep("](", 1<<20)), "nested deeper than 100"},
		{"a long integer beyond the file", content("\x80\x04\x8a\xff\x01."), "ends early"},
		{"a text beyond the file", content("\x80\x04X\xff\xff\xff\xff."), "ends early"},
		{"LONG4", content("\x80\x04\x8b\xff\xff\xff\x7f."), "LONG4, which memory snapshots do not use"},
	})
}
