package graphs

import (
	"cmp"
	"fmt"
	"slices"

	"memtide/engine"
)

// block is a part of a step: forward operations between two cuts, and the backward operations that read what they make.
type block struct {
	forward, backward []int32
	in, out           []int32 // the cuts before and after it; nil at the ends
	through           []bool  // by value: it stays throughout; the same for all blocks
	// Values that backward operations make for this block and earlier ones, and only for earlier ones.
	gradIn, gradOut []int32
}

// blocks cuts a graph into a chain of blocks. A cut is the set of values that forward operations before it make for
// forward operations after it. Values that are on the device at the start do not count, and neither do a few small
// values that are read throughout, such as masks. Cuts are where a single value passes and parts have at least fewest
// forward operations. If the parts between these are long, there are also cuts at the fewest bytes about their middles.
// Neighbouring blocks are joined if a backward operation reads values of both, or comes too late for its own block.
func (m *model) blocks(fewest int) []block {
	forward := m.firstForward()
	rank := make([]int, m.ops+2) // by forward operation, from 1; 0 for others
	for k, i := range forward {
		rank[i] = k + 1
	}
	through := m.through(forward, rank)
	ends, cuts := m.cuts(forward, rank, through, fewest)
	of := make([]int, m.ops+2) // by operation: its block
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

// Values that stay throughout are read over more than 1/throughSpan of the forward pass, and take at most
// 1/throughShare of the peak together.
const (
	throughSpan  = 4
	throughShare = 20
)

// through returns the values that stay throughout: the smallest ones that forward operations far apart read.
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

// Parts with more than mostGroup forward operations and more than 1/mostGroups of all are also cut where several
// values pass.
const (
	mostGroup  = 24
	mostGroups = 50
)

// Parts have at least inGroup forward operations, even if single values pass more often: within a block the
// operations to run again are chosen one by one, but of whole blocks all run again. Graphs of at most fewForward
// forward operations are also cut at every such value, which small budgets need.
const (
	inGroup    = 8
	fewForward = 600
)

// cuts returns the values that pass at each cut, and the number of forward operations before it.
func (m *model) cuts(forward []int32, rank []int, through []bool, fewest int) (ends []int, cuts [][]int32) {
	expires := make([][]int32, len(forward)+1) // values by the rank of their last forward reader
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

// divide appends the cuts within a part: at the fewest bytes in its middle half, and again within both halves until
// they are short enough.
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

// lastOf returns the rank of the last forward operation that reads a value, or 0.
func (m *model) lastOf(v int32, rank []int) (last int) {
	for _, u := range m.users[v] {
		last = max(last, rank[u])
	}
	return last
}

// place sets the blocks of all operations, and returns which cuts have to go because the blocks beside them are joined.
func (m *model) place(forward, backward []int32, ends []int, of []int, through []bool) (joined []bool) {
	joined = make([]bool, len(ends))
	inside := make([]bool, m.ops+2)
	for k, i := range forward {
		b, _ := slices.BinarySearch(ends, k+1)
		of[i], inside[i] = b, true
	}
	last := make([]int, len(m.size)) // by forward value: the last block that may read it in the backward pass
	for v, i := range m.maker {
		if i == none || !inside[i] {
			continue
		}
		last[v] = of[i]
		for _, u := range m.users[v] {
			if inside[u] {
				last[v] = max(last[v], of[u]) // it passes the cut before that block
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
		for k := min(at, high); k < low; k++ { // it reads values of both, or comes too late for its own
			joined[k] = true
		}
		at = min(at, max(low, high))
		of[i] = at
	}
	return joined
}

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

// local is a block by itself: its operations, forward ones first, and values numbered from 0. The cut before it and
// the values that are on the device at the start have size 0 here; they are counted elsewhere.
type local struct {
	forward int // number of forward operations
	ops     []localOp
	size    []engine.Bytes
	maker   []int32 // by value: the operation that makes it, or none
	outside []bool  // by value: it is always in memory
	out     []int32 // the cut after it
	gradIn  []int32
	gradOut []int32
	global  []int32 // by operation: its number in the model
}

// localOp is an operation of a local.
type localOp struct {
	in, out []int32
	time    int64
	temp    engine.Bytes
	once    bool
}

// newLocal returns a block with its own numbers.
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

// key returns a text that is equal for blocks whose locals differ only in global.
func (m *model) key(b *block, l *local) string {
	var in []engine.Bytes
	for _, v := range b.in {
		in = append(in, m.size[v])
	}
	return fmt.Sprint(l.forward, l.ops, l.size, l.outside, l.out, l.gradIn, l.gradOut, in)
}
