package flow

import "slices"

// order finds an order of the segments of a function: parts that are strongly
// connected are loops, and without the jumps to where they begin they have such
// parts again.
type order struct {
	leads   [][]int // where each segment may go on
	from    [][]int // and from where it is reached
	entered []bool  // through the table

	out   []int // segments in order
	loops []int // how many segments the loop has that begins with this one; 0: none

	set  []int // the number of the set of segments that is being ordered and has this one
	sets int
	part []int // the part of the set that it is in
	mark []int // of Tarjan's algorithm, from 1
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

// all orders all segments that can be reached. It reports false if it must be
// done again because there are more entries than were known.
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
		// Where calls go on is entered only if the calls can be reached.
		if entered {
			reach(i)
		}
	}
	slices.Sort(set)
	return o.order(set, false)
}

// order puts out a set of segments. In a loop the table is out of reach, and a
// loop in it that needs the table makes that one need it as well.
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

// head returns the first segment at which a part is entered from elsewhere, without
// the table if possible, and whether it is the only one.
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

// parts returns the strongly connected parts of a set, each before those that lead
// to it (R. Tarjan, doi:10.1137/0201010).
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

// sorted puts parts in an order in which jumps between them lead ahead, and as
// near to the compiler's as that allows.
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
		k := 0
		for i, p := range ready {
			if parts[p][0] < parts[ready[k]][0] {
				k = i
			}
		}
		p := ready[k]
		ready = slices.Delete(ready, k, k+1)
		out = append(out, parts[p])
		others(p, func(q int) {
			if waits[q]--; waits[q] == 0 {
				ready = append(ready, q)
			}
		})
	}
	return out
}
