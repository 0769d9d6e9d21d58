package graphs

import (
	"cmp"
	"encoding/binary"
	"slices"

	"memtide/engine"
)

// block is a part of a step: forward operations between two cuts, and the backward
// operations that read what they make.
type block struct {
	forward, backward []int32
	in, out           int32   // the cuts before and after it; none at the ends
	through           []bool  // of every value: it stays throughout; the same of all blocks
	gradIn, gradOut   []int32 // what backward operations make for this block and those before it, and for those before it alone
}

// blocks cuts a graph into a chain of blocks. A cut is a value through which all
// passes that forward operations before it make for forward ones after it; what is
// there at the start is not counted, and neither are a few small values that operations
// everywhere read, such as masks: they stay throughout. Neighbours become one block where a backward
// operation reads what both make, or comes too late for its own.
func (m *model) blocks() []block {
	forward := m.forward()
	rank := make([]int, m.ops+2) // of forward operations, from 1
	for k, i := range forward {
		rank[i] = k + 1
	}
	through := m.through(forward, rank)
	ends, cuts := m.cuts(forward, rank, through)
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
			last := 0
			for _, u := range m.users[v] {
				last = max(last, rank[u])
			}
			if last-k > len(forward)/throughSpan+1 {
				list = append(list, v)
			}
		}
	}
	slices.SortStableFunc(list, func(u, v int32) int { return cmp.Compare(m.size[u], m.size[v]) })
	peak, _, _ := m.cost(m.given())
	left := (peak - m.g.Fixed) / throughShare
	for _, v := range list {
		if left -= m.size[v]; left < 0 {
			break
		}
		through[v] = true
	}
	return through
}

// cuts are the values through which all passes, and how many forward operations come
// before each.
func (m *model) cuts(forward []int32, rank []int, through []bool) (ends []int, cuts []int32) {
	expires := make([][]int32, len(forward)+1) // by their last forward reader
	passes, sum := 0, int64(0)                 // how many values pass, and their numbers added up
	for k, i := range forward {
		for _, v := range m.kinds[i].writes {
			last := 0
			for _, u := range m.users[v] {
				last = max(last, rank[u])
			}
			if last > k+1 && !through[v] {
				expires[last] = append(expires[last], v)
				passes++
				sum += int64(v)
			}
		}
		for _, v := range expires[k+1] {
			passes--
			sum -= int64(v)
		}
		if passes == 1 && k+1 < len(forward) {
			ends, cuts = append(ends, k+1), append(cuts, int32(sum))
		}
	}
	return ends, cuts
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
func (m *model) fill(forward, backward, cuts []int32, of []int, through []bool) []block {
	list := make([]block, len(cuts)+1)
	for k := range list {
		list[k].in, list[k].out, list[k].through = none, none, through
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
	out     int32   // the cut after it, or none
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

// newLocal numbers a block. Blocks with equal keys have equal locals, but for global.
func (m *model) newLocal(b *block) (l *local, key string) {
	l = &local{forward: len(b.forward), out: none}
	number := map[int32]int32{}
	value := func(v int32) int32 {
		n, ok := number[v]
		if !ok {
			n = int32(len(l.size))
			number[v] = n
			outside := v == b.in || m.maker[v] == m.source() || b.through[v]
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
		op := localOp{in: all(m.in[i]), out: all(m.kinds[i].writes), time: int64(m.kinds[i].time), temp: m.kinds[i].temp, once: m.once[i]}
		for _, v := range op.out {
			l.maker[v] = int32(k)
		}
		l.ops = append(l.ops, op)
	}
	l.gradIn, l.gradOut = all(b.gradIn), all(b.gradOut)
	if b.out != none {
		l.out = value(b.out)
	}
	var text []byte
	put := func(n int64) { text = binary.AppendVarint(text, n) }
	list := func(values []int32) {
		put(int64(len(values)))
		for _, v := range values {
			put(int64(v))
		}
	}
	put(int64(l.forward))
	put(int64(l.out))
	for _, op := range l.ops {
		put(op.time)
		put(int64(op.temp))
		list(op.in)
		list(op.out)
		if op.once {
			put(-1)
		}
	}
	for v, size := range l.size {
		put(int64(size))
		if l.outside[v] {
			put(-1)
		}
	}
	list(l.gradIn)
	list(l.gradOut)
	if b.in != none {
		put(int64(m.size[b.in]))
	}
	return l, string(text)
}
