package snapshot

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/profiles/parse"
)

// holdBefore finds the bytes that were reserved when the trace began.
func (s *snapshot) holdBefore() {
	for _, seg := range s.now {
		s.held += seg.size
	}
	for e := range s.trace.all() {
		switch e.is {
		case actionReserve:
			s.held -= e.size
		case actionUnreserve:
			s.held += e.size
		}
		if s.held < -parse.MaxSum || s.held > parse.MaxSum {
			break // an invalid file: the sums below must not overflow
		}
	}
	s.held = max(0, min(s.held, parse.MaxSum))
	s.levels = []alloc.Level{{Event: 0, Bytes: engine.Bytes(s.held)}}
}

// reserve adds the reservation of a segment, or the release of a range of addresses.
func (s *snapshot) reserve(where span, taken bool) {
	m := s.memory
	at := len(m.Requests.Events)
	if taken {
		s.held = min(s.held+where.size, parse.MaxSum)
		if where.size > 0 {
			if free := s.cut(where, at); len(free) != 1 || free[0] != where {
				s.odd++ // a segment exists there already
			}
			s.addOpen(where, at)
		}
	} else {
		s.held = max(0, s.held-where.size)
		for _, before := range s.cut(where, at) { // it was reserved before the trace
			s.addSegment(before, 0, at)
		}
	}
	level := alloc.Level{Event: at, Bytes: engine.Bytes(s.held)}
	if n := len(s.levels); s.levels[n-1].Event == at {
		s.levels[n-1] = level
	} else {
		s.levels = append(s.levels, level)
	}
}

func (s *snapshot) addOpen(where span, from int) {
	s.open[where.end()] = len(s.spans)
	s.ends.add(where.end())
	s.addSegment(where, from, math.MaxInt)
}

func (s *snapshot) addSegment(where span, from, to int) {
	s.spans = append(s.spans, where)
	s.memory.Segments = append(s.memory.Segments, profiles.Segment{Size: engine.Bytes(where.size), From: from, To: to})
}

// cut ends the parts of open segments within a range at an event, and returns the parts of the
// range without an open segment. Pages of expandable segments can be released from their middle,
// and across several segments that were mapped one by one.
func (s *snapshot) cut(where span, to int) (uncovered []span) {
	from := where.at
	for from < where.end() {
		end := s.ends.after(from)
		i, ok := s.open[end]
		if !ok || s.spans[i].at >= where.end() {
			break
		}
		seg := s.spans[i]
		delete(s.open, end)
		s.ends.remove(end)
		s.memory.Segments[i].To = to
		switch {
		case seg.at < from:
			s.addOpen(span{seg.at, from - seg.at}, to)
		case seg.at > from:
			uncovered = append(uncovered, span{from, seg.at - from})
		}
		if end > where.end() {
			s.addOpen(span{where.end(), end - where.end()}, to)
		}
		from = end
	}
	if from < where.end() {
		uncovered = append(uncovered, span{from, where.end() - from})
	}
	return uncovered
}

// segmentBounds returns a set for the addresses at which open segments can end.
func (s *snapshot) segmentBounds() *addrSet {
	var list []int64
	for e := range s.trace.all() {
		switch e.is {
		case actionReserve:
			list = append(list, e.at, e.at+e.size)
		case actionUnreserve:
			list = append(list, e.at)
		}
	}
	return newAddrSet(list)
}

// finish ends the open buffers and segments, and moves the segments next to each other.
func (s *snapshot) finish() {
	m := s.memory
	end := len(m.Requests.Events)
	if end == 0 {
		profiles.End(&profiles.FormatError{Found: "The snapshot holds no buffer: nothing was in use and nothing was recorded",
			Expected: "At least one buffer is expected.",
			Remedy:   "Call torch.cuda.memory._record_memory_history() before the training step, and dump after it."})
	}
	for i := range m.Requests.Buffers {
		b := &m.Requests.Buffers[i]
		if b.End == math.MaxInt {
			b.End = end
			if b.Start < m.Before {
				b.Kind = sim.Fixed // it exists throughout, such as weights
			}
		}
	}
	if s.total > parse.MaxSum {
		s.wrong(fmt.Sprintf("the buffers add up to %.3g bytes", s.total))
	}
	s.closeRest(end)
	l := &alloc.Layout{Addr: make([]engine.Bytes, len(s.at)), Runs: 1, Bound: m.Requests.AggregatePeak(),
		Failed: s.failed}
	for n := len(s.levels); n > 1 && s.levels[n-1].Event >= end; n = len(s.levels) {
		s.levels = s.levels[:n-1]
	}
	l.Reserved = s.levels
	l.Took = s.took()
	s.rebase(l)
	m.Recorded = l
	s.finishHistory()
	slices.SortFunc(m.Segments, func(a, b profiles.Segment) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To),
			cmp.Compare(a.Size, b.Size))
	})
	if f := s.failed; f != nil {
		for _, hole := range m.Holes(s.history, f.Event, f.Bytes) {
			f.Largest, f.Free = max(f.Largest, hole.Bytes), f.Free+hole.Bytes
		}
	}
	if !slices.ContainsFunc(m.Requests.Events,
		func(e alloc.Event) bool { return l.Took[e.Buffer] > m.Requests.Buffers[e.Buffer].Bytes }) {
		l.Took = nil // all sizes are rounded already
	}
}

// closeRest ends all open segments at the end, and adds the final segments that the trace did not begin. The snapshot
// merges expandable segments, so their parts that the trace began are left out.
func (s *snapshot) closeRest(end int) {
	var open []span
	for _, i := range s.open {
		s.memory.Segments[i].To = end
		open = append(open, s.spans[i])
	}
	slices.SortFunc(open, func(a, b span) int { return cmp.Compare(a.at, b.at) })
	add := func(from, to int64) {
		if from < to {
			s.addSegment(span{from, to - from}, 0, end)
		}
	}
	for _, seg := range s.now {
		from := seg.at
		k, _ := slices.BinarySearchFunc(open, seg.at, func(o span, at int64) int { return cmp.Compare(o.at, at) })
		for ; k < len(open) && open[k].at < seg.end(); k++ {
			add(from, min(open[k].at, seg.end()))
			from = max(from, open[k].end())
		}
		add(from, seg.end())
	}
}

// took returns the bytes that each buffer occupies. PyTorch rounds to 512 bytes, and does not
// split a rest of up to 1 MiB off a block of its large pool (CUDACachingAllocator, round_size
// and should_split). Blocks that exist at the end have this size in the file.
func (s *snapshot) took() []engine.Bytes {
	const round, small, unsplit = 512, 1 << 20, 1 << 20
	q := s.memory.Requests
	took := make([]engine.Bytes, len(s.at))
	used, ends := newAddrSet(s.at), newSegmentEnds(s)
	for _, e := range q.Events[:s.memory.Before] {
		used.add(s.at[e.Buffer])
	}
	for i, e := range q.Events {
		profiles.End(s.u.poll.Err())
		at := s.at[e.Buffer]
		if at < 0 {
			continue
		}
		if e.Free {
			used.remove(at)
			continue
		}
		b := &q.Buffers[e.Buffer]
		n := max((int64(b.Bytes)+round-1)/round*round, round)
		next := used.after(at)
		if next < at+n {
			s.odd++ // it overlaps a buffer in use
		}
		ends.advance(i)
		next = min(next, ends.after(at))
		if rest := next - at - n; n > small && rest > 0 && rest <= unsplit && !s.expandable {
			n += rest
		}
		took[e.Buffer] = engine.Bytes(n)
		used.add(at)
	}
	for at, id := range s.live {
		if f, ok := s.final[at]; ok && f.took >= int64(q.Buffers[id].Bytes) {
			took[id] = engine.Bytes(f.took)
		} else if len(s.now) > 0 {
			s.odd++
		}
	}
	return took
}

// segmentEnds is the set of the ends of segments that are open at an event.
type segmentEnds struct {
	*addrSet
	s           *snapshot
	opens, ends []int // later segments by From and by To
}

func newSegmentEnds(s *snapshot) *segmentEnds {
	e := &segmentEnds{s: s}
	var at []int64
	for i, seg := range s.spans {
		at = append(at, seg.end())
		e.opens, e.ends = append(e.opens, i), append(e.ends, i)
	}
	m := s.memory.Segments
	slices.SortStableFunc(e.opens, func(a, b int) int { return cmp.Compare(m[a].From, m[b].From) })
	slices.SortStableFunc(e.ends, func(a, b int) int { return cmp.Compare(m[a].To, m[b].To) })
	e.addrSet = newAddrSet(at)
	return e
}

func (e *segmentEnds) advance(event int) {
	m := e.s.memory.Segments
	for ; len(e.ends) > 0 && m[e.ends[0]].To <= event; e.ends = e.ends[1:] {
		if m[e.ends[0]].From < m[e.ends[0]].To {
			e.remove(e.s.spans[e.ends[0]].end())
		}
	}
	for ; len(e.opens) > 0 && m[e.opens[0]].From <= event; e.opens = e.opens[1:] {
		if m[e.opens[0]].To > event {
			e.add(e.s.spans[e.opens[0]].end())
		}
	}
}

// rebase moves the reserved ranges of addresses next to each other, from 0. Buffers outside
// them, in traces that lack events, get ranges of their own.
func (s *snapshot) rebase(l *alloc.Layout) {
	ranges := mergeSpans(slices.Clone(s.spans))
	var strays []span
	for i, at := range s.at {
		if at < 0 {
			continue
		}
		if k := spanBehind(ranges, at) - 1; k < 0 || ranges[k].end() < at+int64(l.Took[i]) {
			strays = append(strays, span{at, int64(l.Took[i])})
		}
	}
	s.strays = len(strays)
	ranges = mergeSpans(append(ranges, strays...))
	base := make([]int64, len(ranges))
	for k := range ranges {
		base[k] = int64(l.Pool) - ranges[k].at
		s.history.Starts = append(s.history.Starts, l.Pool)
		l.Pool += engine.Bytes(ranges[k].size)
	}
	moved := func(at int64) engine.Bytes { return engine.Bytes(at + base[spanBehind(ranges, at)-1]) }
	for i, at := range s.at {
		l.Addr[i] = alloc.NoAddr
		if at >= 0 {
			l.Addr[i] = moved(at)
		}
	}
	for i := range s.memory.Segments {
		s.memory.Segments[i].Addr = moved(s.spans[i].at)
	}
}

// mergeSpans sorts ranges and joins those that overlap or touch.
func mergeSpans(list []span) (merged []span) {
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.at, b.at) })
	for _, v := range list {
		if n := len(merged); n > 0 && v.at <= merged[n-1].end() {
			merged[n-1].size = max(merged[n-1].size, v.end()-merged[n-1].at)
		} else {
			merged = append(merged, v)
		}
	}
	return merged
}

// spanBehind returns the index of the first range that starts after an address.
func spanBehind(list []span, at int64) int {
	k, _ := slices.BinarySearchFunc(list, at+1, func(v span, at int64) int { return cmp.Compare(v.at, at) })
	return k
}

// warnings returns what makes the picture incomplete or uncertain.
func (s *snapshot) warnings() (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if text := s.deviceWarning(); text != "" {
		list = append(list, text)
	}
	if s.trace.events.n == 0 {
		add("The snapshot has no events: shown is what was in use when it was written. Call torch.cuda.memory._record_memory_history() first.")
	}
	if s.trace.cut > 0 {
		add("The %d oldest events were left out; shown are the %d newest.", s.trace.cut, s.trace.events.n)
	}
	if s.odd > 0 {
		add("%s others in the recording; addresses there are uncertain.", does(s.odd, "event", "contradict"))
	}
	if s.strays > 0 {
		add("%s outside all segments that the snapshot names.", does(s.strays, "buffer", "lie"))
	}
	if s.ooms > 1 {
		add("%d requests found no room; the last one is marked.", s.ooms)
	}
	if s.wentOn {
		add("The program went on after a request found no room.")
	}
	return list
}

// does returns a number of things and what they do: "1 event contradicts", "3 events contradict".
func does(n int, noun, verb string) string {
	if n == 1 {
		verb += "s"
	}
	return profiles.Count(n, noun) + " " + verb
}

func (s *snapshot) notes() []string {
	list := []string{"Addresses are recorded; segments are laid side by side in their order."}
	if s.memory.Before > 0 && s.trace.events.n > 0 {
		list = append(list, "In use before the recording began: "+profiles.Count(s.memory.Before,
			"buffer")+"; what of it stayed in use to the end counts as weights.")
	}
	return list
}

// addrSet is a subset of a fixed list of addresses, in which the next address is found fast. levels[0] has a bit for
// each address, and each further level a bit for each nonzero word of the level before.
type addrSet struct {
	all    []int64 // every possible address, sorted
	levels [][]uint64
}

func newAddrSet(addrs []int64) *addrSet {
	s := &addrSet{all: slices.Clone(addrs)}
	slices.Sort(s.all)
	s.all = slices.Compact(s.all)
	for n := len(s.all); ; n = (n + 63) / 64 {
		s.levels = append(s.levels, make([]uint64, (n+63)/64))
		if n <= 64 {
			return s
		}
	}
}

func (s *addrSet) add(at int64) {
	i, _ := slices.BinarySearch(s.all, at)
	for _, level := range s.levels {
		level[i/64] |= 1 << (i % 64)
		i /= 64
	}
}

func (s *addrSet) remove(at int64) {
	i, _ := slices.BinarySearch(s.all, at)
	for _, level := range s.levels {
		level[i/64] &^= 1 << (i % 64)
		if level[i/64] != 0 {
			return
		}
		i /= 64
	}
}

// after returns the next address above at, or math.MaxInt64 if there is none higher.
func (s *addrSet) after(at int64) int64 {
	i, ok := slices.BinarySearch(s.all, at)
	if ok {
		i++
	}
	i = s.next(i)
	if i < len(s.all) {
		return s.all[i]
	}
	return math.MaxInt64
}

// next returns the index of the first address at index i or later, or len(s.all).
func (s *addrSet) next(i int) int {
	for k, level := range s.levels {
		if i/64 >= len(level) {
			break
		}
		if word := level[i/64] >> (i % 64); word != 0 {
			i += bits.TrailingZeros64(word)
			for k--; k >= 0; k-- {
				i = 64*i + bits.TrailingZeros64(s.levels[k][i])
			}
			return i
		}
		i = i/64 + 1
	}
	return len(s.all)
}
