package caching

import (
	"fmt"

	"memtide/engine"
)

// AddSegment reserves a wholly free segment at a given address, as recorded in a snapshot. A segment of 2 MiB
// belongs to the small pool.
func (c *Cache) AddSegment(addr, size engine.Bytes) error {
	// Segments of the large pool have at least 10 MiB, so the size determines the pool.
	_, err := c.addSegment(addr, size, c.pool(poolKey{small: size == smallSegment}))
	return err
}

// Mark marks n bytes at addr as used. It brings a cache into a recorded state, regardless of where best fit would
// have put them.
func (c *Cache) Mark(addr, n engine.Bytes) error {
	n = max(roundUp(n, roundTo), roundTo)
	if i := c.behind(addr) - 1; i >= 0 {
		for at := c.at(i).first; at != none; at = c.blocks[at].next {
			if b := &c.blocks[at]; !b.used && !b.unmapped && b.addr <= addr && addr+n <= b.addr+b.size {
				c.used[addr] = c.use(at, addr, n)
				return nil
			}
		}
	}
	return fmt.Errorf("%d bytes at %d are not free", n, addr)
}
