package llm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"memtide/engine"
	"memtide/profiles"
)

// Change is the question with some knobs turned or another policy, and its answer.
type Change struct {
	Names    []string
	Words    string      // for a policy: the names that frameworks have for it
	Method   string      // name of the strategy that found the plan, if one did; Args are then unset
	Args     engine.Args // all options of the changed question
	Card     bool        // the card differs from the card in Args
	Estimate *Estimate
	GPUs     int64
	turned   Ask // the changed question
}

// settle replays an answer through the allocator up to a limit, if that was not done yet, and finds the fastest
// order of passes of a pipeline if that is wanted. It ends with the error of the poll or the answer.
func (c *Change) settle(limit engine.Bytes) {
	c.turned.goOn()
	if c.Estimate.replayed && c.turned.order == "" {
		return
	}
	c.turned.order = ""
	c.Estimate = have(c.turned.answer(limit))
}

// have returns v, or ends with the error.
func have[T any](v T, err error) T {
	profiles.End(err)
	return v
}

// goOn ends with the error of the poll. Searches call it between answers.
func (a *Ask) goOn() { profiles.End(a.Setup.poll.Now()) }

// turn tries every knob on a question, one at a time and in order, without the replay through the allocator.
func (a Ask) turn() (out []Change) {
	for _, k := range knobs {
		a.goOn()
		b, ok := a.turned(&k)
		if !ok {
			continue
		}
		answer, err := b.answer(probed)
		if err != nil {
			continue // the knob does not apply to this setup
		}
		out = append(out, Change{Names: []string{a.said(&k, &b)}, Args: b.Args, Card: b.altered, Estimate: answer,
			GPUs: b.GPUs, turned: b})
	}
	a.goOn()
	return out
}

// said returns the name of knob k, which turns question a into b. If b has more cards, the name has their number.
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

// turned returns the question with a knob turned. ok is false if the knob changes nothing or does not apply.
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

// Limits of the search for changes that fit.
const (
	mostFixes = 3
	widest    = 4 // changes of one depth that are combined further
	deepest   = 4 // knobs in one combination
)

// fixes finds up to mostFixes ways to make a question fit that have no knob in common: single knobs first, then
// further knobs on top of the changes that need least. Ways of one depth are ordered by cards and then by the
// cost of a token. It replays only changes that may be among the results; single is settled to the same extent.
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

// least is the share of memory or time below which a change does not count.
const least = 0.005

// useful returns the changes that help, the largest first. If the step fits, they are changes that make it faster
// for equal work, which adapters are not, and that still fit. If it does not fit, they are changes that make it
// fit, ordered by cards and times, and then changes that free memory.
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

// perToken returns the cost of a token, in seconds of one card.
func (a Ask) perToken(answer *Estimate) float64 {
	s := &a.Setup
	groups := float64(a.GPUs) / float64(orOne(s.Tensor)*orOne(s.Context)*orOne(s.Stages))
	return answer.Time.Seconds() * float64(a.GPUs) / (float64(orOne(s.Batch)*s.Seq*orOne(s.Accumulate)) * groups)
}

// fits appends the changes of a level that fit to found, up to mostFixes, and returns the changes that do not fit.
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

// alike reports whether two lists of names of knobs have a name in common, not counting numbers in names.
func alike(names, others []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(others, func(other string) bool { return numberless(name) == numberless(other) })
	})
}

func numberless(name string) string {
	return strings.Join(strings.FieldsFunc(name, unicode.IsDigit), "")
}
