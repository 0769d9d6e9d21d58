package llm

import (
	"cmp"
	"memtide/engine"
	"memtide/profiles"
)

// Plan is the answer to a question with what would change it. Done counts its stages, in
// the order of the fields: what belongs to later ones is not known yet.
type Plan struct {
	Ask     Ask
	Answer  *Answer
	Fixes   []Change // that make it fit; none are looked for if it does
	Changes []Change // single ones that help, see useful

	Orders []Order // of a pipeline, see Ask.Orders

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
	p := &Plan{Ask: a}
	a = a.Until(poll)
	a.known = map[string]*Answer{}
	one := a // in one order of passes, if the fastest is asked for: knobs are turned with the one that was found
	var single []Change
	stages := [PlanStages]func() error{
		func() (err error) {
			if p.Answer, err = a.Answer(); err == nil && a.Setup.Schedule == ScheduleAuto {
				one.order = p.Answer.Ranks.Schedule.Name
			}
			return err
		},
		func() (err error) {
			if single, err = one.turn(poll); err == nil && p.Answer.Verdict != Fits {
				p.Fixes, err = Fixes(single, poll)
			}
			return err
		},
		func() error {
			single = a.useful(p.Answer, single) // by what no allocator does without
			err := settleAll(single, poll)
			p.Changes = a.useful(p.Answer, single)
			return err
		},
		func() (err error) {
			if p.Orders, err = a.Orders(poll); err != nil {
				return err
			}
			if a.Setup.Schedule == ScheduleAuto { // the one that holds least decides what fits
				one.order = leastOrder(p.Orders)
			}
			p.Longest, err = one.Longest(poll)
			return err
		},
		func() (err error) {
			if p.Batch, err = one.Batch(poll); err == nil {
				p.Fewest, err = a.Fewest(poll)
			}
			return err
		},
		func() (err error) {
			if a.Setup.Model.Latents == nil { // published runs are of language models
				p.Nearest, err = a.Nearest()
			}
			if err == nil {
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
	for _, stage := range stages[:cmp.Or(a.Parts, PlanStages)] {
		_, err := profiles.Try(func() *Plan {
			profiles.End(stage())
			profiles.End(poll.Err()) // which may have ended an answer that was then left out
			return p
		})
		if err != nil {
			return p, err
		}
		p.Done++
		tell(p)
	}
	return p, nil
}

// Rate returns how many tokens a card sees in a second, or 0 if no time is known.
func (p *Plan) Rate() float64 {
	s := p.Ask.Setup
	if p.Answer.Time <= 0 {
		return 0
	}
	ranks := float64(orOne(s.Tensor) * orOne(s.Context) * orOne(s.Stages))
	return float64(s.Batch*s.Seq*orOne(s.Accumulate)) / ranks / p.Answer.Time.Seconds()
}
