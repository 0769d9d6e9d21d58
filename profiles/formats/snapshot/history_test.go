package snapshot

import (
	"bytes"
	"runtime"
	"slices"
	"testing"

	"memtide/profiles"
)

// TestHistory checks that stacks are kept as a tree with equal ones shared, and that each request has its time
// and stream.
func TestHistory(t *testing.T) {
	main, left, right := snapFrame("train.py", "main", 1), snapFrame(`C:\net.py`, "left", 2),
		snapFrame("net.py", "right", 3)
	event := func(action string, at, stream, time int, frames ...any) pyDict {
		return pyDict{"action", action, "addr", snapBase + at, "size", 512, "stream", stream, "time_us",
			1_700_000_000_000_000 + time, "frames", list(frames...)}
	}
	data := pickle(4, pyDict{"segments", list(), "device_traces", list(list(
		event("alloc", 0, 7_000_000, 0, left, main), event("alloc", 512, 0, 40, right, main),
		event("free_completed", 0, 7_000_000, 50), event("alloc", 1024, 7_000_000, 70, left, main))),
		"allocator_settings", pyDict{"PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:64", "expandable_segments", false}})
	p, err := profiles.Decode("x", profiles.Bytes(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	h := p.History
	frames := []profiles.Frame{{}, {File: "C:/net.py", Name: "left", Line: 2},
		{File: "train.py", Name: "main", Line: 1}, {File: "net.py", Name: "right", Line: 3}}
	calls := []profiles.Call{{}, {Parent: 0, Frame: 2}, {Parent: 1, Frame: 1}, {Parent: 1, Frame: 3}}
	if !slices.Equal(h.Stacks.Frames, frames) || !slices.Equal(h.Stacks.Calls, calls) ||
		!slices.Equal(h.Stack, []int32{2, 3, 2}) {
		t.Errorf("frames %v, calls %v, stacks %v; want %v, %v, [2 3 2]", h.Stacks.Frames, h.Stacks.Calls, h.Stack,
			frames, calls)
	}
	if !slices.Equal(h.Times, []int64{0, 40, 50, 70}) || !slices.Equal(h.Streams, []int16{0, 1, 0}) ||
		h.Settings != "max_split_size_mb:64" {
		t.Errorf("times %v, streams %v, settings %q; want [0 40 50 70], [0 1 0], max_split_size_mb:64", h.Times,
			h.Streams, h.Settings)
	}
}

// TestNewer checks that additions of PyTorch 2.8 and later change nothing: metadata of the user, annotations,
// counters of registered pools, settings in groups, traces without events, and a mark of the snapshot itself.
func TestNewer(t *testing.T) {
	frame := snapFrame("net.py", "forward", 5)
	event := func(action string, at, size int) pyDict {
		return append(snapEvent(action, at, size, list(&frame)), "compile_context", "N/A", "user_metadata", "step 1")
	}
	seg := append(segment(0, 0, 20*miB, append(snapBlock(0, 2*miB, "active_allocated"), "user_metadata", "")),
		"is_expandable", true, "registration_counter", -1, "frames", list())
	data := pickle(4, pyDict{"segments", list(seg),
		"device_traces", list(list(event("segment_map", 0, 20*miB), event("alloc", 0, 2*miB),
			event("alloc", 2*miB, miB), event("free_requested", 2*miB, miB),
			event("free_completed", 2*miB, miB), event("snapshot", -snapBase, 0)), list(), list()),
		"allocator_settings", pyDict{"PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", "max_split_size", -1,
			"garbage_collection_threshold", 0.5, "expandable_segments", true,
			"roundup_power2_divisions", pyDict{"1", 0, "2", 0}},
		"external_annotations", list(pyDict{"name", "## step 1 ##", "stage", "START", "time_us",
			1_700_000_000_000_000, "device", 0})})
	p, err := profiles.Decode("x", profiles.Bytes(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(p.Memory.Requests.Buffers); got != 2 || p.History.Device != 0 || !p.History.Expandable ||
		p.History.Settings != "expandable_segments:True" || len(p.Warnings) > 0 {
		t.Errorf("%d buffers of device %d, expandable %t, settings %q, warnings %q; want 2 of device 0, true, expandable_segments:True, none",
			got, p.History.Device, p.History.Expandable, p.History.Settings, p.Warnings)
	}
}

// TestRecursion checks that a frame that occurs twice in a list is twice in the stack, although the second
// occurrence refers to the first before that is resolved. The same holds for a frame in the lists of two events
// and for a list that two events share.
func TestRecursion(t *testing.T) {
	again, main := snapFrame("net.py", "forward", 2), snapFrame("train.py", "main", 1)
	both := list(&again, &again, &main)
	data := pickle(4, pyDict{"device_traces",
		list(list(snapEvent("alloc", 0, 512, both), snapEvent("alloc", 512, 512, both),
			snapEvent("alloc", 1024, 512, list(&again, &main))))})
	p, err := profiles.Decode("x", profiles.Bytes(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	h := p.History
	calls := []profiles.Call{{}, {Parent: 0, Frame: 2}, {Parent: 1, Frame: 1}, {Parent: 2, Frame: 1}}
	if !slices.Equal(h.Stacks.Calls, calls) || !slices.Equal(h.Stack, []int32{3, 3, 2}) {
		t.Errorf("calls %v, stacks %v; want %v, [3 3 2]", h.Stacks.Calls, h.Stack, calls)
	}
}

// TestLean checks that an event of a recording that is longer than what is kept takes only its two places in the
// memo while it is read, whatever its stack.
func TestLean(t *testing.T) {
	const events, kept = 100_000, 2 * chunkSize // whole chunks, like maxTrace
	var frames []any
	for i := range 40 {
		frame := snapFrame("net.py", "forward", i)
		frames = append(frames, &frame)
	}
	var trace []any
	for i := range events {
		trace = append(trace, snapEvent([]string{"alloc", "free_completed"}[i%2], i/2%1000*512, 512,
			list(frames[i%7:]...)))
	}
	data := pickle(4, pyDict{"device_traces", list(list(trace...))})
	u := newUnpickler(bytes.NewReader(data), len(data), kept, nil)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	_, err := profiles.Try(u.run)
	runtime.ReadMemStats(&after)
	spent := after.TotalAlloc - before.TotalAlloc
	const fixed = 4 << 20 // a window of the file, and what stays open
	if most := 2*memoRoom*events + eventRoom*kept + fixed; err != nil || u.built > most || spent > uint64(most) {
		t.Errorf("%d events in %d bytes: %v; %d bytes counted and %d allocated, want at most %d", events, len(data),
			err, u.built, spent, most)
	}
	if got := u.traces[0]; got.events.n != kept || got.cut != events-kept {
		t.Errorf("%d events are kept and %d left out; want %d and %d", got.events.n, got.cut, kept, events-kept)
	}
}
