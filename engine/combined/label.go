package combined

import (
	"cmp"
	"slices"

	"memtide/engine"
)

// label is a state of the first forward sweep before stage i, OC_x(i, A, dF, dB) of section 3.2, with its cost so far.
type label struct {
	held    int64 // [A] bytes that stay on the device, without Z_i
	out, in int64 // [dF, dB] ticks that offloads and fetches still need
	cost    int64
	least   int64 // lower bound on the cost of all plans that go on from here
	from    int32 // index of the previous label in sweep.links
	segment int16 // first stage of the segment that led here
	saved   bool  // x: the stage before i has kept its saved activations
	offload bool  // the input of that segment is offloaded
}

// link is the part of an expanded label that is needed to find the way back.
type link struct {
	from           int32 // previous link; -1 for the first
	segment, stage int16
	saved, offload bool
}

// sweep is the search over the states of the first forward sweep.
type sweep struct {
	*terms
	f     *fronts
	lower *lowerBound
	poll  *engine.Poll
	width int     // labels expanded per stage and kind; 0: all
	best  int64   // cost of the best plan so far, at first the limit
	last  int32   // last label of the best plan, before the loss stage; -1 if there is no plan
	lasts []int32 // the same for all plans that were the best when they were found

	links   []link    // labels that were expanded or are about to be
	open    [][]label // labels to be expanded, by 2*stage+1 if saved, else by 2*stage
	err     error     // error of the poll
	cleaned []int     // by list of open: its length after it was last cleaned
	count   int       // labels in open
	least   int64     // least bound of the labels that were dropped because of the width, or not reached
}

// run finds the best plan that costs less than the limit. If run stops early, or if there is a
// width, plans that were not considered cost at least s.least.
func (s *sweep) run() error {
	s.open[2] = append(s.open[2], label{from: -1, least: s.lower.least(1, &label{})})
	for i := 1; i <= s.n; i++ {
		for x := range 2 {
			s.count -= len(s.open[2*i+x])
			list := s.undominated(s.open[2*i+x])
			ls := list
			s.open[2*i+x] = nil
			if s.width > 0 && len(ls) > s.width {
				ls = s.narrow(ls)
			}
			first := len(s.links)
			for y := range ls {
				l := &ls[y]
				s.links = append(s.links, link{l.from, l.segment, int16(i), l.saved, l.offload})
			}
			for y := range ls {
				err := s.err
				if err == nil && (s.count > maxLabels || len(s.links) > maxLinks || s.f.thin == 0 &&
					s.effort.left < 0) {
					err = errTooMany
				}
				if err != nil {
					for _, left := range append(s.open, ls[y:]) {
						for z := range left {
							s.least = min(s.least, left[z].least)
						}
					}
					return err
				}
				s.expand(&ls[y], int32(first+y), i)
			}
			s.shared.giveBack(list)
		}
	}
	return nil
}

// narrow keeps s.width labels. It keeps the labels with the least bound in every range of held
// bytes, because the bound alone favours labels that hold much.
func (s *sweep) narrow(ls []label) []label {
	slices.SortStableFunc(ls, func(a, b label) int { return cmp.Compare(a.least, b.least) })
	low, high := heldRange(ls)
	var taken [ranges]int
	kept, rest := make([]label, 0, s.width+ranges), []label(nil)
	for x := range ls {
		l := ls[x]
		r := int((l.held - low) * ranges / (high - low + 1))
		taken[r]++
		if taken[r] <= max(1, s.width/ranges) {
			kept = append(kept, l)
		} else {
			rest = append(rest, l)
		}
	}
	more := min(max(s.width-len(kept), 0), len(rest))
	if more < len(rest) {
		s.least = min(s.least, rest[more].least)
	}
	return append(kept, rest[:more]...)
}

// heldRange returns the least and the largest number of held bytes of some labels.
func heldRange(ls []label) (low, high int64) {
	low, high = ls[0].held, ls[0].held
	for x := range ls {
		low, high = min(low, ls[x].held), max(high, ls[x].held)
	}
	return low, high
}

// expand tries every segment that can begin at label l before stage i, which is links[id].
func (s *sweep) expand(l *label, id int32, i int) {
	if l.least >= s.best {
		return
	}
	z := s.input(i, l.saved)
	if costF, costB, ok := s.keeping(l, i, z); ok {
		if i == s.n {
			if v := l.cost + max(costF, l.out) + max(costB, l.in); v < s.best {
				s.best, s.last = v, id
				s.lasts = append(s.lasts, id)
			}
			return
		}
		s.push(l, id, i, i+1, true, z, costF, costB, true)
	}
	keep, stall := true, int64(0)
	for j := i; j < s.n; j++ {
		need := s.none(i, s.n, j) + l.held
		if need > s.room || j == i && need+z > s.room {
			break
		}
		keep = keep && need+z <= s.room
		stall = s.stall(stall, l, i, j, z)
		costB, which := s.f.cost(i, j, l.held+z, l.in)
		if which >= 0 {
			s.push(l, id, i, j+1, false, z, s.until[j]-s.until[i-1]+stall, costB, keep)
		}
	}
}

// keeping returns the cost of stage i in both passes if it keeps its saved activations, and whether it fits.
func (s *sweep) keeping(l *label, i int, z int64) (costF, costB int64, ok bool) {
	m := s.room - l.held - z
	needF, needB := s.terms.all(i, s.n), s.back(i)
	costF = s.fwd[i] + max(0, (needF-m)*s.out+l.out)
	costB = s.bwd[i] + max(0, (needB-m)*s.in+l.in)
	return costF, costB, needF <= m && needB <= m
}

// stall returns how long stages i..j wait in the first sweep if they keep nothing. before is the wait of stages i..j-1.
func (s *sweep) stall(before int64, l *label, i, j int, z int64) int64 {
	need := s.none(i, s.n, j) + l.held + z
	return max(before, (need-s.room)*s.out+l.out-(s.until[j-1]-s.until[i-1]))
}

// push records the states after a segment that starts with stage i and ends before stage j. Its
// input of z bytes is offloaded or, if keep is set, kept.
func (s *sweep) push(l *label, id int32, i, j int, saved bool, z, costF, costB int64, keep bool) {
	n := label{from: id, segment: int16(i), saved: saved, least: l.least}
	if keep {
		k := n
		s.move(&k, l, z, costF, costB)
		s.note(j, &k)
	}
	if z > 0 || !keep {
		n.offload = true
		s.move(&n, l, z, costF, costB)
		s.note(j, &n)
	}
}

// move sets n to the state after a segment that began at l.
func (s *sweep) move(n, l *label, z, costF, costB int64) {
	n.cost = l.cost + costF + costB
	n.held, n.out, n.in = l.held, max(0, l.out-costF), max(0, l.in-costB)
	if n.offload {
		n.out, n.in = max(0, l.out+z*s.terms.out-costF), n.in+z*s.terms.in
	} else {
		n.held += z
	}
}

// note adds label l before stage i to the open labels, unless no plan from there beats the best one.
func (s *sweep) note(i int, l *label) {
	if s.err == nil {
		s.err = s.poll.Err()
	}
	s.effort.left -= perLabel
	if l.least = max(l.least, s.lower.least(i, l)); l.least >= s.best {
		return
	}
	x := 2 * i
	if l.saved {
		x++
	}
	if s.open[x] == nil {
		s.open[x] = s.shared.list()
	}
	s.open[x] = append(s.open[x], *l)
	s.count++
	if len(s.open[x]) > 4*s.cleaned[x]+1<<13 {
		s.count -= len(s.open[x])
		kept := s.undominated(s.open[x])
		// A copy, because hundreds of lists would keep the capacity of what was dropped.
		s.open[x] = append(make([]label, 0, 2*len(kept)), kept...)
		s.count += len(kept)
		s.cleaned[x] = len(kept)
	}
}

// undominated drops labels that another label dominates: the other holds no more bytes and, after waiting until its
// debts are no larger, costs no more. Each tick of waiting reduces a debt by a tick.
func (s *sweep) undominated(ls []label) []label {
	ls = slices.DeleteFunc(ls, func(l label) bool { return l.least >= s.best })
	s.shared.sort(ls)
	kept := ls[:0]
	f := &s.shared.filter
	f.reset(ls)
	for x := range ls {
		l := ls[x]
		if s.err == nil {
			s.err = s.poll.Err()
		}
		if s.err == nil && f.dominated(&l) {
			continue
		}
		f.add(&l)
		kept = append(kept, l)
	}
	s.effort.spend(int64(f.work))
	return kept
}

// key is the place of a label in a list, with the cost, which usually decides about its order.
type key struct {
	cost int64
	at   int
}

// longest is the length of the longest list that is sorted by keys, which then take 1 MB.
const longest = 1 << 16

// sort sorts labels by cost, and then by all their other numbers, which makes the order unique. It
// sorts keys, which are shorter than labels, and then moves every label once. Longer lists are sorted directly.
func (s *shared) sort(ls []label) {
	if len(ls) > longest {
		slices.SortFunc(ls, func(a, b label) int { return cmp.Or(cmp.Compare(a.cost, b.cost), a.compare(&b)) })
		return
	}
	keys := s.keys[:0]
	for x := range ls {
		keys = append(keys, key{ls[x].cost, x})
	}
	s.keys = keys
	slices.SortFunc(keys, func(k, o key) int {
		if k.cost != o.cost {
			return cmp.Compare(k.cost, o.cost)
		}
		return ls[k.at].compare(&ls[o.at])
	})
	for x := range ls { // x is the first place of a cycle of moves, or its label was moved before
		first, at := ls[x], x
		for keys[at].at > x {
			next := keys[at].at
			ls[at], keys[at].at = ls[next], at
			at = next
		}
		ls[at], keys[at].at = first, at
	}
}

// compare compares labels of the same cost.
func (l *label) compare(o *label) int {
	if l.held != o.held {
		return cmp.Compare(l.held, o.held)
	}
	return cmp.Or(cmp.Compare(l.out, o.out), cmp.Compare(l.in, o.in), cmp.Compare(l.from, o.from),
		cmp.Compare(l.segment, o.segment))
}

// longList is the capacity from which on lists are not kept for further use. Up to two lists per
// stage are in use at a time, and with this capacity all of them take less than 50 MB.
const longList = 512

// list returns an empty list, if there is one to be used again.
func (s *shared) list() []label {
	n := len(s.lists)
	if n == 0 {
		return nil
	}
	list := s.lists[n-1]
	s.lists = s.lists[:n-1]
	return list
}

// giveBack keeps a list that is no longer in use.
func (s *shared) giveBack(list []label) {
	if c := cap(list); c > 0 && c <= longList {
		s.lists = append(s.lists, list[:0])
	}
}

// filter finds labels that others dominate. It keeps labels in shelves by held bytes, and in
// blocks, so that most comparisons are skipped.
type filter struct {
	low, width int64
	shelves    [ranges][]block
	work       int // number of comparisons
}

// dominant holds the numbers that dominance compares, besides the cost. After waiting until the debt of out, of in, or
// of both is no larger than another label's, a label costs no more if the sum of its cost and that debt is no larger.
type dominant struct{ held, both, out, in int64 }

const blockSize = 32

// block holds a few labels and the least of each of their numbers.
type block struct {
	least dominant
	count int
	of    [blockSize]dominant
}

// ranges is the number of ranges into which held bytes are divided.
const ranges = 12

// reset empties the filter, and prepares it for labels that hold as many bytes as some of ls.
func (f *filter) reset(ls []label) {
	f.low, f.width, f.work = 0, 1, 0
	if len(ls) > 0 {
		low, high := heldRange(ls)
		f.low, f.width = low, (high-low)/ranges+1
	}
	for x := range f.shelves {
		f.shelves[x] = f.shelves[x][:0]
	}
}

func newDominant(l *label) dominant {
	return dominant{l.held, l.cost + l.out + l.in, l.cost + l.out, l.cost + l.in}
}

func (f *filter) add(l *label) {
	d := newDominant(l)
	shelf := &f.shelves[(l.held-f.low)/f.width]
	if n := len(*shelf); n == 0 || (*shelf)[n-1].count == blockSize {
		*shelf = append(*shelf, block{least: d})
	}
	b := &(*shelf)[len(*shelf)-1]
	b.least = dominant{min(b.least.held, d.held), min(b.least.both, d.both), min(b.least.out, d.out),
		min(b.least.in, d.in)}
	b.of[b.count] = d
	b.count++
}

// dominated reports whether one of the labels added so far, which cost no more than l, dominates l.
func (f *filter) dominated(l *label) bool {
	d := newDominant(l)
	for r := range (l.held-f.low)/f.width + 1 {
		shelf := f.shelves[r]
		for x := range shelf {
			b := &shelf[x]
			f.work++
			if !b.least.atLeast(&d) {
				continue
			}
			f.work += b.count
			for y := range b.of[:b.count] {
				if b.of[y].atLeast(&d) {
					return true
				}
			}
		}
	}
	return false
}

func (a *dominant) atLeast(d *dominant) bool {
	return a.held <= d.held && a.both <= d.both && a.out <= d.out && a.in <= d.in
}
