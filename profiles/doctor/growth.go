package doctor

import (
	"cmp"
	"slices"

	"memtide/engine"
)

// Growth describes the memory that grows from step to step.
type Growth struct {
	Steps   int          `json:"steps"`          // steps that begin within the recording
	PerStep engine.Bytes `json:"per_step_bytes"` // of all leaks
	Leaks   []Leak       `json:"leaks"`          // the largest ones
}

// Leak is a place in the program that has more memory in use at the start of every step.
type Leak struct {
	Site     string       `json:"site"`
	Category Category     `json:"category"`
	PerStep  engine.Bytes `json:"per_step_bytes"` // on average
	Count    int          `json:"count"`          // buffers in use at the start of the last step
	Bytes    engine.Bytes `json:"bytes"`          // bytes of these buffers
}

// Bounds of the search for growth: it needs leastSteps steps and looks at the last mostSteps.
const (
	leastSteps = 3
	mostSteps  = 256
	mostLeaks  = 10
)

// growth finds places whose memory at the start of a step never falls and rises in most steps.
// The first step, which warms up, does not count.
func (r *Recording) growth() *Growth {
	marks := r.steps()
	if len(marks) < leastSteps {
		return nil
	}
	g := &Growth{Steps: len(marks)}
	marks = marks[max(0, len(marks)-mostSteps):]
	held := map[string][]engine.Bytes{}
	last := map[string]*Leak{}
	for i := range r.Requests.Buffers {
		b := &r.Requests.Buffers[i]
		from, _ := slices.BinarySearch(marks, b.Start+1) // a step begins before its first request
		to, _ := slices.BinarySearch(marks, b.End)
		if from >= to || !r.placed(i) {
			continue
		}
		site := r.site(i)
		if held[site] == nil {
			held[site] = make([]engine.Bytes, len(marks)+1)
			last[site] = &Leak{Site: site, Category: r.kinds[i].category}
		}
		held[site][from] += b.Bytes // differences between steps; the sums follow
		held[site][to] -= b.Bytes
		if to == len(marks) {
			last[site].Count++
		}
	}
	for site, list := range held {
		for i := 1; i < len(marks); i++ {
			list[i] += list[i-1]
		}
		list = list[:len(marks)]
		if !grows(list[1:]) {
			continue
		}
		l := last[site]
		l.Bytes = list[len(list)-1]
		l.PerStep = (l.Bytes - list[1]) / engine.Bytes(len(list)-2)
		g.PerStep += l.PerStep
		g.Leaks = append(g.Leaks, *l)
	}
	slices.SortFunc(g.Leaks, func(a, b Leak) int {
		return cmp.Or(cmp.Compare(b.PerStep, a.PerStep), cmp.Compare(a.Site, b.Site))
	})
	g.Leaks = g.Leaks[:min(len(g.Leaks), mostLeaks)]
	return g
}

// grows reports whether numbers never fall and rise in at least three of four steps.
func grows(list []engine.Bytes) bool {
	rises := 0
	for i := 1; i < len(list); i++ {
		switch {
		case list[i] < list[i-1]:
			return false
		case list[i] > list[i-1]:
			rises++
		}
	}
	return rises > 0 && 4*rises >= 3*(len(list)-1)
}

// steps returns the events at which training steps begin. A step repeats its requests, which are identified by stack
// and size. Most requests of forwards occur equally often, once per step; the first of these begins a step. There are
// no steps if most requests do not occur a multiple of that number of times.
//
// The requests of layers and replicas repeat within a step. So a step begins only if a backward
// or an optimizer has run since the last one began.
func (r *Recording) steps() (marks []int) {
	type request struct {
		stack int32
		bytes engine.Bytes
	}
	times, first := map[request]int{}, map[request]int{}
	of := func(i int) request { return request{r.history.Stack[i], r.Requests.Buffers[i].Bytes} }
	for i := range r.Requests.Buffers {
		if b := &r.Requests.Buffers[i]; b.Start >= r.Before && r.placed(i) {
			times[of(i)]++
			if times[of(i)] == 1 && !r.turns[i] && r.history.Stack[i] > 0 {
				first[of(i)] = b.Start
			}
		}
	}
	requests := map[int]int{} // number of requests, by how often they occur
	often := 0                // how often most requests occur, which is the number of steps
	for q := range first {
		if n := times[q]; n >= leastSteps {
			requests[n]++
		}
	}
	for n, count := range requests {
		if count > requests[often] || count == requests[often] && n < often {
			often = n
		}
	}
	begin, at := request{}, -1
	for q, when := range first {
		if times[q] == often && (at < 0 || when < at) {
			begin, at = q, when
		}
	}
	turned := true
	for i := range r.Requests.Buffers { // in the order of the requests
		b := &r.Requests.Buffers[i]
		switch {
		case b.Start < r.Before || !r.placed(i):
		case r.turns[i]:
			turned = true
		case turned && at >= 0 && of(i) == begin:
			marks, turned = append(marks, b.Start), false
		}
	}
	all, regular := 0, 0
	for _, n := range times {
		all += n
		if len(marks) > 0 && (n+1)%len(marks) <= 2 { // one more or less, for steps that are cut off
			regular += n
		}
	}
	if 2*regular < all {
		return nil
	}
	return marks
}
