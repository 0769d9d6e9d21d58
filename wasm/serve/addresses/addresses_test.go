package addresses

import (
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/profiles"
	"memtide/profiles/doctor"
	"memtide/wasm/proto"
)

// TestMemoryForPage checks that a file with recorded addresses is answered with its buffers and with the recorded
// placement, measured and checked.
func TestMemoryForPage(t *testing.T) {
	r, err := alloc.FromEvents([]alloc.Entry{{Name: "a", Bytes: 4}, {Name: "b", Bytes: 2}, {Name: "a", Free: true},
		{Name: "c", Bytes: 1}})
	if err != nil {
		t.Fatal(err)
	}
	m := &profiles.Memory{Requests: r, Recorded: &alloc.Layout{Addr: []engine.Bytes{0, 4, 0}, Pool: 8,
		Reserved: []alloc.Level{{Event: 0, Bytes: 8}}}, Capacity: 8}
	got := memory(m, nil)
	if got.Count != 3 || got.Peak != 6 || got.Capacity != 8 || got.Buffers.At(2) != 2*time.Microsecond {
		t.Errorf("got %+v, want 3 buffers with a peak of 6", got)
	}
	rec := got.Recorded
	if rec == nil || rec.Allocator != proto.Recorded || !rec.Verdict.Verified || rec.Top != 6 || rec.Pool != 8 {
		t.Fatalf("recorded is %+v, want a verified layout up to 6 of 8", rec)
	}
	if last := rec.Moments[len(rec.Moments)-1]; last.Used != 3 || last.Largest != 3 {
		t.Errorf("in the end %+v, want 3 bytes used and a largest hole of 3", last)
	}
}

// TestRefusedIsNotInUse checks that the peak of a recording does not count a request that found no room, as in
// package doctor.
func TestRefusedIsNotInUse(t *testing.T) {
	m := &profiles.Memory{Requests: &alloc.Requests{Buffers: []alloc.Buffer{{Bytes: 8, End: 3},
		{Bytes: 100, Start: 1, End: 3}}, Events: []alloc.Event{{}, {Buffer: 1}, {Free: true}}},
		Recorded: &alloc.Layout{Addr: []engine.Bytes{0, alloc.NoAddr}, Pool: 8, Reserved: []alloc.Level{{Bytes: 8}},
			Failed: &alloc.Failure{Event: 1, Buffer: 1, Bytes: 100}}}
	got := memory(m, nil)
	p := &profiles.Profile{Memory: m, History: &profiles.History{Stack: make([]int32, 2), Streams: make([]int16, 2),
		Stacks: profiles.Stacks{Frames: make([]profiles.Frame, 1), Calls: make([]profiles.Call, 1)}}}
	want, err := doctor.Read(p)
	if err != nil {
		t.Fatal(err)
	}
	if peak := want.Report(doctor.Decisive).Peak; peak != 8 || got.Peak != peak || got.Recorded.Peak != peak ||
		got.Recorded.PeakAt != 0 {
		t.Errorf("in use at the peak are %d and %d bytes at %v, the doctor says %d; want 8 at the start", got.Peak,
			got.Recorded.Peak, got.Recorded.PeakAt, peak)
	}
}
