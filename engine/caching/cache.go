package caching

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"memtide/engine"
	"memtide/engine/alloc"
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

// Rules are what PYTORCH_CUDA_ALLOC_CONF can change; the zero value is PyTorch's
// default.
type Rules struct {
	Expandable bool         // expandable_segments: segments grow and shrink by pages
	MaxSplit   engine.Bytes // max_split_size_mb: larger blocks are not split; 0: all are
	Collect    int          // garbage_collection_threshold, in percent of the limit; 0: nothing is collected
	Divisions  int          // roundup_power2_divisions: steps between powers of two; 0: none
}

// Cache is the state of PyTorch's caching allocator: segments of device memory and the
// blocks they are split into. Streams do not share blocks.
type Cache struct {
	rules    Rules
	limit    engine.Bytes
	reserved engine.Bytes
	end      engine.Bytes // of all segments so far: new ones lie behind
	segments []*segment   // by address
	pools    map[poolKey]*pool
	used     map[engine.Bytes]*block // by address
	clock    int                     // requests so far
}

type poolKey struct {
	stream int
	small  bool
}

// pool are the free blocks of a stream for small or for large requests.
type pool struct {
	poolKey
	free     []*block // by size, then by address
	growing  *segment // the expandable one; nil if there is none yet
	pageSize engine.Bytes
}

type segment struct {
	addr, size engine.Bytes
	pool       *pool
	first      *block
}

// block is a stretch of a segment. Its neighbours begin where it ends; no two free ones
// stand side by side.
type block struct {
	addr, size engine.Bytes
	used       bool
	unmapped   bool // of an expandable segment: addresses without memory
	freed      int  // when it was
	segment    *segment
	prev, next *block
}

// New is an empty cache that may reserve up to limit bytes of the device. It is not
// safe for concurrent use.
func New(limit engine.Bytes) *Cache { return NewWith(limit, Rules{}) }

// NewWith is an empty cache with rules of its own.
func NewWith(limit engine.Bytes, rules Rules) *Cache {
	return &Cache{rules: rules, limit: limit, pools: map[poolKey]*pool{}, used: map[engine.Bytes]*block{}}
}

// Reserved is the size of all segments; of expandable ones, of their pages.
func (c *Cache) Reserved() engine.Bytes { return c.reserved }

func (c *Cache) pool(k poolKey) *pool {
	p := c.pools[k]
	if p == nil {
		p = &pool{poolKey: k, pageSize: largeSegment}
		if k.small {
			p.pageSize = smallSegment
		}
		c.pools[k] = p
	}
	return p
}

// AddSegment reserves a wholly free segment at a given address, as recorded in
// a snapshot. A segment of 2 MiB belongs to the small pool.
func (c *Cache) AddSegment(addr, size engine.Bytes) error {
	// A request above 1 MiB can need a segment of 2 MiB only from 10 MiB on, so
	// the size tells the pools apart.
	return c.addSegment(addr, size, c.pool(poolKey{small: size == smallSegment}))
}

func (c *Cache) addSegment(addr, size engine.Bytes, p *pool) error {
	i := c.behind(addr)
	if i > 0 && c.segments[i-1].addr+c.segments[i-1].size > addr || i < len(c.segments) && c.segments[i].addr < addr+size {
		return fmt.Errorf("segment of %d bytes at %d overlaps another one", size, addr)
	}
	s := &segment{addr: addr, size: size, pool: p}
	s.first = &block{addr: addr, size: size, freed: c.clock, segment: s}
	c.segments = slices.Insert(c.segments, i, s)
	p.put(s.first)
	c.reserved += size
	c.end = max(c.end, addr+size)
	return nil
}

// idle says whether a segment of the usual kind is wholly free.
func (c *Cache) idle(s *segment) bool {
	return s.first.next == nil && !s.first.used && !s.first.unmapped
}

// release gives a wholly free segment back to the device.
func (c *Cache) release(s *segment) {
	s.pool.drop(s.first)
	c.reserved -= s.size
	i := c.behind(s.addr) - 1
	c.segments = slices.Delete(c.segments, i, i+1)
}

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

// blockOrder is by size, then by address.
func blockOrder(a, b *block) int {
	return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.addr, b.addr))
}

func (p *pool) put(b *block) {
	i, _ := slices.BinarySearchFunc(p.free, b, blockOrder)
	p.free = slices.Insert(p.free, i, b)
}

func (p *pool) drop(b *block) {
	if i, ok := slices.BinarySearchFunc(p.free, b, blockOrder); ok {
		p.free = slices.Delete(p.free, i, i+1)
	}
}

// Round is the size of the block that a request for n bytes asks for.
func (r *Rules) Round(n engine.Bytes) engine.Bytes {
	d := engine.Bytes(r.Divisions)
	if d <= 1 || n <= roundTo*d {
		return max(roundUp(n, roundTo), roundTo)
	}
	return roundUp(n, engine.Bytes(1)<<(bits.Len64(uint64(n))-1)/d)
}

// Alloc serves a request for n bytes: took is the size of the block it gets, n or more.
// ok is false, and nothing is taken, if that would reserve more than the limit even with
// every wholly free segment given back, which then they are.
func (c *Cache) Alloc(n engine.Bytes) (addr, took engine.Bytes, ok bool) { return c.AllocOn(0, n) }

// AllocOn is Alloc on a stream.
func (c *Cache) AllocOn(stream int, n engine.Bytes) (addr, took engine.Bytes, ok bool) {
	c.clock++
	n = c.rules.Round(n)
	p := c.pool(poolKey{stream, n <= smallest})
	b := c.find(p, n)
	if b == nil {
		if b = c.grow(p, n); b == nil {
			return alloc.NoAddr, 0, false
		}
	}
	return b.addr, c.use(b, b.addr, n), true
}

// find is the smallest free block of a pool that has n bytes, the lowest of equal ones.
func (c *Cache) find(p *pool, n engine.Bytes) *block {
	i, _ := slices.BinarySearchFunc(p.free, n, func(b *block, n engine.Bytes) int { return cmp.Or(cmp.Compare(b.size, n), 1) })
	if i == len(p.free) {
		return nil
	}
	if c.rules.Expandable { // the one that can grow comes last
		for i+1 < len(p.free) && room(p.free[i+1]) < room(p.free[i]) {
			i++
		}
		return p.free[i]
	}
	b, most := p.free[i], c.rules.MaxSplit
	if most > 0 && !p.small && (n < most && b.size >= most || n >= most && b.size >= n+largeSegment) {
		return nil
	}
	return b
}

// splits says whether what is left of a block behind n bytes becomes a block.
func (c *Cache) splits(p *pool, n, rest engine.Bytes) bool {
	if p.small || c.rules.Expandable {
		return rest >= roundTo
	}
	return rest > smallest && (c.rules.MaxSplit == 0 || n < c.rules.MaxSplit)
}

// use marks n bytes at addr in a free block as used and returns the size of
// their block: what is left behind them is split off if it is large enough.
func (c *Cache) use(b *block, addr, n engine.Bytes) (took engine.Bytes) {
	p := b.segment.pool
	p.drop(b)
	if addr > b.addr {
		b = c.cut(b, addr-b.addr)
		p.put(b.prev)
	}
	if c.splits(p, n, b.size-n) {
		p.put(c.cut(b, n))
	}
	b.used = true
	c.used[b.addr] = b
	return b.size
}

// cut splits a block behind n bytes and returns the second part.
func (c *Cache) cut(b *block, n engine.Bytes) *block {
	rest := &block{addr: b.addr + n, size: b.size - n, unmapped: b.unmapped, freed: b.freed, segment: b.segment, prev: b, next: b.next}
	if b.next != nil {
		b.next.prev = rest
	}
	b.size, b.next = n, rest
	return rest
}

// Mark makes n bytes at addr used, wherever best fit would put them: it brings a
// cache into a recorded state.
func (c *Cache) Mark(addr, n engine.Bytes) error {
	n = max(roundUp(n, roundTo), roundTo)
	if i := c.behind(addr) - 1; i >= 0 {
		for b := c.segments[i].first; b != nil; b = b.next {
			if !b.used && !b.unmapped && b.addr <= addr && addr+n <= b.addr+b.size {
				c.use(b, addr, n)
				return nil
			}
		}
	}
	return fmt.Errorf("%d bytes at %d are not free", n, addr)
}

// Free releases the block at addr, which joins with free neighbours.
func (c *Cache) Free(addr engine.Bytes) error {
	b := c.used[addr]
	if b == nil {
		return fmt.Errorf("no block is in use at %d", addr)
	}
	delete(c.used, addr)
	b.used, b.freed = false, c.clock
	b.segment.pool.put(c.join(b))
	return nil
}

// join makes one block of a free one, which is in no pool, and its free neighbours.
func (c *Cache) join(b *block) *block {
	for _, n := range []*block{b.prev, b.next} {
		if n == nil || n.used || n.unmapped != b.unmapped {
			continue
		}
		if !n.unmapped {
			n.segment.pool.drop(n)
		}
		first, second := b, n
		if n == b.prev {
			first, second = n, b
		}
		first.size, first.next, first.freed = first.size+second.size, second.next, b.freed
		if second.next != nil {
			second.next.prev = first
		}
		b = first
	}
	return b
}

// Room is the largest free block that a request for n bytes could have come from, and
// all free blocks of its kind together.
func (c *Cache) Room(n engine.Bytes) (largest, free engine.Bytes) {
	for k, p := range c.pools {
		if k.small == (c.rules.Round(n) <= smallest) {
			for _, b := range p.free {
				largest, free = max(largest, b.size), free+b.size
			}
		}
	}
	return largest, free
}
