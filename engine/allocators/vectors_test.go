package allocators_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/allocators"
)

// pooled is the expected result of a vector for an allocator that works in one pool.
type pooled struct {
	SearchPool engine.Bytes                   `json:"search_pool"`
	SearchRuns int                            `json:"search_runs"`
	Addresses  map[string]engine.Bytes        `json:"addresses"`
	At         map[string][2]*json.RawMessage `json:"at"`
}

func requests(t *testing.T, v *allocators.Vector) *alloc.Requests {
	t.Helper()
	var list []alloc.Entry
	for _, e := range v.Trace {
		list = append(list, alloc.Entry{Name: e.ID, Free: e.Free, Bytes: engine.Bytes(e.Size), High: e.High})
	}
	r, err := alloc.FromEvents(list)
	if err != nil {
		t.Fatalf("%s: %v", v.ID, err)
	}
	return r
}

func place(t *testing.T, name string, r *alloc.Requests, pool engine.Bytes) *alloc.Layout {
	t.Helper()
	a := alloc.Lookup(name)
	l, err := a.Place(r, pool, nil, nil)
	if err != nil {
		t.Fatalf("%s in %d: %v\n%+v", name, pool, err, r)
	}
	sound(t, name, r, l)
	return l
}

// sound reports every violation that alloc.Check finds in a layout.
func sound(t *testing.T, name string, r *alloc.Requests, l *alloc.Layout) {
	t.Helper()
	for _, v := range alloc.Check(r, l) {
		t.Errorf("%s: %v\n%+v\n%+v", name, v, r, l)
	}
}

func TestVectors(t *testing.T) {
	vectors := allocators.Vectors()
	for i := range vectors {
		v := &vectors[i]
		r := requests(t, v)
		if want, _ := v.ExpectInt("aggregate_peak"); r.AggregatePeak() != engine.Bytes(want) {
			t.Errorf("%s: aggregate peak: got %d, want %d", v.ID, r.AggregatePeak(), want)
		}
		optimal := place(t, "optimal", r, engine.NoLimit)
		if !optimal.Optimal || optimal.Pool < r.AggregatePeak() {
			t.Errorf("%s: optimal: got %d, proven %v, for %d bytes", v.ID, optimal.Pool, optimal.Optimal,
				r.AggregatePeak())
		}
		for _, name := range []string{"best-fit", "high-end"} {
			var want pooled
			if err := json.Unmarshal(v.Expect[name], &want); err != nil {
				t.Fatalf("%s: %s: %v", v.ID, name, err)
			}
			comparePooled(t, v.ID, name, r, &want)
			if optimal.Pool > want.SearchPool {
				t.Errorf("%s: the optimal pool of %d is larger than the %d of %s", v.ID, optimal.Pool,
					want.SearchPool, name)
			}
		}
		compareVirtual(t, v, r)
	}
	if len(vectors) < 71 {
		t.Errorf("got %d vectors, want 71", len(vectors))
	}
}

func comparePooled(t *testing.T, id, name string, r *alloc.Requests, want *pooled) {
	t.Helper()
	l := place(t, name, r, engine.NoLimit)
	if l.Pool != want.SearchPool || l.Runs != want.SearchRuns {
		t.Errorf("%s: %s: got a pool of %d after %d runs, want %d after %d", id, name, l.Pool, l.Runs,
			want.SearchPool, want.SearchRuns)
	}
	for i, b := range r.Buffers {
		if addr, ok := want.Addresses[b.Name]; !ok || l.Addr[i] != addr {
			t.Errorf("%s: %s: %s: got address %d, want %d (expected: %v)", id, name, b.Name, l.Addr[i], addr, ok)
		}
	}
	for size, outcome := range want.At {
		pool, err := strconv.ParseInt(size, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		l := place(t, name, r, engine.Bytes(pool))
		served, event := "true", (*json.RawMessage)(nil)
		if l.Failed != nil {
			served = "false"
			at := json.RawMessage(strconv.Itoa(l.Failed.Event))
			event = &at
		}
		same := (event == nil) == (outcome[1] == nil) && (event == nil || string(*event) == string(*outcome[1]))
		if served != string(*outcome[0]) || !same {
			t.Errorf("%s: %s in %d: got served %s, failure %v; want %s, %s", id, name, pool, served, l.Failed,
				*outcome[0], size)
		}
	}
}

func compareVirtual(t *testing.T, v *allocators.Vector, r *alloc.Requests) {
	t.Helper()
	var want struct {
		PeakChunks int          `json:"peak_chunks"`
		Waste      engine.Bytes `json:"max_internal_fragmentation"`
		MaxLive    int          `json:"max_live"`
	}
	if err := json.Unmarshal(v.Expect["va"], &want); err != nil {
		t.Fatalf("%s: va: %v", v.ID, err)
	}
	l, err := allocators.Virtual(r, engine.NoLimit, v.VAChunk, nil)
	if err != nil {
		t.Fatalf("%s: va: %v", v.ID, err)
	}
	sound(t, "va", r, l)
	if l.PeakChunks() != want.PeakChunks || l.PeakWaste(r) != want.Waste || mostLive(r) != want.MaxLive {
		t.Errorf("%s: va: got %d chunks, %d lost, %d live; want %+v", v.ID, l.PeakChunks(), l.PeakWaste(r),
			mostLive(r), want)
	}
	exact := engine.Bytes(want.PeakChunks) * l.Chunk
	if l, _ := allocators.Virtual(r, exact, l.Chunk, nil); l.Failed != nil {
		t.Errorf("%s: va: %v in %d bytes", v.ID, l.Failed, exact)
	}
	if l, _ := allocators.Virtual(r, exact-1, l.Chunk, nil); l.Failed == nil {
		t.Errorf("%s: va: no failure in %d bytes", v.ID, exact-1)
	}
}

// TestUnavoidableHoles checks the sequence of a_ij and d_j of paper 003 (docs/paper-003.md), in thirds of its
// unit. No placement fits into its aggregate peak, and one third more is enough.
func TestUnavoidableHoles(t *testing.T) {
	vectors := allocators.Vectors()
	at := slices.IndexFunc(vectors, func(v allocators.Vector) bool { return v.ID == "alloc-000" })
	r := requests(t, &vectors[at])
	if l := place(t, "optimal", r, engine.NoLimit); l.Bound != 12 || l.Pool != 13 || !l.Optimal {
		t.Errorf("got a pool of %d for %d bytes, optimal %v; want 13 for 12, true", l.Pool, l.Bound, l.Optimal)
	}
	_, err := alloc.Lookup("optimal").Place(r, 12, nil, nil)
	if _, ok := err.(*engine.InfeasibleError); !ok {
		t.Errorf("in 12: got %v, want an InfeasibleError", err)
	}
	if l := place(t, "optimal", r, 13); l.Pool != 13 {
		t.Errorf("in 13: got %d", l.Pool)
	}
}

// mostLive returns the largest number of buffers that live at the same time.
func mostLive(r *alloc.Requests) (most int) {
	live := 0
	for _, e := range r.Events {
		if e.Free {
			live--
		} else {
			live++
		}
		most = max(most, live)
	}
	return most
}
