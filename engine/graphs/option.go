package graphs

import (
	"cmp"
	"slices"

	"memtide/engine"
)

// option is a way to run a block: what it saves between its forward and its backward, and what that costs. Sizes do
// not include the cut before the block.
type option struct {
	saved        engine.Bytes // size of the saved values, with the cut after the block
	peakF, peakB engine.Bytes // peaks of the forward, and of the backward with the incoming gradients
	timeB        int64        // time of all operations in the backward
	backward     []int32      // the operations of the backward in order, with those that run again
}

// analysis is what the chain of blocks needs to know of a block.
type analysis struct {
	*local
	timeF   int64        // time of the forward part
	lean    engine.Bytes // peak of the forward part that keeps only the cut
	repeats bool         // the forward part may run again as a whole
	options []option
}

// All subsets of up to maxCandidates values that might be saved are tried. For more values, maxEnds tails are tried
// of the order in which the values that are cheapest to make again for their size come first.
const (
	maxCandidates = 10
	maxEnds       = 48
)

// analyse finds the options of a block.
func analyse(l *local, poll *engine.Poll) *analysis {
	a := &analysis{local: l, repeats: true}
	var forward []int32
	for k, op := range l.ops[:l.forward] {
		forward = append(forward, int32(k))
		a.timeF += op.time
		a.repeats = a.repeats && !op.once
	}
	none := make([]bool, len(l.size))
	a.lean, _ = l.peakOf(forward, none, l.with(none, l.out...))
	var candidates []int32
	always := make([]bool, len(l.size)) // values that must not be made again
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
	// The values that are cheapest to make again for their size come first: they are dropped first.
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

// sets returns subsets of n elements: all, or for more than maxCandidates some tails.
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

// undominated returns the options that no other one dominates in time, saved bytes and both peaks.
func undominated(list []option) (front []option) {
	slices.SortStableFunc(list, func(x, y option) int {
		return cmp.Or(cmp.Compare(x.timeB, y.timeB), cmp.Compare(x.saved, y.saved),
			cmp.Compare(x.peakB+x.peakF, y.peakB+y.peakF))
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

// with returns a copy of set to which values are added.
func (l *local) with(set []bool, values ...int32) []bool {
	out := slices.Clone(set)
	for _, v := range values {
		if v != none {
			out[v] = true
		}
	}
	return out
}

// option returns the option that saves the values of saved. A value that is missing in the backward is made again
// before its reader, and kept to its last use or, with forget, until that reader has run. ok is false if an
// operation that may run only once would have to make a value again.
func (l *local) option(forward []int32, saved []bool, forget bool) (o option, ok bool) {
	hold := l.with(saved, l.gradIn...)
	for _, op := range l.ops[l.forward:] {
		for _, v := range op.in { // values of the cut after the block
			hold[v] = hold[v] || slices.Contains(l.out, v)
		}
	}
	there := make([]bool, len(l.size))
	for v := range there {
		there[v] = l.outside[v] || hold[v]
	}
	var made []int32 // values made again and not forgotten
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
	none, okB := make([]bool, len(l.size)), false
	o.peakF, ok = l.peakOf(forward, none, keep)
	o.peakB, okB = l.peakOf(o.backward, hold, l.with(none, l.gradOut...))
	return o, ok && okB
}

// peakOf returns the peak of running the operations of seq, with the values of hold in memory at the start and
// those of keep at the end. ok is false if an operation reads a value that is not in memory.
func (l *local) peakOf(seq []int32, hold, keep []bool) (peak engine.Bytes, ok bool) {
	// Each value is in memory from one place of seq to another, both included.
	const absent, atStart = -2, -1
	first, last := make([]int, len(l.size)), make([]int, len(l.size))
	for v := range first {
		first[v], last[v] = absent, atStart
		if hold[v] {
			first[v] = atStart
		}
	}
	change := make([]engine.Bytes, len(seq)+2) // change of the memory of values from one place to the next
	count := func(v int32) {
		if first[v] != absent {
			change[max(first[v], 0)] += l.size[v]
			change[max(last[v], first[v], 0)+1] -= l.size[v]
		}
	}
	for place, op := range seq {
		for _, v := range l.ops[op].in {
			if first[v] == absent && !l.outside[v] {
				return 0, false
			}
			last[v] = place
		}
		for _, v := range l.ops[op].out { // a new copy replaces an older one
			count(v)
			first[v], last[v] = place, place
		}
	}
	for v := range first {
		if keep[v] && len(seq) > 0 {
			last[v] = len(seq) - 1
		}
		count(int32(v))
	}
	if len(seq) == 0 {
		return change[0], true
	}
	var used engine.Bytes
	for place, op := range seq {
		used += change[place]
		peak = max(peak, used+l.ops[op].temp)
	}
	return peak, true
}
