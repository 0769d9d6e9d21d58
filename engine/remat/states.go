package remat

import (
	"math"
	"slices"

	"memtide/engine"
)

// What is in memory of stage k, beside the current gradient, as two bits. A
// sequence never holds a^k both by itself and within abar^k: F_all^k merges it, and
// no F^k runs while abar^k is there. (F_none^k could, to forget a^{k-1}. That makes a fourth
// state of every stage: searches of 9 to 11 stages took 25 to 250 times as long.) An a^k
// that no saved set holds may lie beside abar^k.
const (
	holdsNothing = 0
	holdsOutput  = 1
	holdsSaved   = 2
)

// moveKind is an operation of Table 1 with what it changes in memory.
type moveKind uint8

const (
	allFresh   moveKind = iota // F_all^k, a^k is not there
	allMerging                 // F_all^k, a^k is there and becomes part of abar^k
	keepIn                     // F_ck^k
	useIn                      // F_none^k
	backOutput                 // B^k with a^{k-1} by itself, which leaves
	backSaved                  // B^k with abar^{k-1}, which stays
	dropOutput                 // a^k leaves; no operation of Table 1
	dropSaved                  // abar^k leaves; no operation of Table 1
)

// move is a kind and a stage.
type move uint8

const (
	stageBits = 4
	atStart   = ^move(0) // the state where the step begins has no move before it
)

func moveOf(kind moveKind, k int) move { return move(int(kind)<<stageBits | k) }
func (m move) kind() moveKind          { return moveKind(m >> stageBits) }
func (m move) stage() int              { return int(m & (1<<stageBits - 1)) }

// unreached is the cost of a state that no sequence has come to.
const unreached = int64(math.MaxInt64)

// states is Dijkstra's algorithm over all states of memory that the sequences of
// Table 1 of arXiv:1911.13214 can come to which run no F^k while abar^k is there. Layer g holds the states whose
// gradient is delta^g; B^g leads to the next layer and never back, so the
// layers are expanded one after the other. In layer g stage k has three states
// up to g and two above: an abar^k whose backward is over serves nothing, not
// even to free something else.
//
// The cost is what a sequence adds to the time that is needed anyway, all
// forwards and backwards once. F_all^k is free: it runs once, for abar^k stays
// until B^k. Dropping abar^k costs uF^k, because F_all^k has to run again.
type states struct {
	c     *engine.Chain
	n     int
	room  engine.Bytes // resident memory not included
	limit int64        // states that cost at least so much are left out
	drops bool         // anything may be dropped at any time
	peaks bool         // the cost is the peak instead, and there is room for all
	poll  *engine.Poll

	layers []layer
	g      int // the layer that is being expanded
	open   engine.Heap[openState]
	held   [maxNonpersistentStages + 1]uint8 // of the state that is expanded, by stage
	memory engine.Bytes                      // of that state
	from   int64                             // its cost
	code   uint32                            // its number in the layer
}

// layer is the states of one gradient. A state's number is the sum of what it
// holds of stage k times weight[k].
type layer struct {
	weight []uint32
	cost   []int64
	by     []move // that led to the state last
}

func (s *states) radix(g, k int) uint32 { return radix(s.c, g, k) }

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

// layer returns layer g, which exists from its first use on.
func (s *states) layer(g int) *layer {
	l := &s.layers[g]
	if l.cost != nil {
		return l
	}
	l.weight = make([]uint32, s.n+1)
	size := uint32(1)
	for k := range l.weight {
		l.weight[k] = size
		size *= s.radix(g, k)
	}
	l.cost, l.by = make([]int64, size), make([]move, size)
	for i := range l.cost {
		l.cost[i] = unreached
	}
	return l
}

// bytesOfStates estimates what the search of a chain takes: its layers, and a
// queue with two entries for every state of the largest one.
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

// search expands all layers. ok is false if no sequence gets to delta^0 below
// the limit; otherwise path is the moves of the cheapest one.
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
			return 0, nil, false, nil // nothing gets through B^g
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
			continue // it was reached for less since
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

// visit reads what a state holds.
func (s *states) visit(at openState) {
	s.code, s.from = at.code, at.cost
	s.memory = s.c.HeldGrad(s.g)
	code := at.code
	for k := 0; k <= s.n; k++ {
		r := s.radix(s.g, k)
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

// afterAll returns what is there of stage k after F_all^k in layer g, in a state that is
// told by what it holds of stage k+1: an unsaved output goes at once if
// it has no reader either.
func (s *states) afterAll(g, k int, code uint32) uint32 {
	if s.c.Unsaved(k) && k < g && code/s.layers[g].weight[k+1]%s.radix(g, k+1)&holdsSaved == 0 {
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

// reach notes that a move leads to a state, and says whether that is news.
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
func (s *states) path(code uint32) []move {
	var back []move
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

// before returns the state that B^k came from.
func (s *states) before(code uint32, by move) uint32 {
	k := by.stage()
	weight := s.layers[k].weight
	prior := uint32(0)
	for j := 0; j <= s.n; j++ {
		r := s.radix(k-1, j)
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

// openState is a state in the queue; it may have been reached for less since.
type openState struct {
	cost int64
	code uint32
}

// Before orders them by cost, and by number where costs are equal.
func (a openState) Before(b openState) bool {
	return a.cost < b.cost || a.cost == b.cost && a.code < b.code
}
