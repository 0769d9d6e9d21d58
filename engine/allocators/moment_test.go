package allocators_test

import (
	"math/rand/v2"
	"testing"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/allocators"
)

// slowMoment measures the memory after an event by looking at every buffer that lives then.
func slowMoment(r *alloc.Requests, l *alloc.Layout, event int, top engine.Bytes) (used, largest engine.Bytes) {
	var live []int
	for i, b := range r.Buffers {
		if b.Start <= event && event < b.End && l.Addr[i] != alloc.NoAddr && b.Bytes > 0 {
			live = append(live, i)
			used += b.Bytes
		}
	}
	// A hole begins at 0 or at the end of a buffer and reaches to the next one.
	for _, from := range append([]int{-1}, live...) {
		var at engine.Bytes
		if from >= 0 {
			at = l.Addr[from] + r.Buffers[from].Bytes
		}
		next := top
		for _, j := range live {
			if l.Addr[j] >= at {
				next = min(next, l.Addr[j])
			} else if l.Addr[j]+r.Buffers[j].Bytes > at {
				next = at
			}
		}
		largest = max(largest, next-at)
	}
	return used, largest
}

func TestMomentsBySlowSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for round := range 200 {
		var list []alloc.Entry
		var live []string
		for i := range 2 + rng.IntN(60) {
			if len(live) > 0 && rng.IntN(2) == 0 {
				at := rng.IntN(len(live))
				list = append(list, alloc.Entry{Name: live[at], Free: true})
				live = append(live[:at], live[at+1:]...)
				continue
			}
			name := string(rune('a' + i))
			list = append(list, alloc.Entry{Name: name, Bytes: engine.Bytes(1 + rng.IntN(20))})
			live = append(live, name)
		}
		r, err := alloc.FromEvents(list)
		if err != nil {
			t.Fatal(err)
		}
		pool := r.AggregatePeak() + engine.Bytes(rng.IntN(8))
		l, err := alloc.Lookup("best-fit").Place(r, pool, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		moments, err := l.Moments(r, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := len(r.Events)
		if l.Failed != nil {
			want = l.Failed.Event
		}
		if len(moments) != want {
			t.Fatalf("round %d: %d moments, want %d", round, len(moments), want)
		}
		for i, m := range moments {
			used, largest := slowMoment(r, l, i, pool)
			if m.Used != used || m.Largest != largest || m.Reserved != pool || m.Event != i {
				t.Errorf("round %d, event %d: got %+v, want %d used, largest hole %d of %d", round, i, m, used,
					largest, pool)
			}
		}
	}
}

// The memory that PyTorch reserves grows by segments, and what is used contains the rounding.
func TestMomentsOfSegments(t *testing.T) {
	r, err := alloc.FromEvents([]alloc.Entry{
		{Name: "a", Bytes: 3 * engine.MiB}, {Name: "b", Bytes: 100}, {Name: "a", Free: true},
		{Name: "c", Bytes: 4 * engine.MiB},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := alloc.Lookup("pytorch").Place(r, engine.NoLimit, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.Moments(r, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	const mib = engine.MiB
	for i, want := range []alloc.Moment{
		{Event: 0, Used: 3 * mib, Reserved: 20 * mib, Largest: 17 * mib},
		{Event: 1, Used: 3*mib + 512, Reserved: 22 * mib, Largest: 17 * mib},
		{Event: 2, Used: 512, Reserved: 22 * mib, Largest: 20 * mib},
		{Event: 3, Used: 4*mib + 512, Reserved: 22 * mib, Largest: 16 * mib},
	} {
		if got[i] != want {
			t.Errorf("after event %d: got %+v, want %+v", i, got[i], want)
		}
	}
}

// With virtual addressing no free chunk is lost to holes.
func TestMomentsOfChunks(t *testing.T) {
	r, err := alloc.FromEvents([]alloc.Entry{{Name: "a", Bytes: 5}, {Name: "b", Bytes: 5}, {Name: "c", Bytes: 5},
		{Name: "b", Free: true}, {Name: "a", Free: true}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := allocators.Virtual(r, engine.NoLimit, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.Moments(r, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if last, want := got[4], (alloc.Moment{Event: 4, Used: 8, Reserved: 24, Largest: 16}); last != want {
		t.Errorf("in the end: got %+v, want %+v", last, want)
	}
}

// Holes end at the ends of segments, which are reserved and released over time.
func TestMomentsWithinSegments(t *testing.T) {
	r, err := alloc.FromEvents([]alloc.Entry{{Name: "a", Bytes: 4}, {Name: "b", Bytes: 6}, {Name: "a", Free: true},
		{Name: "b", Free: true}, {Name: "c", Bytes: 1}})
	if err != nil {
		t.Fatal(err)
	}
	l := &alloc.Layout{Addr: []engine.Bytes{100, 110, 112}, Pool: 120}
	segments := []alloc.Segment{{Addr: 110, Bytes: 10, From: 1, To: 5}, {Addr: 100, Bytes: 10, From: 0, To: 4}}
	got, err := l.Moments(r, segments, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []alloc.Moment{
		{Event: 0, Used: 4, Reserved: 10, Largest: 6},
		{Event: 1, Used: 10, Reserved: 20, Largest: 6},
		{Event: 2, Used: 6, Reserved: 20, Largest: 10},
		{Event: 3, Reserved: 20, Largest: 20}, // adjacent segments form one hole, even if no buffer can use it
		{Event: 4, Used: 1, Reserved: 10, Largest: 7},
	} {
		if got[i] != want {
			t.Errorf("after event %d: got %+v, want %+v", i, got[i], want)
		}
	}
}
