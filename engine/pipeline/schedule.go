package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"memtide/engine"
)

// Request is what a schedule is made for.
type Request struct {
	Ranks, Micro int // micro batches of a step, of both directions together
	Chunks       int // stages of a rank where a schedule lets them be chosen; 0: 2
	Group        int // micro batches of a round where a schedule lets them be chosen; 0: as many as ranks

	// Cost is how long a pass takes; the schedules that are searched for depend on it. A
	// Backward takes what Inputs and Weights take together.
	Cost func(Pass) time.Duration
	Send time.Duration // from a rank to another
	// of a stage of the network; nil: one byte from F to W, so that bytes count passes
	Keep func(stage int) Holds
	Room func(rank int) (fixed, limit engine.Bytes) // nil: no limit
}

// Schedule is an order of passes on each rank, and what it is played on.
type Schedule struct {
	Name    string
	Problem *Problem
	Rank    []int    // of each stage
	Order   [][]Pass // of each rank
	stages  int      // of the network
}

// Stages returns how many stages the network is cut into.
func (s *Schedule) Stages() int { return s.stages }

// Layers returns the stage of the network that a stage of the schedule is.
func (s *Schedule) Layers(stage int) int { return stage % s.stages }

// Play runs the order.
func (s *Schedule) Play() (*Trace, error) { return s.Problem.Play(s.Order) }

// Shape says how the stages of a network lie on the ranks.
type Shape uint8

// The shapes: stage s on rank s; on rank s modulo the ranks; there and back, with two stages a rank; and every stage on
// two ranks, for two paths that enter at either end.
const (
	Straight Shape = iota
	Wrapped
	Vee
	BothWays
)

// maker makes the orders of a schedule. Each file of schedules registers its own.
type maker struct {
	name, title string
	paper       string // arXiv number: schedules are listed by its age
	shape       Shape
	split       bool                   // some backwards are in two parts
	searched    bool                   // by Search, which does not begin with it
	refuse      func(p *Request) error // nil: nothing
	make        func(p *Request, q *Problem) [][]Pass
}

var makers []maker

// register adds schedules, in the order of their papers.
func register(list ...maker) {
	makers = append(makers, list...)
	slices.SortStableFunc(makers, func(a, b maker) int { return cmp.Compare(a.paper, b.paper) })
}

func lookup(name string) *maker {
	for i := range makers {
		if makers[i].name == name {
			return &makers[i]
		}
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

// Title says what a schedule does, in a few words, with its source; "" if it is not known.
func Title(name string) string {
	m := lookup(name)
	if m == nil {
		return ""
	}
	return fmt.Sprintf("%s [arXiv:%s]", m.title, m.paper)
}

// Stages returns how many stages a schedule cuts a network into, or 0 if it is not known.
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

// Searched reports whether a schedule is searched for, which takes longer than a rule.
func Searched(name string) bool {
	m := lookup(name)
	return m != nil && m.searched
}

// Layout returns the rank of each stage of a schedule, path by path, or nil if it is not known.
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

// most bounds what a schedule is made for: passes of a step.
const most = 1 << 20

// New makes a schedule. The error says what the schedule cannot do, in terms of the plan, and what it can.
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
	s := &Schedule{Name: name, Problem: q, Order: m.make(&p, q), stages: Stages(name, p.Ranks, p.Chunks)}
	for i := range q.Stages {
		s.Rank = append(s.Rank, q.Stages[i].Rank)
	}
	return s, nil
}

// Problem returns what the orders of a plan are played on, if the stages lie in a shape.
func (p *Request) Problem(shape Shape) *Problem {
	q := &Problem{Ranks: p.Ranks, Micro: []int{p.Micro}, Cost: p.Cost}
	stages, of := p.Ranks, func(s int) int { return s }
	switch shape {
	case Wrapped:
		stages, of = p.Ranks*max(p.Chunks, 1), func(s int) int { return s % p.Ranks }
	case Vee:
		stages, of = 2*p.Ranks, func(s int) int { return min(s, 2*p.Ranks-1-s) }
	case BothWays:
		q.Micro = []int{p.Micro - p.Micro/2, p.Micro / 2}
	}
	for path := range q.Micro {
		for s := range stages {
			i := len(q.Stages)
			st := Stage{Rank: of(s), Path: path, Holds: Holds{Act: 1, Rest: 1}}
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

// warm is 1F1B: some forwards ahead, then one forward and one backward in turn.
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

// writer writes the order of a rank; micro batches of a kind and stage come in their order.
type writer struct {
	list []Pass
	next map[Pass]int // by kind and stage
	most int          // later micro batches are left out
}

func newWriter(most int) *writer { return &writer{next: map[Pass]int{}, most: most} }

// put writes the next pass of a kind at a stage; joined says that it runs as one with the next.
func (w *writer) put(k Kind, stage int, joined bool) {
	class := Pass{Kind: k, Stage: stage}
	if k == Backward || k == Inputs {
		class.Kind = Backward
	}
	if m := w.next[class]; m < w.most {
		w.list = append(w.list, Pass{k, m, stage, joined})
	}
	w.next[class]++
}

// ran returns how many passes of a kind were written, B as A.
func (w *writer) ran(k Kind, stage int) int { return w.next[Pass{Kind: k, Stage: stage}] }
