package caching

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"

	"memtide/engine"
	"memtide/engine/alloc"
)

// The constants of PyTorch's caching allocator.
const (
	roundTo      = 512             // kMinBlockSize: sizes are multiples
	smallest     = engine.MiB      // kSmallSize: the largest request of the small pool
	smallSegment = 2 * engine.MiB  // kSmallBuffer
	largeSegment = 20 * engine.MiB // kLargeBuffer: segments for requests below ownSegment
	ownSegment   = 10 * engine.MiB // kMinLargeAlloc: a request of this size or more gets a segment of its own
	roundLarge   = 2 * engine.MiB  // kRoundLarge: sizes of such segments are multiples
)

func roundUp(n, to engine.Bytes) engine.Bytes { return (n + to - 1) / to * to }

// Rules are the settings of PYTORCH_CUDA_ALLOC_CONF. The zero value is PyTorch's default.
type Rules struct {
	Expandable bool         // expandable_segments: segments grow and shrink by pages
	MaxSplit   engine.Bytes // max_split_size_mb: larger blocks are not split; 0: no limit
	Collect    int          // garbage_collection_threshold, in percent of the limit; 0: nothing is collected
	Divisions  int          // roundup_power2_divisions: steps between powers of two; 0: no such rounding
}

// Cache is the state of PyTorch's caching allocator: segments of device memory, split into blocks. Streams do not
// share blocks.
//
// Its lists refer to each other by index and contain no pointers, so that they cost the garbage collector nothing.
type Cache struct {
	rules    Rules
	limit    engine.Bytes
	reserved engine.Bytes
	end      engine.Bytes // the end of all segments so far; new segments lie after it
	blocks   []block
	spare    []int32 // unused indices of blocks
	segments []segment
	byAddr   []int32         // the segments that are reserved, by address
	gone     []int32         // unused indices of segments
	pools    map[poolKey]int // indices into lists
	lists    []pool
	used     map[engine.Bytes]int32 // by address: the blocks in use of AllocOn and Mark
	clock    int                    // the number of requests so far
}

type poolKey struct {
	stream int
	small  bool
}

// pool holds the free blocks of a stream for small or for large requests.
type pool struct {
	poolKey
	free     []freeBlock // by size, then by address
	growing  int32       // the expandable segment, or none
	lowest   int32       // the first unmapped block of the expandable segment, or none
	pageSize engine.Bytes
}

// freeBlock is a block of a pool.
type freeBlock struct {
	size, addr engine.Bytes
	block      int32
}

type segment struct {
	addr, size engine.Bytes
	pool       int
	first      int32 // block
}

// block is an address range of a segment. The blocks of a segment follow each other without gaps, and no two free
// blocks are adjacent.
type block struct {
	addr, size engine.Bytes
	freed      int // the clock when it was freed
	segment    int32
	prev, next int32 // the neighbours, or none
	used       bool
	unmapped   bool // addresses of an expandable segment without memory
}

const none = -1

// Block is a block in use that Take returned, for Give.
type Block int32

// New returns an empty cache that may reserve up to limit bytes of the device by rules. It is not safe for concurrent
// use.
func New(limit engine.Bytes, rules Rules) *Cache {
	return &Cache{rules: rules, limit: limit, pools: map[poolKey]int{}, used: map[engine.Bytes]int32{}}
}

// Reserved returns the size of all segments; of expandable ones, of their pages.
func (c *Cache) Reserved() engine.Bytes { return c.reserved }

// pool returns the index of a pool in lists. It makes the pool if it does not exist.
func (c *Cache) pool(k poolKey) int {
	i, ok := c.pools[k]
	if !ok {
		p := pool{poolKey: k, growing: none, pageSize: largeSegment}
		if k.small {
			p.pageSize = smallSegment
		}
		i = len(c.lists)
		c.lists, c.pools[k] = append(c.lists, p), i
	}
	return i
}

// of returns the pool of a block.
func (c *Cache) of(b int32) *pool { return &c.lists[c.segments[c.blocks[b].segment].pool] }

// place stores v in a list, at an unused index of spare or at the end, and returns the index.
func place[T any](list *[]T, spare *[]int32, v T) int32 {
	if n := len(*spare); n > 0 {
		i := (*spare)[n-1]
		*spare, (*list)[i] = (*spare)[:n-1], v
		return i
	}
	*list = append(*list, v)
	return int32(len(*list) - 1)
}

// addSegment reserves a segment and returns its only block.
func (c *Cache) addSegment(addr, size engine.Bytes, p int) (int32, error) {
	i := c.behind(addr)
	if i > 0 && c.at(i-1).addr+c.at(i-1).size > addr || i < len(c.byAddr) && c.at(i).addr < addr+size {
		return none, fmt.Errorf("segment of %d bytes at %d overlaps another one", size, addr)
	}
	b := c.insert(i, segment{addr: addr, size: size, pool: p}, block{addr: addr, size: size, freed: c.clock})
	c.put(b)
	c.reserved += size
	c.end = max(c.end, addr+size)
	return b, nil
}

// insert adds the segment s with the single block b as the i-th by address. It returns the index of the block.
func (c *Cache) insert(i int, s segment, b block) int32 {
	at := place(&c.segments, &c.gone, s)
	b.segment, b.prev, b.next = at, none, none
	first := place(&c.blocks, &c.spare, b)
	c.segments[at].first = first
	c.byAddr = slices.Insert(c.byAddr, i, at)
	return first
}

// at returns the i-th segment by address.
func (c *Cache) at(i int) *segment { return &c.segments[c.byAddr[i]] }

// idle reports whether a segment is wholly free and not expandable.
func (c *Cache) idle(segment int32) bool {
	b := &c.blocks[c.segments[segment].first]
	return b.next == none && !b.used && !b.unmapped
}

// release gives a wholly free segment back to the device.
func (c *Cache) release(segment int32) {
	s := &c.segments[segment]
	c.drop(s.first)
	c.spare, c.gone = append(c.spare, s.first), append(c.gone, segment)
	c.reserved -= s.size
	i := c.behind(s.addr) - 1
	c.byAddr = slices.Delete(c.byAddr, i, i+1)
}

// behind returns the index in byAddr of the first segment that starts above addr.
func (c *Cache) behind(addr engine.Bytes) int {
	return sort.Search(len(c.byAddr), func(i int) bool { return c.at(i).addr > addr })
}

// from returns the index of the first free block that is not before a block of the given size and address.
func (p *pool) from(size, addr engine.Bytes) int {
	lo, hi := 0, len(p.free)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if f := &p.free[mid]; f.size < size || f.size == size && f.addr < addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// free returns the entry of a block in its pool.
func (c *Cache) free(b int32) freeBlock { return freeBlock{c.blocks[b].size, c.blocks[b].addr, b} }

func (c *Cache) put(b int32) {
	p, f := c.of(b), c.free(b)
	p.free = slices.Insert(p.free, p.from(f.size, f.addr), f)
}

func (c *Cache) drop(b int32) {
	p, f := c.of(b), c.free(b)
	switch i := p.from(f.size, f.addr); {
	case i == len(p.free) || p.free[i].block != b:
	case i < len(p.free)/2: // fewer blocks are before it than after it
		copy(p.free[1:], p.free[:i])
		p.free = p.free[1:]
	default:
		p.free = slices.Delete(p.free, i, i+1)
	}
}

// move replaces the entry was of a pool by the entry of block b. It shifts only the entries between the two positions.
func (c *Cache) move(was freeBlock, b int32) {
	p, f := c.of(b), c.free(b)
	from, to := p.from(was.size, was.addr), p.from(f.size, f.addr)
	if from < to {
		to--
		copy(p.free[from:to], p.free[from+1:])
	} else {
		copy(p.free[to+1:from+1], p.free[to:])
	}
	p.free[to] = f
}

// Round returns the size of the block that a request for n bytes needs.
func (r *Rules) Round(n engine.Bytes) engine.Bytes {
	d := engine.Bytes(r.Divisions)
	if d <= 1 || n <= roundTo*d {
		return max(roundUp(n, roundTo), roundTo)
	}
	return roundUp(n, engine.Bytes(1)<<(bits.Len64(uint64(n))-1)/d)
}

// Alloc serves a request for n bytes with a block of took bytes, at least n. ok is false if this would reserve more
// than the limit, even after all wholly free segments have been given back.
func (c *Cache) Alloc(n engine.Bytes) (addr, took engine.Bytes, ok bool) { return c.AllocOn(0, n) }

// AllocOn is Alloc on a stream.
func (c *Cache) AllocOn(stream int, n engine.Bytes) (addr, took engine.Bytes, ok bool) {
	b, ok := c.Take(stream, n)
	if !ok {
		return alloc.NoAddr, 0, false
	}
	x := &c.blocks[b]
	c.used[x.addr] = int32(b)
	return x.addr, x.size, true
}

// Take is AllocOn without addresses. Give releases the block.
func (c *Cache) Take(stream int, n engine.Bytes) (b Block, ok bool) {
	c.clock++
	n = c.rules.Round(n)
	p := c.pool(poolKey{stream, n <= smallest})
	at := c.find(&c.lists[p], n)
	if at == none {
		at = c.grow(p, n)
		if at == none {
			return none, false
		}
	}
	return Block(c.use(at, c.blocks[at].addr, n)), true
}

// find returns the smallest free block of a pool that has n bytes, of equal ones the lowest, or none.
func (c *Cache) find(p *pool, n engine.Bytes) int32 {
	i := p.from(n, math.MinInt64)
	if i == len(p.free) {
		return none
	}
	if c.rules.Expandable { // the block that can grow comes last
		for i+1 < len(p.free) && c.room(p.free[i+1].block) < c.room(p.free[i].block) {
			i++
		}
		return p.free[i].block
	}
	b, most := p.free[i], c.rules.MaxSplit
	if most > 0 && !p.small && (n < most && b.size >= most || n >= most && b.size >= n+largeSegment) {
		return none
	}
	return b.block
}

// splits reports whether the rest of a block after n bytes becomes a block of its own.
func (c *Cache) splits(p *pool, n, rest engine.Bytes) bool {
	if p.small || c.rules.Expandable {
		return rest >= roundTo
	}
	return rest > smallest && (c.rules.MaxSplit == 0 || n < c.rules.MaxSplit)
}

// use marks n bytes at addr in a free block as used and returns their block. It splits off the bytes before them,
// and those after them if there are enough.
func (c *Cache) use(b int32, addr, n engine.Bytes) int32 {
	was := c.free(b)
	if before := addr - was.addr; before > 0 {
		rest := c.cut(b, before)
		c.move(was, b)
		c.put(rest)
		b, was = rest, c.free(rest)
	}
	if c.splits(c.of(b), n, was.size-n) {
		c.move(was, c.cut(b, n))
	} else {
		c.drop(b)
	}
	c.blocks[b].used = true
	return b
}

// cut splits a block after n bytes and returns the second part.
func (c *Cache) cut(b int32, n engine.Bytes) int32 {
	rest := c.blocks[b]
	rest.addr, rest.size, rest.used, rest.prev = rest.addr+n, rest.size-n, false, b
	at := place(&c.blocks, &c.spare, rest)
	if rest.next != none {
		c.blocks[rest.next].prev = at
	}
	c.blocks[b].size, c.blocks[b].next = n, at
	return at
}

// Free releases the block at addr, which is joined with its free neighbours.
func (c *Cache) Free(addr engine.Bytes) error {
	b, ok := c.used[addr]
	if !ok {
		return fmt.Errorf("no block is in use at %d", addr)
	}
	delete(c.used, addr)
	c.Give(Block(b))
	return nil
}

// Give releases a block that Take returned.
func (c *Cache) Give(b Block) {
	c.blocks[b].used, c.blocks[b].freed = false, c.clock
	c.join(int32(b))
}

// join merges a free block, which is not in a pool, with its free neighbours, and puts the result into its pool if
// it is mapped. It returns the merged block.
func (c *Cache) join(b int32) int32 {
	was := freeBlock{block: none} // the pool entry of a neighbour, which the merged block replaces
	for _, n := range [2]int32{c.blocks[b].prev, c.blocks[b].next} {
		if n == none || c.blocks[n].used || c.blocks[n].unmapped != c.blocks[b].unmapped {
			continue
		}
		switch {
		case c.blocks[n].unmapped:
		case was.block == none:
			was = c.free(n)
		default:
			c.drop(n)
		}
		first, second := b, n
		if n == c.blocks[b].prev {
			first, second = n, b
		}
		x, rest := &c.blocks[first], &c.blocks[second]
		x.size, x.next, x.freed = x.size+rest.size, rest.next, c.blocks[b].freed
		if rest.next != none {
			c.blocks[rest.next].prev = first
		}
		c.spare = append(c.spare, second)
		b = first
	}
	switch {
	case c.blocks[b].unmapped:
	case was.block == none:
		c.put(b)
	default:
		c.move(was, b)
	}
	return b
}

// Room returns the size of the largest free block in the pools for requests of n bytes, and the sum of all free
// blocks there.
func (c *Cache) Room(n engine.Bytes) (largest, free engine.Bytes) {
	for i := range c.lists {
		if p := &c.lists[i]; p.small == (c.rules.Round(n) <= smallest) {
			for _, b := range p.free {
				largest, free = max(largest, b.size), free+b.size
			}
		}
	}
	return largest, free
}
