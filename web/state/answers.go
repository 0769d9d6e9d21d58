package state

import (
	"memtide/wasm/proto"
	"memtide/web/question"
)

// Answers say what would help, asked by a person or, once nothing else was
// to be done, by the page itself (see followIdle).
type Answers struct {
	question.Answers
	ID      int // of the request at work, 0 if none is
	Done    int
	Total   int // 0 if unknown
	Stopped bool
	Failed  string

	Idle bool // it was not asked for: it is answered because nothing else is to be done

	prior int // answers that were known before it was asked
	key   string
	found string // see State.foundKey, as it was asked
}

// Complete reports whether all answers have been given.
func (a *Answers) Complete() bool { return a.ID == 0 && !a.Stopped && a.Failed == "" }

// cancel stops the request of the question, if it is at work.
func (a *Answers) cancel() []Effect { return cancel(&a.ID) }

// questions is the part of the state about what would help.
type questions struct {
	answers  *Answers         // about the present choice; nil: it was not asked
	complete recent[*Answers] // complete ones, by their key

	results recent[map[string]proto.Answer] // of strategies with their defaults, by State.foundKey
}

// Answers returns those about the present choice, or nil if it was not asked.
func (p *questions) Answers() *Answers { return p.answers }

// Working reports whether the question is being answered.
func (p *questions) Working() bool { return p.answers != nil && p.answers.ID != 0 }

// answering returns what waits for answers under an ID, nil if nothing does:
// answers to older questions are dropped.
func (p *questions) answering(id int) *Answers {
	if p.Working() && p.answers.ID == id {
		return p.answers
	}
	return nil
}

// drop forgets the answers, and cancels their request if it is at work.
func (p *questions) drop() (out []Effect) {
	if p.answers != nil {
		out = p.answers.cancel()
	}
	p.answers = nil
	return out
}

// note keeps what an answer found, if it is about another strategy and nothing else.
func (p *questions) note(a *Answers, x proto.Answer) {
	if a.found == "" || x.Device != nil || x.Strategy == a.Strategy {
		return
	}
	all, _ := p.results.get(a.found)
	if all == nil {
		all = map[string]proto.Answer{}
	}
	all[x.Strategy] = x
	p.results.put(a.found, all)
}
