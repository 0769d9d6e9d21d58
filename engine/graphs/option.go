package graphs

import (
	"cmp"
	"slices"

	"memtide/engine"
)

// option is a way to carry out a block: what is saved between its passes, and what
// that costs. Sizes are without the cut before the block.
type option struct {
	saved        engine.Bytes // the cut after the block included
	peakF, peakB engine.Bytes // of its parts; the backward one with the gradients that come in
	timeB        int64
	backward     []int32 // what runs, by number
}

// analysis is what the chain of blocks has to know of a block.
type analysis struct {
	*local
	timeF   int64
	lean    engine.Bytes // peak of the forward part that keeps only the cut
	again   bool         // the forward part may run again as a whole
	options []option
}

// Sets of values to save are tried all, up to so many values; of more, so many that a
// greedy order gives.
const (
	maxCandidates = 10
	maxEnds       = 48
)

func analyse(l *local, poll *engine.Poll) *analysis {
	a := &analysis{local: l, again: true}
	var forward []int32
	for k, op := range l.ops[:l.forward] {
		forward = append(forward, int32(k))
		a.timeF += op.time
		a.again = a.again && !op.once
	}
	none := make([]bool, len(l.size))
	a.lean, _ = l.part(forward, none, l.with(none, l.out...))
	var candidates []int32
	always := make([]bool, len(l.size)) // what must not be made again
	for _, op := range l.ops[l.forward:] {
		for _, v := range op.in {
			i := l.maker[v]
			if i < 0 || int(i) >= l.forward || slices.Contains(l.out, v) {
				continue
			}
			if l.ops[i].once {
				always[v] = true
			} else if !slices.Contains(candidates, v) {
				candidates = append(candidates, v)
			}
		}
	}
	// What a value costs to make again for its size: the cheapest are let go first.
	slices.SortStableFunc(candidates, func(u, v int32) int {
		x, y := l.ops[l.maker[u]].time, l.ops[l.maker[v]].time
		return cmp.Compare(float64(x)*float64(l.size[v]), float64(y)*float64(l.size[u]))
	})
	for _, set := range sets(len(candidates)) {
		saved := slices.Clone(always)
		for k, v := range candidates {
			saved[v] = saved[v] || set[k]
		}
		for _, forget := range []bool{false, true} {
			if poll.Err() != nil {
				return a
			}
			if o, ok := l.option(forward, saved, forget); ok {
				a.options = append(a.options, o)
			}
		}
	}
	a.options = undominated(a.options)
	return a
}

// sets are subsets of n: all, or some ends of the order beyond maxCandidates.
func sets(n int) (list [][]bool) {
	if n > maxCandidates {
		for k := range maxEnds + 1 {
			from, set := n*k/maxEnds, make([]bool, n)
			for k := from; k < n; k++ {
				set[k] = true
			}
			list = append(list, set)
		}
		return list
	}
	for bits := 1<<n - 1; bits >= 0; bits-- {
		set := make([]bool, n)
		for k := range set {
			set[k] = bits>>k&1 == 1
		}
		list = append(list, set)
	}
	return list
}

func undominated(list []option) (front []option) {
	slices.SortStableFunc(list, func(x, y option) int {
		return cmp.Or(cmp.Compare(x.timeB, y.timeB), cmp.Compare(x.saved, y.saved), cmp.Compare(x.peakB+x.peakF, y.peakB+y.peakF))
	})
	for _, o := range list {
		if !slices.ContainsFunc(front, func(q option) bool {
			return q.timeB <= o.timeB && q.saved <= o.saved && q.peakF <= o.peakF && q.peakB <= o.peakB
		}) {
			front = append(front, o)
		}
	}
	return front
}

func (l *local) with(set []bool, values ...int32) []bool {
	out := slices.Clone(set)
	for _, v := range values {
		if v != none {
			out[v] = true
		}
	}
	return out
}

// option carries out the block with some values saved. What is missing is made again
// before a reader and then kept to its last use or, with forget, until that reader is
// over. ok is false if it cannot be done.
func (l *local) option(forward []int32, saved []bool, forget bool) (o option, ok bool) {
	hold := l.with(saved, l.gradIn...)
	for _, op := range l.ops[l.forward:] {
		for _, v := range op.in { // of the cut after the block
			hold[v] = hold[v] || slices.Contains(l.out, v)
		}
	}
	there := make([]bool, len(l.size))
	for v := range there {
		there[v] = l.outside[v] || hold[v]
	}
	var made []int32 // again, and not forgotten
	var remake func(in []int32) bool
	remake = func(in []int32) bool {
		for _, v := range in {
			i := l.maker[v]
			if there[v] || i < 0 || int(i) >= l.forward {
				continue
			}
			if l.ops[i].once || !remake(l.ops[i].in) {
				return false
			}
			o.backward = append(o.backward, i)
			for _, w := range l.ops[i].out {
				there[w] = true
			}
			made = append(made, l.ops[i].out...)
		}
		return true
	}
	for k := l.forward; k < len(l.ops); k++ {
		if !remake(l.ops[k].in) {
			return o, false
		}
		o.backward = append(o.backward, int32(k))
		for _, v := range made {
			there[v] = !forget || hold[v]
		}
		if forget {
			made = made[:0]
		}
	}
	for _, i := range o.backward {
		o.timeB += l.ops[i].time
	}
	keep := l.with(saved, l.out...)
	for v := range keep {
		if keep[v] {
			o.saved += l.size[v]
		}
	}
	var okB bool
	o.peakF, ok = l.part(forward, make([]bool, len(l.size)), keep)
	o.peakB, okB = l.part(o.backward, hold, l.with(make([]bool, len(l.size)), l.gradOut...))
	return o, ok && okB
}

// part is the peak of a sequence of operations that begins with what it holds and
// ends with what it keeps. ok is false if something is missing.
func (l *local) part(seq []int32, hold, keep []bool) (peak engine.Bytes, ok bool) {
	const absent = -2
	from, to := make([]int, len(l.size)), make([]int, len(l.size))
	change := make([]engine.Bytes, len(seq)+2)
	for v := range from {
		if from[v], to[v] = absent, -1; hold[v] {
			from[v] = -1
		}
	}
	end := func(v int32) {
		if from[v] != absent {
			change[max(from[v], 0)] += l.size[v]
			change[max(to[v], from[v], 0)+1] -= l.size[v]
		}
	}
	for p, i := range seq {
		for _, v := range l.ops[i].in {
			if from[v] == absent && !l.outside[v] {
				return 0, false
			}
			to[v] = p
		}
		for _, v := range l.ops[i].out {
			end(v)
			from[v], to[v] = p, p
		}
	}
	for v := range from {
		if keep[v] && len(seq) > 0 {
			to[v] = len(seq) - 1
		}
		end(int32(v))
	}
	var used engine.Bytes
	for p, i := range seq {
		used += change[p]
		peak = max(peak, used+l.ops[i].temp)
	}
	if len(seq) == 0 {
		peak = change[0]
	}
	return peak, true
}
