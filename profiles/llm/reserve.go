package llm

import (
	"memtide/engine"
	"memtide/engine/caching"
	"memtide/profiles"
)

// replay sends what the program asked for through PyTorch's caching allocator, one cache
// for each stream, by these rules, and returns the most that was reserved together. It ends
// with the poll's error.
func (l *ledger) replay(rules caching.Rules, poll *engine.Poll) (peak engine.Bytes) {
	var caches [numPools]*caching.Cache
	for i := range caches {
		caches[i] = caching.NewWith(engine.NoLimit, rules)
	}
	blocks := make([]caching.Block, len(l.storages))
	for _, e := range l.events {
		profiles.End(poll.Err())
		if e < 0 {
			caches[l.storages[-e-1].pool].Give(blocks[-e-1])
			continue
		}
		s := &l.storages[e-1]
		b, ok := caches[s.pool].Take(0, s.bytes)
		if !ok {
			return engine.NoLimit
		}
		blocks[e-1] = b
		var sum engine.Bytes
		for _, c := range caches {
			sum += c.Reserved()
		}
		peak = max(peak, sum)
	}
	return peak
}
