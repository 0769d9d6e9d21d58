package caching

import (
	"cmp"
	"slices"

	"memtide/engine"
)

// grow reserves memory for n bytes and returns its block. If the limit forbids it, grow first gives free segments
// back. It returns none if that is not enough.
func (c *Cache) grow(p int, n engine.Bytes) int32 {
	c.collect()
	if b := c.reserve(p, n); b != none {
		return b
	}
	if c.rules.MaxSplit > 0 && !c.rules.Expandable && c.releaseLarge(p, n) {
		if b := c.reserve(p, n); b != none {
			return b
		}
	}
	c.Empty()
	return c.reserve(p, n)
}

// reserve takes memory of the device for n bytes and returns its block, or none if the limit forbids it.
func (c *Cache) reserve(p int, n engine.Bytes) int32 {
	if c.rules.Expandable {
		return c.mapPages(p, n)
	}
	size := roundUp(n, roundLarge)
	switch {
	case n <= smallest:
		size = smallSegment
	case n < ownSegment:
		size = largeSegment
	}
	if size > c.limit-c.reserved {
		return none
	}
	b, _ := c.addSegment(c.end, size, p) // after all other segments, so that it overlaps none
	return b
}

// Empty gives back all segments and pages that are wholly free, as torch.cuda.empty_cache does.
func (c *Cache) Empty() {
	for _, s := range slices.Backward(c.byAddr) {
		switch {
		case c.rules.Expandable && s == c.lists[c.segments[s].pool].growing:
			c.unmapFree(s)
		case c.idle(s):
			c.release(s)
		}
	}
}

// releaseLarge gives back wholly free segments of a pool: one that has n bytes, or the largest ones until they have
// n bytes together. It reports whether they have.
func (c *Cache) releaseLarge(p int, n engine.Bytes) bool {
	n = max(n, c.rules.MaxSplit)
	list := slices.Clone(c.lists[p].free)
	for _, b := range list {
		if s := c.blocks[b.block].segment; b.size >= n && c.idle(s) {
			c.release(s)
			return true
		}
	}
	var freed engine.Bytes
	for _, b := range slices.Backward(list) {
		if freed >= n || b.size < c.rules.MaxSplit {
			break
		}
		if s := c.blocks[b.block].segment; c.idle(s) {
			freed += b.size
			c.release(s)
		}
	}
	return freed >= n
}

// collect gives back the large segments that have been free for longest, until no more than the threshold is reserved.
func (c *Cache) collect() {
	if c.rules.Collect == 0 || c.rules.Expandable || c.limit == engine.NoLimit {
		return
	}
	most := c.limit / 100 * engine.Bytes(c.rules.Collect)
	for c.reserved > most {
		var idle []freeBlock
		age := 0
		for _, s := range c.byAddr {
			if first := c.segments[s].first; !c.lists[c.segments[s].pool].small && c.idle(s) {
				idle = append(idle, c.free(first))
				age += c.clock - c.blocks[first].freed
			}
		}
		if len(idle) == 0 {
			return
		}
		slices.SortStableFunc(idle, func(a, b freeBlock) int { return cmp.Compare(a.size, b.size) })
		n := len(idle)
		for _, f := range idle {
			if b := &c.blocks[f.block]; c.reserved > most && (c.clock-b.freed)*n >= age {
				c.release(b.segment)
			}
		}
	}
}

// growingSize is the size of the address range of an expandable segment.
const growingSize = engine.Bytes(1) << 48

// room returns the size of a free block of an expandable segment, together with the unmapped addresses after it.
func (c *Cache) room(at int32) engine.Bytes {
	b := &c.blocks[at]
	if b.next != none && c.blocks[b.next].unmapped {
		return b.size + c.blocks[b.next].size
	}
	return b.size
}

// mapPages finds the lowest free range of n bytes in the expandable segment, maps the pages that it lacks, and
// returns its block. It returns none if the limit forbids it.
func (c *Cache) mapPages(p int, n engine.Bytes) int32 {
	if c.lists[p].growing == none {
		addr := roundUp(c.end, growingSize)
		first := c.insert(len(c.byAddr), segment{addr: addr, size: growingSize, pool: p},
			block{addr: addr, size: growingSize, unmapped: true})
		c.end, c.lists[p].growing, c.lists[p].lowest = addr+growingSize, c.blocks[first].segment, first
	}
	page := c.lists[p].pageSize
	for first := c.lists[p].lowest; first != none; first = c.unmapped(c.blocks[first].next) {
		at := first
		if before := c.blocks[at].prev; before != none && !c.blocks[before].used {
			at = before
		}
		var have, need engine.Bytes
		for i := at; i != none && !c.blocks[i].used && have < n; i = c.blocks[i].next {
			x := &c.blocks[i]
			if x.unmapped {
				need += min(roundUp(n-have, page), x.size)
			}
			have += x.size
		}
		if have < n {
			continue
		}
		if need > c.limit-c.reserved {
			return none
		}
		return c.mapAt(at, n, page)
	}
	return none
}

// unmapped returns the first unmapped block from at on, or none.
func (c *Cache) unmapped(at int32) int32 {
	for at != none && !c.blocks[at].unmapped {
		at = c.blocks[at].next
	}
	return at
}

// mapAt maps pages of the free range that begins with b, so that the first block has n bytes.
func (c *Cache) mapAt(b int32, n, page engine.Bytes) int32 {
	if c.blocks[b].unmapped {
		b = c.mapBlock(b, n, page)
	}
	for c.blocks[b].size < n {
		b = c.mapBlock(c.blocks[b].next, n-c.blocks[b].size, page)
	}
	return b
}

// mapBlock maps pages for n bytes at the start of an unmapped block, or the whole block, and returns the free block
// that contains them.
func (c *Cache) mapBlock(b int32, n, page engine.Bytes) int32 {
	if size := min(roundUp(n, page), c.blocks[b].size); size < c.blocks[b].size {
		c.cut(b, size)
	}
	x := &c.blocks[b]
	c.reserved += x.size
	x.unmapped, x.freed = false, c.clock
	if p := c.of(b); p.lowest == b {
		p.lowest = c.unmapped(b)
	}
	return c.join(b)
}

// unmapFree gives back the wholly free pages of an expandable segment.
func (c *Cache) unmapFree(segment int32) {
	s := c.segments[segment]
	page := c.lists[s.pool].pageSize
	for _, f := range slices.Clone(c.lists[s.pool].free) {
		b := f.block
		from, to := s.addr+roundUp(f.addr-s.addr, page), s.addr+(f.addr+f.size-s.addr)/page*page
		if c.blocks[b].segment != segment || from >= to {
			continue
		}
		c.drop(b)
		if from > f.addr {
			rest := c.cut(b, from-f.addr)
			c.put(b)
			b = rest
		}
		if to < f.addr+f.size {
			c.put(c.cut(b, to-from))
		}
		c.reserved -= c.blocks[b].size
		c.blocks[b].unmapped = true
		c.join(b)
	}
	c.lists[s.pool].lowest = c.unmapped(s.first)
}
