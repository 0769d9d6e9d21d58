package caching_test

import (
	"testing"

	"memtide/engine"
	"memtide/engine/caching"
)

// A hole that is too small for a request is not used by normal segments. An expandable segment adds only the bytes
// that the hole at its end lacks.
func TestExpandableGrowsAtItsEnd(t *testing.T) {
	const mib = engine.MiB
	reserved := func(c *caching.Cache) engine.Bytes {
		var held []engine.Bytes
		take := func(n engine.Bytes) {
			addr, _, ok := c.Alloc(n)
			if !ok {
				t.Fatalf("no room for %d bytes", n)
			}
			held = append(held, addr)
		}
		take(40 * mib)
		take(60 * mib)
		check(t, c.Free(held[1]))
		take(100 * mib) // 60 MiB of it are free at the end
		take(1000)      // from the pool for small requests
		check(t, c.Free(held[0]))
		take(80 * mib) // the hole of 40 MiB is not at the end
		return c.Reserved()
	}
	for _, c := range []struct {
		name  string
		cache *caching.Cache
		want  engine.Bytes
	}{
		{"own segments", caching.New(engine.NoLimit, caching.Rules{}), (40 + 60 + 100 + 80 + 2) * mib},
		{"expandable", caching.New(engine.NoLimit, caching.Rules{Expandable: true}), (40 + 100 + 80 + 2) * mib},
	} {
		if got := reserved(c.cache); got != c.want {
			t.Errorf("%s: %d MiB are reserved, want %d", c.name, got/mib, c.want/mib)
		}
	}
}

// The limit holds for both pools together, and a request that fails takes nothing.
func TestExpandableLimit(t *testing.T) {
	c := caching.New(30*engine.MiB, caching.Rules{Expandable: true})
	for _, r := range []struct {
		n    engine.Bytes
		want bool
	}{{15 * engine.MiB, true}, {6 * engine.MiB, false}, {1000, true}, {4 * engine.MiB, true},
		{20 * engine.MiB, false}} {
		if _, _, ok := c.Alloc(r.n); ok != r.want {
			t.Errorf("a request for %d bytes: served %v, want %v", r.n, ok, r.want)
		}
	}
	if got := c.Reserved(); got != 22*engine.MiB {
		t.Errorf("%d bytes are reserved, want 22 MiB", got)
	}
}
