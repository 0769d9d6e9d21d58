package caching_test

import (
	"math/rand/v2"
	"testing"

	"memtide/engine"
	"memtide/engine/caching"
)

const mib = engine.MiB

// request is an allocation under a name, or its release.
type request struct {
	name  string
	bytes engine.Bytes // 0 releases the name
	ok    bool
	held  engine.Bytes // the bytes reserved after the request
}

func play(t *testing.T, title string, c *caching.Cache, list []request) {
	t.Helper()
	at := map[string]engine.Bytes{}
	for i, r := range list {
		ok := true
		if r.bytes == 0 {
			if err := c.Free(at[r.name]); err != nil {
				t.Fatalf("%s, request %d: %v", title, i, err)
			}
		} else {
			at[r.name], _, ok = c.Alloc(r.bytes)
		}
		if ok != r.ok || c.Reserved() != r.held {
			t.Fatalf("%s, request %d (%s, %d bytes): served %v, %d MiB reserved; want %v, %d MiB", title, i, r.name,
				r.bytes, ok, c.Reserved()/mib, r.ok, r.held/mib)
		}
	}
}

// TestCacheRules checks what each setting of PYTORCH_CUDA_ALLOC_CONF changes. The expected numbers are worked out
// by hand from CUDACachingAllocator.cpp.
func TestCacheRules(t *testing.T) {
	fragments := func(last bool, held engine.Bytes) []request { // 40 MiB free in two holes of 20
		return []request{{"a", 20 * mib, true, 20 * mib}, {"b", 20 * mib, true, 40 * mib},
			{"c", 20 * mib, true, 60 * mib}, {"d", 20 * mib, true, 80 * mib},
			{"a", 0, true, 80 * mib}, {"c", 0, true, 80 * mib}, {"d", 0, true, 80 * mib}, {"x", 60 * mib, last, held}}
	}
	// Whole segments are returned, and a new one is reserved.
	play(t, "default", caching.New(100*mib, caching.Rules{}), fragments(true, 80*mib))
	play(t, "default, less", caching.New(90*mib, caching.Rules{}),
		[]request{{"a", 40 * mib, true, 40 * mib}, {"a", 0, true, 40 * mib}, {"b", 12 * mib, true, 40 * mib},
			{"c", 60 * mib, false, 40 * mib}}) // the 28 MiB behind b cannot be returned
	play(t, "expandable", caching.New(90*mib, caching.Rules{Expandable: true}),
		[]request{{"a", 40 * mib, true, 40 * mib}, {"a", 0, true, 40 * mib},
			{"b", 12 * mib, true, 40 * mib},
			{"c", 60 * mib, true, 80 * mib}}) // grows by two pages of 20 MiB: 28 MiB are free behind b
	play(t, "expandable, pages given back", caching.New(100*mib, caching.Rules{Expandable: true}),
		[]request{{"a", 40 * mib, true, 40 * mib},
			{"b", 20 * mib, true, 60 * mib}, {"a", 0, true, 60 * mib}, {"c", 70 * mib, true, 100 * mib},
			{"c", 0, true, 100 * mib}, {"d", 41 * mib, true, 100 * mib}})
	// A block of 64 MiB or more is not split: the small request gets a separate segment.
	play(t, "max split", caching.New(engine.NoLimit, caching.Rules{MaxSplit: 64 * mib}),
		[]request{{"a", 80 * mib, true, 80 * mib}, {"a", 0, true, 80 * mib},
			{"b", 12 * mib, true, 92 * mib}, {"c", 70 * mib, true, 92 * mib}})
	play(t, "max split, too large a block", caching.New(engine.NoLimit, caching.Rules{MaxSplit: 64 * mib}),
		[]request{{"a", 100 * mib, true, 100 * mib}, {"a", 0, true, 100 * mib},
			{"b", 70 * mib, true, 170 * mib}})
	play(t, "max split under pressure", caching.New(110*mib, caching.Rules{MaxSplit: 64 * mib}),
		[]request{{"a", 100 * mib, true, 100 * mib}, {"a", 0, true, 100 * mib},
			{"s", mib, true, 102 * mib}, {"s", 0, true, 102 * mib}, {"b", 70 * mib, true, 72 * mib}})
	// When more than 50 of 100 MiB are reserved, the segments that have been free for longest are returned before
	// more is reserved.
	play(t, "collect", caching.New(100*mib, caching.Rules{Collect: 50}),
		[]request{{"a", 30 * mib, true, 30 * mib}, {"b", 30 * mib, true, 60 * mib}, {"a", 0, true, 60 * mib},
			{"c", 32 * mib, true, 62 * mib}})
	play(t, "nothing collected", caching.New(100*mib, caching.Rules{Collect: 80}),
		[]request{{"a", 30 * mib, true, 30 * mib}, {"b", 30 * mib, true, 60 * mib}, {"a", 0, true, 60 * mib},
			{"c", 32 * mib, true, 92 * mib}})
	// 1025 MiB and 1100 MiB are rounded up to 1152 MiB, so that b fits into the block of a.
	play(t, "divisions", caching.New(engine.NoLimit, caching.Rules{Divisions: 8}),
		[]request{{"a", 1025 * mib, true, 1152 * mib}, {"a", 0, true, 1152 * mib}, {"b", 1100 * mib, true, 1152 * mib}})
}

// TestCacheStreams checks that a stream does not use memory that another stream has freed.
func TestCacheStreams(t *testing.T) {
	c := caching.New(engine.NoLimit, caching.Rules{})
	a, _, _ := c.AllocOn(0, 30*mib)
	if err := c.Free(a); err != nil {
		t.Fatal(err)
	}
	if b, _, _ := c.AllocOn(1, 30*mib); b == a || c.Reserved() != 60*mib {
		t.Errorf("the other stream gets %d after %d, %d MiB reserved; want another place and 60 MiB", b, a,
			c.Reserved()/mib)
	}
	if b, _, _ := c.AllocOn(0, 30*mib); b != a {
		t.Errorf("the same stream gets %d, want %d again", b, a)
	}
}

// TestCacheRandom checks with random rules that blocks in use do not overlap, that the reserved memory is at most
// the limit and at least the memory in use, and that everything can be released at the end.
func TestCacheRandom(t *testing.T) {
	const limit = 400 * mib
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rules := caching.Rules{Expandable: seed%2 == 0, MaxSplit: engine.Bytes(seed%3) * 30 * mib,
			Collect: int(seed%5) * 20, Divisions: int(seed%3) * 4}
		c := caching.New(limit, rules)
		type piece struct{ at, took engine.Bytes }
		var live []piece
		var inUse engine.Bytes
		for step := range 2000 {
			if len(live) > 0 && rng.IntN(5) < 2 {
				i := rng.IntN(len(live))
				if err := c.Free(live[i].at); err != nil {
					t.Fatalf("%+v, step %d: %v", rules, step, err)
				}
				inUse -= live[i].took
				live = append(live[:i], live[i+1:]...)
				continue
			}
			n := engine.Bytes(rng.IntN(1 << (10 + rng.IntN(17))))
			at, took, ok := c.AllocOn(rng.IntN(2), n)
			if !ok {
				continue
			}
			for _, p := range live {
				if at < p.at+p.took && p.at < at+took {
					t.Fatalf("%+v, step %d: [%d, %d) overlaps [%d, %d)", rules, step, at, at+took, p.at, p.at+p.took)
				}
			}
			if took < n {
				t.Fatalf("%+v, step %d: %d bytes for %d", rules, step, took, n)
			}
			live, inUse = append(live, piece{at, took}), inUse+took
			if held := c.Reserved(); held < inUse || held > limit {
				t.Fatalf("%+v, step %d: %d reserved, want from %d in use to the limit", rules, step, held, inUse)
			}
		}
		for _, p := range live {
			if err := c.Free(p.at); err != nil {
				t.Fatalf("%+v: %v", rules, err)
			}
		}
		if _, _, ok := c.Alloc(256 * mib); !ok {
			t.Errorf("%+v: all is free, and 256 of %d MiB are refused", rules, limit/mib)
		}
	}
}
