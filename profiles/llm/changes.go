package llm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
)

// Change is a plan with some knobs turned.
type Change struct {
	Names    []string
	Words    string      // of a policy: what frameworks call it
	Method   string      // of what a strategy finds on the chain of the step: its name; Args say nothing then
	Args     engine.Args // all of the plan's
	Card     bool        // the card is another than Args say
	Estimate *Estimate
	GPUs     int64
	turned   Ask
}

// settle plays the allocator's part of an answer that lacks it, up to a limit, and of a pipeline
// in the fastest order of passes if that is asked for. It ends where the poll or the answer does.
func (c *Change) settle(limit engine.Bytes) {
	c.turned.goOn()
	if c.Estimate.replayed && c.turned.order == "" {
		return
	}
	c.turned.order = ""
	c.Estimate = have(c.turned.answer(limit))
}

// have returns what is there, or ends with the error.
func have[T any](v T, err error) T {
	profiles.End(err)
	return v
}

// goOn ends where the poll has to. What searches for several answers calls it between them.
func (a *Ask) goOn() { profiles.End(a.Setup.poll.Now()) }

// turn tries every knob on a question, one at a time, in their order, without the
// allocator's part.
func (a Ask) turn() (out []Change) {
	for _, k := range knobs {
		a.goOn()
		b, ok := a.turned(&k)
		if !ok {
			continue
		}
		answer, err := b.answer(probed)
		if err != nil {
			continue // a knob that this setup does not have
		}
		out = append(out, Change{Names: []string{a.said(&k, &b)}, Args: b.Args, Card: b.altered, Estimate: answer,
			GPUs: b.GPUs, turned: b})
	}
	a.goOn()
	return out
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

// fixes finds up to three ways to make a question fit, none with a knob of
// another one: single knobs, and where these are too few, knobs on top of those that need
// the least. Those of one depth come in the order of their cards and of what a token costs. The
// allocator's part is played of what may be one of them; single is settled as far.
func fixes(single []Change) (out []Change) {
	seen := map[string]bool{}
	for level, depth := single, 1; ; depth++ {
		rest := fits(level, &out)
		if len(out) == mostFixes || depth == deepest {
			return out
		}
		slices.SortStableFunc(rest, func(a, b Change) int { return cmp.Compare(a.Estimate.Pools, b.Estimate.Pools) })
		level = nil
		for _, c := range rest[:min(len(rest), widest)] {
			for _, m := range c.turned.turn() {
				key := fmt.Sprint(m.Args) // in the order of names
				if m.Estimate.Pools < c.Estimate.Pools && !alike(c.Names, m.Names) && !seen[key] {
					seen[key] = true
					m.Names = append(slices.Clone(c.Names), m.Names...)
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
func (a Ask) useful(now *Estimate, all []Change) (out []Change) {
	cost := a.perToken(now)
	freed := func(c *Change) engine.Bytes { return now.High - c.Estimate.High }
	for i := range all {
		c := &all[i]
		gain := 1 - c.turned.perToken(c.Estimate)/cost
		switch fits, adapters := c.Estimate.Verdict == Fits, a.Setup.LoRA == nil && c.turned.Setup.LoRA != nil; {
		case now.Verdict == Fits && fits && !adapters && gain >= least,
			now.Verdict != Fits && (fits || float64(freed(c)) >= least*float64(now.High)):
			out = append(out, *c)
		}
	}
	order := map[Verdict]int{Uncertain: 1, FitsNot: 1}
	slices.SortStableFunc(out, func(x, y Change) int {
		faster := cmp.Compare(x.turned.perToken(x.Estimate), y.turned.perToken(y.Estimate))
		switch fits := cmp.Compare(order[x.Estimate.Verdict], order[y.Estimate.Verdict]); {
		case now.Verdict == Fits:
			return faster
		case x.Estimate.Verdict == Fits:
			return cmp.Or(fits, cmp.Compare(x.GPUs, y.GPUs), faster)
		default:
			return cmp.Or(fits, cmp.Compare(freed(&y), freed(&x)))
		}
	})
	return out
}

// perToken returns what a token costs: seconds of one card.
func (a Ask) perToken(answer *Estimate) float64 {
	s := &a.Setup
	groups := float64(a.GPUs) / float64(orOne(s.Tensor)*orOne(s.Context)*orOne(s.Stages))
	return answer.Time.Seconds() * float64(a.GPUs) / (float64(orOne(s.Batch)*s.Seq*orOne(s.Accumulate)) * groups)
}

// fits adds those of a level that fit to what is found, as far as there is room for them,
// and returns those that do not.
func fits(level []Change, found *[]Change) (rest []Change) {
	var may []*Change
	for i := range level {
		if c := &level[i]; c.Estimate.Verdict == Fits {
			may = append(may, c)
		} else {
			rest = append(rest, *c)
		}
	}
	slices.SortStableFunc(may, func(a, b *Change) int {
		return cmp.Or(cmp.Compare(a.GPUs, b.GPUs),
			cmp.Compare(a.turned.perToken(a.Estimate), b.turned.perToken(b.Estimate)))
	})
	for _, c := range may {
		if len(*found) == mostFixes {
			break
		}
		if slices.ContainsFunc(*found, func(f Change) bool { return alike(c.Names, f.Names) }) {
			continue
		}
		if c.settle(c.turned.enough()); c.Estimate.Verdict == Fits {
			*found = append(*found, *c)
		} else {
			rest = append(rest, *c)
		}
	}
	return rest
}

// alike reports whether some knobs and others have one of them in common, to whatever number.
func alike(names, others []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(others, func(other string) bool { return numberless(name) == numberless(other) })
	})
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
