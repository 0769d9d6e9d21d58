package graphs

import (
	"encoding/binary"
	"slices"

	"memtide/engine"
)

// block is a part of a step: forward operations between two cuts, and the backward
// operations that read what they make.
type block struct {
	forward, backward []int32
	in, out           int32   // the cuts before and after it; none at the ends
	gradIn, gradOut   []int32 // what backward operations make for this block and those before it, and for those before it alone
}

// blocks cuts a graph into a chain of blocks. A cut is a value through which all
// passes that forward operations before it make for forward ones after it; what is
// there at the start is not counted. Neighbours become one block where a backward
// operation reads what both make, or comes too late for its own.
func (m *model) blocks() []block {
	forward := m.forward()
	rank := make([]int, m.ops+2) // of forward operations, from 1
	for k, i := range forward {
		rank[i] = k + 1
	}
	var ends []int // how many operations come before a cut
	var cuts []int32
	live := map[int32]int{} // the last forward reader of what passes
	for k, i := range forward {
		for _, v := range m.kinds[i].writes {
			for _, u := range m.users[v] {
				live[v] = max(live[v], rank[u])
			}
		}
		passes, only := 0, none
		for v, last := range live {
			if last <= k+1 {
				delete(live, v)
			} else {
				passes++
				only = v
			}
		}
		if passes == 1 && k+1 < len(forward) {
			ends, cuts = append(ends, k+1), append(cuts, only)
		}
	}
	of := make([]int, m.ops+2) // the block of an operation
	backward := m.order[len(forward):]
	for {
		last := m.place(forward, backward, ends, of)
		if last < 0 {
			break
		}
		ends, cuts = slices.Delete(ends, last, last+1), slices.Delete(cuts, last, last+1)
	}
	return m.fill(forward, backward, cuts, of)
}

// place finds the blocks of all operations. Where two blocks have to become one, it
// returns the cut between them that has to go, otherwise -1.
func (m *model) place(forward, backward []int32, ends []int, of []int) int {
	for k, i := range forward {
		b, _ := slices.BinarySearch(ends, k+1)
		of[i] = b
	}
	inside := make([]bool, m.ops+2)
	for _, i := range forward {
		inside[i] = true
	}
	first := func(v int32) (low, high int) { // blocks whose backward part may read a forward value
		b := of[m.maker[v]]
		low, high = b, b
		for _, u := range m.users[v] {
			if inside[u] {
				high = max(high, of[u]) // a cut, for the block after it
			}
		}
		return low, high
	}
	at := len(ends)
	for _, i := range backward {
		low, high := 0, len(ends)
		for _, v := range m.in[i] {
			if !inside[m.maker[v]] {
				continue
			}
			l, h := first(v)
			low, high = max(low, l), min(high, h)
		}
		if low > high {
			return high
		}
		if low > at {
			return at
		}
		at = min(at, high)
		of[i] = at
	}
	return -1
}

// fill makes the blocks.
func (m *model) fill(forward, backward, cuts []int32, of []int) []block {
	list := make([]block, len(cuts)+1)
	for k := range list {
		list[k].in, list[k].out = none, none
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
			outside := v == b.in || m.maker[v] == m.source()
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
