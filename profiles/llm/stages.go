package llm

import (
	"cmp"
	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/llm/ask"
)

// Answer is the answer to a question, with what would change it. Done is the number of its stages that are
// complete. Fields are in the order of stages; fields of later stages are not set yet.
type Answer struct {
	Ask      Ask
	Estimate *Estimate
	Fixes    []Change // changes that make it fit; nil if it fits
	Changes  []Change // single changes that help, see Ask.useful

	Orders []Order // orders of a pipeline, see Ask.orders

	Longest int64 // tokens of a sequence, see Ask.longest
	Batch   int64 // largest number of sequences of a micro batch
	Fewest  int64 // smallest number of cards, see Ask.fewestCards

	Policies []Change  // what strategies find, and then the policies of Ask.policed
	Nearest  *Compared // the published run that differs least

	Done int
}

// PlanStages is the value of Answer.Done when the answer is complete.
const PlanStages = 7

// Plan answers the question. It calls tell after each stage; tell must not keep the answer, which Plan changes
// until it returns. If poll has an error, Plan returns it with the stages that are complete.
func (a Ask) Plan(poll *engine.Poll, tell func(*Answer)) (*Answer, error) {
	p := &Answer{Ask: a}
	a = a.Until(poll)
	a.known = map[string]*Estimate{}
	one := a // with the order that was found, if the fastest order is wanted, for changes of the question
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
			single = a.useful(p.Estimate, single) // by lower bounds of reserved memory
			for i := range single {
				single[i].settle(engine.NoLimit)
			}
			p.Changes = a.useful(p.Estimate, single)
		},
		func() {
			if p.Orders = a.orders(); a.Setup.Schedule == ScheduleAuto { // the least one decides what fits
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
		func() { p.Policies = append(a.optima(p.Estimate), p.Policies...) },
	}
	for _, stage := range stages[:cmp.Or(a.Parts, PlanStages)] {
		_, err := profiles.Try(func() *Answer {
			stage()
			profiles.End(poll.Err()) // the stage may have left out an answer that poll ended
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

// Trained returns the unit and the number of what a step trains with on all cards.
func (p *Answer) Trained() (unit string, count int64) {
	s := p.Ask.Setup
	count = s.Batch * orOne(s.Accumulate) * p.Ask.GPUs / (orOne(s.Tensor) * orOne(s.Context) * orOne(s.Stages))
	if unit = ask.Unit(p.Ask.Args); unit == "tokens" {
		count *= s.Seq
	}
	return unit, count
}
