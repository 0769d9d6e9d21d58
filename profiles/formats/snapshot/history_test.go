package snapshot

import (
	"slices"
	"testing"

	"memtide/profiles"
)

// TestHistory: stacks are kept as a tree, equal ones once, with the time and the stream
// of each request.
func TestHistory(t *testing.T) {
	main, left, right := snapFrame("train.py", "main", 1), snapFrame(`C:\net.py`, "left", 2), snapFrame("net.py", "right", 3)
	event := func(action string, at, stream, time int, frames ...any) pyDict {
		return pyDict{"action", action, "addr", snapBase + at, "size", 512, "stream", stream, "time_us", 1_700_000_000_000_000 + time, "frames", list(frames...)}
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
	frames := []profiles.Frame{{}, {File: "train.py", Name: "main", Line: 1}, {File: "C:/net.py", Name: "left", Line: 2}, {File: "net.py", Name: "right", Line: 3}}
	calls := []profiles.Call{{}, {Parent: 0, Frame: 1}, {Parent: 1, Frame: 2}, {Parent: 1, Frame: 3}}
	if !slices.Equal(h.Stacks.Frames, frames) || !slices.Equal(h.Stacks.Calls, calls) || !slices.Equal(h.Stack, []int32{2, 3, 2}) {
		t.Errorf("frames %v, calls %v, stacks %v; want %v, %v, [2 3 2]", h.Stacks.Frames, h.Stacks.Calls, h.Stack, frames, calls)
	}
	if !slices.Equal(h.Times, []int64{0, 40, 50, 70}) || !slices.Equal(h.Streams, []int16{0, 1, 0}) || h.Settings != "max_split_size_mb:64" {
		t.Errorf("times %v, streams %v, settings %q; want [0 40 50 70], [0 1 0], max_split_size_mb:64", h.Times, h.Streams, h.Settings)
	}
}
