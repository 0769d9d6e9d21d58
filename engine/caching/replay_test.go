package caching_test

import (
	"compress/gzip"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"memtide/engine"
	"memtide/engine/caching"
)

// TestReplay replays a recorded training step by PyTorch's rules and compares every address. The recording starts
// in the middle of a run: the memory in use at its start follows from the memory in use at its end, by reading
// the events backwards.
func TestReplay(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "data", "memory_events")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("../shared/data/memory_events is not there")
	}
	events, segments := table(t, filepath.Join(dir, "magma.events.csv.gz")),
		table(t, filepath.Join(dir, "magma.segments.csv.gz"))
	c := caching.New(engine.NoLimit, caching.Rules{})
	reserved := map[string]bool{}
	for _, row := range segments {
		if !reserved[row[0]] {
			reserved[row[0]] = true
			check(t, c.AddSegment(number(t, row[0]), number(t, row[1])))
		}
		if row[4] == "1" {
			check(t, c.Mark(number(t, row[2]), number(t, row[3])))
		}
	}
	for _, row := range slices.Backward(events) {
		switch addr, size := number(t, row[2]), number(t, row[3]); row[1] {
		case "alloc":
			check(t, c.Free(addr))
		case "free_completed":
			check(t, c.Mark(addr, size))
		}
	}
	before, count := c.Reserved(), 0
	for _, row := range events {
		addr, size := number(t, row[2]), number(t, row[3])
		switch row[1] {
		case "free_completed":
			check(t, c.Free(addr))
		case "alloc":
			count++
			if got, _, _ := c.Alloc(size); got != addr {
				t.Fatalf("event %s: %d bytes: got address %d, want %d", row[0], size, got, addr)
			}
		}
	}
	if count != 1721 || c.Reserved() != before {
		t.Errorf("got %d allocations and %d reserved bytes, want 1721 and %d", count, c.Reserved(), before)
	}
	t.Logf("%d of %d addresses are equal", count, count)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func number(t *testing.T, s string) engine.Bytes {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	check(t, err)
	return engine.Bytes(n)
}

// table reads a compressed CSV file and returns its rows without the header.
func table(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	check(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	check(t, err)
	rows, err := csv.NewReader(z).ReadAll()
	check(t, err)
	return rows[1:]
}
