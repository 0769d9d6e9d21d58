package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"memtide/engine"
)

// Request describes the pipeline that a schedule is made for.
type Request struct {
	Ranks, Micro int // micro batches of a step, of both directions together
	Chunks       int // stages per rank, for schedules that allow a choice; 0: 2
	Group        int // micro batches per round, for schedules that allow a choice; 0: the number of ranks

	// Cost returns the time of a pass. Schedules that are searched for depend on it. The time of a Backward is the
	// sum of Inputs and Weights.
	Cost func(Pass) time.Duration
	Send time.Duration // time of a message from one rank to another
	// Keep returns the bytes of a stage of the network; nil: one byte from F to W, so that bytes count passes.
	Keep func(stage int) Holds
	Room func(rank int) (fixed, limit engine.Bytes) // bytes of a rank; nil: no limit
}

// Schedule is an order of passes on each rank, and the problem that it is played on.
type Schedule struct {
	Name    string
	Problem *Problem
	Order   [][]Pass // by rank
	stages  int      // number of stages of the network
}

// Stages returns the number of stages that the network is cut into.
func (s *Schedule) Stages() int { return s.stages }

// Play plays the order.
func (s *Schedule) Play() (*Trace, error) { return s.Problem.Play(s.Order) }

// Shape is the way in which the stages of a network are placed on the ranks.
type Shape uint8

// The shapes.
const (
	Straight Shape = iota // stage s on rank s
	Wrapped               // stage s on rank s modulo the number of ranks
	Vee                   // there and back, with two stages per rank
	BothWays              // every stage on two ranks, for two paths that enter at opposite ends
)

// maker makes the orders of a schedule. Each file of schedules registers its own makers.
type maker struct {
	name, title string
	paper       string // arXiv number; schedules are listed in its order
	shape       Shape
	split       bool                   // some backwards are in two parts
	searched    bool                   // made by Search, which tries the schedule only with much effort
	refuse      func(p *Request) error // nil: the schedule takes every request
	make        func(p *Request, q *Problem) [][]Pass
}

var makers []maker

// register adds schedules and keeps them in the order of their papers.
func register(list ...maker) {
	makers = append(makers, list...)
	slices.SortStableFunc(makers, func(a, b maker) int { return cmp.Compare(a.paper, b.paper) })
}

// lookup returns the maker with this name, or nil.
func lookup(name string) *maker {
	if i := slices.IndexFunc(makers, func(m maker) bool { return m.name == name }); i >= 0 {
		return &makers[i]
	}
	return nil
}

// Names returns the names of all schedules.
func Names() (out []string) {
	for _, m := range makers {
		out = append(out, m.name)
	}
	return out
}

// Title returns what a schedule does, in a few words, with its source, or "" if there is no such schedule.
func Title(name string) string {
	m := lookup(name)
	if m == nil {
		return ""
	}
	return fmt.Sprintf("%s [arXiv:%s]", m.title, m.paper)
}

// Stages returns the number of stages that a schedule cuts a network into, or 0 if there is no such schedule.
func Stages(name string, ranks, chunks int) int {
	m := lookup(name)
	switch {
	case m == nil:
		return 0
	case m.shape == Wrapped:
		return ranks * chunks
	case m.shape == Vee:
		return 2 * ranks
	}
	return ranks
}

// Searched reports whether a schedule is searched for, which takes longer than following a rule.
func Searched(name string) bool {
	m := lookup(name)
	return m != nil && m.searched
}

// Layout returns the rank of each stage of a schedule, path by path, or nil if there is no such schedule.
func Layout(name string, ranks, chunks int) (out []int) {
	m := lookup(name)
	if m == nil {
		return nil
	}
	p := Request{Ranks: ranks, Micro: 2, Chunks: chunks}
	for _, st := range p.Problem(m.shape).Stages {
		out = append(out, st.Rank)
	}
	return out
}

// most is the largest number of passes of a step that a schedule is made for.
const most = 1 << 20

// New makes a schedule. Its error says why the schedule does not suit the request, and what would.
func New(name string, p Request) (*Schedule, error) {
	m := lookup(name)
	if m == nil {
		return nil, fmt.Errorf("there is no schedule %q; known are %s", name, strings.Join(Names(), ", "))
	}
	p.Chunks = cmp.Or(p.Chunks, 2)
	if p.Ranks < 1 || p.Micro < 1 || p.Chunks < 1 || p.Ranks > most || p.Micro > most || p.Chunks > most ||
		p.Ranks*p.Micro > most/p.Chunks {
		return nil, fmt.Errorf("%d ranks, %d micro batches and %d stages a rank; want at least one of each and no more than %d passes", p.Ranks, p.Micro, p.Chunks, most)
	}
	p.Group = cmp.Or(p.Group, p.Ranks)
	if m.refuse != nil {
		if err := m.refuse(&p); err != nil {
			return nil, err
		}
	}
	q := p.Problem(m.shape)
	return &Schedule{Name: name, Problem: q, Order: m.make(&p, q), stages: Stages(name, p.Ranks, p.Chunks)}, nil
}

// Problem returns the problem of a request whose stages are placed in a shape.
func (p *Request) Problem(shape Shape) *Problem {
	q := &Problem{Ranks: p.Ranks, Micro: []int{p.Micro}, Cost: p.Cost}
	stages, rank := p.Ranks, func(s int) int { return s }
	switch shape {
	case Wrapped:
		stages, rank = p.Ranks*max(p.Chunks, 1), func(s int) int { return s % p.Ranks }
	case Vee:
		stages, rank = 2*p.Ranks, func(s int) int { return min(s, 2*p.Ranks-1-s) }
	case BothWays:
		q.Micro = []int{p.Micro - p.Micro/2, p.Micro / 2}
	}
	for path := range q.Micro {
		for s := range stages {
			i := len(q.Stages)
			st := Stage{Rank: rank(s), Path: path, Holds: Holds{Act: 1, Rest: 1}}
			if path == 1 {
				st.Rank = stages - 1 - s
			}
			if p.Keep != nil {
				st.Holds = p.Keep(s)
			}
			if p.Cost != nil {
				st.Forward, st.Inputs = p.Cost(Pass{Kind: Forward, Stage: i}), p.Cost(Pass{Kind: Inputs, Stage: i})
				st.Weights, st.Whole = p.Cost(Pass{Kind: Weights, Stage: i}), p.Cost(Pass{Kind: Backward, Stage: i})
			}
			if s > 0 && q.Stages[i-1].Rank != st.Rank {
				st.Comm = p.Send
			}
			q.Stages = append(q.Stages, st)
		}
	}
	if p.Room != nil {
		for r := range p.Ranks {
			fixed, limit := p.Room(r)
			q.Fixed, q.Limit = append(q.Fixed, fixed), append(q.Limit, limit)
		}
	}
	return q
}

// warm is 1F1B for n micro batches: ahead forwards, then one forward and one backward in turn, then the remaining
// backwards. It calls forward and backward with 0, 1, 2 and so on.
func warm(n, ahead int, forward, backward func(int)) {
	ahead = min(ahead, n)
	for k := range ahead {
		forward(k)
	}
	for k := ahead; k < n; k++ {
		forward(k)
		backward(k - ahead)
	}
	for k := n - ahead; k < n; k++ {
		backward(k)
	}
}

// writer collects the order of a rank. The passes of each kind and stage are in the order of the micro batches.
type writer struct {
	list []Pass
	next map[Pass]int // by kind and stage: the next micro batch
	most int          // number of micro batches; put leaves out later ones
}

// put appends the next pass of a kind at a stage. joined means that it runs as one with the next pass.
func (w *writer) put(k Kind, stage int, joined bool) {
	class := Pass{Kind: k, Stage: stage}
	if k == Backward || k == Inputs {
		class.Kind = Backward
	}
	if m := w.next[class]; m < w.most {
		w.list = append(w.list, Pass{k, stage, m, joined})
	}
	w.next[class]++
}

// puts appends the next n passes of a kind at a stage.
func (w *writer) puts(n int, k Kind, stage int) {
	for range n {
		w.put(k, stage, false)
	}
}

// ran returns the number of passes of a kind that put was called for; for A it includes those of B.
func (w *writer) ran(k Kind, stage int) int { return w.next[Pass{Kind: k, Stage: stage}] }
