package engine

import (
	"context"
	"runtime"
	"time"
)

// Progress is what a solver says while it works.
type Progress struct {
	Done, Total int       // in units of the solver's own; Total 0 if unknown
	Best        *Solution // best so far, nil if there is none or it has not changed
}

// Poll is how a solver notices that it should stop and how it tells how far it
// is. Solvers call Err in every loop that can be long. A nil *Poll never stops.
type Poll struct {
	ctx      context.Context
	deadline time.Time
	report   func(Progress)
	breathe  func()
	quiet    int // calls that are answered without a look at anything
	counted  bool
	calls    int // if counted: that are left when those are over
	next     time.Time
	err      error

	budgets int           // that the time until the deadline is for; 0: it is not split
	share   time.Duration // of each, once the first has begun
}

// ReportEvery is the least time between two reports of progress.
const ReportEvery = 50 * time.Millisecond

// Breath is the key of a func() in a context that is called now and then while a
// solver works, from its goroutine: where there is one thread for everything, it
// lets the rest live.
type Breath struct{}

// callLimit is the key of LimitCalls.
type callLimit struct{}

// LimitCalls returns a context in which every poll says that time is over after n
// calls of Err, whatever the time is: a limit that stops a solver at the same
// place on every machine. Limits of time hold besides.
func LimitCalls(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, callLimit{}, n)
}

// NewPoll watches ctx. report may be nil; it is called at most once per
// ReportEvery, from the solver's goroutine.
func NewPoll(ctx context.Context, report func(Progress)) *Poll {
	p := &Poll{ctx: ctx, report: report}
	p.deadline, _ = ctx.Deadline()
	p.breathe, _ = ctx.Value(Breath{}).(func())
	p.calls, p.counted = ctx.Value(callLimit{}).(int)
	return p
}

// Err returns nil until the context is done, and then its error for ever. It
// is cheap: the clock is read on one call of 256.
func (p *Poll) Err() error {
	if p == nil {
		return nil
	}
	if p.quiet > 0 {
		p.quiet--
		return nil
	}
	return p.look()
}

// look answers a call of Err by what it watches, and says for how many calls that
// is the answer.
func (p *Poll) look() error {
	if p.err != nil {
		return p.err
	}
	// The context's own timer never fires in a busy WebAssembly module, so the
	// deadline is compared by hand; Gosched lets a native cancel through.
	runtime.Gosched()
	if p.breathe != nil {
		p.breathe()
	}
	switch err := p.ctx.Err(); {
	case err != nil:
		p.err = err
	case p.counted && p.calls <= 0, !p.deadline.IsZero() && !time.Now().Before(p.deadline):
		p.err = context.DeadlineExceeded
	default:
		p.quiet = 255
		if p.counted {
			p.quiet = min(p.quiet, p.calls-1)
			p.calls -= p.quiet + 1
		}
	}
	return p.err
}

// Split says that the time until the deadline is for so many budgets of a sweep.
// What the sweep does before it calls Next is at the cost of all of them.
func (p *Poll) Split(budgets int) {
	if p != nil && !p.deadline.IsZero() {
		p.budgets = max(budgets, 1)
	}
}

// Next begins a budget of a sweep. It has an equal share of the time, and what
// those before it have left of theirs: one that takes long is stopped alone, and
// takes nothing from those after it. A sweep calls it before every budget.
func (p *Poll) Next() {
	if p == nil || p.budgets == 0 {
		return
	}
	if p.share == 0 {
		now := time.Now()
		p.share = max(p.deadline.Sub(now)/time.Duration(p.budgets), 1)
		p.deadline = now
	}
	p.deadline = p.deadline.Add(p.share)
	p.calls, p.quiet = p.calls+p.quiet, 0 // the next question is answered by the clock
	if p.err == context.DeadlineExceeded {
		p.err = nil
	}
}

// Report passes progress on, unless the last report was a moment ago.
func (p *Poll) Report(pr Progress) {
	if p == nil || p.report == nil {
		return
	}
	if now := time.Now(); !now.Before(p.next) {
		p.next = now.Add(ReportEvery)
		p.report(pr)
	}
}
