package llm

import (
	"testing"

	"memtide/engine"
	"memtide/engine/caching"
)

// TestLateStorages checks storages that another stream uses when they are freed. They do not count as allocated, but
// serve no request before the program has waited for the event behind them.
func TestLateStorages(t *testing.T) {
	const block = 32 * engine.MiB
	var l ledger
	reserved := func() engine.Bytes { return l.replay(caching.Rules{}, nil) / block }
	for unit, want := range []engine.Bytes{1, 2, 2, 2} { // the third waits for the first
		l.limit()
		h := l.takeLate(gather, block, Gathered)
		if got := reserved(); got != want {
			t.Errorf("%d blocks are reserved when unit %d is gathered, want %d", got, unit, want)
		}
		l.give(h)
		l.mark()
	}
	if l.peak != block {
		t.Errorf("%d bytes are allocated, want %d", l.peak, block)
	}
	l.wait()
	for range 2 {
		l.takeIn(gather, block, Gathered)
	}
	if got := reserved(); got != 2 || len(l.waiting) > 0 {
		t.Errorf("%d blocks are reserved after all events, %d entries wait; want 2 and none", got, len(l.waiting))
	}
}
