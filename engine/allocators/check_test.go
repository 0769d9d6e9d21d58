package allocators_test

import (
	"testing"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/allocators"
)

// TestCheckFindsEveryReason breaks a valid layout in every way that Check reports.
func TestCheckFindsEveryReason(t *testing.T) {
	r, err := alloc.FromLives([]alloc.Buffer{{Start: 0, End: 4, Bytes: 5}, {Start: 1, End: 3, Bytes: 2},
		{Start: 3, End: 6, Bytes: 2}})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[alloc.Reason]struct {
		name string
		ruin func(l *alloc.Layout)
	}{
		alloc.BadShape:    {"best-fit", func(l *alloc.Layout) { l.Addr = l.Addr[:2] }},
		alloc.BadMissing:  {"best-fit", func(l *alloc.Layout) { l.Addr[1] = alloc.NoAddr }},
		alloc.BadAddress:  {"best-fit", func(l *alloc.Layout) { l.Addr[0] = -7 }},
		alloc.BadSize:     {"va", func(l *alloc.Layout) { l.Took[2] = 1 }},
		alloc.BadPool:     {"best-fit", func(l *alloc.Layout) { l.Addr[2]++ }},
		alloc.BadOverlap:  {"best-fit", func(l *alloc.Layout) { l.Addr[1]-- }},
		alloc.BadChunks:   {"va", func(l *alloc.Layout) { l.Chunks[0] = l.Chunks[0][:1] }},
		alloc.BadSharing:  {"va", func(l *alloc.Layout) { l.Chunks[1][0] = l.Chunks[0][0] }},
		alloc.BadReserved: {"va", func(l *alloc.Layout) { l.Reserved = l.Reserved[:1] }},
	}
	for reason := range alloc.NumReasons {
		c, ok := cases[reason]
		if !ok {
			t.Errorf("%v: no case", reason)
			continue
		}
		l := place(t, "best-fit", r, engine.NoLimit)
		if c.name == "va" {
			if l, err = allocators.Virtual(r, engine.NoLimit, 2, nil); err != nil {
				t.Fatal(err)
			}
			sound(t, c.name, r, l)
		}
		c.ruin(l)
		hit := false
		bad := alloc.Check(r, l)
		for _, v := range bad {
			hit = hit || v.Reason == reason
		}
		if !hit {
			t.Errorf("%v: got %v", reason, bad)
		}
	}
}
