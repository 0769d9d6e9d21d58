package preset

import (
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/alloc"
	_ "memtide/engine/allocators" // registers best fit, which the test names
	"memtide/profiles"
)

// TestSequences checks how allocators handle the two sequences, with the numbers of Shriram et al. (2019) and of
// an exhaustive search.
func TestSequences(t *testing.T) {
	for _, test := range []struct {
		id               string
		live, least      engine.Bytes // the most that is held at once, and the smallest pool
		search           engine.Bytes // the pool with which the search of best fit ends
		serves, fails    []engine.Bytes
		from, fromEndsAt engine.Bytes // where a larger search starts, and where it ends
	}{
		{"fragmented", 12, 13, 16, []engine.Bytes{16, 17}, []engine.Bytes{12, 13, 14}, 0, 0},
		{"larger-pool", 9, 9, 9, []engine.Bytes{9, 14, 15}, []engine.Bytes{8, 10, 11, 12, 13}, 11, 14},
	} {
		p := built(t, test.id, 1)
		r := p.Memory.Requests
		if got := r.AggregatePeak(); got != test.live*unitSize {
			t.Errorf("%s: at most %d bytes live; want %d MiB", test.id, got, test.live)
		}
		if l := placed(t, "optimal", r, engine.NoLimit); l.Pool != test.least*unitSize || !l.Optimal {
			t.Errorf("%s: the smallest pool has %d bytes, proven %v; want %d MiB", test.id, l.Pool, l.Optimal,
				test.least)
		}
		if l := placed(t, "best-fit", r, engine.NoLimit); l.Pool != test.search*unitSize {
			t.Errorf("%s: best fit's search ends at %d bytes; want %d MiB", test.id, l.Pool, test.search)
		}
		for _, pool := range test.serves {
			if l := placed(t, "best-fit", r, pool*unitSize); l.Failed != nil {
				t.Errorf("%s in %d MiB: %v; want it served", test.id, pool, l.Failed)
			}
		}
		for _, pool := range test.fails {
			if l := placed(t, "best-fit", r, pool*unitSize); l.Failed == nil {
				t.Errorf("%s in %d MiB: served; want a failure", test.id, pool)
			}
		}
		if pool := test.from * unitSize; pool > 0 {
			for l := placed(t, "best-fit", r, pool); l.Failed != nil; l = placed(t, "best-fit", r, pool) {
				pool += l.Failed.Bytes - l.Failed.Largest
			}
			if pool != test.fromEndsAt*unitSize {
				t.Errorf("%s: a search from %d MiB ends at %d bytes; want %d MiB", test.id, test.from, pool,
					test.fromEndsAt)
			}
		}
	}
}

// placed returns a layout that passes alloc.Check.
func placed(t *testing.T, name string, r *alloc.Requests, pool engine.Bytes) *alloc.Layout {
	t.Helper()
	a := alloc.Lookup(name)
	l, err := a.Place(r, pool, nil, nil)
	if err != nil {
		t.Fatalf("%s in %d: %v", name, pool, err)
	}
	for _, v := range alloc.Check(r, l) {
		t.Errorf("%s in %d: %v", name, pool, v)
	}
	return l
}

// TestSequenceProfiles checks the fields of the sequences' profiles.
func TestSequenceProfiles(t *testing.T) {
	count := 0
	for _, p := range Presets() {
		if p.memory == nil {
			continue
		}
		count++
		a, b := built(t, p.ID, 1), built(t, p.ID, 1)
		if a.Chain != nil || a.Graph != nil || a.Memory == nil || a.Memory.Requests == b.Memory.Requests {
			t.Errorf("%s: %+v; want requests of its own and nothing else", p.ID, a)
		}
		if s := a.Source; s.Sizes != profiles.Exact || !strings.HasPrefix(s.URL, "https://") || len(s.Notes) < 3 ||
			p.Group != counterexampleGroup {
			t.Errorf("%s: source %+v in group %q; want exact numbers, a citation and notes", p.ID, s, p.Group)
		}
	}
	if count != 2 {
		t.Errorf("%d sequences; want 2", count)
	}
}
