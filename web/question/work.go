package question

import (
	"context"
	"time"

	"memtide/engine"
	"memtide/engine/whatif"
	"memtide/wasm/proto"
)

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
