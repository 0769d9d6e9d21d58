package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind is what a pass computes.
type Kind uint8

// The kinds: a backward is whole, or that of the inputs with that of the weights later.
const (
	Forward Kind = iota
	Backward
	Inputs
	Weights
)

func (k Kind) String() string {
	return [...]string{"forward", "backward", "backward of inputs", "backward of weights"}[k]
}

// Pass is one micro batch at one stage.
type Pass struct {
	Kind         Kind
	Micro, Stage int
}

// Plan is what a schedule is made for.
type Plan struct {
	Ranks, Micro int // micro batches of a step
	Chunks       int // stages of a rank where a schedule lets them be chosen; 0: 2

	// Cost is how long a pass takes; the schedules that are searched for depend on it. A
	// Backward takes what Inputs and Weights take together.
	Cost func(Pass) time.Duration
	Send time.Duration // from a rank to another
}

// Schedule is an order of passes on each rank.
type Schedule struct {
	Name   string
	Plan   Plan
	Rank   []int    // of each stage
	Order  [][]Pass // of each rank
	Twice  bool     // each stage is on two ranks: micro batches enter at both ends
	stages int      // a micro batch passes
}

// Stages is how many stages the network is cut into.
func (s *Schedule) Stages() int { return s.stages }

// Layers is the stage of the network that a stage of the schedule is.
func (s *Schedule) Layers(stage int) int { return stage % s.stages }

// maker makes the orders of a schedule.
type maker struct {
	name, title string
	chunks      int // of the network's stages on a rank; 0: as the plan says
	make        func(p *Plan) (*Schedule, error)
}

var makers = []maker{
	{"gpipe", "GPipe: all forwards, then all backwards [arXiv:1811.06965]", 1, gpipe},
	{"1f1b", "one forward, one backward [PipeDream-Flush, arXiv:2006.09503]", 1, oneByOne},
	{"interleaved", "interleaved 1F1B, several stages a rank [arXiv:2104.04473, section 2.2]", 0, interleaved},
	{"zb-h1", "zero bubble with the memory of 1F1B [arXiv:2401.10241, section 2.1.1]", 1, zeroBubble(func(p *Plan) int { return p.Ranks })},
	{"zb-h2", "zero bubble with twice that memory [arXiv:2401.10241, section 2.1.2]", 1, zeroBubble(func(p *Plan) int { return 2*p.Ranks - 1 })},
	{"zb-v", "zero bubble, two stages a rank in the form of a V [arXiv:2405.15362]", 2, zeroBubbleV},
	{"dualpipe", "both directions at once, every stage twice [DeepSeek-V3, arXiv:2412.19437, section 3.2.1]", 1, dualPipe},
}

// Names are the schedules that there are.
func Names() (out []string) {
	for _, m := range makers {
		out = append(out, m.name)
	}
	return out
}

// Title is what a schedule does, in a few words, with its source.
func Title(name string) string {
	for _, m := range makers {
		if m.name == name {
			return m.title
		}
	}
	return ""
}

// Stages is how many stages a schedule cuts a network into; 0 if it is not known.
func Stages(name string, ranks, chunks int) int {
	for _, m := range makers {
		switch {
		case m.name == name && m.chunks == 0:
			return ranks * chunks
		case m.name == name:
			return ranks * m.chunks
		}
	}
	return 0
}

// most bounds what a schedule is made for: passes of a step.
const most = 1 << 20

// New makes a schedule. The error says what the schedule cannot do, in terms of the plan.
func New(name string, p Plan) (*Schedule, error) {
	i := slices.IndexFunc(makers, func(m maker) bool { return m.name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no schedule %q; known are %s", name, strings.Join(Names(), ", "))
	}
	p.Chunks = cmp.Or(p.Chunks, 2)
	if p.Ranks < 1 || p.Micro < 1 || p.Chunks < 1 || p.Ranks > most || p.Micro > most || p.Chunks > most || p.Ranks*p.Micro > most/p.Chunks {
		return nil, fmt.Errorf("%d ranks, %d micro batches and %d stages a rank; want at least one of each and no more than %d passes", p.Ranks, p.Micro, p.Chunks, most)
	}
	s, err := makers[i].make(&p)
	if err != nil {
		return nil, err
	}
	s.Name, s.Plan = name, p
	return s, nil
}

// straight is one stage a rank, in their order.
func straight(p *Plan) *Schedule {
	s := &Schedule{stages: p.Ranks, Order: make([][]Pass, p.Ranks)}
	for r := range p.Ranks {
		s.Rank = append(s.Rank, r)
	}
	return s
}

func gpipe(p *Plan) (*Schedule, error) {
	s := straight(p)
	for r := range s.Order {
		for _, kind := range []Kind{Forward, Backward} {
			for m := range p.Micro {
				s.Order[r] = append(s.Order[r], Pass{kind, m, r})
			}
		}
	}
	return s, nil
}

func oneByOne(p *Plan) (*Schedule, error) {
	s := straight(p)
	for r := range s.Order {
		s.Order[r] = alternate(p.Micro, p.Ranks-1-r,
			func(k int) Pass { return Pass{Forward, k, r} },
			func(k int) Pass { return Pass{Backward, k, r} })
	}
	return s, nil
}

// alternate runs some forwards ahead, then one forward and one backward in turn.
func alternate(n, ahead int, forward, backward func(int) Pass) (out []Pass) {
	ahead = min(ahead, n)
	for k := range ahead {
		out = append(out, forward(k))
	}
	for k := ahead; k < n; k++ {
		out = append(out, forward(k), backward(k-ahead))
	}
	for k := n - ahead; k < n; k++ {
		out = append(out, backward(k))
	}
	return out
}

// interleaved is Megatron-LM's order: micro batches go in groups of as many as there are
// ranks through one stage of a rank after the other.
func interleaved(p *Plan) (*Schedule, error) {
	if p.Micro%p.Ranks != 0 {
		return nil, fmt.Errorf("the interleaved schedule needs a multiple of %[2]d micro batches, one for each rank; there are %[1]d", p.Micro, p.Ranks)
	}
	s := &Schedule{stages: p.Ranks * p.Chunks, Order: make([][]Pass, p.Ranks)}
	for stage := range s.stages {
		s.Rank = append(s.Rank, stage%p.Ranks)
	}
	at := func(k int) (micro, chunk int) {
		group := p.Ranks * p.Chunks
		return k/group*p.Ranks + k%p.Ranks, k % group / p.Ranks
	}
	for r := range s.Order {
		ahead := 2*(p.Ranks-1-r) + (p.Chunks-1)*p.Ranks
		if p.Micro == p.Ranks {
			ahead = p.Micro * p.Chunks // as Megatron-LM: nothing is left to alternate
		}
		s.Order[r] = alternate(p.Micro*p.Chunks, ahead, func(k int) Pass {
			micro, chunk := at(k)
			return Pass{Forward, micro, chunk*p.Ranks + r}
		}, func(k int) Pass {
			micro, chunk := at(k)
			return Pass{Backward, micro, (p.Chunks-1-chunk)*p.Ranks + r}
		})
	}
	return s, nil
}

// zeroBubble is a searched schedule that holds no more than so many passes.
func zeroBubble(limit func(*Plan) int) func(*Plan) (*Schedule, error) {
	return func(p *Plan) (*Schedule, error) {
		s := straight(p)
		return search(s, p, func(int) int { return limit(p) })
	}
}

// zeroBubbleV has the first and the last stage on the first rank. A micro batch that is
// let in has room for both of its stages: a rank holds 2 p passes of half a rank's layers.
func zeroBubbleV(p *Plan) (*Schedule, error) {
	s := &Schedule{stages: 2 * p.Ranks, Order: make([][]Pass, p.Ranks)}
	for stage := range s.stages {
		s.Rank = append(s.Rank, min(stage, s.stages-1-stage))
	}
	return search(s, p, func(int) int { return p.Ranks })
}

// dualPipe sends half of the micro batches each way; each way holds what 1F1B holds,
// p + 1 passes together.
func dualPipe(p *Plan) (*Schedule, error) {
	if p.Micro%2 != 0 {
		return nil, fmt.Errorf("%d micro batches do not divide between two directions", p.Micro)
	}
	s := &Schedule{stages: p.Ranks, Order: make([][]Pass, p.Ranks), Twice: true}
	for stage := range 2 * p.Ranks {
		s.Rank = append(s.Rank, min(stage, 2*p.Ranks-1-stage))
	}
	return search(s, p, func(stage int) int { return p.Ranks - stage%p.Ranks })
}

// path are the stages of a micro batch, in their order.
func (s *Schedule) path(p *Plan, micro int) (first, last int) {
	if s.Twice && micro >= p.Micro/2 {
		return s.stages, 2*s.stages - 1
	}
	return 0, s.stages - 1
}
