package llm

import (
	"cmp"
	"slices"

	"memtide/engine"
)

// Plan is the answer to a question with what would change it. Done counts its stages, in
// the order of the fields: what belongs to later ones is not known yet.
type Plan struct {
	Ask     Ask
	Answer  *Answer
	Fixes   []Change // that make it fit; none are looked for if it does
	Changes []Change // single ones that make a difference, see useful

	Longest int64 // tokens of a sequence, see Ask.Longest
	Batch   int64 // sequences of a micro batch
	Fewest  int64 // cards

	Policies []Change  // see Ask.Policies; what strategies find comes first
	Curves   []Curve   // of those strategies
	Nearest  *Compared // the published run that is nearest

	Done int
}

// PlanStages is Plan.Done of a whole one.
const PlanStages = 7

// Plan answers the question. tell is called whenever more is known, also with the whole;
// the plan is the caller's to read until it returns. After an error of poll it is what was
// found until then.
func (a Ask) Plan(poll *engine.Poll, tell func(*Plan)) (*Plan, error) {
	a = a.Until(poll)
	p := &Plan{Ask: a}
	var single []Change
	stages := [PlanStages]func() error{
		func() (err error) { p.Answer, err = a.Answer(); return err },
		func() (err error) {
			if single, err = a.turn(poll); err == nil && p.Answer.Verdict != Fits {
				p.Fixes, err = Fixes(single, poll)
			}
			return err
		},
		func() error {
			err := settleAll(single, poll)
			p.Changes = useful(p.Answer, a.GPUs, single)
			return err
		},
		func() (err error) { p.Longest, err = a.Longest(poll); return err },
		func() (err error) {
			if p.Batch, err = a.Batch(poll); err == nil {
				p.Fewest, err = a.Fewest(poll)
			}
			return err
		},
		func() (err error) {
			if p.Nearest, err = a.Nearest(); err == nil {
				p.Policies, err = a.Policies(poll)
			}
			return err
		},
		func() error {
			found, curves, err := a.optima(p.Answer, p.Policies, poll)
			p.Policies, p.Curves = append(found, p.Policies...), curves
			return err
		},
	}
	for _, stage := range stages {
		if err := stage(); err != nil {
			return p, err
		}
		p.Done++
		tell(p)
	}
	return p, nil
}

// least is the share of memory or time below which a change makes no difference.
const least = 0.005

// useful are the changes that make a difference, best first: those that make it fit, those
// that need the fewest more cards, and those with the most bytes for the least time. Where bytes
// are what is missing one has to free some; else a shorter step will do.
func useful(a *Answer, gpus int64, all []Change) (out []Change) {
	freed := func(c Change) engine.Bytes { return a.High - c.Answer.High }
	saved := func(c Change) float64 { return float64(a.Time - c.Answer.Time) }
	for _, c := range all {
		if float64(freed(c)) >= least*float64(a.High) || a.Verdict == Fits && saved(c) >= least*float64(a.Time) {
			out = append(out, c)
		}
	}
	worth := func(c Change) (fits, cards int, perTime float64) {
		if a.Verdict != Fits && c.Answer.Verdict == Fits {
			fits = -1
		}
		if c.GPUs > gpus {
			cards = int(c.GPUs)
		}
		if lost := -saved(c); lost > 0 { // per step that is so much longer
			return fits, cards, float64(freed(c)) / (least*float64(a.Time) + lost)
		}
		return fits, cards, float64(freed(c)) / (least * float64(a.Time))
	}
	slices.SortStableFunc(out, func(x, y Change) int {
		f1, c1, w1 := worth(x)
		f2, c2, w2 := worth(y)
		return cmp.Or(cmp.Compare(f1, f2), cmp.Compare(c1, c2), cmp.Compare(w2, w1))
	})
	return out
}

// Rate is how many tokens a card sees in a second; 0 if no time is known.
func (p *Plan) Rate() float64 {
	s := p.Ask.Setup
	if p.Answer.Time <= 0 {
		return 0
	}
	return float64(s.Batch*s.Seq*orOne(s.Accumulate)) / float64(orOne(s.Tensor)*orOne(s.Context)*orOne(s.Stages)) / p.Answer.Time.Seconds()
}
