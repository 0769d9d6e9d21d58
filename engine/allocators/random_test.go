package allocators_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// randomRequests draws up to n buffers of at most size bytes. Some have 0 bytes, and some live to the end.
func randomRequests(t *testing.T, r *rand.Rand, n, size int) *alloc.Requests {
	t.Helper()
	var list []alloc.Entry
	var live []string
	for i := range 1 + r.IntN(n) {
		for len(live) > 0 && r.IntN(5) < 2 {
			at := r.IntN(len(live))
			list = append(list, alloc.Entry{Name: live[at], Free: true})
			live = append(live[:at], live[at+1:]...)
		}
		name := fmt.Sprint(i)
		live = append(live, name)
		list = append(list, alloc.Entry{Name: name, Bytes: engine.Bytes(r.IntN(size + 1)), High: r.IntN(4) == 0})
	}
	out, err := alloc.FromEvents(list)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// tightRequests returns requests that fill a small memory to the last byte again and again: some buffers are
// released, and others of the same total size follow. The sequence of a_ij and d_j of paper 003
// (docs/paper-003.md) does the same. Holes are often unavoidable.
func tightRequests(t *testing.T, r *rand.Rand) *alloc.Requests {
	t.Helper()
	var list []alloc.Entry
	var live []int // indices into sizes
	var sizes []int
	free := 8 + r.IntN(6)
	for len(sizes) < 18 {
		for free > 0 {
			n := min(free, 1+r.IntN(2+2*len(list)/8))
			free -= n
			list = append(list, alloc.Entry{Name: fmt.Sprint(len(sizes)), Bytes: engine.Bytes(n)})
			live = append(live, len(sizes))
			sizes = append(sizes, n)
		}
		for range min(len(live), 2) {
			at := r.IntN(len(live))
			list = append(list, alloc.Entry{Name: fmt.Sprint(live[at]), Free: true})
			free += sizes[live[at]]
			live = append(live[:at], live[at+1:]...)
		}
	}
	out, err := alloc.FromEvents(list)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// smallestPool tries all placements at whole addresses. It returns the smallest pool that suffices, from pool
// upwards.
func smallestPool(r *alloc.Requests, pool engine.Bytes) engine.Bytes {
	addr := make([]engine.Bytes, len(r.Buffers))
	var try func(i int) bool
	try = func(i int) bool {
		if i == len(addr) {
			return true
		}
		b := r.Buffers[i]
	next:
		for a := engine.Bytes(0); a+b.Bytes <= pool; a++ {
			for j := range i {
				o := r.Buffers[j]
				if o.Start < b.End && b.Start < o.End && addr[j] < a+b.Bytes && a < addr[j]+o.Bytes {
					continue next
				}
			}
			addr[i] = a
			if try(i + 1) {
				return true
			}
		}
		return false
	}
	for !try(0) {
		pool++
	}
	return pool
}

// TestOptimalAgainstBruteForce compares pools of tiny cases, and checks that one byte less is refused. Some of them
// need a pool above their aggregate peak.
func TestOptimalAgainstBruteForce(t *testing.T) {
	lossy := 0
	for seed := range uint64(1500) {
		r := randomRequests(t, enginetest.Rand(seed), 9, 5)
		if seed%2 == 1 {
			r = tightRequests(t, enginetest.Rand(seed))
		}
		want := smallestPool(r, r.AggregatePeak())
		if want > r.AggregatePeak() {
			lossy++
		}
		l := place(t, "optimal", r, engine.NoLimit)
		if l.Pool != want || !l.Optimal {
			t.Fatalf("seed %d: got %d, optimal %v; want %d, true\n%+v", seed, l.Pool, l.Optimal, want, r)
		}
		if l := place(t, "optimal", r, want); l.Pool > want {
			t.Errorf("seed %d: in %d: got %d\n%+v", seed, want, l.Pool, r)
		}
		if want == 0 {
			continue
		}
		_, err := alloc.Lookup("optimal").Place(r, want-1, nil, nil)
		var infeasible *engine.InfeasibleError
		if !errors.As(err, &infeasible) {
			t.Errorf("seed %d: in %d: got %v, want an InfeasibleError\n%+v", seed, want-1, err, r)
		}
	}
	t.Logf("%d cases cannot be placed without loss", lossy)
	if lossy < 5 {
		t.Errorf("%d cases cannot be placed without loss: the generator is off", lossy)
	}
}

// TestEveryAllocatorIsSound checks the layouts of all allocators on random requests, in pools from too small to
// more than enough.
func TestEveryAllocatorIsSound(t *testing.T) {
	var names []string
	for _, a := range alloc.Allocators() {
		names = append(names, a.Name)
		if a.Title == "" || a.Doc == "" || a.Placer == nil {
			t.Errorf("%s: title, documentation or method are missing", a.Name)
		}
		failed := 0
		for seed := range uint64(200) {
			r := randomRequests(t, enginetest.Rand(seed), 40, 30)
			for i := range r.Buffers {
				r.Buffers[i].Bytes *= 300 * engine.KiB
			}
			l := bounded(t, a, r, engine.NoLimit)
			if l == nil || l.Failed != nil || a.Name != "va" && l.Pool < r.AggregatePeak() {
				t.Fatalf("%s, seed %d: got %+v without a limit\n%+v", a.Name, seed, l, r)
			}
			for _, part := range []engine.Bytes{2, 3, 4, 6} {
				if l := bounded(t, a, r, r.AggregatePeak()*part/4); l == nil || l.Failed != nil {
					failed++
				}
			}
		}
		if failed < 200 || failed > 750 {
			t.Errorf("%s: %d of 800 failed in limited pools: the cases are off", a.Name, failed)
		}
	}
	for _, linked := range []string{"best-fit", "high-end", "optimal", "pytorch", "va"} {
		if !slices.Contains(names, linked) {
			t.Errorf("got allocators %q, want %s among them: it stands in links", names, linked)
		}
	}
}

// smallest returns the smallest value of every number among the parameters of an allocator, which suits small
// pools.
func smallest(a *alloc.Allocator) engine.Args {
	args := engine.Args{}
	for _, p := range a.Params {
		if p.Choices == nil {
			args[p.Name] = strconv.Itoa(p.Min)
		}
	}
	return args
}

// bounded places requests with a limit of polls that no search of this size reaches. It returns nil if nothing fits.
func bounded(t *testing.T, a *alloc.Allocator, r *alloc.Requests, pool engine.Bytes) *alloc.Layout {
	t.Helper()
	ctx := engine.LimitCalls(t.Context(), 100_000)
	l, err := a.Place(r, pool, smallest(a), engine.NewPoll(ctx, nil))
	var infeasible *engine.InfeasibleError
	switch {
	case errors.As(err, &infeasible):
		return nil
	case err != nil && !errors.Is(err, context.DeadlineExceeded):
		t.Fatalf("%s in %d: %v", a.Name, pool, err)
	}
	sound(t, a.Name, r, l)
	if l.Failed != nil && (l.Failed.Bytes <= l.Failed.Largest || l.Failed.Largest > l.Failed.Free) {
		t.Errorf("%s in %d: the failure contradicts itself: %+v", a.Name, pool, l.Failed)
	}
	return l
}

// TestDeadlineIsNotInfeasible stops a search that is too large to end, at its first poll and at later ones. It always
// has a layout, which gets no worse with more polls. TestStopsSoon of engine/all measures how soon it stops.
func TestDeadlineIsNotInfeasible(t *testing.T) {
	r := hard(t)
	for _, pool := range []engine.Bytes{engine.NoLimit, r.AggregatePeak()} {
		best := engine.NoLimit
		for _, calls := range []int{0, 1, 100, 10_000, 400_000} {
			l, err := alloc.Lookup("optimal").Place(r, pool, nil,
				engine.NewPoll(engine.LimitCalls(t.Context(), calls), nil))
			if !errors.Is(err, context.DeadlineExceeded) || l == nil || l.Optimal {
				t.Fatalf("in %d, stopped after %d polls: got %+v, %v; want the best so far and the deadline", pool,
					calls, l, err)
			}
			sound(t, "optimal", r, l)
			if l.Pool > best {
				t.Errorf("in %d, stopped after %d polls: a pool of %d, but after fewer polls there was one of %d",
					pool, calls, l.Pool, best)
			}
			best = l.Pool
		}
	}
}

// hard returns many buffers of odd sizes, so that no sums are equal.
func hard(t *testing.T) *alloc.Requests {
	t.Helper()
	rnd := enginetest.Rand(3)
	var buffers []alloc.Buffer
	for range 400 {
		start := rnd.IntN(300)
		buffers = append(buffers, alloc.Buffer{Start: start, End: start + 1 + rnd.IntN(60),
			Bytes: engine.Bytes(10_000 + rnd.IntN(90_000))})
	}
	r, err := alloc.FromLives(buffers)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFromTrace checks the buffers of a trace that offloads: their order, their flags, and each order of the
// requests of one moment.
func TestFromTrace(t *testing.T) {
	trace := &sim.Trace{
		Spans: []sim.Span{{Kind: sim.SpanForward}, {Kind: sim.SpanFetch}, {Kind: sim.SpanBackward}},
		Lives: []sim.Life{
			{Bytes: 4, Start: 0, End: 2, StartSeq: 0, EndSeq: 1, From: 0, Offloaded: true, Category: sim.Activation},
			{Bytes: 3, Start: 5, End: 9, StartSeq: 2, EndSeq: 5, From: 2, Category: sim.Gradient},
			{Bytes: 4, Start: 5, End: 9, StartSeq: 3, EndSeq: 6, From: 1, Category: sim.Activation, Offloaded: true},
			{Bytes: 2, Start: 6, End: 8, StartSeq: 4, EndSeq: 4, From: sim.NoSpan, Category: sim.Workspace},
		},
	}
	for order, want := range map[alloc.Order][]int{
		alloc.AsPlayed: {0, 0, 1, 2, 3, 3, 1, 2}, alloc.DerivativeFirst: {0, 0, 1, 2, 3, 3, 1, 2},
		alloc.PrefetchFirst: {0, 0, 2, 1, 3, 3, 1, 2},
	} {
		r := alloc.FromTrace(trace, order)
		for i, e := range r.Events {
			if e.Buffer != want[i] {
				t.Errorf("order %d: got events %+v, want buffers %v", order, r.Events, want)
				break
			}
		}
		if !r.Buffers[0].High || r.Buffers[2].High || r.Buffers[3].Start != 4 || r.Buffers[3].End != 5 ||
			r.AggregatePeak() != 9 {
			t.Errorf("order %d: got %+v and a peak of %d", order, r.Buffers, r.AggregatePeak())
		}
	}
}

// TestPieces checks that small buffers are mapped in pieces of 2 MiB and larger ones in whole chunks, and that
// the validator refuses a larger buffer in pieces.
func TestPieces(t *testing.T) {
	va := alloc.Lookup("va")
	args := engine.Args{"chunk": "7", "small": "pieces"} // 7 MiB is rounded up to 8
	const mib = engine.MiB
	whole := map[engine.Bytes]engine.Bytes{0: 0, 1: 2 * mib, 2 * mib: 2 * mib, 2*mib + 1: 4 * mib, 8 * mib: 8 * mib,
		8*mib + 1: 16 * mib, 16*mib + 1: 24 * mib}
	for seed := range uint64(100) {
		r := randomRequests(t, enginetest.Rand(seed), 30, 30)
		for i := range r.Buffers {
			r.Buffers[i].Bytes *= 700 * engine.KiB
		}
		l, err := va.Place(r, engine.NoLimit, args, nil)
		if err != nil {
			t.Fatal(err)
		}
		sound(t, "va", r, l)
		for i, b := range r.Buffers {
			want := (b.Bytes + 2*mib - 1) / (2 * mib) * (2 * mib)
			if b.Bytes > 8*mib {
				want = (b.Bytes + 8*mib - 1) / (8 * mib) * (8 * mib)
			}
			if l.Took[i] != want {
				t.Errorf("seed %d: %d bytes take %d, want %d", seed, b.Bytes, l.Took[i], want)
			}
		}
	}
	for bytes, want := range whole {
		r, err := alloc.FromLives([]alloc.Buffer{{Bytes: bytes, End: 1}})
		if err != nil {
			t.Fatal(err)
		}
		l, err := va.Place(r, engine.NoLimit, args, nil)
		if err != nil || l.Took[0] != want {
			t.Fatalf("%d bytes: got %+v, %v; want %d taken", bytes, l, err, want)
		}
		if bytes <= 8*mib {
			continue
		}
		l.Chunks[0] = l.Chunks[0][:len(l.Chunks[0])-1] // still enough bytes, but not whole chunks
		if bad := alloc.Check(r, l); len(bad) == 0 || bad[0].Reason != alloc.BadChunks {
			t.Errorf("%d bytes in %d pieces: got %v, want wrong chunks", bytes, len(l.Chunks[0]), bad)
		}
	}
}
