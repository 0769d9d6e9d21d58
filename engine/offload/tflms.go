package offload

import (
	"fmt"
	"sort"
	"time"

	"memtide/engine"
	"memtide/engine/ordered"
	"memtide/engine/sim"
)

func init() { engine.Register(tflms) }

var tflms = &engine.Strategy{
	Name:  "tflms",
	Title: "Offload ahead of time (TFLMS)",
	Mark:  6,
	Doc:   "Offloads the first activations and fetches each one a fixed number of operations before it is needed.",
	Class: engine.MayOffload,
	Cites: []engine.Cite{
		{Text: "Le, Imai, Negishi and Kawachiya: TFLMS: Large Model Support in TensorFlow by Graph Rewriting",
			ID: "arXiv:1807.02037", Section: "3"},
		Paper000("5 (TFLMS)"),
	},
	Solver: solveTFLMS,
}

// maxAhead is the largest number of stages. The work grows a little faster than with its square.
const maxAhead = 1000

func solveTFLMS(p *engine.Problem, _ engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	s, err := linked(p)
	if err != nil {
		return nil, err
	}
	if s.n > maxAhead {
		return nil, fmt.Errorf("%w: the network has %s; every number of tensors is tried with every distance for %d stages at most", engine.ErrUnsupported, p.Chain.Chain.Describe(), maxAhead)
	}
	found := bestAhead(s, poll)
	switch {
	case found.tensors >= 0:
		a := newAhead(s)
		plan := a.plan(found.tensors, found.ahead)
		played, err := sim.Solution(p, a.p.write(func(k int, t *ordered.Transfer) bool { // as the method queues fetches
			return t.Item >= 2*s.n-1-k-a.ahead && k >= s.n
		}))
		if err != nil {
			return nil, fmt.Errorf("offload: a plan of TFLMS cannot be played: %w", err)
		}
		sol := plan.solution()
		sol.Schedule, sol.Peak = played.Schedule, played.Peak
		if found.tensors > 0 {
			sol.Note("Offloads the first %d values and fetches each %d operations before it is used.", found.tensors, found.ahead)
		}
		return sol.Solution, poll.Err()
	case poll.Err() != nil:
		return nil, poll.Err()
	}
	return nil, &engine.InfeasibleError{Budget: p.Budget, Smallest: found.smallest,
		Why: "with any number of tensors, fetched any number of operations ahead, as nothing waits for memory"}
}

// aheadFound is the best pair of numbers. tensors is -1 if no pair fits.
type aheadFound struct {
	tensors, ahead int
	smallest       engine.Bytes // least peak of all pairs; only valid if no pair fits
}

// bestAhead finds the best pair of numbers. For a given number of tensors, the earlier they are fetched, the sooner the
// step ends and the more room it takes. So not every distance has to be tried.
//
// The step time: all starts follow from earlier ones by sums and maxima, and a larger distance only lowers the terms.
// The room: while operations run one right after the other, since B_m, which waited for its value, or since the forward
// pass, their distance to the end of B_i is known. With a larger distance that range takes as long or longer, counted
// back from the end of B_i. So whatever was queued before the end of B_i is queued no later, counted like that, and the
// fetches, which follow each other from the end of x_m on, have come as far or further. Copies to the host end when
// they did, and B_i ends no later.
func bestAhead(s *step, poll *engine.Poll) aheadFound {
	if s.peak() <= s.p.Budget {
		return aheadFound{tensors: 0, ahead: 1}
	}
	a := newAhead(s)
	found, best := aheadFound{tensors: -1, smallest: s.peak()}, time.Duration(never)
	takes := func(tensors, ahead int) time.Duration {
		for range 1 + s.n/50 {
			if poll.Err() != nil {
				return never
			}
		}
		return a.plan(tensors, ahead).Makespan
	}
	for tensors := 1; tensors <= s.n; tensors++ {
		if takes(tensors, s.n) >= best {
			continue
		}
		takes(tensors, 1)
		room := a.room()
		found.smallest = min(found.smallest, room)
		if room > s.p.Budget {
			continue
		}
		most := 1 + sort.Search(s.n-1, func(k int) bool { // most is the largest distance that fits
			return takes(tensors, k+2) == never || a.room() > s.p.Budget
		})
		least := takes(tensors, most)
		if poll.Err() != nil {
			break
		}
		if least >= best {
			continue
		}
		found.tensors, best = tensors, least
		found.ahead = 1 + sort.Search(most-1, func(k int) bool { return takes(tensors, k+1) == least })
	}
	return found
}

// ahead builds the plans of TFLMS, which do not depend on memory. The plan of one call is overwritten by the next one.
// Unlike other plans, it moves values of no bytes too: they queue for the link like the others.
type ahead struct {
	s     *step
	p     Ordered
	ahead int
}

func newAhead(s *step) *ahead {
	set := make([]bool, s.n)
	return &ahead{s: s, p: Ordered{Timeline: s.played(set), Set: set, step: s}}
}

// plan offloads x_0..x_{tensors-1} as soon as they exist, and queues the fetch of x_j when
// B_{j+ahead} starts, or at the end of the forward pass if there is no such operation.
func (a *ahead) plan(tensors, ahead int) *Ordered {
	s, p := a.s, &a.p
	a.ahead = ahead
	p.Transfers = p.Transfers[:0]
	var at, link time.Duration
	for i := range s.n {
		p.Set[i] = i < tensors
		start := at
		at += s.timeF[i]
		p.Runs[i].Start, p.Runs[i].End = start, at
		if !p.Set[i] {
			continue
		}
		t := ordered.Transfer{Item: i, Bytes: s.size[i], OffloadAt: max(link, start), Before: p.Before(i)}
		t.OffloadEnd = t.OffloadAt + s.p.Device.ToHost.Time(t.Bytes)
		t.Gone = max(t.OffloadEnd, at)
		link = t.OffloadEnd
		p.Transfers = append(p.Transfers, t)
	}
	next := tensors - 1 // the fetch to queue
	fetch := func(from int) {
		for ; next >= max(from, 0); next-- {
			t := &p.Transfers[next]
			t.FetchAt = max(link, at)
			t.FetchEnd = t.FetchAt + s.p.Device.ToDev.Time(t.Bytes)
			link = t.FetchEnd
		}
	}
	fetch(s.n - ahead)
	for i := s.n - 1; i >= 0; i-- {
		if i < tensors {
			at = max(at, p.Transfers[i].FetchEnd)
		}
		fetch(i - ahead)
		r := &p.Runs[2*s.n-1-i]
		r.Start, r.End = at, at+s.timeB[i]
		at = r.End
	}
	p.Makespan, p.Fluid = at, at
	return p
}

// room returns the budget that the plan needs. It is more than the peak in two cases. If several operations at one time
// take no time, the method does not say in which order a fetch and they allocate, so there must be room for all. If
// transfers are streamed, a fetch stands still without room for the next byte.
func (a *ahead) room() engine.Bytes {
	s, p := a.s, &a.p
	p.Measure()
	room := p.Peak
	if s.streamed { // room for the next byte
		if p.Before(len(p.Transfers)) > 0 {
			room++
		}
		return room
	}
	left, back := 0, len(p.Transfers) // numbers of transfers that have left, and that have not begun to come back
	for i := s.n - 1; i >= 0; i-- {
		at := p.Runs[2*s.n-1-i].Start
		if s.timeB[i] > 0 {
			continue // Measure has counted the fetches at its end
		}
		for left < len(p.Transfers) && p.Transfers[left].Gone <= at {
			left++
		}
		for back > 0 && p.Transfers[back-1].FetchAt <= at {
			back--
		}
		room = max(room, s.needB[i]-p.Before(min(left, back)))
	}
	return room
}
