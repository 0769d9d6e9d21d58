package caching

import (
	"cmp"
	"fmt"
	"math"
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
//
// Nothing in it is a pointer but the lists themselves: what moves within them costs the
// garbage collector nothing.
type Cache struct {
	rules    Rules
	limit    engine.Bytes
	reserved engine.Bytes
	end      engine.Bytes // of all segments so far: new ones lie behind
	blocks   []block
	spare    []int32 // indices of blocks that are free to be used again
	segments []segment
	byAddr   []int32         // segments that are reserved
	gone     []int32         // segments that are not any more
	pools    map[poolKey]int // numbers of lists
	lists    []pool
	used     map[engine.Bytes]int32 // blocks that were asked for by address
	clock    int                    // requests so far
}

type poolKey struct {
	stream int
	small  bool
}

// pool are the free blocks of a stream for small or for large requests.
type pool struct {
	poolKey
	free     []freeBlock // by size, then by address
	growing  int32       // the expandable segment; none if there is none yet
	lowest   int32       // of its blocks the first unmapped one; none if all are mapped
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

// block is a stretch of a segment. Its neighbours begin where it ends; no two free ones
// stand side by side.
type block struct {
	addr, size engine.Bytes
	freed      int // when it was
	segment    int32
	prev, next int32 // blocks, or none
	used       bool
	unmapped   bool // of an expandable segment: addresses without memory
}

const none = -1

// Block is what a request got, until it is given back.
type Block int32

// New returns an empty cache that may reserve up to limit bytes of the device. It is not
// safe for concurrent use.
func New(limit engine.Bytes) *Cache { return NewWith(limit, Rules{}) }

// NewWith returns an empty cache with rules of its own.
func NewWith(limit engine.Bytes, rules Rules) *Cache {
	return &Cache{rules: rules, limit: limit, pools: map[poolKey]int{}, used: map[engine.Bytes]int32{}}
}

// Reserved returns the size of all segments; of expandable ones, of their pages.
func (c *Cache) Reserved() engine.Bytes { return c.reserved }

// pool returns the place of a pool among lists.
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

// place makes room in a list for another item, in a place that is not used any more or at the end.
func place[T any](list *[]T, spare *[]int32, v T) int32 {
	if n := len(*spare); n > 0 {
		i := (*spare)[n-1]
		*spare, (*list)[i] = (*spare)[:n-1], v
		return i
	}
	*list = append(*list, v)
	return int32(len(*list) - 1)
}

// addSegment reserves a segment and returns its block.
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

// insert makes a segment of one block the i-th by address.
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

// idle reports whether a segment of the usual kind is wholly free.
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

// behind returns the index of the first segment that starts above addr.
func (c *Cache) behind(addr engine.Bytes) int {
	i, _ := slices.BinarySearchFunc(c.byAddr, addr, func(s int32, a engine.Bytes) int {
		if c.segments[s].addr <= a {
			return -1
		}
		return 1
	})
	return i
}

// blockOrder is by size, then by address.
func blockOrder(a, b freeBlock) int {
	return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.addr, b.addr))
}

// from returns the first free block that is not before one of a size at an address.
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

// free returns a block as pools have it.
func (c *Cache) free(b int32) freeBlock { return freeBlock{c.blocks[b].size, c.blocks[b].addr, b} }

func (c *Cache) put(b int32) {
	p, f := c.of(b), c.free(b)
	p.free = slices.Insert(p.free, p.from(f.size, f.addr), f)
}

func (c *Cache) drop(b int32) {
	p, f := c.of(b), c.free(b)
	switch i := p.from(f.size, f.addr); {
	case i == len(p.free) || p.free[i].block != b:
	case i < len(p.free)/2: // fewer are before it than behind it
		copy(p.free[1:], p.free[:i])
		p.free = p.free[1:]
	default:
		p.free = slices.Delete(p.free, i, i+1)
	}
}

// move puts a free block where its pool has one that it was, or was a part of: fewer lie between
// the two places than behind either.
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

// Round returns the size of the block that a request for n bytes asks for.
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
	b, ok := c.Take(stream, n)
	if !ok {
		return alloc.NoAddr, 0, false
	}
	x := &c.blocks[b]
	c.used[x.addr] = int32(b)
	return x.addr, x.size, true
}

// Take is AllocOn for who does not ask for addresses: the block is for Give.
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

// find returns the smallest free block of a pool that has n bytes, the lowest of equal ones.
func (c *Cache) find(p *pool, n engine.Bytes) int32 {
	i := p.from(n, math.MinInt64)
	if i == len(p.free) {
		return none
	}
	if c.rules.Expandable { // the one that can grow comes last
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

// splits reports whether what is left of a block behind n bytes becomes a block.
func (c *Cache) splits(p *pool, n, rest engine.Bytes) bool {
	if p.small || c.rules.Expandable {
		return rest >= roundTo
	}
	return rest > smallest && (c.rules.MaxSplit == 0 || n < c.rules.MaxSplit)
}

// use marks n bytes at addr in a free block as used and returns their block: what is
// left behind them is split off if it is large enough.
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

// cut splits a block behind n bytes and returns the second part.
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

// Free releases the block at addr, which joins with free neighbours.
func (c *Cache) Free(addr engine.Bytes) error {
	b, ok := c.used[addr]
	if !ok {
		return fmt.Errorf("no block is in use at %d", addr)
	}
	delete(c.used, addr)
	c.Give(Block(b))
	return nil
}

// Give is Free of a block of Take.
func (c *Cache) Give(b Block) {
	c.blocks[b].used, c.blocks[b].freed = false, c.clock
	c.join(int32(b))
}

// join makes one block of a free one, which is in no pool, and its free neighbours, and puts it into
// its pool if it is mapped.
func (c *Cache) join(b int32) int32 {
	was := freeBlock{block: none} // a neighbour that stays in the pool until the block takes its place
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

// Room returns the largest free block that a request for n bytes could have come from, and
// all free blocks of its kind together.
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
