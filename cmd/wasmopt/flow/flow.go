package flow

import (
	"cmp"
	"slices"
)

// flow describes the jumps between the segments of a function in their written order.
type flow struct {
	entered []bool // the segment can be entered through the table
	loopEnd []int  // index after the last segment of the loop that starts here; 0 without a loop
}

// viaTable reports whether a jump cannot be a branch.
func (fl *flow) viaTable(from, to int) bool {
	return to <= from && fl.loopEnd[to] <= from
}

// endAtCalls ends segments at calls of functions that never return, such as those that panic.
// The compiler lets them continue with the next segment.
func (f *Function) endAtCalls(returns func(function int64) bool) {
	for i := range f.segments {
		s := &f.segments[i]
		for k := callEnds - 1; k < len(s.code); k++ {
			if call := s.code[k-callEnds+1]; !s.code[k].unwinds || call.op != opCall || returns(call.n) {
				continue
			}
			// Such a call only comes back with 1, when the goroutine is switched.
			s.code[k] = instruction{op: opReturn, raw: []byte{opReturn}, target: -1}
			if k == len(s.code)-1 && s.resumes {
				s.resumes, s.next = false, -1
			}
		}
	}
}

// jumps returns the segments that can follow a segment.
func (f *Function) jumps(i int) (to []int) {
	for _, in := range f.segments[i].code {
		if in.target >= 0 {
			to = append(to, in.target)
		}
	}
	if next := f.segments[i].next; next >= 0 {
		to = append(to, next)
	}
	return to
}

// entries reports at which segments a function can be entered through the table: at its start,
// after calls, and where it continues after a panic.
func (f *Function) entries() []bool {
	entered := make([]bool, len(f.segments))
	entered[0] = true
	if f.afterPanic > 0 && f.afterPanic < len(f.table) {
		entered[f.table[f.afterPanic]] = true
	}
	for _, s := range f.segments {
		if s.resumes && s.next >= 0 {
			entered[s.next] = true
		}
	}
	return entered
}

// arrange puts the segments of a function in an order in which every loop is contiguous and starts where it is entered,
// and all other jumps lead forward. A loop with several entries, such as after a call in it, needs the table.
func (f *Function) arrange() *flow {
	o := newOrder(f)
	for !o.all() {
	}
	old, position := f.segments, slices.Repeat([]int{-1}, len(f.segments))
	fl := &flow{make([]bool, len(o.out)), make([]int, len(o.out))}
	f.segments = make([]codeSegment, len(o.out))
	for i, was := range o.out {
		position[was] = i
		f.segments[i] = old[was]
		fl.entered[i] = o.entered[was]
		if n := o.loops[was]; n > 0 {
			fl.loopEnd[i] = i + n
		}
	}
	f.renumber(position)
	for i := range f.segments {
		f.segments[i].turn(i + 1)
	}
	return fl
}

// renumber changes the numbers of segments to their positions, which are -1 for unreachable ones.
func (f *Function) renumber(position []int) {
	for i := range f.segments {
		s := &f.segments[i]
		for k := range s.code {
			if to := s.code[k].target; to >= 0 {
				s.code[k].target = position[to]
			}
		}
		if s.next >= 0 {
			s.next = position[s.next]
		}
	}
	for place, j := range f.table {
		f.table[place] = position[j]
	}
}

// turn inverts a final conditional jump to the next segment, so that the segment continues there
// and jumps in the other case.
func (s *codeSegment) turn(follows int) {
	k := len(s.code) - jumpIfLength
	if k < 0 || s.code[k].op != opIf || s.code[k].target != follows || s.next < 0 || s.next == follows {
		return
	}
	s.code[k].target, s.next = s.next, follows
	if k > 0 && s.code[k-1].op == opEqz {
		s.code = slices.Delete(slices.Clone(s.code), k-1, k)
		return
	}
	s.code = slices.Insert(slices.Clone(s.code), k, instruction{op: opEqz, raw: []byte{opEqz}, target: -1})
}

// order finds an order of the segments of a function. Strongly connected parts are loops;
// without the jumps to their start, loops have such parts again.
type order struct {
	leads   [][]int // successors of each segment
	from    [][]int // predecessors of each segment
	entered []bool  // the segment can be entered through the table

	out   []int // segments in order
	loops []int // length of the loop that starts with the segment; 0 without a loop

	set  []int // number of the innermost set that has the segment
	sets int
	part []int // part of the set that has the segment
	mark []int // of Tarjan's algorithm, starting at 1
	low  []int
	path []int
}

func newOrder(f *Function) *order {
	n := len(f.segments)
	o := &order{leads: make([][]int, n), from: make([][]int, n), entered: f.entries(),
		part: make([]int, n), mark: make([]int, n), low: make([]int, n)}
	for i := range n {
		o.leads[i] = f.jumps(i)
		for _, j := range o.leads[i] {
			o.from[j] = append(o.from[j], i)
		}
	}
	return o
}

// all orders all reachable segments. It returns false if it has to run again, because it found more entries.
func (o *order) all() bool {
	n := len(o.leads)
	o.out, o.loops, o.set, o.sets = o.out[:0], make([]int, n), make([]int, n), 0
	reached := make([]bool, n)
	var set []int
	var reach func(i int)
	reach = func(i int) {
		if reached[i] {
			return
		}
		reached[i] = true
		set = append(set, i)
		for _, j := range o.leads[i] {
			reach(j)
		}
	}
	reach(0)
	for i, entered := range o.entered {
		// A segment after a call is entered only if the call is reachable.
		if entered {
			reach(i)
		}
	}
	slices.Sort(set)
	return o.order(set, false)
}

// order orders a set of segments. In a loop the table cannot be reached, so a loop in it that
// needs the table makes it need the table as well.
func (o *order) order(set []int, inLoop bool) bool {
	o.sets++
	number := o.sets
	for _, i := range set {
		o.set[i] = number
	}
	for _, part := range o.sorted(o.parts(set)) {
		if len(part) == 1 && !slices.Contains(o.leads[part[0]], part[0]) {
			o.out = append(o.out, part[0])
			continue
		}
		head, one := o.head(part)
		switch {
		case one:
			o.loops[head] = len(part)
		case inLoop:
			o.entered[head] = true
			return false
		default:
			o.entered[head] = true
		}
		o.out = append(o.out, head)
		o.set[head] = 0
		rest := slices.DeleteFunc(part, func(i int) bool { return i == head })
		if !o.order(rest, inLoop || one) {
			return false
		}
	}
	return true
}

// head returns the first segment at which a part is entered from outside, without the table if
// possible, and whether it is the only one.
func (o *order) head(part []int) (head int, one bool) {
	head, n, direct := part[0], 0, false
	for _, i := range part {
		jumped := slices.ContainsFunc(o.from[i], func(j int) bool {
			_, within := slices.BinarySearch(part, j)
			return !within
		})
		if jumped || o.entered[i] {
			n++
		}
		if jumped && !direct || o.entered[i] && n == 1 {
			head, direct = i, jumped
		}
	}
	return head, n == 1
}

// parts returns the strongly connected parts of a set, each before the parts that lead to it (R.
// Tarjan, doi:10.1137/0201010).
func (o *order) parts(set []int) (parts [][]int) {
	for _, i := range set {
		o.mark[i], o.part[i] = 0, -1
	}
	marks := 0
	var visit func(i int)
	visit = func(i int) {
		marks++
		o.mark[i], o.low[i] = marks, marks
		o.path = append(o.path, i)
		for _, j := range o.leads[i] {
			switch {
			case o.set[j] != o.set[i] || o.part[j] >= 0:
			case o.mark[j] == 0:
				visit(j)
				o.low[i] = min(o.low[i], o.low[j])
			default:
				o.low[i] = min(o.low[i], o.mark[j])
			}
		}
		if o.low[i] < o.mark[i] {
			return
		}
		k := slices.Index(o.path, i)
		part := slices.Clone(o.path[k:])
		slices.Sort(part)
		for _, j := range part {
			o.part[j] = len(parts)
		}
		o.path, parts = o.path[:k], append(parts, part)
	}
	for _, i := range set {
		if o.mark[i] == 0 {
			visit(i)
		}
	}
	return parts
}

// sorted sorts parts so that jumps between them lead forward, as close to the compiler's order as possible.
func (o *order) sorted(parts [][]int) (out [][]int) {
	waits := make([]int, len(parts))
	others := func(p int, do func(q int)) {
		for _, i := range parts[p] {
			for _, j := range o.leads[i] {
				if o.set[j] == o.set[i] && o.part[j] != p {
					do(o.part[j])
				}
			}
		}
	}
	var ready []int
	for p := range parts {
		others(p, func(q int) { waits[q]++ })
	}
	for p := range parts {
		if waits[p] == 0 {
			ready = append(ready, p)
		}
	}
	for len(ready) > 0 {
		p := slices.MinFunc(ready, func(p, q int) int { return cmp.Compare(parts[p][0], parts[q][0]) })
		ready = slices.DeleteFunc(ready, func(q int) bool { return q == p })
		out = append(out, parts[p])
		others(p, func(q int) {
			if waits[q]--; waits[q] == 0 {
				ready = append(ready, q)
			}
		})
	}
	return out
}
