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
	calls    uint
	next     time.Time
	err      error
}

// ReportEvery is the least time between two reports of progress.
const ReportEvery = 50 * time.Millisecond

// NewPoll watches ctx. report may be nil; it is called at most once per
// ReportEvery, from the solver's goroutine.
func NewPoll(ctx context.Context, report func(Progress)) *Poll {
	p := &Poll{ctx: ctx, report: report}
	p.deadline, _ = ctx.Deadline()
	return p
}

// Err returns nil until the context is done, and then its error for ever. It
// is cheap: the clock is read on one call of 256.
func (p *Poll) Err() error {
	if p == nil || p.err != nil {
		if p == nil {
			return nil
		}
		return p.err
	}
	p.calls++
	if p.calls&0xff != 1 {
		return nil
	}
	// The context's own timer never fires in a busy WebAssembly module, so the
	// deadline is compared by hand; Gosched lets a native cancel through.
	runtime.Gosched()
	if err := p.ctx.Err(); err != nil {
		p.err = err
	} else if !p.deadline.IsZero() && !time.Now().Before(p.deadline) {
		p.err = context.DeadlineExceeded
	}
	return p.err
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
