package llm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"memtide/engine"
)

// Ask is a question: does a setup train on so many cards. New makes it of what is asked.
type Ask struct {
	Setup   Setup
	Card    *Card
	GPUs    int64
	Context engine.Bytes // of CUDA and the collectives, beside what PyTorch reserves
	Args    engine.Args  // that it was made of, for questions that differ in some
}

// Verdict says whether a setup fits.
type Verdict string

// The verdicts. An answer nearer to the capacity than the model errs is uncertain.
const (
	Fits      Verdict = "fits"
	FitsNot   Verdict = "does not fit"
	Uncertain Verdict = "uncertain"
)

// uncertain is the share of the answer that the model may be off by: one measured error.
const uncertain = 0.05

// Answer is what one card holds, and how long a step takes.
type Answer struct {
	*Result
	Low, High engine.Bytes // reserved, by how the allocator is set up and how busy experts are
	States    engine.Bytes // weights, masters, gradients and moments alone
	Capacity  engine.Bytes // of the card without the context
	Verdict   Verdict
	Time      time.Duration // an estimate
	Ranks     *Ranks        // of a pipeline whose order is named; the answer is that of the fullest
}

// Margin is what is free on the card in the worse case; negative if it lacks.
func (a *Answer) Margin() engine.Bytes { return a.Capacity - a.High }

// Answer plays the setup.
func (a Ask) Answer() (*Answer, error) { return a.answer(false) }

// answer plays the setup; coarsely, what cannot fit is told without the allocator's part.
func (a Ask) answer(coarse bool) (*Answer, error) {
	a.Setup.Workspace = a.Card.Workspace
	if need := orOne(a.Setup.Shard) * orOne(a.Setup.Tensor) * orOne(a.Setup.Stages); a.GPUs < need {
		return nil, fmt.Errorf("states over %d ranks, products over %d and a pipeline of %d need %d cards; there are %d", orOne(a.Setup.Shard), orOne(a.Setup.Tensor), orOne(a.Setup.Stages), need, a.GPUs)
	}
	limit := engine.NoLimit
	if coarse {
		limit = engine.Bytes(engine.Int64(float64(a.Card.Memory-a.Context) / (1 - uncertain)))
	}
	r, ranks, t, err := a.play(limit)
	if err != nil {
		return nil, err
	}
	out := &Answer{Result: r, Ranks: ranks, Low: min(r.Reserved, r.Expandable), High: max(r.Reserved, r.Expandable), States: States(a.Setup),
		Capacity: a.Card.Memory - a.Context, Time: t, Verdict: Uncertain}
	if a.Setup.Model.MoE != nil {
		out.Low = engine.Bytes(engine.Int64(float64(out.Low) * (1 - moeAbove)))
		out.High = engine.Bytes(engine.Int64(float64(out.High) / (1 - moeBelow)))
	}
	switch room := float64(out.Capacity); {
	case float64(out.High)*(1+uncertain) <= room:
		out.Verdict = Fits
	case float64(out.Low)*(1-uncertain) > room:
		out.Verdict = FitsNot
	}
	return out, nil
}

// play plays the step: on one rank, which stands for all, or on every rank of a pipeline.
func (a Ask) play(limit engine.Bytes) (*Result, *Ranks, time.Duration, error) {
	if a.Setup.Schedule != "" {
		s, err := a.Setup.normal()
		if err != nil {
			return nil, nil, 0, err
		}
		ranks, err := s.ranks(a.Card, limit)
		if err != nil {
			return nil, nil, 0, err
		}
		return ranks.List[ranks.Full].Result, ranks, ranks.Time, nil
	}
	r, err := runUpTo(a.Setup, limit)
	if err != nil {
		return nil, nil, 0, err
	}
	t, err := StepTime(a.Setup, a.Card)
	return r, nil, t, err
}

// States are the bytes of weights, masters, gradients and moments on the rank that has
// most of them, of a setup that Run accepts.
func States(s Setup) (n engine.Bytes) {
	s, err := s.normal()
	if err != nil {
		return 0
	}
	if s.Schedule != "" {
		_, shares, err := s.playOrder(nil)
		if err != nil {
			return 0
		}
		for _, of := range shares {
			n = max(n, newProgram(&s, of).states())
		}
		return n
	}
	return newProgram(&s, s.end(true, true)).states()
}

// states are the bytes of the program's states.
func (p *program) states() (n engine.Bytes) {
	s := p.s
	for _, u := range p.all() {
		for _, w := range u.weights {
			n += s.weightBytes(w)
			if !w.trained {
				continue
			}
			n += s.at(w, 2, s.storedBytes(w, s.Grad))
			if !s.HostStep {
				n += s.at(w, 1, s.Master) + s.at(w, 1, s.momentBytes(w))
			}
		}
	}
	return n
}

// Change is a plan with some knobs turned.
type Change struct {
	Names  []string
	Args   engine.Args // all of the plan's
	Answer *Answer
	GPUs   int64
	turned Ask
}

// Turn tries every knob on a question, one at a time, in their order.
func Turn(a Ask, poll *engine.Poll) ([]Change, error) { return a.turn(false, poll) }

func (a Ask) turn(coarse bool, poll *engine.Poll) ([]Change, error) {
	var out []Change
	for _, k := range knobs {
		if err := poll.Err(); err != nil {
			return out, err
		}
		changes := k.set(&a)
		if changes == nil {
			continue
		}
		b, err := a.with(changes)
		if err != nil {
			continue
		}
		answer, err := b.answer(coarse)
		if err != nil {
			continue // a knob that this setup does not have
		}
		out = append(out, Change{Names: []string{k.name}, Args: b.Args, Answer: answer, GPUs: b.GPUs, turned: b})
	}
	return out, nil
}

// Most of what a search for changes that fit looks at.
const (
	mostFixes = 3
	widest    = 4 // changes that are combined further
	deepest   = 4 // knobs of one combination
)

// Fixes finds up to three ways to make a question fit, none with a knob of
// another one: single knobs, and where these are too few, knobs on top of those that freed
// the most. Those of one depth come in the order of their cards and their step times.
func Fixes(single []Change, poll *engine.Poll) (out []Change, err error) {
	level := single
	for range deepest {
		var fits, rest []Change
		for _, c := range level {
			if c.Answer.Verdict == Fits {
				fits = append(fits, c)
			} else {
				rest = append(rest, c)
			}
		}
		slices.SortStableFunc(fits, func(a, b Change) int {
			return cmp.Or(cmp.Compare(a.GPUs, b.GPUs), cmp.Compare(a.Answer.Time, b.Answer.Time))
		})
		for _, c := range fits {
			if len(out) < mostFixes && !covered(out, c) {
				out = append(out, c)
			}
		}
		if len(out) == mostFixes {
			return out, nil
		}
		slices.SortStableFunc(rest, func(a, b Change) int { return cmp.Compare(a.Answer.High, b.Answer.High) })
		level = nil
		for _, c := range rest[:min(len(rest), widest)] {
			more, err := c.turned.turn(true, poll)
			if err != nil {
				return out, err
			}
			for _, m := range more {
				m.Names = append(slices.Clone(c.Names), m.Names...)
				if m.Answer.High < c.Answer.High && !again(m.Names) {
					level = append(level, m)
				}
			}
		}
	}
	return out, nil
}

// covered says whether a fix that was found turns one of the same knobs, to whatever
// number.
func covered(found []Change, c Change) bool {
	return slices.ContainsFunc(found, func(f Change) bool {
		return slices.ContainsFunc(c.Names, func(name string) bool {
			return slices.ContainsFunc(f.Names, func(other string) bool { return numberless(name) == numberless(other) })
		})
	})
}

// again says whether the last knob of some is one of the others, to another number.
func again(names []string) bool {
	last := len(names) - 1
	return slices.ContainsFunc(names[:last], func(name string) bool { return numberless(name) == numberless(names[last]) })
}

// numberless is a name without its digits.
func numberless(name string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, name)
}
