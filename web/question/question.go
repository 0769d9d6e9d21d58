// Package question holds what people ask that takes several schedules to answer: what would help. It knows what is
// solved for it, and how a worker finds its answers.
//
// What came of it are Answers. An answer is what was solved, with the network, strategy, budget and link that it was
// solved for. So a click needs nothing from the question: it chooses just that.
package question

import (
	"context"
	"time"

	"memtide/engine"
	"memtide/engine/whatif"
	"memtide/wasm/proto"
)

// Answers are the answers to the question as far as they have come.
type Answers struct {
	List     []proto.Suggestion // in the order they came
	Strategy string             // chosen when it was asked
	Base     time.Duration      // step time of what was chosen; 0 if it has no schedule
	KeepAll  time.Duration      // step time without a limit; 0 if it is not known
}

// Limit is how long the page has a worker look for each schedule: the best until then counts.
const Limit = 1500 * time.Millisecond

// Work is the question as a worker has it, with where its answers go.
type Work struct {
	Problem *engine.Problem // device set, budget in bytes; not to be changed
	Method  whatif.Method   // the chosen one
	Methods []whatif.Method // see Methods
	Preset  string          // that the network is built from; empty: it is a file's
	Limit   time.Duration   // of each schedule; 0: as long as it needs

	// Emit takes the answers in their order, each with why it has no schedule, if it
	// does not say so itself.
	Emit func(a *proto.Suggestion, err error)

	Given, Total int // answers so far, and how many there are to be
}

// measure puts what a method makes of a problem into an answer, within the limit.
func (w *Work) measure(ctx context.Context, a *proto.Suggestion, p *engine.Problem, m whatif.Method) error {
	ctx, cancel := proto.Within(ctx, w.Limit)
	defer cancel()
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
func (w *Work) give(ctx context.Context, a proto.Suggestion, err error) bool {
	if ctx.Err() != nil && a.StepTime <= 0 {
		return false
	}
	w.Given++
	a.Done, a.Total = w.Given, w.Total
	w.Emit(&a, err)
	return ctx.Err() == nil
}
