package allocators

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/enginetest"
)

// TestSkyline compares the tree of the skyline with a list of heights.
func TestSkyline(t *testing.T) {
	for seed := range uint64(50) {
		r := enginetest.Rand(seed)
		slow := make([]int64, 1+r.IntN(20))
		fast := newSkyline(len(slow))
		for step := range 60 {
			lo := r.IntN(len(slow))
			hi := lo + 1 + r.IntN(len(slow)-lo)
			want := slices.Max(slow[lo:hi])
			if got := fast.over(int32(lo), int32(hi)); got != want {
				t.Fatalf("seed %d, step %d: over [%d, %d) got %d, want %d", seed, step, lo, hi, got, want)
			}
			want += int64(r.IntN(4))
			fast.raise(int32(lo), int32(hi), want)
			for i := lo; i < hi; i++ {
				slow[i] = want
			}
		}
	}
}

// TestGeometryByDefinition compares sections and overlaps with their definitions.
func TestGeometryByDefinition(t *testing.T) {
	for seed := range uint64(200) {
		r := enginetest.Rand(seed)
		var list []alloc.Buffer
		for range 1 + r.IntN(12) {
			start := r.IntN(8)
			list = append(list, alloc.Buffer{Start: start, End: start + 1 + r.IntN(6), Bytes: engine.Bytes(r.IntN(4))})
		}
		q, err := alloc.FromLives(list)
		if err != nil {
			t.Fatal(err)
		}
		g := newGeometry(q)
		g.connect()
		entries := 0
		for i, b := range list {
			var want []int32
			for j, o := range list {
				if i != j && b.Bytes > 0 && o.Bytes > 0 && b.Start < o.End && o.Start < b.End {
					want = append(want, int32(j))
				}
			}
			got := slices.Sorted(slices.Values(g.overlaps[i]))
			if !slices.Equal(got, want) {
				t.Errorf("seed %d: buffer %d overlaps with %v, want %v\n%+v", seed, i, got, want, list)
			}
			entries += len(got)
		}
		for s, in := range g.sections {
			for _, i := range in {
				if int32(s) < g.lo[i] || int32(s) >= g.hi[i] {
					t.Errorf("seed %d: section %d has buffer %d of sections [%d, %d)", seed, s, i, g.lo[i], g.hi[i])
				}
			}
			entries += len(in)
		}
		if entries != g.entries || len(g.sections) != int(g.count) {
			t.Errorf("seed %d: %d entries in %d sections, announced were %d in %d", seed, entries, len(g.sections),
				g.entries, g.count)
		}
	}
}

// unavoidable returns the entries of more, followed by the sequence of a_ij and d_j of paper 003
// (docs/paper-003.md), repeated times times. The sequence has a peak of 12 and needs a pool of 13.
func unavoidable(t *testing.T, times int, more ...alloc.Entry) *alloc.Requests {
	t.Helper()
	list, sequence := more, Vectors()[0].Trace
	for i := range times {
		live := map[string]bool{}
		for _, e := range sequence {
			name := fmt.Sprint(i, " ", e.ID)
			list = append(list, alloc.Entry{Name: name, Free: e.Free, Bytes: engine.Bytes(e.Size)})
			live[name] = !e.Free
		}
		for _, e := range sequence {
			if name := fmt.Sprint(i, " ", e.ID); live[name] {
				list = append(list, alloc.Entry{Name: name, Free: true})
				live[name] = false
			}
		}
	}
	q, err := alloc.FromEvents(list)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// TestManyBuffers places more buffers than the exact search takes at once. Sequences that are not connected are
// solved one by one. Connected ones get the best quick placement, which is not claimed to be optimal, and a failure
// is not claimed to be proven.
func TestManyBuffers(t *testing.T) {
	place := alloc.Lookup("optimal").Place
	q := unavoidable(t, 600)
	l, err := place(q, engine.NoLimit, nil, nil)
	if err != nil || l.Pool != 13 || !l.Optimal {
		t.Fatalf("%d buffers apart: got %+v, %v; want a pool of 13, proven", len(q.Buffers), l, err)
	}
	var infeasible *engine.InfeasibleError
	if _, err = place(q, 12, nil, nil); !errors.As(err, &infeasible) {
		t.Errorf("%d buffers apart in 12: got %v, want an InfeasibleError", len(q.Buffers), err)
	}
	q = unavoidable(t, 600, alloc.Entry{Name: "throughout", Bytes: 1})
	if len(q.Buffers) <= maxDeep {
		t.Fatalf("%d buffers: the case is off", len(q.Buffers))
	}
	for _, pool := range []engine.Bytes{engine.NoLimit, 13} {
		l, err = place(q, pool, nil, nil)
		if !errors.Is(err, engine.ErrUnsupported) || errors.As(err, &infeasible) || l == nil || l.Optimal {
			t.Fatalf("%d buffers in %d: got %v, want ErrUnsupported and a placement", len(q.Buffers), pool, err)
		}
		for _, v := range alloc.Check(q, l) {
			t.Errorf("%d buffers in %d: %v", len(q.Buffers), pool, v)
		}
	}
	t.Logf("%d buffers connected: %v", len(q.Buffers), err)
	if got, err := place(q, l.Pool, nil, nil); err != nil || got.Pool > l.Pool {
		t.Errorf("%d buffers in %d: got %v, want a placement", len(q.Buffers), l.Pool, err)
	}
}

// TestNestedLives places 100,000 buffers whose lives nest, all of them alive at one moment. Their overlaps do not
// fit into memory, and they need a pool no larger than their peak.
func TestNestedLives(t *testing.T) {
	const n = 100_000
	list := make([]alloc.Buffer, n)
	r := enginetest.Rand(1)
	for i := range list {
		list[i] = alloc.Buffer{Start: i, End: 3*n - i, Bytes: engine.Bytes(1 + r.IntN(1000))}
	}
	q, err := alloc.FromLives(list)
	if err != nil {
		t.Fatal(err)
	}
	l, err := alloc.Lookup("optimal").Place(q, engine.NoLimit, nil, engine.NewPoll(context.Background(), nil))
	if err != nil || l.Pool != q.AggregatePeak() || !l.Optimal {
		t.Fatalf("got %v; want a pool of %d, proven", err, q.AggregatePeak())
	}
	at := engine.Bytes(0)
	for i, b := range list { // each buffer lies on those whose lives enclose its own
		if l.Addr[i] != at {
			t.Fatalf("buffer %d: address %d, want %d", i, l.Addr[i], at)
		}
		at += b.Bytes
	}
}

// TestQuickPlacements checks the placements of pile, stack and dive. dive follows the first branch of the exact
// search, so a search without backtracking finds the same placement.
func TestQuickPlacements(t *testing.T) {
	same := 0
	for seed := range uint64(300) {
		r := enginetest.Rand(seed)
		var list []alloc.Buffer
		for range 2 + r.IntN(30) {
			start := r.IntN(20)
			list = append(list, alloc.Buffer{Start: start, End: start + 1 + r.IntN(12), Bytes: engine.Bytes(r.IntN(9))})
		}
		q, err := alloc.FromLives(list)
		if err != nil {
			t.Fatal(err)
		}
		g := newGeometry(q)
		o := &optimum{geometry: g, search: newExact(g, nil), high: 1 << 62, best: make([]int64, len(list))}
		for name, place := range map[string]func(){
			"pile":  func() { o.pile(nil) },
			"stack": func() { o.stack(g.buffers) },
			"dive":  func() { o.dive(nil) },
		} {
			o.high = 1 << 62
			place()
			l := alloc.NewLayout(q)
			for i := range l.Addr {
				l.Addr[i] = g.bytes(o.best[i])
			}
			l.Pool = g.bytes(o.high)
			l.Reserve(0, l.Pool)
			if l.Pool < l.Bound {
				t.Errorf("seed %d, %s: a pool of %d for %d", seed, name, l.Pool, l.Bound)
			}
			for _, v := range alloc.Check(q, l) {
				t.Errorf("seed %d, %s: %v\n%+v", seed, name, v, list)
			}
		}
		o.high, o.search.ranking = 1<<62, 0
		o.dive(nil)
		high, best := o.high, o.best
		s := newExact(g, nil)
		s.capacity, s.nodes = high, int64(len(g.buffers))+1 // just enough nodes for a search without backtracking
		if s.search(s.ranked(g.buffers), 0, g.count, 0, 0) == found {
			same++
			for _, b := range g.buffers {
				if s.addr[b] != best[b] {
					t.Errorf("seed %d: buffer %d dives to %d, the search places it at %d", seed, b, best[b], s.addr[b])
				}
			}
		}
	}
	if same < 100 {
		t.Errorf("%d of 300 searches need no way back: the cases are off", same)
	}
}
