package engine

import (
	"context"
	"runtime"
	"time"
)

// Progress is what a solver reports while it works.
type Progress struct {
	Done, Total int       // in units that the solver chooses; Total is 0 if it is not known
	Best        *Solution // best so far; nil if there is none, or if it was reported before
}

// Poll connects a solver with its caller: the solver asks it whether to stop, and reports progress to it. A solver
// calls Err in every loop that can be long, and returns with that error as soon as it is not nil. A Poll belongs to
// one goroutine and one solve or sweep. A nil *Poll never stops the solver and drops reports.
type Poll struct {
	ctx      context.Context
	deadline time.Time
	report   func(Progress)
	yield    func()
	quiet    int       // how many more calls of Err return nil without a look at context and clock
	counted  bool      // whether the number of calls is limited
	calls    int       // if counted: the calls that remain after the quiet ones
	next     time.Time // earlier reports are dropped
	nextBest time.Time // earlier reports with a solution are dropped
	err      error

	budgets int           // of a sweep, which share the time until the deadline; 0: Split was not called
	share   time.Duration // time of each budget; 0 before the first call of Next
}

// ReportEvery is the least time between two reports of one poll of the same kind: with a solution, or without.
const ReportEvery = 50 * time.Millisecond

// Yield is the key of a func() in a context. Every poll of that context calls it on one call of Err in 256, in the
// solver's goroutine. A page that has to solve on its only thread uses it to handle events and to paint while the
// solver works.
type Yield struct{}

// callLimit is the context key of LimitCalls.
type callLimit struct{}

// LimitCalls returns a context in which every poll returns context.DeadlineExceeded after n calls of Err, however
// long they took: it stops a solver at the same place on every machine, for tests. Deadlines hold as well.
func LimitCalls(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, callLimit{}, n)
}

// NewPoll returns the poll of one solve. It stops the solver when ctx is done, at its deadline, or at its limit of
// calls (LimitCalls). report may be nil; it is called in the solver's goroutine, at most once within ReportEvery.
func NewPoll(ctx context.Context, report func(Progress)) *Poll {
	p := &Poll{ctx: ctx, report: report}
	p.deadline, _ = ctx.Deadline()
	p.yield, _ = ctx.Value(Yield{}).(func())
	p.calls, p.counted = ctx.Value(callLimit{}).(int)
	return p
}

// Limited returns a poll for a part of the work: it stops when p does, and after n calls of Err, however long they
// took, so that the part ends at the same place on every machine. It reports nothing.
func (p *Poll) Limited(n int) *Poll {
	if p == nil {
		return NewPoll(LimitCalls(context.Background(), n), nil)
	}
	return &Poll{ctx: p.ctx, deadline: p.deadline, yield: p.yield, calls: n, counted: true}
}

// Err returns nil until the solver has to stop. After that it always returns the context's error, or
// context.DeadlineExceeded at a limit of time or calls, except that Next gives a sweep more time. It is cheap: it
// looks at the context and the clock on one call of 256, so a solver stops up to 255 calls late.
func (p *Poll) Err() error {
	if p == nil {
		return nil
	}
	if p.quiet > 0 {
		p.quiet--
		return nil
	}
	return p.check()
}

// Now is Err without the delay: it looks at the context and the clock at once. It is for solvers that work long
// between two calls. It counts as one call, and costs as much as one in 256 calls of Err.
func (p *Poll) Now() error {
	if p == nil {
		return nil
	}
	p.calls, p.quiet = p.calls+p.quiet, 0
	return p.check()
}

// check computes the result of Err from the context, the clock and the count, and sets quiet, the number of calls
// for which a nil result holds.
func (p *Poll) check() error {
	if p.err != nil {
		return p.err
	}
	// The context's own timer never fires in a busy WebAssembly module, so the deadline is compared by hand;
	// Gosched lets a native cancel through.
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

// Split divides the time until the deadline among the budgets of a sweep. The caller of the sweep calls it, once,
// before the sweep begins. Time that the sweep spends before its first Next reduces all shares equally. Without a
// deadline Split does nothing.
func (p *Poll) Split(budgets int) {
	if p != nil && !p.deadline.IsZero() {
		p.budgets = max(budgets, 1)
	}
}

// Next begins a budget of a sweep; a sweep calls it before every one. The budget may use an equal share of the
// time, and what the budgets before it did not use. If it takes longer, only this budget is stopped: Err returns
// nil again after the next Next, unless the context itself is done.
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

// Report passes pr on to the report function of NewPoll. It drops pr within ReportEvery of the last report of the
// same kind, so that reports without a solution never suppress one with a solution. The function has read pr when
// Report returns; pr.Best is not changed afterwards.
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

// Aside runs work, which solves a different problem than the caller of the solver asked for. Reports made meanwhile
// are passed on without their solutions.
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
