package allocators_test

import (
	"testing"

	"memtide/engine"
	"memtide/engine/alloc"
)

// TestPyTorchRules checks the rules one by one. The expected addresses are worked out by hand.
func TestPyTorchRules(t *testing.T) {
	const kib, mib = engine.KiB, engine.MiB
	r, err := alloc.FromEvents([]alloc.Entry{
		{Name: "a", Bytes: 1},                // rounds to 512, first small segment [0, 2 MiB)
		{Name: "b", Bytes: mib},              // behind it
		{Name: "c", Bytes: mib - 512},        // fills the segment to the last byte
		{Name: "d", Bytes: 512},              // needs a second small segment [2, 4)
		{Name: "e", Bytes: mib + 1},          // large pool: segment of 20 MiB [4, 24)
		{Name: "f", Bytes: 10 * mib},         // fits behind e
		{Name: "g", Bytes: 10*mib + 1},       // segment of its own, 12 MiB [24, 36)
		{Name: "b", Free: true},              // hole [512, 512+1 MiB)
		{Name: "h", Bytes: 600},              // the smallest hole: in b's place, not behind d
		{Name: "g", Free: true},              // [24, 36) is free again
		{Name: "i", Bytes: 11*mib + 100*kib}, // its rest of 924 KiB is not split off
		{Name: "f", Free: true},              // joins the rest of [4, 24)
		{Name: "j", Bytes: 18 * mib},         // fits only where f and the rest were joined
		{Name: "a", Free: true},              // beside h, c: a hole of 512 bytes
		{Name: "k", Bytes: 200},              // placed in this hole, the best fit
	})
	if err != nil {
		t.Fatal(err)
	}
	l := place(t, "pytorch", r, engine.NoLimit)
	e := mib + 512
	want := map[string]engine.Bytes{"a": 0, "b": 512, "c": 512 + mib, "d": 2 * mib, "e": 4 * mib, "f": 4*mib + e,
		"g": 24 * mib, "h": 512, "i": 24 * mib, "j": 4*mib + e, "k": 0}
	for i, b := range r.Buffers {
		if l.Addr[i] != want[b.Name] {
			t.Errorf("%s: got address %d, want %d", b.Name, l.Addr[i], want[b.Name])
		}
	}
	if l.PeakReserved() != 36*mib || l.Took[8] != 12*mib {
		t.Errorf("got %d reserved and %d for i, want %d and %d", l.PeakReserved(), l.Took[8], 36*mib, 12*mib)
	}
}

// TestPyTorchGivesBack checks that a cache with a limit returns idle segments before a request fails, and returns
// none while there is room.
func TestPyTorchGivesBack(t *testing.T) {
	const mib = engine.MiB
	r, err := alloc.FromEvents([]alloc.Entry{
		{Name: "a", Bytes: 12 * mib}, {Name: "a", Free: true}, {Name: "b", Bytes: 16 * mib},
		{Name: "c", Bytes: 2 * mib},
	})
	if err != nil {
		t.Fatal(err)
	}
	l := place(t, "pytorch", r, 20*mib)
	if l.Failed == nil || l.Failed.Event != 3 || l.Failed.Largest != 0 || l.Failed.Unreserved != 4*mib {
		t.Errorf("got %+v, want event 3 to fail with 4 MiB left", l.Failed)
	}
	if l = place(t, "pytorch", r, 28*mib); l.Failed != nil || l.PeakReserved() != 28*mib {
		t.Errorf("in 28 MiB: got %+v and %d reserved, want none and %d", l.Failed, l.PeakReserved(), 28*mib)
	}
}
