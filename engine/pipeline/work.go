package pipeline

import (
	"math/rand/v2"
	"slices"

	"memtide/engine"
)

// A cell is a micro batch at a stage, and a node is a pass of a cell. The number of a node is four times that of the
// cell plus one of these.
const (
	nodeF = iota // F or D
	nodeR        // only if the cell is dropped
	nodeB        // B, or A if backwards are whole
	nodeW
)

// work is a step that a search changes, without copies: the orders, the end of each pass (by a longest path), and the
// bytes of each rank. A change is made, played from its place on, and kept or taken back.
type work struct {
	p       *Problem
	first   []int32           // by stage: its first cell
	stage   []int32           // by cell: its stage
	before  []int32           // by cell: the cell of the stage before, or -1
	behind  []int32           // by cell: the cell of the next stage, or -1
	length  []int64           // by stage and kind of node: its time
	bytes   [][2]engine.Bytes // by stage and kind of node: allocated and freed; kind 4 is a dropped forward
	message []int64           // by stage: time of the message from the stage before

	order   [][]int32        // by rank: its nodes
	place   []int32          // by node: its index in its rank's order
	end     []int64          // by node: its end
	dropped []bool           // by cell: its forward is D
	held    [][]engine.Bytes // by rank and place: bytes before the pass
	sums    [][]int64        // by rank and place: time of the passes before it; at the end of all

	// State of play.
	next   []int32  // by rank: the next place
	free   []int64  // by rank: end of the last pass that was played
	waits  []int32  // by rank: the node of another rank that it waits for, or -1
	ready  []int32  // ranks to go on with
	undo   []change // overwritten ends
	played int      // number of passes played so far
}

// change is the end of a node before play overwrote it.
type change struct {
	node int32
	end  int64
}

// newWork returns the work of a problem, without an order.
func newWork(p *Problem) *work {
	w := &work{p: p, next: make([]int32, p.Ranks), free: make([]int64, p.Ranks), waits: make([]int32, p.Ranks),
		held: make([][]engine.Bytes, p.Ranks), sums: make([][]int64, p.Ranks)}
	cells := int32(0)
	for s := range p.Stages {
		st := &p.Stages[s]
		w.first = append(w.first, cells)
		back, late := Inputs, int64(st.Weights)
		b := int64(st.Inputs)
		if p.Fused {
			back, b, late = Backward, int64(st.whole()), 0
		}
		w.length = append(w.length, int64(st.Forward), int64(st.Forward), b, late)
		for _, k := range []Kind{Forward, Again, back, Weights, Dropped} {
			take, give := st.bytes(k)
			w.bytes = append(w.bytes, [2]engine.Bytes{take, give})
		}
		w.message = append(w.message, int64(p.comm(s)))
		n := int32(p.micro(s))
		for m := range n {
			before, behind := int32(-1), int32(-1)
			if !p.first(s) {
				before = w.first[s-1] + m
			}
			if !p.last(s) {
				behind = cells + n + m
			}
			w.stage, w.before, w.behind = append(w.stage, int32(s)), append(w.before, before), append(w.behind, behind)
		}
		cells += n
	}
	w.place, w.end, w.dropped = make([]int32, 4*cells), make([]int64, 4*cells), make([]bool, cells)
	return w
}

// load takes over an order, and reports whether it can be played within the limits. If the problem splits backwards,
// whole backwards are split, which never delays anything.
func (w *work) load(order [][]Pass) bool {
	w.order = make([][]int32, len(order))
	clear(w.dropped)
	for r, list := range order {
		for _, x := range list {
			node := 4 * (w.first[x.Stage] + int32(x.Micro))
			switch x.Kind {
			case Dropped:
				w.dropped[node/4] = true
			case Again:
				node += nodeR
			case Inputs, Backward:
				node += nodeB
			case Weights:
				node += nodeW
			case Out, In:
				return false
			}
			if w.p.Fused && x.Kind == Weights {
				continue
			}
			w.order[r] = append(w.order[r], node)
			if x.Kind == Backward && !w.p.Fused {
				w.order[r] = append(w.order[r], node-nodeB+nodeW)
			}
		}
	}
	for r := range w.order {
		if !w.settle(r) {
			return false
		}
	}
	_, ok := w.play(-1, 0, never)
	w.undo = w.undo[:0]
	return ok
}

// passes returns the orders for the player.
func (w *work) passes() [][]Pass {
	out := make([][]Pass, len(w.order))
	for r, list := range w.order {
		for _, node := range list {
			out[r] = append(out[r], w.pass(node))
		}
	}
	return out
}

func (w *work) pass(node int32) Pass {
	cell := node / 4
	s := w.stage[cell]
	k := [4]Kind{Forward, Again, Inputs, Weights}[node%4]
	switch {
	case node%4 == nodeF && w.dropped[cell]:
		k = Dropped
	case node%4 == nodeB && w.p.Fused:
		k = Backward
	}
	return Pass{Kind: k, Micro: int(cell - w.first[s]), Stage: int(s)}
}

// use returns the bytes that a node allocates at its start and frees at its end.
func (w *work) use(node int32) [2]engine.Bytes {
	k := int(node % 4)
	if k == nodeF && w.dropped[node/4] {
		k = 4
	}
	return w.bytes[5*int(w.stage[node/4])+k]
}

func (w *work) time(node int32) int64 { return w.length[4*w.stage[node/4]+node%4] }

// settle computes places, bytes and sums of a rank again, and reports whether its order is valid and fits.
func (w *work) settle(r int) bool {
	for i, node := range w.order[r] {
		w.place[node] = int32(i)
	}
	n := len(w.order[r]) + 1
	w.held[r], w.sums[r] = slices.Grow(w.held[r][:0], n)[:n], slices.Grow(w.sums[r][:0], n)[:n]
	w.held[r][0], w.sums[r][0] = w.p.fixed(r), 0
	return w.fits(r, 0, n-2)
}

// fits computes bytes and sums of places from to to of a rank's order, and reports whether they are valid and fit.
func (w *work) fits(r, from, to int) bool {
	now, sum, limit := w.held[r][from], w.sums[r][from], w.p.limit(r)
	for i := from; i <= to; i++ {
		node := w.order[r][i]
		cell := 4 * (node / 4)
		switch node % 4 {
		case nodeR:
			if w.place[cell] > int32(i) {
				return false
			}
		case nodeB:
			if w.place[cell] > int32(i) || w.dropped[node/4] && w.place[cell+nodeR] > int32(i) {
				return false
			}
		case nodeW:
			if w.place[cell+nodeB] > int32(i) {
				return false
			}
		}
		use := w.use(node)
		if now += use[0]; now > limit {
			return false
		}
		now -= use[1]
		sum += w.time(node)
		w.held[r][i+1], w.sums[r][i+1] = now, sum
	}
	return true
}

// play computes the ends of all passes that a change at a place of a rank can delay, and returns the step time. It
// returns false once the step time is more than most or nothing can start. revert restores the ends that play
// overwrites. With rank -1 it computes all ends.
func (w *work) play(rank, place int, most int64) (int64, bool) {
	w.undo = w.undo[:0]
	from := int64(0) // passes that started before this time do not change
	if rank >= 0 && place > 0 {
		from = w.end[w.order[rank][place-1]]
	}
	w.ready = w.ready[:0]
	for r, list := range w.order {
		i := 0
		switch {
		case r == rank:
			i = place
		case from > 0:
			i, _ = slices.BinarySearchFunc(list, from, func(node int32, t int64) int {
				if w.end[node]-w.time(node) < t {
					return -1
				}
				return 1
			})
		}
		w.next[r], w.free[r], w.waits[r] = int32(i), 0, -1
		if i > 0 {
			w.free[r] = w.end[list[i-1]]
		}
		w.ready = append(w.ready, int32(r))
	}
	for len(w.ready) > 0 {
		r := w.ready[len(w.ready)-1]
		w.ready = w.ready[:len(w.ready)-1]
		if !w.advance(r) {
			continue
		}
		if sums := w.sums[r]; w.free[r]+sums[len(sums)-1]-sums[w.next[r]] > most {
			return 0, false
		}
	}
	for r, list := range w.order {
		if int(w.next[r]) < len(list) {
			return 0, false
		}
	}
	return slices.Max(w.free), true
}

// advance plays a rank until it waits for another one. It returns false if it played nothing.
func (w *work) advance(r int32) bool {
	list, free, i := w.order[r], w.free[r], w.next[r]
	begin := i
	w.waits[r] = -1
	for ; int(i) < len(list); i++ {
		node := list[i]
		at := free
		source, message := w.source(node)
		if source >= 0 {
			q := int32(w.p.Stages[w.stage[source/4]].Rank)
			if q != r && w.place[source] >= w.next[q] || q == r && w.place[source] >= i {
				if q != r {
					w.waits[r] = source
				}
				break
			}
			at = max(at, w.end[source]+message)
		}
		free = at + w.time(node)
		w.undo = append(w.undo, change{node, w.end[node]})
		w.end[node] = free
		w.wake(node)
	}
	w.next[r], w.free[r] = i, free
	w.played += int(i - begin)
	return i > begin
}

// source returns the node of another stage whose result the given node needs, or -1, and the time of the message.
func (w *work) source(node int32) (source int32, message int64) {
	cell := node / 4
	switch node % 4 {
	case nodeF:
		if c := w.before[cell]; c >= 0 {
			return 4*c + nodeF, w.message[w.stage[cell]]
		}
	case nodeB:
		if c := w.behind[cell]; c >= 0 {
			return 4*c + nodeB, w.message[w.stage[c]]
		}
	}
	return -1, 0
}

// wake adds the rank that waits for a node to the ready ones.
func (w *work) wake(node int32) {
	c := int32(-1)
	switch node % 4 {
	case nodeF:
		c = w.behind[node/4]
	case nodeB:
		c = w.before[node/4]
	}
	if c < 0 {
		return
	}
	if q := int32(w.p.Stages[w.stage[c]].Rank); w.waits[q] == node {
		w.waits[q] = -1
		w.ready = append(w.ready, q)
	}
}

// revert restores the ends before the last play.
func (w *work) revert() {
	for _, c := range slices.Backward(w.undo) {
		w.end[c.node] = c.end
	}
	w.undo = w.undo[:0]
}

// spot is a place in the order of a rank.
type spot struct{ rank, place int }

// critical appends a longest path to path[:0], from its end; if there are several, a random one.
func (w *work) critical(path []spot, makespan int64, rng *rand.Rand) []spot {
	path = path[:0]
	r := rng.IntN(w.p.Ranks)
	for n := len(w.order[r]); n == 0 || w.end[w.order[r][n-1]] != makespan; n = len(w.order[r]) {
		r = (r + 1) % w.p.Ranks
	}
	i := len(w.order[r]) - 1
	for {
		path = append(path, spot{r, i})
		node := w.order[r][i]
		start := w.end[node] - w.time(node)
		if start <= 0 {
			return path
		}
		source, message := w.source(node)
		byRank := i > 0 && w.end[w.order[r][i-1]] == start
		if byRank && (source < 0 || w.end[source]+message < start || rng.IntN(2) == 0) {
			i--
			continue
		}
		r, i = w.p.Stages[w.stage[source/4]].Rank, int(w.place[source])
	}
}
