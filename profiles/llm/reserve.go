package llm

import (
	"memtide/engine"
	"memtide/engine/caching"
)

// replay sends what the program asked for through PyTorch's caching allocator, one cache
// for each stream, by these rules, and returns the most that was reserved together.
func (l *ledger) replay(rules caching.Rules, poll *engine.Poll) (peak engine.Bytes) {
	var caches [numPools]*caching.Cache
	for i := range caches {
		caches[i] = caching.NewWith(engine.NoLimit, rules)
	}
	addr := make([]engine.Bytes, len(l.storages))
	for _, e := range l.events {
		going(poll)
		if e < 0 {
			if err := caches[l.storages[-e-1].pool].Free(addr[-e-1]); err != nil {
				panic(err)
			}
			continue
		}
		s := &l.storages[e-1]
		a, _, ok := caches[s.pool].Alloc(s.bytes)
		if !ok {
			return engine.NoLimit
		}
		addr[e-1] = a
		var sum engine.Bytes
		for _, c := range caches {
			sum += c.Reserved()
		}
		peak = max(peak, sum)
	}
	return peak
}
