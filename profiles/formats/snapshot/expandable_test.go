package snapshot

import (
	"slices"
	"testing"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/profiles"
	"memtide/profiles/doctor"
)

// TestUnmapped checks expandable segments that give back pages across the borders of what was mapped at once, and
// from the middle of it. The rest is free memory, without the segment for small requests. Addresses without pages
// are counted separately.
func TestUnmapped(t *testing.T) {
	none := list()
	last := func(addr, size int, blocks ...any) pyDict {
		return append(segment(0, addr, size, blocks...), "is_expandable", true)
	}
	oom := pyDict{"action", "oom", "device_free", 3 * miB, "size", 30 * miB, "stream", 0, "frames", none}
	small := []any{snapEvent("segment_map", 400*miB, 2*miB, none), snapEvent("alloc", 400*miB, 512, none)}
	for _, c := range []struct {
		name  string
		first engine.Bytes // not mapped before the first event
		trace []any
	}{
		{"across borders", 60 * engine.MiB,
			[]any{snapEvent("segment_map", 0, 20*miB, none), snapEvent("alloc", 0, 10*miB, none),
				snapEvent("segment_map", 20*miB, 20*miB, none),
				snapEvent("segment_map", 40*miB, 20*miB, none), snapEvent("alloc", 10*miB, 50*miB, none),
				snapEvent("free_completed", 10*miB, 50*miB, none),
				snapEvent("segment_unmap", 20*miB, 40*miB, none)}},
		{"from the middle", 60 * engine.MiB,
			[]any{snapEvent("segment_map", 0, 60*miB, none), snapEvent("alloc", 0, 10*miB, none),
				snapEvent("alloc", 10*miB, 50*miB, none),
				snapEvent("free_completed", 10*miB, 50*miB, none), snapEvent("segment_unmap", 20*miB, 40*miB, none)}},
		{"mapped before", 2 * engine.MiB,
			[]any{snapEvent("alloc", 0, 10*miB, none), snapEvent("free_completed", 10*miB, 50*miB, none),
				snapEvent("segment_unmap", 20*miB, 40*miB, none)}},
	} {
		p := readSnapshot(t, list(last(0, 20*miB, snapBlock(0, 10*miB, "active_allocated")),
			last(400*miB, 2*miB, snapBlock(400*miB, 512, "active_allocated"))),
			list(slices.Concat(small, c.trace, []any{oom})...))
		f := p.Memory.Recorded.Failed
		if f == nil || f.Free != 10*engine.MiB || f.Largest != 10*engine.MiB || len(p.Warnings) > 0 {
			t.Errorf("%s: found %+v, warnings %q; want 10 MiB free in one hole and no warnings", c.name, f, p.Warnings)
		}
		r, err := doctor.Examine(p, doctor.Decisive, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := r.Failure
		if d.Free != 10*engine.MiB || d.HoleCount != 1 || d.Unmapped != 40*engine.MiB || d.Reserved != 22*engine.MiB {
			t.Errorf("%s: %d bytes free in %d holes, %d not mapped, of %d reserved; want 10 MiB in 1, 40 MiB, of 22 MiB", c.name, d.Free, d.HoleCount, d.Unmapped, d.Reserved)
		}
		if got := p.Memory.Unmapped(0); got != c.first {
			t.Errorf("%s: at first %d bytes are not mapped, want %d", c.name, got, c.first)
		}
	}
}

// TestEmptied checks when giving back segments counts as the program emptying the cache: if a stack says so, or
// if all that is reserved afterwards had room before.
func TestEmptied(t *testing.T) {
	none, called := list(), list(snapFrame("torch/cuda/memory.py", "empty_cache", 3), snapFrame("train.py", "main", 9))
	begin := []any{snapEvent("segment_alloc", 0, 40*miB, none), snapEvent("alloc", 0, 40*miB, none),
		snapEvent("segment_alloc", 100*miB, 20*miB, none),
		snapEvent("alloc", 100*miB, 20*miB, none), snapEvent("free_completed", 0, 40*miB, none)}
	reserve := func(size int) []any {
		return []any{snapEvent("segment_alloc", 200*miB, size*miB, none), snapEvent("alloc", 200*miB, size*miB, none)}
	}
	back := []any{snapEvent("segment_free", 0, 40*miB, none)}
	// with 20 and 30 MiB it is more than was reserved before
	grown := []any{snapEvent("segment_alloc", 300*miB, 60*miB, none), snapEvent("alloc", 300*miB, 60*miB, none)}
	for _, c := range []struct {
		name     string
		settings string
		events   []any
		want     []int
		pressed  bool
	}{
		{"there was room for more", "", slices.Concat(back, reserve(30), grown), []int{3}, false},
		{"there was none", "", slices.Concat(back, reserve(50)), nil, true},
		{"there was none, but it was called", "",
			slices.Concat([]any{snapEvent("segment_free", 0, 40*miB, called)}, reserve(50)), []int{3}, false},
		{"nothing is reserved after it", "",
			slices.Concat(back, []any{snapEvent("free_completed", 100*miB, 20*miB, none)}, reserve(50)), []int{3},
			false},
		{"garbage is collected", "garbage_collection_threshold:0.8", slices.Concat(back, reserve(50)), nil, false},
		{"before a request that failed", "",
			slices.Concat(back, []any{pyDict{"action", "oom", "device_free", 0, "size", 30 * miB, "stream", 0,
				"frames", none}}), nil, true},
	} {
		data := pickle(4, pyDict{"segments", none, "device_traces", list(list(slices.Concat(begin, c.events)...)),
			"allocator_settings", pyDict{"PYTORCH_CUDA_ALLOC_CONF", c.settings, "max_split_size", -1}})
		p, err := profiles.Decode("snap.pickle", profiles.Bytes(data), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.History.Emptied; !slices.Equal(got, c.want) || p.History.Pressed != c.pressed {
			t.Errorf("%s: the cache was emptied before the events %v, for want of room %t; want %v, %t", c.name, got,
				p.History.Pressed, c.want, c.pressed)
		}
		if e := p.Memory.Requests.Events[2]; e != (alloc.Event{Buffer: 0, Free: true}) {
			t.Fatalf("%s: event 2 is %+v; want that buffer 0 is given back", c.name, e)
		}
	}
}
