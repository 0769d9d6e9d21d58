package graphs

import (
	"cmp"
	"fmt"
	"slices"

	"memtide/engine"
)

// block is a part of a step: forward operations between two cuts, and the backward
// operations that read what they make.
type block struct {
	forward, backward []int32
	in, out           []int32 // the cuts before and after it; nil at the ends
	through           []bool  // of every value: it stays throughout; the same of all blocks
	// what backward operations make for this block and those before it, and for those before it alone
	gradIn, gradOut []int32
}

// blocks cuts a graph into a chain of blocks. A cut is all that forward operations before
// it make for forward ones after it; what is there at the start is not counted, and neither
// are a few small values that operations everywhere read, such as masks: they stay throughout.
// Cuts are where a single value passes and parts have at least fewest forward operations, and where parts between
// these are
// long, at the fewest bytes about their middles. Neighbours become one block where a backward
// operation reads what both make, or comes too late for its own.
func (m *model) blocks(fewest int) []block {
	forward := m.firstForward()
	rank := make([]int, m.ops+2) // of forward operations, from 1
	for k, i := range forward {
		rank[i] = k + 1
	}
	through := m.through(forward, rank)
	ends, cuts := m.cuts(forward, rank, through, fewest)
	of := make([]int, m.ops+2) // the block of an operation
	backward := m.order[len(forward):]
	for {
		joined := m.place(forward, backward, ends, of, through)
		if !slices.Contains(joined, true) {
			return m.fill(forward, backward, cuts, of, through)
		}
		kept := 0
		for k := range ends {
			if !joined[k] {
				ends[kept], cuts[kept] = ends[k], cuts[k]
				kept++
			}
		}
		ends, cuts = ends[:kept], cuts[:kept]
	}
}

// Of values that stay throughout: the share of the forward pass over which they are read
// at least, and that of the peak that they may come to together.
const (
	throughSpan  = 4
	throughShare = 20
)

// through are values that stay throughout: of those that forward operations far apart read, the
// smallest, as long as they are few bytes in all.
func (m *model) through(forward []int32, rank []int) []bool {
	through := make([]bool, len(m.size))
	var list []int32
	for k, i := range forward {
		for _, v := range m.kinds[i].writes {
			if m.lastOf(v, rank)-k > len(forward)/throughSpan+1 {
				list = append(list, v)
			}
		}
	}
	slices.SortStableFunc(list, func(u, v int32) int { return cmp.Compare(m.size[u], m.size[v]) })
	peak, _, _ := m.cost(m.given())
	left := (peak - m.g.Fixed) / throughShare
	for _, v := range list {
		left -= m.size[v]
		if left < 0 {
			break
		}
		through[v] = true
	}
	return through
}

// Parts with more than mostGroup forward operations, or with more than one in mostGroups of all,
// are cut where several values pass.
const (
	mostGroup  = 24
	mostGroups = 50
)

// How many forward operations parts have at least where single values pass again and again: what is
// made again within a block is chosen operation by operation, of whole blocks everything is.
// Graphs of fewForward at most are cut at every such value too, which small budgets need.
const (
	inGroup    = 8
	fewForward = 600
)

// groups returns the least sizes of parts that are tried.
func (m *model) groups() []int {
	if len(m.firstForward()) > fewForward {
		return []int{inGroup}
	}
	return []int{inGroup, 1}
}

// cuts returns the values that pass at each cut, and how many forward operations come before it.
func (m *model) cuts(forward []int32, rank []int, through []bool, fewest int) (ends []int, cuts [][]int32) {
	expires := make([][]int32, len(forward)+1) // by their last forward reader
	count, bytes := make([]int, len(forward)+1), make([]engine.Bytes, len(forward)+1)
	passes, sum := 0, engine.Bytes(0)
	for k, i := range forward {
		for _, v := range m.kinds[i].writes {
			if last := m.lastOf(v, rank); last > k+1 && !through[v] {
				expires[last] = append(expires[last], v)
				passes++
				sum += m.size[v]
			}
		}
		for _, v := range expires[k+1] {
			passes--
			sum -= m.size[v]
		}
		count[k+1], bytes[k+1] = passes, sum
	}
	least, from := max(mostGroup, len(forward)/mostGroups), 0
	for end := 1; end <= len(forward); end++ {
		if end == len(forward) || count[end] == 1 && end-from >= fewest {
			ends = divide(ends, bytes, from, end, least)
			from = end
			if end < len(forward) {
				ends = append(ends, end)
			}
		}
	}
	cuts = make([][]int32, len(ends))
	for k, i := range forward {
		for _, v := range m.kinds[i].writes {
			at, _ := slices.BinarySearch(ends, k+1)
			for last := m.lastOf(v, rank); at < len(ends) && ends[at] < last && !through[v]; at++ {
				cuts[at] = append(cuts[at], v)
			}
		}
	}
	return ends, cuts
}

// divide appends where a part is cut: at the fewest bytes in its middle half, and both halves
// again, until they are short enough.
func divide(ends []int, bytes []engine.Bytes, from, to, short int) []int {
	if to-from <= short {
		return ends
	}
	at, most := 0, to-(to-from)/4
	for k := from + (to-from)/4; k <= most; k++ {
		if at == 0 || bytes[k] < bytes[at] {
			at = k
		}
	}
	return divide(append(divide(ends, bytes, from, at, short), at), bytes, at, to, short)
}

// lastOf returns the rank of the last forward operation that reads a value, or 0 if none does.
func (m *model) lastOf(v int32, rank []int) (last int) {
	for _, u := range m.users[v] {
		last = max(last, rank[u])
	}
	return last
}

// place finds the blocks of all operations, and which neighbours have to become one:
// between which a cut has to go.
func (m *model) place(forward, backward []int32, ends []int, of []int, through []bool) (joined []bool) {
	joined = make([]bool, len(ends))
	inside := make([]bool, m.ops+2)
	for k, i := range forward {
		b, _ := slices.BinarySearch(ends, k+1)
		of[i], inside[i] = b, true
	}
	last := make([]int, len(m.size)) // of every forward value the last block that may read it in the backward pass
	for v, i := range m.maker {
		if i == none || !inside[i] {
			continue
		}
		last[v] = of[i]
		for _, u := range m.users[v] {
			if inside[u] {
				last[v] = max(last[v], of[u]) // a cut, for the block after it
			}
		}
	}
	at := len(ends)
	for _, i := range backward {
		low, high := 0, len(ends)
		for _, v := range m.in[i] {
			if inside[m.maker[v]] && !through[v] {
				low, high = max(low, of[m.maker[v]]), min(high, last[v])
			}
		}
		for k := min(at, high); k < low; k++ { // it reads both, or comes too late for its own
			joined[k] = true
		}
		at = min(at, max(low, high))
		of[i] = at
	}
	return joined
}

// fill makes the blocks.
func (m *model) fill(forward, backward []int32, cuts [][]int32, of []int, through []bool) []block {
	list := make([]block, len(cuts)+1)
	for k := range list {
		list[k].through = through
		if k > 0 {
			list[k].in = cuts[k-1]
		}
		if k < len(cuts) {
			list[k].out = cuts[k]
		}
	}
	for _, i := range forward {
		list[of[i]].forward = append(list[of[i]].forward, i)
	}
	for _, i := range backward {
		list[of[i]].backward = append(list[of[i]].backward, i)
		for _, v := range m.kinds[i].writes {
			low := of[i]
			for _, u := range m.users[v] {
				if u == m.sink() {
					low = -1
				} else {
					low = min(low, of[u])
				}
			}
			for k := of[i]; k > low; k-- {
				list[k].gradOut = append(list[k].gradOut, v)
				if k > 0 {
					list[k-1].gradIn = append(list[k-1].gradIn, v)
				}
			}
		}
	}
	return list
}

// local is a block by itself: its operations, forward ones first, and values numbered
// from 0. The cut before it and what is there at the start have no size here: they
// are accounted for elsewhere.
type local struct {
	forward int // how many operations are forward ones
	ops     []localOp
	size    []engine.Bytes
	maker   []int32 // of every value the operation, none if it comes from outside
	outside []bool  // always there
	out     []int32 // the cut after it
	gradIn  []int32
	gradOut []int32
	global  []int32 // of every operation
}

type localOp struct {
	in, out []int32
	time    int64
	temp    engine.Bytes
	once    bool
}

// newLocal numbers a block.
func (m *model) newLocal(b *block) *local {
	l := &local{forward: len(b.forward)}
	number := map[int32]int32{}
	value := func(v int32) int32 {
		n, ok := number[v]
		if !ok {
			n = int32(len(l.size))
			number[v] = n
			outside := slices.Contains(b.in, v) || m.maker[v] == m.source() || b.through[v]
			size := m.size[v]
			if outside {
				size = 0
			}
			l.size, l.maker, l.outside = append(l.size, size), append(l.maker, none), append(l.outside, outside)
		}
		return n
	}
	all := func(list []int32) (out []int32) {
		for _, v := range list {
			out = append(out, value(v))
		}
		return out
	}
	l.global = append(slices.Clone(b.forward), b.backward...)
	for k, i := range l.global {
		op := localOp{in: all(m.in[i]), out: all(m.kinds[i].writes), time: int64(m.kinds[i].time),
			temp: m.kinds[i].temp, once: m.once[i]}
		for _, v := range op.out {
			l.maker[v] = int32(k)
		}
		l.ops = append(l.ops, op)
	}
	l.gradIn, l.gradOut = all(b.gradIn), all(b.gradOut)
	l.out = all(b.out)
	return l
}

// key returns a text that is the same of blocks whose locals are equal, but for global.
func (m *model) key(b *block, l *local) string {
	var in []engine.Bytes
	for _, v := range b.in {
		in = append(in, m.size[v])
	}
	return fmt.Sprint(l.forward, l.ops, l.size, l.outside, l.out, l.gradIn, l.gradOut, in)
}
