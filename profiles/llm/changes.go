package llm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"memtide/engine"
)

// Change is a plan with some knobs turned.
type Change struct {
	Names  []string
	Words  string      // of a policy: what frameworks call it
	Method string      // of what a strategy finds on the chain of the step: its name; Args say nothing then
	Args   engine.Args // all of the plan's
	Card   bool        // the card is another than Args say
	Answer *Answer
	GPUs   int64
	turned Ask
}

// settle plays the allocator's part of an answer that lacks it, up to a limit, and of a pipeline
// in the fastest order of passes if that is asked for.
func (c *Change) settle(limit engine.Bytes) error {
	if c.Answer.replayed && c.turned.order == "" {
		return nil
	}
	c.turned.order = ""
	answer, err := c.turned.answer(limit)
	if err == nil {
		c.Answer = answer
	}
	return err
}

// settleAll plays the allocator's part of all changes that lack it.
func settleAll(list []Change, poll *engine.Poll) error {
	for i := range list {
		if err := poll.Now(); err != nil {
			return err
		}
		if err := list[i].settle(engine.NoLimit); err != nil {
			return err
		}
	}
	return nil
}

// turn tries every knob on a question, one at a time, in their order, without the
// allocator's part.
func (a Ask) turn(poll *engine.Poll) ([]Change, error) {
	var out []Change
	for _, k := range knobs {
		if err := poll.Now(); err != nil {
			return out, err
		}
		b, ok := a.turned(&k)
		if !ok {
			continue
		}
		answer, err := b.answer(probed)
		if err != nil {
			continue // a knob that this setup does not have
		}
		out = append(out, Change{Names: []string{a.said(&k, &b)}, Args: b.Args, Card: b.altered, Answer: answer,
			GPUs: b.GPUs, turned: b})
	}
	return out, poll.Now()
}

// said returns the name of a knob that makes b of the question; of one that takes more cards with their number.
func (a *Ask) said(k *knob, b *Ask) string {
	switch {
	case k.words != nil:
		return k.words(b)
	case b.GPUs == a.GPUs:
		return k.name
	case a.Setup.Zero == b.Setup.Zero:
		return fmt.Sprintf("%d cards instead of %d", b.GPUs, a.GPUs)
	}
	return fmt.Sprintf("FSDP over %d cards", b.GPUs)
}

// turned returns the question with a knob turned; ok is false if that changes nothing.
func (a Ask) turned(k *knob) (b Ask, ok bool) {
	if k.card != nil {
		c := *a.Card
		k.card(&c)
		b = a
		b.Card, b.altered = &c, true
		return b, true
	}
	changes := k.set(&a)
	if changes == nil {
		return a, false
	}
	b, err := a.with(changes)
	if a.altered {
		b.Card, b.altered = a.Card, true
	}
	return b, err == nil
}

// Most of what a search for changes that fit looks at.
const (
	mostFixes = 3
	widest    = 4 // changes that are combined further
	deepest   = 4 // knobs of one combination
)

// Fixes finds up to three ways to make a question fit, none with a knob of
// another one: single knobs, and where these are too few, knobs on top of those that need
// the least. Those of one depth come in the order of their cards and of what a token costs. The
// allocator's part is played of what may be one of them; single is settled as far.
func Fixes(single []Change, poll *engine.Poll) (out []Change, err error) {
	seen := map[string]bool{}
	for level, depth := single, 1; ; depth++ {
		rest, err := fits(level, &out, poll)
		if err != nil || len(out) == mostFixes || depth == deepest {
			return out, err
		}
		slices.SortStableFunc(rest, func(a, b Change) int { return cmp.Compare(a.Answer.Pools, b.Answer.Pools) })
		level = nil
		for _, c := range rest[:min(len(rest), widest)] {
			more, err := c.turned.turn(poll)
			if err != nil {
				return out, err
			}
			for _, m := range more {
				m.Names = append(slices.Clone(c.Names), m.Names...)
				key := strings.Join(slices.Sorted(maps.Keys(m.settings())), " ")
				if m.Answer.Pools < c.Answer.Pools && !again(m.Names) && !seen[key] {
					seen[key] = true
					level = append(level, m)
				}
			}
		}
	}
}

// least is the share of memory or time below which a change makes no difference.
const least = 0.005

// useful returns the changes that help, the largest first. Where the step fits they are those
// that make it faster for equal work, which adapters are not, and still fit; where it does not, those that make it
// fit, in the order of their cards and times, and then those that free memory.
func (a Ask) useful(now *Answer, all []Change) (out []Change) {
	cost := a.perToken(now)
	freed := func(c *Change) engine.Bytes { return now.High - c.Answer.High }
	for i := range all {
		c := &all[i]
		gain := 1 - c.turned.perToken(c.Answer)/cost
		switch fits, adapters := c.Answer.Verdict == Fits, a.Setup.LoRA == nil && c.turned.Setup.LoRA != nil; {
		case now.Verdict == Fits && fits && !adapters && gain >= least,
			now.Verdict != Fits && (fits || float64(freed(c)) >= least*float64(now.High)):
			out = append(out, *c)
		}
	}
	slices.SortStableFunc(out, func(x, y Change) int {
		xFits, yFits := x.Answer.Verdict == Fits, y.Answer.Verdict == Fits
		faster := cmp.Compare(x.turned.perToken(x.Answer), y.turned.perToken(y.Answer))
		switch {
		case now.Verdict == Fits:
			return faster
		case xFits != yFits:
			if xFits {
				return -1
			}
			return 1
		case xFits:
			return cmp.Or(cmp.Compare(x.GPUs, y.GPUs), faster)
		}
		return cmp.Compare(freed(&y), freed(&x))
	})
	return out
}

// perToken returns what a token costs: seconds of one card.
func (a Ask) perToken(answer *Answer) float64 {
	s := &a.Setup
	groups := float64(a.GPUs) / float64(orOne(s.Tensor)*orOne(s.Context)*orOne(s.Stages))
	return answer.Time.Seconds() * float64(a.GPUs) / (float64(orOne(s.Batch)*s.Seq*orOne(s.Accumulate)) * groups)
}

// settings returns the options of a change with their values.
func (c *Change) settings() map[string]bool {
	out := map[string]bool{}
	for name, value := range c.Args {
		out[name+"="+value] = true
	}
	return out
}

// fits adds those of a level that fit to what is found, as far as there is room for them,
// and returns those that do not.
func fits(level []Change, found *[]Change, poll *engine.Poll) (rest []Change, err error) {
	var may []*Change
	for i := range level {
		if c := &level[i]; c.Answer.Verdict == Fits {
			may = append(may, c)
		} else {
			rest = append(rest, *c)
		}
	}
	slices.SortStableFunc(may, func(a, b *Change) int {
		return cmp.Or(cmp.Compare(a.GPUs, b.GPUs),
			cmp.Compare(a.turned.perToken(a.Answer), b.turned.perToken(b.Answer)))
	})
	for _, c := range may {
		if len(*found) == mostFixes {
			break
		}
		if covered(*found, *c) {
			continue
		}
		if err := poll.Now(); err != nil {
			return rest, err
		}
		if err := c.settle(c.turned.enough()); err != nil {
			return rest, err
		}
		if c.Answer.Verdict == Fits {
			*found = append(*found, *c)
		} else {
			rest = append(rest, *c)
		}
	}
	return rest, nil
}

// covered reports whether a fix that was found turns one of the same knobs, to whatever
// number.
func covered(found []Change, c Change) bool {
	return slices.ContainsFunc(found, func(f Change) bool {
		return slices.ContainsFunc(c.Names, func(name string) bool {
			return slices.ContainsFunc(f.Names,
				func(other string) bool { return numberless(name) == numberless(other) })
		})
	})
}

// again reports whether the last knob of some is one of the others, to another number.
func again(names []string) bool {
	last := len(names) - 1
	return slices.ContainsFunc(names[:last],
		func(name string) bool { return numberless(name) == numberless(names[last]) })
}

// numberless returns a name without its digits.
func numberless(name string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, name)
}
