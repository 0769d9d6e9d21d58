package allocators_test

import (
	"testing"

	"memtide/engine"
	"memtide/engine/alloc"
)

// nineEleven returns the sequence A1(5) A2(2) A3(1) D2 A4(1) D1 D3 A5(8) of paper 003 (docs/paper-003.md), where
// A allocates and D frees.
func nineEleven(t *testing.T) *alloc.Requests {
	t.Helper()
	r, err := alloc.FromEvents([]alloc.Entry{
		{Name: "1", Bytes: 5}, {Name: "2", Bytes: 2}, {Name: "3", Bytes: 1}, {Name: "2", Free: true},
		{Name: "4", Bytes: 1}, {Name: "1", Free: true}, {Name: "3", Free: true}, {Name: "5", Bytes: 8},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLargerPoolFails checks that best fit serves the sequence in a pool of 9 units but not in 10 to 13. The
// paper names 9 and 11.
func TestLargerPoolFails(t *testing.T) {
	r := nineEleven(t)
	for pool, served := range map[engine.Bytes]bool{8: false, 9: true, 10: false, 11: false, 12: false, 13: false,
		14: true, 15: true} {
		if l := place(t, "best-fit", r, pool); (l.Failed == nil) != served {
			t.Errorf("in %d: got failure %v, want served %v", pool, l.Failed, served)
		}
	}
	if l := place(t, "best-fit", r, engine.NoLimit); l.Pool != 9 || l.Runs != 1 {
		t.Errorf("search: got %d after %d runs, want 9 after 1", l.Pool, l.Runs)
	}
	l := place(t, "best-fit", r, 11)
	if want := (alloc.Failure{Event: 7, Buffer: 4, Bytes: 8, Largest: 5, Free: 10}); l.Failed == nil ||
		*l.Failed != want {
		t.Errorf("in 11: got %+v, want %+v", l.Failed, want)
	}
}

func TestRefusedEvents(t *testing.T) {
	for name, list := range map[string][]alloc.Entry{
		"release of nothing": {{Name: "a", Free: true}},
		"requested twice":    {{Name: "a", Bytes: 1}, {Name: "a", Bytes: 1}},
		"negative":           {{Name: "a", Bytes: -1}},
	} {
		if r, err := alloc.FromEvents(list); err == nil {
			t.Errorf("%s: got %+v, want an error", name, r)
		}
	}
	if r, err := alloc.FromLives([]alloc.Buffer{{Start: 3, End: 3, Bytes: 1}}); err == nil {
		t.Errorf("empty life: got %+v, want an error", r)
	}
	r, err := alloc.FromEvents([]alloc.Entry{{Name: "a", Bytes: 1}, {Name: "a", Free: true}, {Name: "a", Bytes: 2}})
	if err != nil || len(r.Buffers) != 2 || r.Buffers[1].End != 3 {
		t.Errorf("a name used again: got %+v, %v; want two buffers, the second to the end", r, err)
	}
}
