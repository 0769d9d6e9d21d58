package alloc_test

import (
	"compress/gzip"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"memtide/engine"
	"memtide/engine/alloc"
)

// TestReplay runs a recorded training step through PyTorch's rules and compares
// every address. The recording starts in the middle of things: what was in use
// then follows from what is in use at the end, read backwards.
func TestReplay(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "data", "memory_events")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("../shared/data/memory_events is not there")
	}
	events, segments := table(t, filepath.Join(dir, "magma.events.csv.gz")), table(t, filepath.Join(dir, "magma.segments.csv.gz"))
	c := alloc.NewCache(engine.NoLimit)
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

// table reads a compressed CSV file without its first line.
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

// TestPyTorchRules goes through the rules one by one; addresses are worked out
// by hand.
func TestPyTorchRules(t *testing.T) {
	const kib, mib = engine.KiB, engine.MiB
	r, err := alloc.FromEvents([]alloc.Entry{
		{Name: "a", Bytes: 1},                // rounds to 512, first small segment [0, 2 MiB)
		{Name: "b", Bytes: mib},              // behind it
		{Name: "c", Bytes: mib - 512},        // fills the segment to the last byte
		{Name: "d", Bytes: 512},              // needs a second small segment [2, 4)
		{Name: "e", Bytes: mib + 1},          // large pool: segment of 20 MiB [4, 24)
		{Name: "f", Bytes: 10 * mib},         // would fit behind e
		{Name: "g", Bytes: 10*mib + 1},       // segment of its own, 12 MiB [24, 36)
		{Name: "b", Free: true},              // hole [512, 512+1 MiB)
		{Name: "h", Bytes: 600},              // the smallest hole: in b's place, not behind d
		{Name: "g", Free: true},              // [24, 36) is free again
		{Name: "i", Bytes: 11*mib + 100*kib}, // its rest of 924 KiB is not split off
		{Name: "f", Free: true},              // joins the rest of [4, 24)
		{Name: "j", Bytes: 18 * mib},         // fits only where f and the rest were joined
		{Name: "a", Free: true},              // beside h, c: a hole of 512 bytes
		{Name: "k", Bytes: 200},              // and the best fit for it
	})
	check(t, err)
	l := place(t, "pytorch", r, engine.NoLimit)
	e := mib + 512
	want := map[string]engine.Bytes{"a": 0, "b": 512, "c": 512 + mib, "d": 2 * mib, "e": 4 * mib, "f": 4*mib + e,
		"g": 24 * mib, "h": 512, "i": 24 * mib, "j": 4*mib + e, "k": 0}
	for i, b := range r.Buffers {
		if l.Addr[i] != want[b.Name] {
			t.Errorf("%s: got address %d, want %d", b.Name, l.Addr[i], want[b.Name])
		}
	}
	if l.PeakReserved() != 36*mib || l.Took[8] != 12*mib {
		t.Errorf("got %d reserved and %d for i, want %d and %d", l.PeakReserved(), l.Took[8], 36*mib, 12*mib)
	}
}

// TestPyTorchGivesBack sees that a limited cache returns idle segments before a
// request fails, and not more.
func TestPyTorchGivesBack(t *testing.T) {
	const mib = engine.MiB
	r, err := alloc.FromEvents([]alloc.Entry{
		{Name: "a", Bytes: 12 * mib}, {Name: "a", Free: true}, {Name: "b", Bytes: 16 * mib}, {Name: "c", Bytes: 2 * mib},
	})
	check(t, err)
	l := place(t, "pytorch", r, 20*mib)
	if l.Failed == nil || l.Failed.Event != 3 || l.Failed.Largest != 0 || l.Failed.Unreserved != 4*mib {
		t.Errorf("got %+v, want event 3 to fail with 4 MiB left", l.Failed)
	}
	if l = place(t, "pytorch", r, 28*mib); l.Failed != nil || l.PeakReserved() != 28*mib {
		t.Errorf("in 28 MiB: got %+v and %d reserved, want none and %d", l.Failed, l.PeakReserved(), 28*mib)
	}
}
