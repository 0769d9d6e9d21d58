package allocators_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/alloc"
)

// mostNodes limits the nodes of the search for one instance, which polls once at each node. The instances take 4
// to 36 million nodes.
const mostNodes = 100_000_000

// TestMiniMalloc places google/minimalloc's hard instances within the capacity
// in their file names, in a bounded number of nodes. The quick ones are always run;
// MEMTIDE_LONG=1 adds the others.
func TestMiniMalloc(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for WebAssembly, after this ran natively")
	}
	files, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "data", "minimalloc", "?.*.csv"))
	if len(files) == 0 {
		t.Skip("../shared/data/minimalloc is not there")
	}
	for _, path := range files {
		name, rest, _ := strings.Cut(filepath.Base(path), ".")
		t.Run(name, func(t *testing.T) {
			if os.Getenv("MEMTIDE_LONG") == "" && !strings.Contains(quickInstances, name) {
				t.Skip("MEMTIDE_LONG is not set")
			}
			capacity, err := strconv.ParseInt(strings.TrimSuffix(rest, ".csv"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			r := readLives(t, path)
			l, err := alloc.Lookup("optimal").Place(r, engine.Bytes(capacity), nil,
				engine.NewPoll(engine.LimitCalls(t.Context(), mostNodes), nil))
			if err != nil {
				t.Fatalf("%s: no placement in %d within %d nodes: %v", path, capacity, mostNodes, err)
			}
			t.Logf("%s: %d buffers in %d of %d, at least %d", name, len(r.Buffers), l.Pool, capacity, l.Bound)
			for _, v := range alloc.Check(r, l) {
				t.Errorf("%s: %v", path, v)
			}
			if l.Pool > engine.Bytes(capacity) {
				t.Errorf("%s: got a pool of %d, want at most %d", path, l.Pool, capacity)
			}
		})
	}
}

// quickInstances are the letters of the instances that take a few seconds together.
const quickInstances = "CDE"

// readLives reads a CSV file with the columns id, lower, upper and size.
func readLives(t *testing.T, path string) *alloc.Requests {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var buffers []alloc.Buffer
	for i, row := range rows[1:] {
		var n [3]int
		for k := range n {
			if n[k], err = strconv.Atoi(row[k+1]); err != nil {
				t.Fatalf("%s: row %d: %v", path, i+1, err)
			}
		}
		buffers = append(buffers, alloc.Buffer{Name: row[0], Start: n[0], End: n[1], Bytes: engine.Bytes(n[2])})
	}
	r, err := alloc.FromLives(buffers)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return r
}
