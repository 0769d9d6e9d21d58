package question

import (
	"context"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
)

// Question is one thing to ask. Functions that may be nil say so.
type Question struct {
	Name string // in requests and in data-testids; never changed

	// Limit is how long the page has a worker look for a schedule: the best until then
	// counts.
	Limit time.Duration

	// Methods are what is solved beside the chosen method. Nil: nothing.
	Methods func(Subject) []proto.Method
	// Answer finds the answers and gives them to w one by one. The error says what
	// is wrong with the question as it was asked. It ends soon after ctx does.
	Answer func(ctx context.Context, w *Work) error
}

// Subject is what a question is about: what is chosen now.
type Subject struct {
	Method proto.Method
	Graph  bool               // the network is no chain
	Usable []*engine.Strategy // that apply to the network and the device, but for keeping everything
}

// Answers are the answers to a question as far as they have come.
type Answers struct {
	List     []proto.Answer // in the order they came
	Strategy string         // chosen when it was asked
	Base     time.Duration  // step time of what was chosen; 0 if it has no schedule
	KeepAll  time.Duration  // step time without a limit; 0 if it is not known
}

// solves is the time for one schedule of a question that needs many.
const solves = 1500 * time.Millisecond

var registry []*Question

// register adds a question. It panics if the name is taken.
func register(q *Question) {
	if Lookup(q.Name) != nil {
		panic("question: there are two of the name " + q.Name)
	}
	registry = append(registry, q)
}

// All are the questions, in the order in which the page asks them. The list is not to be
// changed.
func All() []*Question { return registry }

// Lookup is the question of a name; nil if there is none.
func Lookup(name string) *Question {
	for _, q := range registry {
		if q.Name == name {
			return q
		}
	}
	return nil
}
