package alloc

import (
	"fmt"
	"slices"

	"memtide/engine"
)

// The constants of PyTorch's caching allocator.
const (
	roundTo      = 512             // kMinBlockSize: sizes are multiples
	smallest     = engine.MiB      // kSmallSize: the largest request of the small pool
	smallSegment = 2 * engine.MiB  // kSmallBuffer
	largeSegment = 20 * engine.MiB // kLargeBuffer: segments for requests below ownSegment
	ownSegment   = 10 * engine.MiB // kMinLargeAlloc: from here on a segment has the size of its request
	roundLarge   = 2 * engine.MiB  // kRoundLarge: sizes of such segments are multiples
)

func roundUp(n, to engine.Bytes) engine.Bytes { return (n + to - 1) / to * to }

// Cache is the state of PyTorch's caching allocator on one stream: segments of
// device memory and the blocks they are split into.
type Cache struct {
	limit    engine.Bytes
	reserved engine.Bytes
	end      engine.Bytes // of all segments so far: new ones lie behind
	segments []*segment   // by address

	expandable bool // each pool is one segment that grows at its end
}

type segment struct {
	addr, size engine.Bytes
	small      bool
	blocks     []block // by address, without gaps; no two free ones side by side
}

type block struct {
	addr, size engine.Bytes
	used       bool
}

// NewCache is an empty cache that may reserve up to limit bytes of the device. It is not
// safe for concurrent use.
func NewCache(limit engine.Bytes) *Cache { return &Cache{limit: limit} }

// pools of expandable segments lie this far apart: no pool grows that large.
const poolsApart = engine.MaxBytes

// NewExpandable is an empty cache with expandable segments: small and large requests have
// one segment each, which grows at its end, so that what is left of one request serves
// the next one wherever they fit together.
func NewExpandable(limit engine.Bytes) *Cache {
	return &Cache{limit: limit, expandable: true, segments: []*segment{{small: true}, {addr: poolsApart}}}
}

// Reserved is the size of all segments.
func (c *Cache) Reserved() engine.Bytes { return c.reserved }

// AddSegment reserves a wholly free segment at a given address, as recorded in
// a snapshot. A segment of 2 MiB belongs to the small pool.
func (c *Cache) AddSegment(addr, size engine.Bytes) error {
	i := c.behind(addr)
	if i > 0 && c.segments[i-1].addr+c.segments[i-1].size > addr || i < len(c.segments) && c.segments[i].addr < addr+size {
		return fmt.Errorf("segment of %d bytes at %d overlaps another one", size, addr)
	}
	s := &segment{addr: addr, size: size, small: size == smallSegment, blocks: []block{{addr, size, false}}}
	c.segments = slices.Insert(c.segments, i, s)
	c.reserved += size
	c.end = max(c.end, addr+size)
	return nil
}

// RemoveSegment gives a segment back to the device. It has to be wholly free.
func (c *Cache) RemoveSegment(addr engine.Bytes) error {
	s := c.at(addr)
	if s == nil || s.addr != addr || !s.idle() {
		return fmt.Errorf("there is no wholly free segment at %d", addr)
	}
	c.remove(c.behind(addr) - 1)
	return nil
}

func (c *Cache) remove(i int) {
	c.reserved -= c.segments[i].size
	c.segments = slices.Delete(c.segments, i, i+1)
}

func (s *segment) idle() bool { return len(s.blocks) == 1 && !s.blocks[0].used }

// behind is the index of the first segment that starts above addr.
func (c *Cache) behind(addr engine.Bytes) int {
	i, _ := slices.BinarySearchFunc(c.segments, addr, func(s *segment, a engine.Bytes) int {
		if s.addr <= a {
			return -1
		}
		return 1
	})
	return i
}

// at is the segment that addr lies in, nil if there is none.
func (c *Cache) at(addr engine.Bytes) *segment {
	if i := c.behind(addr) - 1; i >= 0 && addr < c.segments[i].addr+c.segments[i].size {
		return c.segments[i]
	}
	return nil
}

// Alloc serves a request for n bytes: took is the size of the block it gets, n or more.
// ok is false, and nothing is taken, if that would reserve more than the limit even with
// every wholly free segment given back, which then they are.
func (c *Cache) Alloc(n engine.Bytes) (addr, took engine.Bytes, ok bool) {
	n = max(roundUp(n, roundTo), roundTo)
	s, i := c.find(n)
	if s == nil {
		if !c.grow(n) {
			return NoAddr, 0, false
		}
		s, i = c.find(n)
	}
	addr = s.blocks[i].addr
	return addr, s.use(i, addr, n), true
}

// find is the smallest free block of the request's pool that has n bytes, the
// lowest of equal ones.
func (c *Cache) find(n engine.Bytes) (best *segment, at int) {
	for _, s := range c.segments {
		if s.small != (n <= smallest) {
			continue
		}
		for i, b := range s.blocks {
			if !b.used && b.size >= n && (best == nil || b.size < best.blocks[at].size) {
				best, at = s, i
			}
		}
	}
	return best, at
}

// grow reserves a segment for a request of n bytes.
func (c *Cache) grow(n engine.Bytes) bool {
	if c.expandable {
		return c.extend(n)
	}
	size := roundUp(n, roundLarge)
	switch {
	case n <= smallest:
		size = smallSegment
	case n < ownSegment:
		size = largeSegment
	}
	if size > c.limit-c.reserved {
		for i := len(c.segments) - 1; i >= 0; i-- {
			if c.segments[i].idle() {
				c.remove(i)
			}
		}
	}
	if size > c.limit-c.reserved {
		return false
	}
	if err := c.AddSegment(c.end, size); err != nil {
		return false // never: it lies behind all others
	}
	// A request above 1 MiB can need a segment of 2 MiB only from 10 MiB on, so
	// the size tells the pools apart.
	return true
}

// extend maps more memory behind the segment of the request's pool, as much as a free
// block at its end lacks, in steps of the smallest segments of the pool.
func (c *Cache) extend(n engine.Bytes) bool {
	s, step := c.segments[1], largeSegment
	if n <= smallest {
		s, step = c.segments[0], smallSegment
	}
	last := len(s.blocks) - 1
	free := last >= 0 && !s.blocks[last].used
	if free {
		n -= s.blocks[last].size
	}
	n = roundUp(n, step)
	if n > c.limit-c.reserved {
		return false
	}
	if free {
		s.blocks[last].size += n
	} else {
		s.blocks = append(s.blocks, block{s.addr + s.size, n, false})
	}
	s.size += n
	c.reserved += n
	return true
}

// use marks n bytes at addr in free block i as used and returns the size of
// their block: what is left behind them is split off if it is large enough.
func (s *segment) use(i int, addr, n engine.Bytes) (took engine.Bytes) {
	b := s.blocks[i]
	rest := b.addr + b.size - addr - n
	if s.small && rest < roundTo || !s.small && rest <= smallest {
		n += rest
		rest = 0
	}
	var parts []block
	if addr > b.addr {
		parts = append(parts, block{b.addr, addr - b.addr, false})
	}
	parts = append(parts, block{addr, n, true})
	if rest > 0 {
		parts = append(parts, block{addr + n, rest, false})
	}
	s.blocks = slices.Replace(s.blocks, i, i+1, parts...)
	return n
}

// Mark makes n bytes at addr used, wherever best fit would put them: it brings a
// cache into a recorded state.
func (c *Cache) Mark(addr, n engine.Bytes) error {
	n = max(roundUp(n, roundTo), roundTo)
	if s := c.at(addr); s != nil {
		for i, b := range s.blocks {
			if !b.used && b.addr <= addr && addr+n <= b.addr+b.size {
				s.use(i, addr, n)
				return nil
			}
		}
	}
	return fmt.Errorf("%d bytes at %d are not free", n, addr)
}

// Free releases the block at addr.
func (c *Cache) Free(addr engine.Bytes) error {
	if s := c.at(addr); s != nil {
		for i, b := range s.blocks {
			if b.addr == addr && b.used {
				s.release(i)
				return nil
			}
		}
	}
	return fmt.Errorf("no block is in use at %d", addr)
}

// release frees block i and joins it with free neighbours.
func (s *segment) release(i int) {
	s.blocks[i].used = false
	if i+1 < len(s.blocks) && !s.blocks[i+1].used {
		s.blocks[i].size += s.blocks[i+1].size
		s.blocks = slices.Delete(s.blocks, i+1, i+2)
	}
	if i > 0 && !s.blocks[i-1].used {
		s.blocks[i-1].size += s.blocks[i].size
		s.blocks = slices.Delete(s.blocks, i, i+1)
	}
}

// room is the largest free block of a pool, and all free blocks of it together.
func (c *Cache) room(small bool) (largest, free engine.Bytes) {
	for _, s := range c.segments {
		for _, b := range s.blocks {
			if s.small == small && !b.used {
				largest = max(largest, b.size)
				free += b.size
			}
		}
	}
	return largest, free
}
