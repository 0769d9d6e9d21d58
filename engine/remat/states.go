package remat

import (
	"math"
	"slices"

	"memtide/engine"
)

// The values of stage k that are in memory, as two bits; the gradient is not among them. A sequence never holds a^k
// both as a value of its own and within abar^k: F_all^k merges it, and no F^k runs while abar^k is in memory. (F_none^k
// could run then, to drop a^{k-1}. That would be a fourth state of every stage, and made searches of 9 to 11 stages 25
// to 250 times as long.) An unsaved a^k is not within abar^k, and both may be in memory.
const (
	holdsNothing = 0
	holdsOutput  = 1
	holdsSaved   = 2
)

// moveKind is an operation of Table 1 and its effect on memory.
type moveKind uint8

const (
	allFresh   moveKind = iota // F_all^k without a^k in memory
	allMerging                 // F_all^k with a^k in memory, which becomes part of abar^k
	keepIn                     // F_ck^k
	useIn                      // F_none^k
	backOutput                 // B^k with a^{k-1} as a value of its own, which is freed
	backSaved                  // B^k with abar^{k-1}, which stays
	dropOutput                 // a^k is freed; not an operation of Table 1
	dropSaved                  // abar^k is freed; not an operation of Table 1
)

// move is a kind and a stage.
type move uint8

const (
	stageBits = 4
	atStart   = ^move(0) // the mark of the first state, which no move leads to
)

func moveOf(kind moveKind, k int) move { return move(int(kind)<<stageBits | k) }
func (m move) kind() moveKind          { return moveKind(m >> stageBits) }
func (m move) stage() int              { return int(m & (1<<stageBits - 1)) }

// unreached is the cost of a state that no sequence has reached.
const unreached = int64(math.MaxInt64)

// states is Dijkstra's algorithm over the states of memory that sequences of Table 1 of arXiv:1911.13214 can reach, if
// they run no F^k while abar^k is in memory. Layer g holds the states whose gradient is delta^g. B^g leads to the next
// layer and never back, so the layers are expanded one after the other. In layer g, stage k has three states up to g
// and two above: an abar^k whose backward has run is of no use, not even to drop something else.
//
// The cost is the time that a sequence needs beyond one run of every forward and backward. F_all^k costs nothing: it
// runs once, because abar^k stays until B^k. Dropping abar^k costs uF^k, because F_all^k has to run again.
type states struct {
	c     *engine.Chain
	n     int
	room  engine.Bytes // memory without resident memory
	limit int64        // states of this cost or more are left out
	drops bool         // values may be dropped at any time
	peaks bool         // the cost is the peak, and room and limit do not apply
	poll  *engine.Poll

	layers []layer
	g      int // the layer being expanded
	open   engine.Heap[openState]
	held   [maxNonpersistentStages + 1]uint8 // what the state being expanded holds, by stage
	memory engine.Bytes                      // bytes of that state
	from   int64                             // cost of that state
	code   uint32                            // number of that state in the layer
}

// layer holds the states of one gradient. The number of a state is the sum over the stages k of
// what it holds of stage k times weight[k].
type layer struct {
	weight []uint32
	cost   []int64
	by     []move // the last move of the cheapest sequence to the state
}

// radix returns the number of states of stage k in layer g.
func radix(c *engine.Chain, g, k int) uint32 {
	switch {
	case k == 0 || k > g:
		return 2
	case c.Unsaved(k):
		return 4
	}
	return 3
}

// layer returns layer g, which it makes on first use.
func (s *states) layer(g int) *layer {
	l := &s.layers[g]
	if l.cost != nil {
		return l
	}
	l.weight = make([]uint32, s.n+1)
	size := uint32(1)
	for k := range l.weight {
		l.weight[k] = size
		size *= radix(s.c, g, k)
	}
	l.cost, l.by = slices.Repeat([]int64{unreached}, int(size)), make([]move, size)
	return l
}

// bytesOfStates estimates the memory of a search: its layers, and a queue with two entries for
// every state of the largest one.
func bytesOfStates(c *engine.Chain) int64 {
	all, size := int64(0), int64(0)
	for g := 0; g <= c.Len(); g++ {
		size = 2
		for k := 1; k <= c.Len(); k++ {
			size *= int64(radix(c, g, k))
		}
		all += size * (8 + 1)
	}
	return all + 2*size*16
}

// search expands all layers. It returns the cost and the moves of the cheapest sequence to delta^0;
// ok is false if no sequence below the limit reaches it.
func (s *states) search() (cost int64, path []move, ok bool, err error) {
	s.layers = make([]layer, s.n+1)
	start := s.c.Input + s.c.HeldGrad(s.n)
	if start > s.room && !s.peaks {
		return 0, nil, false, nil
	}
	first := s.layer(s.n)
	s.g, s.code = s.n, first.weight[0]*holdsOutput
	first.cost[s.code], first.by[s.code] = 0, atStart
	if s.peaks {
		first.cost[s.code] = int64(start)
	}
	s.open = engine.Heap[openState]{{first.cost[s.code], s.code}}
	for ; s.g > 0; s.g-- {
		if err := s.expandLayer(); err != nil {
			return 0, nil, false, err
		}
		s.poll.Report(engine.Progress{Done: s.n - s.g + 1, Total: s.n})
		if s.layers[s.g-1].cost == nil {
			return 0, nil, false, nil // no state allows B^g
		}
		for code, cost := range s.layers[s.g-1].cost {
			if cost != unreached {
				s.open.Push(openState{cost, uint32(code)})
			}
		}
		if len(s.open) == 0 {
			return 0, nil, false, nil
		}
	}
	best := s.open[0]
	return best.cost, s.path(best.code), true, nil
}

// expandLayer expands all states of layer g in the order of their cost.
func (s *states) expandLayer() error {
	l := s.layer(s.g)
	for len(s.open) > 0 {
		at := s.open.Pop()
		if at.cost > l.cost[at.code] {
			continue // reached for less in the meantime
		}
		if err := s.poll.Err(); err != nil {
			return err
		}
		s.visit(at)
		for k := 1; k <= s.n; k++ {
			s.expand(k)
		}
	}
	return nil
}

// visit sets held, memory, code and from to those of a state.
func (s *states) visit(at openState) {
	s.code, s.from = at.code, at.cost
	s.memory = s.c.HeldGrad(s.g)
	code := at.code
	for k := 0; k <= s.n; k++ {
		r := radix(s.c, s.g, k)
		s.held[k] = uint8(code % r)
		code /= r
		if s.held[k]&holdsOutput != 0 {
			s.memory += s.c.Act(k)
		}
		if s.held[k]&holdsSaved != 0 {
			s.memory += s.c.Saved(k)
		}
	}
}

// expand tries the moves of stage k.
func (s *states) expand(k int) {
	st := &s.c.Stages[k-1]
	w := s.layers[s.g].weight
	in, out := s.held[k-1], s.held[k]
	if s.drops && out&holdsOutput != 0 {
		s.stay(moveOf(dropOutput, k), s.code-w[k], 0, s.memory)
	}
	if s.drops && out&holdsSaved != 0 {
		s.stay(moveOf(dropSaved, k), s.code-holdsSaved*w[k], int64(st.Forward), s.memory)
	}
	loose := s.c.Unsaved(k - 1) // a^{k-1} is not within abar^{k-1}
	if k == s.g && out&holdsSaved != 0 && (in != holdsNothing || loose) {
		s.back()
	}
	if in == holdsNothing || loose && in&holdsOutput == 0 {
		return
	}
	if k <= s.g && out&holdsSaved == 0 {
		kind := allFresh
		if out == holdsOutput {
			kind = allMerging
		}
		code := s.code + (s.afterAll(s.g, k, s.code)-uint32(out))*w[k]
		if loose {
			code -= w[k-1] // consumed
		}
		s.stay(moveOf(kind, k), code, 0, s.memory+st.Saved+s.c.Beside(k)+st.FwdTemp)
	}
	if out == holdsNothing {
		need := s.memory + st.Out + st.FwdTemp
		s.stay(moveOf(keepIn, k), s.code+w[k], int64(st.Forward), need)
		if in&holdsOutput != 0 {
			s.stay(moveOf(useIn, k), s.code+w[k]-w[k-1], int64(st.Forward), need)
		}
	}
}

// afterAll returns what is held of stage k after F_all^k in layer g. code is the number of a state
// that holds the same of stage k+1. An unsaved output that has no reader left is freed at once.
func (s *states) afterAll(g, k int, code uint32) uint32 {
	if s.c.Unsaved(k) && k < g && code/s.layers[g].weight[k+1]%radix(s.c, g, k+1)&holdsSaved == 0 {
		return holdsSaved | holdsOutput
	}
	return holdsSaved
}

// back runs B^g, which leads to the next layer.
func (s *states) back() {
	g, st := s.g, &s.c.Stages[s.g-1]
	kind := backSaved
	if s.held[g-1]&holdsOutput != 0 {
		kind = backOutput
	}
	next := s.layer(g - 1)
	code := uint32(0)
	for k := 0; k <= s.n; k++ {
		switch k {
		case g:
		case g - 1:
			code += uint32(s.held[k]&^holdsOutput) * next.weight[k]
		default:
			code += uint32(s.held[k]) * next.weight[k]
		}
	}
	born := s.c.Grad(g) - s.c.HeldGrad(g)
	s.reach(next, moveOf(kind, g), code, 0, s.memory+born+s.c.Grad(g-1)+st.BwdTemp)
}

// stay makes a move within the layer.
func (s *states) stay(by move, code uint32, cost int64, need engine.Bytes) {
	l := &s.layers[s.g]
	if s.reach(l, by, code, cost, need) {
		s.open.Push(openState{l.cost[code], code})
	}
}

// reach records that a move leads to a state, and reports whether it does so at less cost than before.
func (s *states) reach(l *layer, by move, code uint32, cost int64, need engine.Bytes) bool {
	if s.peaks {
		cost = max(s.from, int64(need))
	} else {
		cost += s.from
		if need > s.room || cost >= s.limit {
			return false
		}
	}
	if cost >= l.cost[code] {
		return false
	}
	l.cost[code], l.by[code] = cost, by
	return true
}

// path returns the moves that lead to a state of the last layer.
func (s *states) path(code uint32) (back []move) {
	for g := 0; ; {
		l := &s.layers[g]
		by := l.by[code]
		if by == atStart {
			break
		}
		back = append(back, by)
		k := by.stage()
		switch by.kind() {
		case allFresh, allMerging:
			code -= s.afterAll(g, k, code) * l.weight[k]
			if by.kind() == allMerging {
				code += holdsOutput * l.weight[k]
			}
			if s.c.Unsaved(k - 1) {
				code += holdsOutput * l.weight[k-1]
			}
		case keepIn:
			code -= l.weight[k]
		case useIn:
			code += l.weight[k-1] - l.weight[k]
		case dropOutput:
			code += l.weight[k]
		case dropSaved:
			code += holdsSaved * l.weight[k]
		case backOutput, backSaved:
			g++
			code = s.before(code, by)
		}
	}
	slices.Reverse(back)
	return back
}

// before returns the state from which B^k, the move by, led to the state code.
func (s *states) before(code uint32, by move) uint32 {
	k := by.stage()
	weight := s.layers[k].weight
	prior := uint32(0)
	for j := 0; j <= s.n; j++ {
		r := radix(s.c, k-1, j)
		held := code % r
		code /= r
		switch {
		case j == k:
			held = holdsSaved
		case j == k-1 && by.kind() == backOutput:
			held |= holdsOutput
		}
		prior += held * weight[j]
	}
	return prior
}

// openState is a state in the queue. It may have been reached for less in the meantime.
type openState struct {
	cost int64
	code uint32
}

// Before orders states by cost, and by number if costs are equal.
func (a openState) Before(b openState) bool {
	return a.cost < b.cost || a.cost == b.cost && a.code < b.code
}
