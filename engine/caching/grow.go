package caching

import (
	"slices"

	"memtide/engine"
)

// grow finds room for n bytes by reserving more, under pressure by giving back first
// what is not needed.
func (c *Cache) grow(p *pool, n engine.Bytes) *block {
	c.collect()
	if b := c.reserve(p, n); b != nil {
		return b
	}
	if c.rules.MaxSplit > 0 && !c.rules.Expandable && c.releaseLarge(p, n) {
		if b := c.reserve(p, n); b != nil {
			return b
		}
	}
	c.releaseAll()
	return c.reserve(p, n)
}

// reserve takes memory of the device for n bytes; nil if the limit forbids it.
func (c *Cache) reserve(p *pool, n engine.Bytes) *block {
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
	if size > c.limit-c.reserved || c.addSegment(c.end, size, p) != nil {
		return nil
	}
	return c.segments[len(c.segments)-1].first
}

// releaseAll gives back all that is wholly free.
func (c *Cache) releaseAll() {
	for _, s := range slices.Backward(c.segments) {
		switch {
		case c.rules.Expandable && s == s.pool.growing:
			c.unmapFree(s)
		case c.idle(s):
			c.release(s)
		}
	}
}

// releaseLarge gives back blocks that are not split: one that is large enough, or the
// largest ones until they are enough together.
func (c *Cache) releaseLarge(p *pool, n engine.Bytes) bool {
	n = max(n, c.rules.MaxSplit)
	for _, b := range p.free {
		if b.size >= n && c.idle(b.segment) {
			c.release(b.segment)
			return true
		}
	}
	var freed engine.Bytes
	for _, b := range slices.Backward(slices.Clone(p.free)) {
		if freed >= n || b.size < c.rules.MaxSplit {
			break
		}
		if c.idle(b.segment) {
			freed += b.size
			c.release(b.segment)
		}
	}
	return freed >= n
}

// collect gives back large segments that have been free for longest, once more than the
// threshold is reserved, until no more is.
func (c *Cache) collect() {
	if c.rules.Collect == 0 || c.rules.Expandable || c.limit == engine.NoLimit {
		return
	}
	most := c.limit / 100 * engine.Bytes(c.rules.Collect)
	for c.reserved > most {
		var idle []*segment
		age := 0
		for _, s := range c.segments {
			if !s.pool.small && c.idle(s) {
				idle = append(idle, s)
				age += c.clock - s.first.freed
			}
		}
		if len(idle) == 0 {
			return
		}
		slices.SortStableFunc(idle, func(a, b *segment) int { return blockOrder(a.first, b.first) })
		for _, s := range idle {
			if c.reserved > most && (c.clock-s.first.freed)*len(idle) >= age {
				c.release(s)
			}
		}
	}
}

// growingSize is how many addresses an expandable segment has.
const growingSize = engine.Bytes(1) << 48

// Room is what a free block of an expandable segment has with the unmapped addresses
// behind it.
func room(b *block) engine.Bytes {
	if b.next != nil && b.next.unmapped {
		return b.size + b.next.size
	}
	return b.size
}

// mapPages finds the lowest free stretch of the expandable segment that has n bytes,
// and maps pages where it has none; nil if the limit forbids it.
func (c *Cache) mapPages(p *pool, n engine.Bytes) *block {
	if p.growing == nil {
		s := &segment{addr: roundUp(c.end, growingSize), size: growingSize, pool: p}
		s.first = &block{addr: s.addr, size: growingSize, unmapped: true, segment: s}
		c.segments, c.end, p.growing = append(c.segments, s), s.addr+s.size, s
	}
	for b := p.growing.first; b != nil; b = b.next {
		if b.used || !b.unmapped && (b.next == nil || !b.next.unmapped) {
			continue
		}
		var have, need engine.Bytes
		for x := b; x != nil && !x.used && have < n; x = x.next {
			if x.unmapped {
				need += min(roundUp(n-have, p.pageSize), x.size)
			}
			have += x.size
		}
		if have < n {
			continue
		}
		if need > c.limit-c.reserved {
			return nil
		}
		return c.mapAt(p, b, n)
	}
	return nil
}

// mapAt maps pages of a stretch that begins with b, so that it has n bytes.
func (c *Cache) mapAt(p *pool, b *block, n engine.Bytes) *block {
	for {
		if b.unmapped {
			if size := min(roundUp(n, p.pageSize), b.size); size < b.size {
				c.cut(b, size)
			}
			c.reserved += b.size
			b.unmapped, b.freed = false, c.clock
			b = c.join(b)
			p.put(b)
		}
		if b.size >= n {
			return b
		}
		rest := b.next
		if size := min(roundUp(n-b.size, p.pageSize), rest.size); size < rest.size {
			c.cut(rest, size)
		}
		c.reserved += rest.size
		rest.unmapped, rest.freed = false, c.clock
		b = c.join(rest)
		p.put(b)
	}
}

// unmapFree gives back all pages of an expandable segment that are wholly free.
func (c *Cache) unmapFree(s *segment) {
	page := s.pool.pageSize
	for _, b := range slices.Clone(s.pool.free) {
		from, to := s.addr+roundUp(b.addr-s.addr, page), s.addr+(b.addr+b.size-s.addr)/page*page
		if b.segment != s || from >= to {
			continue
		}
		s.pool.drop(b)
		if from > b.addr {
			b = c.cut(b, from-b.addr)
			s.pool.put(b.prev)
		}
		if to < b.addr+b.size {
			s.pool.put(c.cut(b, to-from))
		}
		c.reserved -= b.size
		b.unmapped = true
		c.join(b)
	}
}
