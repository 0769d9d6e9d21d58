package llm

import (
	"cmp"
	"memtide/engine"
	"memtide/profiles"
)

// Answer is the answer to a question with what would change it. Done counts its stages, in
// the order of the fields: what belongs to later ones is not known yet.
type Answer struct {
	Ask      Ask
	Estimate *Estimate
	Fixes    []Change // that make it fit; none are looked for if it does
	Changes  []Change // single ones that help, see useful

	Orders []Order // of a pipeline, see Ask.orders

	Longest int64 // tokens of a sequence, see Ask.longest
	Batch   int64 // sequences of a micro batch
	Fewest  int64 // cards

	Policies []Change  // see Ask.policed; what strategies find comes first
	Curves   []Curve   // of those strategies
	Nearest  *Compared // the published run that is nearest

	Done int
}

// PlanStages is Plan.Done of a whole one.
const PlanStages = 7

// Plan answers the question. tell is called whenever more is known, also with the whole;
// the plan is the caller's to read until it returns. After an error of poll it is what was
// found until then.
func (a Ask) Plan(poll *engine.Poll, tell func(*Answer)) (*Answer, error) {
	p := &Answer{Ask: a}
	a = a.Until(poll)
	a.known = map[string]*Estimate{}
	one := a // in one order of passes, if the fastest is asked for: knobs are turned with the one that was found
	var single []Change
	stages := [PlanStages]func(){
		func() {
			if p.Estimate = have(a.Estimate()); a.Setup.Schedule == ScheduleAuto {
				one.order = p.Estimate.Order()
			}
		},
		func() {
			if single = one.turn(); p.Estimate.Verdict != Fits {
				p.Fixes = fixes(single)
			}
		},
		func() {
			single = a.useful(p.Estimate, single) // by what no allocator does without
			for i := range single {
				single[i].settle(engine.NoLimit)
			}
			p.Changes = a.useful(p.Estimate, single)
		},
		func() {
			if p.Orders = a.orders(); a.Setup.Schedule == ScheduleAuto { // the one that holds least decides what fits
				one.order = leastOrder(p.Orders)
			}
			p.Longest = one.longest()
		},
		func() { p.Batch, p.Fewest = one.most("batch", 1, mostSequences), a.fewestCards() },
		func() {
			if a.Setup.Model.Latents == nil { // published runs are of language models
				p.Nearest = have(a.Nearest())
			}
			p.Policies = a.policed()
		},
		func() {
			var found []Change
			found, p.Curves = a.optima(p.Estimate, p.Policies)
			p.Policies = append(found, p.Policies...)
		},
	}
	for _, stage := range stages[:cmp.Or(a.Parts, PlanStages)] {
		_, err := profiles.Try(func() *Answer {
			stage()
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
func (p *Answer) Rate() float64 {
	s := p.Ask.Setup
	if p.Estimate.Time <= 0 {
		return 0
	}
	ranks := float64(orOne(s.Tensor) * orOne(s.Context) * orOne(s.Stages))
	return float64(s.Batch*s.Seq*orOne(s.Accumulate)) / ranks / p.Estimate.Time.Seconds()
}
