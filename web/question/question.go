// Package question answers the question what would help a step: more memory, a faster link, another strategy, other
// options of a language model. It takes several schedules to answer.
//
// An answer holds the network, strategy, budget and link that it was solved for, so that a click can choose exactly
// these.
package question

import (
	"context"
	"time"

	"memtide/engine"
	"memtide/engine/whatif"
	"memtide/wasm/proto"
)

// Answers are the answers to the question so far.
type Answers struct {
	List     []proto.Suggestion // in the order in which they came
	Strategy string             // the chosen strategy
	Base     time.Duration      // step time of the chosen schedule; 0 if there is no schedule
	KeepAll  time.Duration      // step time of keeping everything; 0 if it is not known
}

// Limit is the time limit of each schedule on the page. The best schedule until then counts.
const Limit = 1500 * time.Millisecond

// Work is a question that is being answered.
type Work struct {
	Problem *engine.Problem // with device and budget; not changed
	Method  whatif.Method   // the chosen method
	Methods []whatif.Method // other methods to try, see Methods
	Preset  string          // reference of the preset that the network is built from; empty for a file
	Limit   time.Duration   // of each schedule; 0 means no limit
	Model   string          // text of the config.json that the network is read from; empty for others
	Options engine.Args     // of its step, see package ask

	// Emit is called with each answer. err says why the answer has no schedule, or only the best so far.
	Emit func(a *proto.Suggestion, err error)

	Given, Total int // answers so far, and the number of all answers

	by string // the end of the names of changes that are tried with another method than the chosen one
}

// measure solves p with m within the time limit and writes the result into a.
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

// emit emits the answer a, unless ctx was cancelled before there was a schedule. It reports whether to go on, which is
// false once ctx is cancelled.
func (w *Work) emit(ctx context.Context, a proto.Suggestion, err error) bool {
	if ctx.Err() != nil && a.StepTime <= 0 {
		return false
	}
	w.Given++
	a.Done, a.Total = w.Given, w.Total
	w.Emit(&a, err)
	return ctx.Err() == nil
}
