package allocators

import (
	"cmp"
	"slices"

	"memtide/engine"
	"memtide/engine/alloc"
)

// exact searches for a placement within a capacity, by the rules of MiniMalloc. Every buffer lies on the bottom or
// on another one, and buffers are placed by ascending address. The rules that shorten the search are:
//
//   - canonical solutions: of all orders that lead to the same placement, only the
//     order by address and rank is followed;
//   - dominance: no buffer is placed where another one would fit below it whole;
//   - inference: a section's floor and its unplaced buffers have to fit;
//   - decomposition: sections that no unplaced buffer connects are solved separately,
//     and a section without a solution ends the branch.
type exact struct {
	*geometry
	capacity int64
	poll     *engine.Poll
	nodes    int64 // left before the search gives up and tries another ranking

	addr   []int64 // by buffer: its address, -1 if it is not placed
	lowest []int64 // by buffer: the least address that it can still get, if it is not placed
	floor  []int64 // by section: no unplaced buffer can lie below it
	left   []int64 // by section: the sum of the sizes of unplaced buffers
	cuts   []int32 // by section s: the number of unplaced buffers that live in sections s and s+1

	ranking int
	arena   []candidate // candidates of all open nodes
	undo    []change
	touched []int32 // sections whose floor may rise
	stamp   []int32 // by section: the value of now when it was touched last
	now     int32   // the number of placements so far
}

// candidate is a buffer that can be placed next.
type candidate struct {
	addr   int64
	rank   int32
	buffer int32
}

// compare orders candidates by address, and then by rank.
func (a candidate) compare(b candidate) int {
	return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.rank, b.rank))
}

// Before reports whether a is placed before b. It makes candidates elements of an engine.Heap.
func (a candidate) Before(b candidate) bool { return a.compare(b) < 0 }

// change is an old value, for restore.
type change struct {
	what  uint8
	index int32
	old   int64
}

const (
	changedLowest uint8 = iota
	changedFloor
	changedAddr
)

// outcome is the result of a search.
type outcome uint8

const (
	found     outcome = iota
	none              // there is no placement
	exhausted         // out of nodes
	stopped           // by the poll
)

func newExact(g *geometry, poll *engine.Poll) *exact {
	g.connect()
	n, m := len(g.size), len(g.sections)
	s := &exact{
		geometry: g, poll: poll,
		addr: make([]int64, n), lowest: make([]int64, n),
		floor: make([]int64, m), left: make([]int64, m), cuts: make([]int32, m), stamp: make([]int32, m),
	}
	s.reset()
	return s
}

// reset removes all buffers from the placement.
func (s *exact) reset() {
	clear(s.lowest)
	clear(s.floor)
	clear(s.left)
	clear(s.cuts)
	s.undo = s.undo[:0]
	for i := range s.addr {
		s.addr[i] = -1
	}
	for _, b := range s.buffers {
		s.cross(b, 1)
	}
}

// cross adds buffer b to left and cuts with sign 1, or removes it with sign -1.
func (s *exact) cross(b int32, sign int32) {
	for i := s.lo[b]; i < s.hi[b]; i++ {
		s.left[i] += int64(sign) * s.size[b]
		if i+1 < s.hi[b] {
			s.cuts[i] += sign
		}
	}
}

// solve searches for a placement within capacity. It tries all rankings in turn, with twice the nodes in every
// round, up to limit nodes each.
func (s *exact) solve(capacity, limit int64) outcome {
	s.capacity = capacity
	for budget := int64(2 * len(s.buffers)); ; budget *= 2 {
		for s.ranking = range rankings {
			s.reset()
			s.nodes = min(budget, limit)
			end := int32(len(s.sections))
			if res := s.split(s.buffers, 0, end, s.loose(0, end)); res != exhausted {
				return res
			}
		}
		if budget >= limit {
			return exhausted
		}
	}
}

// loose returns the sections within [lo, hi) that no unplaced buffer connects with the section before.
func (s *exact) loose(lo, hi int32) (at []int32) {
	for i := lo; i+1 < hi; i++ {
		if s.cuts[i] == 0 {
			at = append(at, i+1)
		}
	}
	return at
}

// split cuts sections [lo, hi) before the sections at, and solves the parts one after the other.
func (s *exact) split(buffers []int32, lo, hi int32, at []int32) outcome {
	for i := range len(at) + 1 {
		from, to := lo, hi
		if i > 0 {
			from = at[i-1]
		}
		if i < len(at) {
			to = at[i]
		}
		var part []int32
		for _, b := range buffers {
			if s.addr[b] < 0 && s.lo[b] < to && from < s.hi[b] {
				part = append(part, b)
			}
		}
		if len(part) == 0 {
			continue
		}
		if res := s.search(s.ranked(part), from, to, 0, 0); res != found {
			return res
		}
	}
	return found
}

// search places the unplaced candidates of open, which live in sections [lo, hi), not before a candidate of address
// least and rank leastRank.
func (s *exact) search(open []candidate, lo, hi int32, least int64, leastRank int32) outcome {
	if s.poll.Err() != nil {
		return stopped
	}
	if s.nodes <= 0 {
		return exhausted
	}
	s.nodes--
	base := len(s.arena)
	defer func() { s.arena = s.arena[:base] }()
	lowestTop := int64(1) << 62
	for _, c := range open {
		if s.addr[c.buffer] < 0 {
			c.addr = s.lowest[c.buffer]
			s.arena = append(s.arena, c)
			lowestTop = min(lowestTop, c.addr+s.size[c.buffer])
		}
	}
	mine := s.arena[base:]
	if len(mine) == 0 {
		return found
	}
	slices.SortFunc(mine, candidate.compare)
	for _, c := range mine {
		if c.addr >= lowestTop { // so are all candidates after it
			break
		}
		if c.addr < least || c.addr == least && c.rank < leastRank {
			continue
		}
		mark := len(s.undo)
		s.place(c)
		res := none
		if s.fits(lo, hi, c) {
			res = s.descend(mine, lo, hi, c)
		}
		if res == found {
			return found
		}
		s.restore(mark)
		if res != none {
			return res
		}
	}
	return none
}

// descend continues the search after c was placed, in parts if c has disconnected sections.
func (s *exact) descend(open []candidate, lo, hi int32, c candidate) outcome {
	at := s.loose(s.lo[c.buffer], s.hi[c.buffer])
	if at == nil {
		return s.search(open, lo, hi, c.addr, c.rank)
	}
	rest := make([]int32, 0, len(open))
	for _, o := range open {
		rest = append(rest, o.buffer)
	}
	return s.split(rest, lo, hi, at)
}

// fits reports whether sections [lo, hi) can still be within the capacity. All buffers placed after c lie at or
// above its address.
func (s *exact) fits(lo, hi int32, c candidate) bool {
	for i := lo; i < hi; i++ {
		// If no buffer is left, the floor is the top of the last placed one.
		if need := s.floor[i] + s.left[i]; need > s.capacity || s.left[i] > 0 && c.addr+s.left[i] > s.capacity {
			return false
		}
	}
	return true
}

// place gives a buffer its address, and raises the lowest addresses and floors that depend on it.
func (s *exact) place(c candidate) {
	b, top := c.buffer, c.addr+s.size[c.buffer]
	s.change(changedAddr, b, -1)
	s.addr[b] = c.addr
	s.cross(b, -1)
	for i := s.lo[b]; i < s.hi[b]; i++ {
		s.change(changedFloor, i, s.floor[i])
		s.floor[i] = top
	}
	s.now++
	s.touched = s.touched[:0]
	for _, o := range s.overlaps[b] {
		if s.addr[o] >= 0 || s.lowest[o] >= top {
			continue
		}
		s.change(changedLowest, o, s.lowest[o])
		s.lowest[o] = top
		for i := s.lo[o]; i < s.hi[o]; i++ {
			if s.stamp[i] != s.now {
				s.stamp[i] = s.now
				s.touched = append(s.touched, i)
			}
		}
	}
	for _, i := range s.touched {
		s.raise(i)
	}
}

// raise lifts a section's floor to the least address that any of its unplaced buffers can get.
func (s *exact) raise(section int32) {
	s.poll.Err() // counts, so that the clock is also checked while a node takes long
	least := int64(1) << 62
	for _, b := range s.sections[section] {
		if s.addr[b] < 0 {
			if s.lowest[b] <= s.floor[section] {
				return
			}
			least = min(least, s.lowest[b])
		}
	}
	if least < 1<<62 {
		s.change(changedFloor, section, s.floor[section])
		s.floor[section] = least
	}
}

func (s *exact) change(what uint8, index int32, old int64) {
	s.undo = append(s.undo, change{what, index, old})
}

// restore undoes all changes after the first mark ones, last first.
func (s *exact) restore(mark int) {
	for i := len(s.undo) - 1; i >= mark; i-- {
		switch c := s.undo[i]; c.what {
		case changedLowest:
			s.lowest[c.index] = c.old
		case changedFloor:
			s.floor[c.index] = c.old
		case changedAddr:
			s.addr[c.index] = -1
			s.cross(c.index, 1)
		}
	}
	s.undo = s.undo[:mark]
}

// traits are the properties by which rankings order buffers; larger ones come first.
type traits struct {
	buffer              int32
	total, area, length float64
}

// rankings are the orders of MiniMalloc in which buffers of equal address are tried: by length of life, by area
// (size times length) and by the fullest section in which they live. None of them is best for all problems.
var rankings = [...]func(a, b traits) int{
	func(a, b traits) int {
		return cmp.Or(cmp.Compare(b.length, a.length), cmp.Compare(b.area, a.area), cmp.Compare(b.total, a.total))
	},
	func(a, b traits) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(b.area, a.area), cmp.Compare(b.length, a.length))
	},
	func(a, b traits) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(b.length, a.length), cmp.Compare(b.area, a.area))
	},
}

// ranked returns the buffers as candidates, in the order of the current ranking.
func (s *exact) ranked(part []int32) []candidate {
	all := make([]traits, len(part))
	for i, b := range part {
		t := traits{buffer: b, length: float64(s.span[b])}
		t.area = t.length * float64(s.size[b])
		for k := s.lo[b]; k < s.hi[b]; k++ {
			t.total = max(t.total, float64(s.left[k]))
		}
		all[i] = t
	}
	slices.SortFunc(all, func(a, b traits) int {
		return cmp.Or(rankings[s.ranking](a, b), cmp.Compare(a.buffer, b.buffer))
	})
	open := make([]candidate, len(all))
	for i, t := range all {
		open[i] = candidate{rank: int32(i), buffer: t.buffer}
	}
	return open
}

// geometry describes which buffers overlap in time. Sections are the maximal sets of buffers that live at the same
// time, in order of time. Two buffers overlap in time if and only if they share a section.
type geometry struct {
	size     []int64   // by buffer, in units
	unit     int64     // the greatest common divisor of the sizes, in bytes
	lo, hi   []int32   // by buffer: it lives in sections [lo, hi)
	span     []int64   // by buffer: length of its life on the requests' clock
	buffers  []int32   // the buffers with a size above 0, in the order of their requests
	count    int32     // the number of sections
	entries  int       // the number of elements in sections and overlaps together
	sections [][]int32 // by section: its buffers; set by connect
	overlaps [][]int32 // by buffer: the others that share a section with it; set by connect
}

// newGeometry returns the geometry of requests without sections and overlaps. A section ends where a release
// follows a request.
func newGeometry(r *alloc.Requests) *geometry {
	n := len(r.Buffers)
	g := &geometry{size: make([]int64, n), span: make([]int64, n), lo: make([]int32, n), hi: make([]int32, n)}
	for i, b := range r.Buffers {
		g.span[i] = int64(b.End - b.Start)
		g.unit = engine.GCD(g.unit, int64(b.Bytes))
	}
	if g.unit == 0 { // all sizes are 0
		g.unit = 1
	}
	live := 0
	fresh := false // whether a request came since the last section
	section := func() {
		if fresh {
			g.count++
			g.entries += live
			fresh = false
		}
	}
	for _, e := range r.Events {
		i := int32(e.Buffer)
		if r.Buffers[i].Bytes == 0 {
			continue
		}
		if e.Free {
			section()
			g.hi[i] = g.count
			live--
			continue
		}
		g.buffers = append(g.buffers, i)
		g.size[i] = int64(r.Buffers[i].Bytes) / g.unit
		g.lo[i], g.hi[i] = g.count, -1
		g.entries += 2 * live
		live++
		fresh = true
	}
	section()
	for _, i := range g.buffers {
		if g.hi[i] < 0 { // lives to the end
			g.hi[i] = g.count
		}
	}
	return g
}

// connect fills in sections and overlaps, which takes g.entries elements.
func (g *geometry) connect() {
	g.sections, g.overlaps = make([][]int32, g.count), make([][]int32, len(g.size))
	var live []int32
	for _, i := range g.buffers {
		for s := g.lo[i]; s < g.hi[i]; s++ {
			g.sections[s] = append(g.sections[s], i)
		}
		live = slices.DeleteFunc(live, func(j int32) bool { return g.hi[j] <= g.lo[i] })
		for _, j := range live {
			g.overlaps[i] = append(g.overlaps[i], j)
			g.overlaps[j] = append(g.overlaps[j], i)
		}
		live = append(live, i)
	}
}

// deepest returns the largest number of buffers that chains of overlaps connect, which bounds the depth of the
// exact search.
func (g *geometry) deepest() (most int) {
	from, reach := 0, int32(0)
	for i, b := range g.buffers {
		if g.lo[b] >= reach {
			from = i
		}
		reach = max(reach, g.hi[b])
		most = max(most, i+1-from)
	}
	return most
}

// bytes converts units to bytes.
func (g *geometry) bytes(units int64) engine.Bytes { return engine.Bytes(units * g.unit) }
