package question

import (
	"context"
	"time"

	"memtide/engine"
	"memtide/engine/whatif"
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

// All returns the questions, in the order in which the page asks them. The list is not to be
// changed.
func All() []*Question { return registry }

// Lookup returns the question of a name, or nil if there is none.
func Lookup(name string) *Question {
	for _, q := range registry {
		if q.Name == name {
			return q
		}
	}
	return nil
}

// Work is a question as a worker has it, with where its answers go.
type Work struct {
	Problem *engine.Problem // device set, budget in bytes; not to be changed
	Method  whatif.Method   // the chosen one
	Methods []whatif.Method // see Question.Methods
	Preset  string          // that the network is built from; empty: it is a file's
	Limit   time.Duration   // see Question.Limit; 0: as long as it needs

	// Emit takes the answers in their order, each with why it has no schedule, if it
	// does not say so itself.
	Emit func(a *proto.Answer, err error)

	Given, Total int // answers so far, and how many there are to be
}

// measure puts what a method makes of a problem into an answer, within the limit.
func (w *Work) measure(ctx context.Context, a *proto.Answer, p *engine.Problem, m whatif.Method) error {
	if w.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.Limit)
		defer cancel()
	}
	a.Strategy, a.Budget = m.Strategy.Name, p.Budget
	r, err := whatif.Measure(p, m, engine.NewPoll(ctx, nil))
	if r == nil {
		return err
	}
	a.StepTime, a.Peak, a.Partial = r.StepTime, r.Peak, err != nil
	return nil
}

// give hands an answer out; false if no more are wanted. What ctx has ended before
// there was a schedule is no answer.
func (w *Work) give(ctx context.Context, a proto.Answer, err error) bool {
	if ctx.Err() != nil && a.StepTime <= 0 {
		return false
	}
	a.Index, a.Done, a.Total = w.Given, w.Given+1, w.Total
	w.Given++
	w.Emit(&a, err)
	return ctx.Err() == nil
}
