package graphs

import (
	"errors"
	"math/bits"
	"slices"
	"time"

	"memtide/engine"
)

// space is the exact search: a state is the set of values on the device and the set of operations that have run. A
// value on the device costs nothing but room. So values leave only when a run needs room, and then in sets of which
// no member could stay.
type space struct {
	m    *model
	kept bool // first runs keep the order of the operations
	poll *engine.Poll

	must   uint64     // operations that have to run
	before []uint64   // by operation: those whose first runs come before, with the order kept
	once   uint64     // operations that never run again
	needs  [][]uint64 // by operation and read: copies that serve the read
	server []uint64   // by value: copies that serve its readers
	users  []uint64   // by value: operations that read it or a value within it
	pinned uint64     // values that never leave

	write []uint64       // by kind: values that it writes
	gone  []uint64       // by kind: copies that it replaces
	use   []engine.Bytes // by kind: bytes of its writes and workspace

	nodes []node
	index map[[2]uint64]int32
	open  engine.Heap[entry]
	limit int // largest number of nodes
}

// node is a state that was reached.
type node struct {
	have, ran uint64
	took      time.Duration
	parent    int32
	kind      kindID
}

// entry is a node in the queue; least is a lower bound on the time of all steps through it.
type entry struct {
	least, took time.Duration
	node        int32
}

// maxSpace is the largest number of values, and of operations, that fit into a state.
const maxSpace = 64

// maxStates is the largest number of states of a search, of about 100 bytes each.
const maxStates = 500_000

var errStates = errors.New("graphs: too many states")

// newSpace returns a search. ok is false if the graph has too many values or operations.
func newSpace(m *model, kept bool, poll *engine.Poll) (*space, bool) {
	if len(m.size) > maxSpace || m.ops > maxSpace {
		return nil, false
	}
	s := &space{m: m, kept: kept, poll: poll, before: make([]uint64, m.ops), needs: make([][]uint64, m.ops),
		server: make([]uint64, len(m.size)), users: make([]uint64, len(m.size)), limit: maxStates}
	for _, k := range m.kinds {
		var write uint64
		for _, v := range k.writes {
			write |= 1 << v
		}
		gone := write
		for _, sv := range k.serves {
			s.server[sv.value] |= 1 << k.writes[sv.write]
			gone |= 1 << sv.value
			if w := m.g.Values[sv.value].PartOf; w >= 0 && m.maker[w] == m.maker[sv.value] {
				gone |= 1 << w // a part is made again only to let the whole leave
			}
			for _, i := range m.users[sv.value] {
				if i != m.sink() {
					s.users[k.writes[sv.write]] |= 1 << i
				}
			}
		}
		s.write, s.gone = append(s.write, write), append(s.gone, gone)
		s.use = append(s.use, k.bytes+k.temp)
	}
	for _, i := range m.order {
		s.before[i] = s.must
		s.must |= 1 << i
		if m.once[i] {
			s.once |= 1 << i
		}
		for _, v := range m.in[i] {
			s.needs[i] = append(s.needs[i], s.server[v])
		}
	}
	for _, v := range m.in[m.sink()] {
		s.pinned |= 1 << v
	}
	return s, true
}

// find returns the fastest sequence within a budget or, with any, any sequence. It returns nil if there is no such
// sequence. The error is that of poll or errStates.
func (s *space) find(budget engine.Bytes, any bool) ([]kindID, error) {
	start := s.write[s.m.source()]
	if s.bytes(start) > budget-s.m.g.Fixed {
		return nil, nil
	}
	s.nodes, s.index, s.open = s.nodes[:0], map[[2]uint64]int32{}, s.open[:0]
	s.visit(node{have: s.useful(start, 0), parent: none}, any)
	for len(s.open) > 0 {
		if err := s.poll.Err(); err != nil {
			return nil, err
		}
		e := s.open.Pop()
		n := s.nodes[e.node]
		if e.took > n.took {
			continue
		}
		if n.ran&s.must == s.must {
			return s.trace(e.node), nil
		}
		if len(s.nodes) > s.limit {
			return nil, errStates
		}
		for id := range s.m.kinds {
			s.expand(e.node, n, kindID(id), budget, any)
		}
	}
	return nil, nil
}

// expand runs a kind from a state, for every set of values that makes enough room by leaving, and of which no
// member could stay.
func (s *space) expand(from int32, n node, id kindID, budget engine.Bytes, any bool) {
	k := &s.m.kinds[id]
	if k.op >= int32(s.m.ops) || !s.m.needed[k.op] {
		return
	}
	bit := uint64(1) << k.op
	if n.ran&bit == 0 && s.kept && n.ran&s.before[k.op] != s.before[k.op] || n.ran&s.once&bit != 0 {
		return
	}
	if after := s.useful(s.write[id], n.ran|bit); n.ran&bit != 0 && after&^n.have == 0 {
		return // everything that it makes is on the device
	}
	if !s.serves(n.have, k.op) {
		return
	}
	next := node{ran: n.ran | bit, took: n.took, parent: from, kind: id}
	if !any {
		next.took += k.time
	}
	d := &drop{s: s, id: id, next: next, any: any, keep: n.have &^ s.gone[id], room: budget - s.m.g.Fixed - s.use[id]}
	d.used = s.bytes(d.keep)
	for v := range s.m.size {
		if b := uint64(1) << v; d.keep&b&^s.pinned != 0 && s.m.size[v] > 0 {
			d.candidates = append(d.candidates, int32(v))
		}
	}
	d.try(d.keep, 0)
}

// drop enumerates the sets of values that leave before a run.
type drop struct {
	s          *space
	id         kindID
	next       node
	any        bool
	keep       uint64
	room, used engine.Bytes
	candidates []int32
}

// try visits the states for all sets of values that leave, given those that are left so far. Further values are
// candidates[from:].
func (d *drop) try(left uint64, from int) {
	if d.used <= d.room {
		for _, v := range d.candidates {
			if left>>v&1 == 0 && d.used+d.s.m.size[v] <= d.room {
				return // it could have stayed
			}
		}
		d.next.have = d.s.useful(left|d.s.write[d.id], d.next.ran)
		d.s.visit(d.next, d.any)
		return
	}
	op := d.s.m.kinds[d.id].op
	if d.s.poll.Err() != nil {
		return
	}
	for i := from; i < len(d.candidates); i++ {
		v := d.candidates[i]
		less := left &^ (1 << v)
		if d.s.serves(less, op) {
			d.used -= d.s.m.size[v]
			d.try(less, i+1)
			d.used += d.s.m.size[v]
		}
	}
}

// serves reports whether the copies in have serve all reads of an operation.
func (s *space) serves(have uint64, op int32) bool {
	return !slices.ContainsFunc(s.needs[op], func(served uint64) bool { return have&served == 0 })
}

// visit records a state, unless it was reached as soon, or the step cannot be completed from it.
func (s *space) visit(n node, any bool) {
	key := [2]uint64{n.have, n.ran}
	at, known := s.index[key]
	if known && s.nodes[at].took <= n.took {
		return
	}
	left, ok := s.left(n.have, n.ran, any)
	if !ok {
		return
	}
	if !known {
		at = int32(len(s.nodes))
		s.index[key] = at
		s.nodes = append(s.nodes, n)
	} else {
		s.nodes[at] = n
	}
	s.open.Push(entry{n.took + left, n.took, at})
}

// left returns a lower bound on the time from a state to the end, which ignores the budget: the operations that have
// not run, those that make again values that they read and that are missing, and so on. With any, it is the number of
// these operations. ok is false if one of them must not run again. A run lowers the bound by at most its time.
func (s *space) left(have, ran uint64, any bool) (sum time.Duration, ok bool) {
	todo := s.must &^ ran
	for rest := todo; rest != 0; {
		i := 63 - bits.LeadingZeros64(rest) // the makers of its inputs have smaller numbers
		rest &^= 1 << i
		if any {
			sum++
		} else {
			sum += s.m.least(int32(i))
		}
		for k, served := range s.needs[i] {
			if have&served != 0 {
				continue
			}
			maker := s.m.maker[s.m.in[i][k]]
			if maker == s.m.source() || ran&s.once>>maker&1 == 1 {
				return 0, false
			}
			if todo>>maker&1 == 0 {
				todo |= 1 << maker
				rest |= 1 << maker
			}
		}
	}
	return sum, true
}

// useful returns the values of a set that may still be read.
func (s *space) useful(have, ran uint64) uint64 {
	for left := have &^ s.pinned; left != 0; left &= left - 1 {
		v := bits.TrailingZeros64(left)
		if s.users[v]&^(ran&s.once) == 0 {
			have &^= 1 << v
		}
	}
	return have
}

func (s *space) bytes(have uint64) (sum engine.Bytes) {
	for ; have != 0; have &= have - 1 {
		sum += s.m.size[bits.TrailingZeros64(have)]
	}
	return sum
}

// trace returns the sequence that leads to a node.
func (s *space) trace(at int32) []kindID {
	seq := []kindID{}
	for ; s.nodes[at].parent != none; at = s.nodes[at].parent {
		seq = append(seq, s.nodes[at].kind)
	}
	slices.Reverse(seq)
	return seq
}

// Before orders states by bound; of equal ones the state that has come further is first.
func (e entry) Before(o entry) bool {
	return e.least < o.least || e.least == o.least && (e.took > o.took || e.took == o.took && e.node > o.node)
}

// smallest returns the least budget for which there is a sequence, and the sequence. The error is that of find.
func (s *space) smallest() (engine.Bytes, []kindID, error) {
	low, _ := s.m.footprint()
	seq := s.m.given()
	high, _, _ := s.m.cost(seq)
	for low < high {
		mid := low + (high-low)/2
		found, err := s.find(mid, true)
		if err != nil {
			return high, seq, err
		}
		if found == nil {
			low = mid + 1
			continue
		}
		seq = found
		high, _, _ = s.m.cost(seq)
	}
	return high, seq, nil
}
