package engine

import (
	"context"
	"runtime"
	"time"
)

// Progress is what a solver says while it works.
type Progress struct {
	Done, Total int       // in units of the solver's own; Total is 0 if it is not known
	Best        *Solution // best so far; nil if there is none, or it was reported before
}

// Poll connects a solver with whoever waits for it: the solver asks it whether to
// stop, and tells it how far it is. A solver calls Err in every loop that can be
// long, and returns with that error as soon as it is not nil. A Poll belongs to one goroutine and one solve, or sweep. A nil *Poll never
// stops and tells nobody.
type Poll struct {
	ctx      context.Context
	deadline time.Time
	report   func(Progress)
	yield    func()
	quiet    int       // calls of Err that are still answered nil without looking
	counted  bool      // there is a limit of calls
	calls    int       // if counted: that remain after the quiet ones
	next     time.Time // no report is heard before it
	nextBest time.Time // no report of a solution is
	err      error

	budgets int           // of a sweep that share the time until the deadline; 0: Split was not called
	share   time.Duration // of each; 0 before the first call of Next
}

// ReportEvery is the least time between two reports of one poll of the same kind: with
// a solution, or without.
const ReportEvery = 50 * time.Millisecond

// Yield is the key of a func() in a context. Every poll of that context calls it on
// one call of Err in 256, in the solver's goroutine. A page that has to solve on its
// only thread uses it to handle events and to paint while the solver works.
type Yield struct{}

// callLimit is the key of LimitCalls.
type callLimit struct{}

// LimitCalls returns a context in which every poll returns
// context.DeadlineExceeded after n calls of Err, however long they took: it stops a
// solver at the same place on every machine, for tests. Deadlines hold as well.
func LimitCalls(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, callLimit{}, n)
}

// NewPoll makes the poll of one solve: it stops with ctx, at its deadline, or at its
// limit of calls. report may be nil; it is called in the solver's goroutine, and not
// again within ReportEvery.
func NewPoll(ctx context.Context, report func(Progress)) *Poll {
	p := &Poll{ctx: ctx, report: report}
	p.deadline, _ = ctx.Deadline()
	p.yield, _ = ctx.Value(Yield{}).(func())
	p.calls, p.counted = ctx.Value(callLimit{}).(int)
	return p
}

// Err is nil until the solver has to stop. Then it is the context's error, or
// context.DeadlineExceeded at a limit of time or calls, and stays that, except that
// Next gives a sweep more time. It is cheap: the context and the clock are looked at
// on one call of 256, so a solver stops up to 255 calls late.
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

// Now is Err that looks at once, for those who work long between two calls: it counts as
// one call, and costs what one in 256 of Err does.
func (p *Poll) Now() error {
	if p == nil {
		return nil
	}
	p.calls, p.quiet = p.calls+p.quiet, 0
	return p.look()
}

// look answers a call of Err from the context, the clock and the count, and sets for
// how many calls the answer nil holds.
func (p *Poll) look() error {
	if p.err != nil {
		return p.err
	}
	// The context's own timer never fires in a busy WebAssembly module, so the
	// deadline is compared by hand; Gosched lets a native cancel through.
	runtime.Gosched()
	if p.yield != nil {
		p.yield()
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

// Split divides the time until the deadline among the budgets of a sweep. The caller
// of the sweep calls it, once, before the sweep begins. What the sweep does before
// its first Next takes from all of them. Without a deadline it does nothing.
func (p *Poll) Split(budgets int) {
	if p != nil && !p.deadline.IsZero() {
		p.budgets = max(budgets, 1)
	}
}

// Next begins a budget of a sweep; a sweep calls it before every one. The budget has
// an equal share of the time and what those before it did not use. One that takes
// longer is stopped alone: Err is nil again after the next Next, unless the context
// itself is done.
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
	p.calls, p.quiet = p.calls+p.quiet, 0 // the next call of Err looks at the clock
	if p.err == context.DeadlineExceeded {
		p.err = nil
	}
}

// Report passes progress on, and drops it within ReportEvery of the last one, or of the
// last solution if it has one: mere counting hides no solution. What it is given is
// read before it returns; pr.Best is not changed afterwards.
func (p *Poll) Report(pr Progress) {
	if p == nil || p.report == nil {
		return
	}
	now := time.Now()
	if pr.Best == nil && now.Before(p.next) || pr.Best != nil && now.Before(p.nextBest) {
		return
	}
	p.next = now.Add(ReportEvery)
	if pr.Best != nil {
		p.nextBest = p.next
	}
	p.report(pr)
}

// Aside runs work on another problem than the one whose solution is waited for: what
// it finds is not passed on, how far it is is.
func (p *Poll) Aside(work func()) {
	if p == nil || p.report == nil {
		work()
		return
	}
	report := p.report
	p.report = func(pr Progress) { report(Progress{Done: pr.Done, Total: pr.Total}) }
	defer func() { p.report = report }()
	work()
}
