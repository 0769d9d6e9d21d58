package state

import (
	"slices"

	"memtide/wasm/proto"
	"memtide/web/question"
)

// Answers are those to a question that was asked, by a person or, once nothing else was
// to be done, by the page itself (see followIdle).
type Answers struct {
	question.Answers
	ID       int // of the request at work, 0 if none is
	Question *question.Question
	Done     int
	Total    int // 0 if unknown
	Stopped  bool
	Failed   string

	Idle bool // it was not asked for: it is answered because nothing else is to be done

	prior int // answers that were known before it was asked
	key   string
	found string // see State.foundKey, as it was asked
}

// Complete reports whether all answers have been given.
func (a *Answers) Complete() bool { return a.ID == 0 && !a.Stopped && a.Failed == "" }

// cancel stops the request of the question, if it is at work.
func (a *Answers) cancel() []Effect { return cancel(&a.ID) }

// questions is the part of the state about questions.
type questions struct {
	answers  []*Answers       // about the present choice, at most one of a question
	complete recent[*Answers] // complete ones, by their key

	results recent[map[string]proto.Answer] // of strategies with their defaults, by State.foundKey
}

// Answers returns those to a question about the present choice, or nil if it was not asked.
func (p *questions) Answers(q *question.Question) *Answers {
	for _, a := range p.answers {
		if a.Question == q {
			return a
		}
	}
	return nil
}

// Working reports whether a question is being answered.
func (p *questions) Working() bool {
	return slices.ContainsFunc(p.answers, func(a *Answers) bool { return a.ID != 0 })
}

// answering returns the question that waits for answers under an ID, nil if none does:
// answers to older questions are dropped.
func (p *questions) answering(id int) *Answers {
	for _, a := range p.answers {
		if a.ID != 0 && a.ID == id {
			return a
		}
	}
	return nil
}

// forget drops answers, and cancels their request if it is at work.
func (p *questions) forget(a *Answers) (out []Effect) {
	if i := slices.Index(p.answers, a); i >= 0 {
		out, p.answers = a.cancel(), slices.Delete(p.answers, i, i+1)
	}
	return out
}

// drop forgets and stops them all.
func (p *questions) drop() (out []Effect) {
	for _, a := range p.answers {
		out = append(out, a.cancel()...)
	}
	p.answers = nil
	return out
}

// note keeps what an answer found, if it is about another strategy and nothing else.
func (p *questions) note(a *Answers, x proto.Answer) {
	if a.found == "" || a.Question.Name != HelpName || x.Device != nil || x.Strategy == a.Strategy {
		return
	}
	all, _ := p.results.get(a.found)
	if all == nil {
		all = map[string]proto.Answer{}
	}
	all[x.Strategy] = x
	p.results.put(a.found, all)
}

// HelpName is the name of the question what would help.
const HelpName = "help"
