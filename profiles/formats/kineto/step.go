package kineto

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
)

// window is a time range, such as one training step, on the clock of the trace.
type window struct{ from, to int64 }

func (w window) has(at int64) bool { return w.from <= at && at < w.to }

// work is work on the device. at and thread are those of the call that launched it.
type work struct {
	at, took   int64
	begin, ran int64 // on the device
	thread     int32
	kind       workKind
}

// ktStep is the step that becomes the profile.
type ktStep struct {
	*trace
	window
	ops     []ktOp          // by start, the outer ones first
	tops    map[int32][]int // outermost operators of every thread, by start
	works   []work          // by launch
	trained map[int64]int   // operators of the forward that have a backward, by sequence number
	starts  []int64         // start of each trained operator, sorted
	forward int32           // the thread of the forward
	turn    int64           // start of the backward
	last    int64           // start of the last operator of the backward with a sequence number
	used    []memory        // events of the device's memory, by time
	held    []int64         // held[i] is the bytes in use before used[i], minus those at the start of the step
	onCPU   bool            // no work on a device: times are those of the CPU
	poll    *engine.Poll

	asides map[int32][]aside          // by thread, by time
	spent  [ofRecomputation + 1]int64 // time of all work, by kind

	notLayers string // name of a range that is not a stage; empty if there is no such range
}

func (t *trace) sortAll() {
	slices.SortStableFunc(t.ops, func(a, b ktOp) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	slices.SortStableFunc(t.spans, func(a, b ktSpan) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	slices.SortStableFunc(t.memory, func(a, b memory) int { return cmp.Compare(a.at, b.at) })
}

// works joins kernels to the operator with their External id, or else to the runtime call with
// their correlation. It returns the work and the number of kernels without either.
func (t *trace) works() (works []work, lost int) {
	byID := make([]int32, 0, len(t.ops))
	for i := range t.ops {
		if t.ops[i].external >= 0 && !t.ops[i].named {
			byID = append(byID, int32(i))
		}
	}
	slices.SortStableFunc(byID, func(a, b int32) int { return cmp.Compare(t.ops[a].external, t.ops[b].external) })
	slices.SortStableFunc(t.launches, func(a, b launch) int { return cmp.Compare(a.correlation, b.correlation) })
	findOp := func(id int64) *ktOp {
		i, ok := slices.BinarySearchFunc(byID, id,
			func(i int32, id int64) int { return cmp.Compare(t.ops[i].external, id) })
		if !ok || id < 0 {
			return nil
		}
		return &t.ops[byID[i]]
	}
	for _, k := range t.kernels {
		l, launched := slices.BinarySearchFunc(t.launches, k.correlation,
			func(l launch, id int64) int { return cmp.Compare(l.correlation, id) })
		op := findOp(k.external)
		if op == nil && launched {
			op = findOp(t.launches[l].external)
		}
		w := work{took: k.took, begin: k.start, ran: k.took}
		if k.communicates {
			w.kind = ofCollectives
		}
		switch {
		case op != nil:
			w.at, w.thread = op.start, op.thread
		case launched:
			w.at, w.thread = t.launches[l].start, t.launches[l].thread
		default:
			lost++
			continue
		}
		works = append(works, w)
	}
	slices.SortStableFunc(works, func(a, b work) int { return cmp.Compare(a.at, b.at) })
	return works, lost
}

// windows returns the steps of the trace and their mark. The steps are the ranges of the profiler's step(), or the
// times between two ends of an optimizer's step, or the whole trace without a mark.
func (t *trace) windows() (list []window, how string) {
	seen := map[int32]bool{}
	var ends []int64
	for i := range t.ops {
		op := &t.ops[i]
		switch name := t.texts[op.name]; {
		case strings.HasPrefix(name, "ProfilerStep") && !seen[op.name]:
			seen[op.name] = true
			list = append(list, window{op.start, op.end})
		case strings.HasPrefix(name, "Optimizer.step"):
			ends = append(ends, op.end)
		}
	}
	if len(list) > 0 {
		slices.SortFunc(list, func(a, b window) int { return cmp.Compare(a.from, b.from) })
		return list, "ProfilerStep"
	}
	if len(ends) > 0 {
		slices.Sort(ends)
		from := int64(0)
		for _, end := range ends {
			list = append(list, window{from, end})
			from = end
		}
		return list, "Optimizer.step"
	}
	return []window{{0, math.MaxInt64}}, ""
}

// medianWindow returns the step with the median of the work, the lower one of two. list is sorted.
func medianWindow(list []window, works []work) window {
	type sum struct{ took, index int64 }
	sums := make([]sum, len(list))
	for i := range list {
		sums[i].index = int64(i)
	}
	for _, w := range works {
		i, exact := slices.BinarySearchFunc(list, w.at, func(w window, at int64) int { return cmp.Compare(w.from, at) })
		if !exact {
			i--
		}
		if i >= 0 && list[i].has(w.at) {
			sums[i].took += w.took
		}
	}
	if len(works) == 0 {
		for i, w := range list {
			sums[i].took = w.to - w.from
		}
	}
	// A step in which nothing ran does not count.
	sums = slices.DeleteFunc(sums, func(s sum) bool { return s.took == 0 && len(list) > 1 })
	if len(sums) == 0 {
		return list[0]
	}
	slices.SortStableFunc(sums, func(a, b sum) int { return cmp.Compare(a.took, b.took) })
	return list[sums[(len(sums)-1)/2].index]
}

func (t *trace) newStep(w window, works []work, poll *engine.Poll) *ktStep {
	s := &ktStep{trace: t, window: w, tops: map[int32][]int{}, trained: map[int64]int{}, onCPU: len(works) == 0,
		poll: poll}
	open := map[int32]int64{}
	for i := range t.ops {
		op := &t.ops[i]
		if !w.has(op.start) {
			continue
		}
		if !op.named && op.start >= open[op.thread] {
			open[op.thread] = op.end
			s.tops[op.thread] = append(s.tops[op.thread], len(s.ops))
			if s.onCPU {
				s.works = append(s.works, work{at: op.start, took: op.end - op.start, thread: op.thread})
			}
		}
		s.ops = append(s.ops, *op)
	}
	for _, k := range works {
		if w.has(k.at) {
			s.works = append(s.works, k)
		}
	}
	s.findMemory()
	return s
}

// findMemory sets used and held from the events of the device that has most of them.
func (s *ktStep) findMemory() {
	count := map[int32]int{}
	for _, m := range s.memory {
		if onDevice := m.device>>16 != 0; s.has(m.at) && onDevice != s.onCPU {
			count[m.device]++
		}
	}
	best := mostVotes(count)
	sum := int64(0)
	for _, m := range s.memory {
		if m.device == best && s.has(m.at) {
			s.used = append(s.used, m)
			s.held = append(s.held, sum)
			sum += m.bytes
		}
	}
	s.held = append(s.held, sum)
}

// mostVotes returns the number with the most votes, the lowest of equal ones, or -1 without votes.
func mostVotes(votes map[int32]int) int32 {
	best := int32(-1)
	for k, n := range votes {
		if best < 0 || n > votes[best] || n == votes[best] && k < best {
			best = k
		}
	}
	return best
}

// heldAt returns the bytes in use at a time, minus those at the start of the step.
func (s *ktStep) heldAt(at int64) int64 {
	i, _ := slices.BinarySearchFunc(s.used, at, func(m memory, at int64) int { return cmp.Compare(m.at, at) })
	return s.held[i]
}

// peakIn is the maximum of heldAt between two times.
func (s *ktStep) peakIn(from, to int64) int64 {
	i, _ := slices.BinarySearchFunc(s.used, from, func(m memory, at int64) int { return cmp.Compare(m.at, at) })
	peak := s.held[i]
	for ; i < len(s.used) && s.used[i].at < to; i++ {
		peak = max(peak, s.held[i+1])
	}
	return peak
}

// findForward finds the thread and the operators of the forward. Operators of the backward have
// the sequence number of their operator in the forward, which gets a number after the operators
// within it have started. So of several operators with a number, the last one has the backward.
func (s *ktStep) findForward() {
	back := map[int64]bool{}
	s.turn = math.MaxInt64
	for i := range s.ops {
		if op := &s.ops[i]; op.back && op.sequence >= 0 {
			back[op.sequence] = true
			s.turn = min(s.turn, op.start)
			s.last = max(s.last, op.start)
		}
	}
	if len(back) == 0 {
		s.errs.Fail(&profiles.FormatError{Found: "the trace has no backward that names its forward",
			Expected: `Operators of the backward have a "Sequence number" and a "Fwd thread id".`,
			Remedy:   "Record whole training steps, forward and backward, with torch.profiler of PyTorch 1.8.1 or later."})
	}
	for i := range s.ops {
		if op := &s.ops[i]; !op.back && !op.named && op.start < s.turn && back[op.sequence] {
			s.trained[op.sequence] = i
		}
	}
	votes := map[int32]int{}
	for _, i := range s.trained {
		votes[s.ops[i].thread]++
	}
	s.forward = mostVotes(votes)
	if s.forward < 0 {
		s.errs.Fail(&profiles.FormatError{Found: "the forward of the backward is not in the trace",
			Expected: "A step is expected whose forward and backward are both recorded.",
			Remedy:   "Record whole training steps."})
	}
	for sequence, i := range s.trained {
		if s.ops[i].thread != s.forward {
			delete(s.trained, sequence)
		} else {
			s.starts = append(s.starts, s.ops[i].start)
		}
	}
	slices.Sort(s.starts)
	s.findAsides()
}

// trainedIn returns how many operators with a backward start in a time range.
func (s *ktStep) trainedIn(from, to int64) int {
	a, _ := slices.BinarySearch(s.starts, from)
	b, _ := slices.BinarySearch(s.starts, to)
	return max(0, b-a)
}

// topAt returns the outermost operator of a thread at a time, or -1.
func (s *ktStep) topAt(thread int32, at int64) int {
	tops := s.tops[thread]
	i, exact := slices.BinarySearchFunc(tops, at, func(i int, at int64) int { return cmp.Compare(s.ops[i].start, at) })
	if !exact {
		i--
	}
	if i < 0 || s.ops[tops[i]].end < at {
		return -1
	}
	return tops[i]
}

// splitSteps splits windows, sorted by start, where a forward follows a backward: a window that runs both several times
// has several steps. It drops parts without a forward and its backward, unless no part has both.
func (t *trace) splitSteps(list []window) []window {
	var out []window
	for _, w := range list {
		first, _ := slices.BinarySearchFunc(t.ops, w.from,
			func(op ktOp, at int64) int { return cmp.Compare(op.start, at) })
		c := stepCutter{window: w, began: -1, turned: -1, next: -1}
		open := map[int32]int64{}
		for i := first; i < len(t.ops) && t.ops[i].start < w.to; i++ {
			op := &t.ops[i]
			if op.named || op.start < open[op.thread] {
				continue
			}
			open[op.thread] = op.end
			if op.sequence >= 0 {
				c.take(op, t)
			}
		}
		if c.complete { // the last step includes the rest of the window
			c.steps = append(c.steps, c.window)
		}
		out = append(out, c.steps...)
	}
	if len(out) == 0 {
		return list
	}
	return out
}

// stepCutter splits a window into steps. It gets the outermost operators of the window in order.
// Sequence numbers grow during a forward; a backward has those of its forward.
type stepCutter struct {
	window         // the rest of the window
	began    int64 // first number of the forward; -1 before it
	turned   int64 // largest number of the backward; -1 before it
	next     int64 // first number of a forward after that backward; -1 before it
	nextAt   int64 // start of that forward
	backEnd  int64 // latest end of the backward so far
	complete bool  // the forward has a backward
	steps    []window
}

func (c *stepCutter) take(op *ktOp, t *trace) {
	switch {
	case op.back && c.next >= 0 && op.sequence >= c.next:
		if c.complete {
			c.steps = append(c.steps, window{c.from, c.nextAt})
		}
		c.from, c.began, c.next, c.turned, c.complete = c.nextAt, c.next, -1, op.sequence, true
	case op.back:
		c.backEnd = max(c.backEnd, op.end)
		c.turned = max(c.turned, op.sequence)
		c.complete = c.complete || c.began >= 0 && op.sequence >= c.began
	case c.turned < 0:
		if c.began < 0 {
			c.began = op.sequence
		}
	case op.sequence > c.turned && (c.next < 0 || c.next == op.sequence):
		c.next, c.nextAt = op.sequence, t.beginAround(op, c.backEnd) // the last operator with a number owns it
	}
}

// beginAround returns the start of an operator, or of the outermost module call or named range
// around it that starts at from or later.
func (t *trace) beginAround(op *ktOp, from int64) int64 {
	begin := op.start
	i, _ := slices.BinarySearchFunc(t.spans, from, func(s ktSpan, at int64) int { return cmp.Compare(s.start, at) })
	for ; i < len(t.spans) && t.spans[i].start < begin; i++ {
		if s := &t.spans[i]; s.thread == op.thread && s.end >= op.end {
			begin = s.start
		}
	}
	i, _ = slices.BinarySearchFunc(t.ops, from, func(o ktOp, at int64) int { return cmp.Compare(o.start, at) })
	for ; i < len(t.ops) && t.ops[i].start < begin; i++ {
		if o := &t.ops[i]; o.named && o.thread == op.thread && o.end >= op.end {
			begin = o.start
		}
	}
	return begin
}
