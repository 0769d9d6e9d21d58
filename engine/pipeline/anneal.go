package pipeline

import (
	"math"
	"math/rand/v2"
	"slices"

	"memtide/engine"
)

// annealing improves an order by small moves on a critical path: a pass moves earlier or later on its rank; all
// passes of a micro batch at a stage move before those of another; a forward is dropped and run again before its
// backward, or kept again. A move that does not fit into the bytes of its rank is not made, or makes room by a drop.
// Slower steps are accepted at random, with falling probability (Metropolis).
type annealing struct {
	*work
	rng     *rand.Rand
	allowed Allowed
	time    int64    // step time of the current order
	best    int64    // step time of found
	found   [][]Pass // the best order
	path    []spot   // a critical path
	window  []int32  // scratch of shift: a part of the order before a move
}

// The temperatures of an annealing, as parts of the step time: it starts from warmest, or from lukewarm if the step
// is already good, and ends at coldest.
const (
	warmest  = 3e-3
	lukewarm = 6e-5
	coldest  = 3e-6
)

// anneal starts at temperature from, and ends when effort passes were played, the bound is reached, or the poll ends
// it. It returns the best order and its step time.
func (w *work) anneal(rng *rand.Rand, allowed Allowed, from float64, effort int, bound int64,
	poll *engine.Poll) ([][]Pass, int64) {
	a := &annealing{work: w, rng: rng, allowed: allowed, best: math.MaxInt64}
	a.time, _ = w.play(-1, 0, never)
	a.note()
	begin := w.played
	scale := float64(a.time)
	temperature := 0.0
	for tries := 0; a.best > bound && w.played-begin < effort && tries < effort; tries++ {
		if tries%64 == 0 {
			x := float64(w.played-begin) / float64(effort)
			temperature = scale * from * math.Pow(coldest/from, x) // geometric
		}
		if poll.Err() != nil {
			break
		}
		most := a.time + engine.Int64(-math.Log(1-rng.Float64())*temperature)
		if a.move(most) && a.time < a.best {
			a.note()
		}
	}
	return a.found, a.best
}

// note keeps the current order as the best one.
func (a *annealing) note() {
	a.best, a.found = a.time, a.passes()
	a.path = a.critical(a.path, a.time, a.rng)
}

// move tries one move, and keeps it if the step takes no longer than most.
func (a *annealing) move(most int64) bool {
	at := a.path[a.rng.IntN(len(a.path))]
	if a.rng.IntN(8) == 0 { // off the path, to make room for passes on it
		at.rank = a.rng.IntN(a.p.Ranks)
		if len(a.order[at.rank]) == 0 {
			return false
		}
		at.place = a.rng.IntN(len(a.order[at.rank]))
	}
	kind := a.rng.IntN(32)
	switch {
	case kind == 0:
		return a.together(at, most)
	case kind < 4 && a.allowed.Recompute:
		return a.flip(a.order[at.rank][at.place]/4, most)
	}
	distance := 1
	if a.rng.IntN(2) == 0 {
		distance += a.rng.IntN(1 + a.rng.IntN(8))
	}
	to := at.place - distance
	if a.rng.IntN(3) == 0 {
		to = at.place + distance
	}
	return a.shift(at.rank, at.place, to, most)
}

// shift moves a pass of a rank to another place. If it meets a pass of its stage and kind, that one moves on instead,
// so that micro batches keep their order.
func (a *annealing) shift(r, from, to int, most int64) bool {
	list := a.order[r]
	if to < 0 || to >= len(list) {
		return false
	}
	low, high := min(from, to), max(from, to)
	a.window = append(a.window[:0], list[low:high+1]...)
	step := 1
	if to < from {
		step = -1
	}
	moved := false
	for i := from; i != to; i += step {
		x, y := list[i], list[i+step]
		if x%4 == y%4 && x%4 != nodeR && a.stage[x/4] == a.stage[y/4] {
			continue
		}
		list[i], list[i+step] = y, x
		moved = true
	}
	if !moved {
		return false
	}
	a.places(r, low, high)
	if a.fits(r, low, high) && a.accept(r, low, most) {
		return true
	}
	shifted := slices.Clone(list)
	copy(list[low:], a.window)
	a.places(r, low, high)
	a.fits(r, low, high)
	return a.allowed.Recompute && a.makeRoom(r, shifted, low, high, most)
}

// makeRoom drops a forward that would be held during a move, and makes the move.
func (a *annealing) makeRoom(r int, shifted []int32, low, high int, most int64) bool {
	node := shifted[a.rng.IntN(low+1)]
	cell := node / 4
	s := a.stage[cell]
	if node%4 != nodeF || a.dropped[cell] || int(a.place[4*cell+nodeB]) <= high ||
		a.p.Stages[s].Input >= a.p.Stages[s].Act {
		return false
	}
	back := slices.Index(shifted, 4*cell+nodeB)
	return a.toggle(cell, r, slices.Insert(shifted, back, 4*cell+nodeR), most)
}

// toggle drops the forward of a cell, or keeps it again, and gives its rank another order, if that fits and is
// accepted.
func (a *annealing) toggle(cell int32, r int, list []int32, most int64) bool {
	a.dropped[cell] = !a.dropped[cell]
	if a.replace(r, list, most) {
		return true
	}
	a.dropped[cell] = !a.dropped[cell]
	a.settle(r)
	return false
}

// places sets the places of a part of a rank's order.
func (a *annealing) places(r, low, high int) {
	for i := low; i <= high; i++ {
		a.place[a.order[r][i]] = int32(i)
	}
}

// accept plays the changed part, and keeps it if the step takes no longer than most.
func (a *annealing) accept(r, place int, most int64) bool {
	t, ok := a.play(r, place, most)
	if !ok || t > most {
		a.revert()
		return false
	}
	if a.time = t; t >= a.best {
		a.path = a.critical(a.path, t, a.rng)
	}
	return true
}

// replace gives a rank another order if it fits and is accepted.
func (a *annealing) replace(r int, list []int32, most int64) bool {
	old := a.order[r]
	same := 0
	for same < len(old) && same < len(list) && old[same] == list[same] {
		same++
	}
	if same == len(old) {
		return false
	}
	a.order[r] = list
	if a.settle(r) && a.accept(r, same, most) {
		return true
	}
	a.order[r] = old
	return false
}

// together moves the passes of a micro batch at a stage before the same passes of another micro batch or stage of its
// rank.
func (a *annealing) together(at spot, most int64) bool {
	old := a.order[at.rank]
	cell, other := old[at.place]/4, old[a.rng.IntN(len(old))]/4
	if cell == other || a.stage[cell] == a.stage[other] {
		return false
	}
	list := make([]int32, 0, len(old))
	for _, node := range old {
		if node/4 == other {
			if node%4 != nodeR || a.dropped[cell] {
				list = append(list, 4*cell+node%4)
			}
			if node%4 == nodeB && a.dropped[cell] && !a.dropped[other] {
				list = slices.Insert(list, len(list)-1, 4*cell+nodeR)
			}
		}
		if node/4 != cell {
			list = append(list, node)
		}
	}
	if !a.ordered(list) || !a.replace(at.rank, list, most) {
		a.settle(at.rank)
		return false
	}
	return true
}

// ordered reports whether a list has the micro batches of each stage and kind in order.
func (a *annealing) ordered(list []int32) bool {
	last := map[int32]int32{}
	for _, node := range list {
		class := 4*a.stage[node/4] + node%4
		if before, ok := last[class]; ok && before > node && node%4 != nodeR {
			return false
		}
		last[class] = node
	}
	return true
}

// flip drops a forward, and runs it again right before its backward; if it is dropped, flip keeps it again.
func (a *annealing) flip(cell int32, most int64) bool {
	s := a.stage[cell]
	if a.p.Stages[s].Input >= a.p.Stages[s].Act {
		return false
	}
	r := a.p.Stages[s].Rank
	old := a.order[r]
	list := make([]int32, 0, len(old)+1)
	for _, node := range old {
		if node == 4*cell+nodeB && !a.dropped[cell] {
			list = append(list, 4*cell+nodeR)
		}
		if node != 4*cell+nodeR {
			list = append(list, node)
		}
	}
	return a.toggle(cell, r, list, most)
}
