package state

import (
	"memtide/wasm/proto"
	"memtide/web/draw"
)

// training is the part of the state about training steps.
type training struct {
	Step  *Step                  // nil: a network or a memory file is open
	steps recent[*proto.Stepped] // whole answers
}

// Step is the whole training step of a language model that is open instead of a network;
// Choice.Step and Choice.StepArgs say which.
type Step struct {
	Shown  *proto.Stepped // nil until there is an answer; of the step before while another one is looked for
	Failed string         // why there is no answer to the choice, for people
	Ended  Ended          // why less is known than could be

	rank int // of a pipeline that the pictures show, from 1 on; 0: the fullest

	passes *draw.Passes   // of drawn
	drawn  *proto.Stepped // see State.Passes

	id    int    // of the request under way; 0: none
	chain int    // of the request for the chain
	of    string // StepKey of what Shown answers
}

// Ended says what ended an answer before all of it was known.
type Ended uint8

// The ends of an answer: it is not ended, a person stopped it, or it reached the limit of what starts by itself.
const (
	NotEnded Ended = iota
	ByPerson
	ByLimit
)

// Busy reports whether an answer, or more of it, is on its way.
func (t *Step) Busy() bool { return t != nil && t.id != 0 }

// Chaining reports whether the step is being made a chain.
func (t *Step) Chaining() bool { return t != nil && t.chain != 0 }

// Rank returns the rank of a pipeline that the pictures show; -1 without a pipeline.
func (t *Step) Rank() int {
	switch r := t.Shown; {
	case r == nil || len(r.Ranks) == 0:
		return -1
	case t.rank == 0 || t.rank > len(r.Ranks):
		return r.Full
	}
	return t.rank - 1
}

// cancel gives up what is under way.
func (t *Step) cancel() []Effect { return append(cancel(&t.id), cancel(&t.chain)...) }

// frameworks is the part of the state about the policies of frameworks on the step of the language
// model that is open.
type frameworks struct {
	policies *proto.Stepped         // of the present case; nil if they are not known
	policed  recent[*proto.Stepped] // by policiesKey; one without policies: there is no answer
	asking   int                    // of the request under way; 0: none
	about    string                 // policiesKey of the request, or of what is known
}
