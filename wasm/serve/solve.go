package serve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/check"
	"memtide/engine/sim"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// task is a request for one schedule whose network is built, whose strategy is found and whose
// budget is in bytes.
type task struct {
	problem  *engine.Problem
	strategy *engine.Strategy
	args     engine.Args
	keepAll  proto.Reference
	ghost    []sim.Point
}

// task resolves a request. Budgets in per cent become bytes here.
func (s *Server) task(set *proto.Setting, m *proto.Method, b choice.Budget) (*task, *proto.Failure) {
	nw, fail := s.network(&set.Network)
	if fail != nil {
		return nil, fail
	}
	strategy := engine.Lookup(m.Strategy)
	if strategy == nil {
		return nil, proto.Fail(proto.BadRequest, "there is no strategy %q", m.Strategy)
	}
	if _, err := strategy.Parse(m.Args); err != nil {
		return nil, proto.Fail(proto.BadRequest, "%v", err)
	}
	p := nw.problem
	p.Device, p.Transfers, p.Budget = set.Device, set.Transfers, b.Of(nw.share())
	if err := p.Validate(); err != nil {
		return nil, proto.Fail(proto.BadRequest, "%v", err)
	}
	return &task{problem: &p, strategy: strategy, args: m.Args, keepAll: nw.keepAll, ghost: nw.ghost}, nil
}

// longSolves is the number of operations from which on solve does not wait for Unseen: such a solve
// takes longer anyway.
const longSolves = 1000

func init() { Register((*Server).solve) }

func (s *Server) solve(ctx context.Context, q *proto.Solve, tell func(*proto.Solving)) (*proto.Solved, *proto.Failure) {
	t, fail := s.task(&q.Setting, &q.Method, q.Budget)
	if fail != nil {
		return nil, fail
	}
	quiet := time.Now() // until then no best so far is played
	if len(t.problem.Graph.Ops) < longSolves {
		quiet = quiet.Add(s.Unseen)
	}
	var best *engine.Solution // the best so far that has not been played
	return t.run(ctx, q.Limit, func(pr engine.Progress) {
		far := &proto.Solving{Progress: proto.Progress{Done: pr.Done, Total: pr.Total}}
		if pr.Best != nil {
			best = pr.Best
		}
		if start := time.Now(); best != nil && !start.Before(quiet) {
			far.Best, best = t.measure(best), nil
			// Playing takes the solver's time; this limits it to about a tenth.
			quiet = time.Now().Add(10 * time.Since(start))
		}
		tell(far)
	})
}

// run solves and measures. With a failure of kind Deadline it may also return the best so far.
func (t *task) run(ctx context.Context, limit time.Duration, report func(engine.Progress)) (*proto.Solved,
	*proto.Failure) {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	return t.conclude(t.strategy.Solve(t.problem, t.args, engine.NewPoll(ctx, report)))
}

// conclude measures what a strategy has returned: sol, err or both.
func (t *task) conclude(sol *engine.Solution, err error) (*proto.Solved, *proto.Failure) {
	if err == nil && sol == nil {
		panic(fmt.Sprintf("strategy %s returned neither a solution nor an error", t.strategy.Name))
	}
	fail := failure(err, t.strategy, t.problem.Budget)
	if sol == nil || fail != nil && fail.Kind != proto.Deadline {
		return nil, fail
	}
	return t.measure(sol), fail
}

// failure returns an error of a strategy, or of the network with another batch, as a failure of the
// kind that fits.
func failure(err error, s *engine.Strategy, budget engine.Bytes) *proto.Failure {
	var tooSmall *engine.InfeasibleError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &tooSmall):
		f := proto.Fail(proto.Infeasible, "%v", err)
		f.Budget, f.Smallest, f.Why = budget, tooSmall.Smallest, tooSmall.Why
		return f
	case errors.Is(err, engine.ErrUnsupported):
		return proto.Fail(proto.Unsupported, "%v", err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return proto.Fail(proto.Deadline, "%s was stopped before it was done", s.Title)
	}
	return failed(err)
}

// failed returns a Crash for an error that no input explains. The request was validated before, so
// this is a defect of the program, like a panic.
func failed(err error) *proto.Failure {
	return proto.Fail(proto.Crash, "The program failed: %v", err)
}

// measure plays a solution and checks its claims.
func (t *task) measure(sol *engine.Solution) *proto.Solved {
	out := &proto.Solved{
		Strategy: t.strategy.Name,
		Budget:   t.problem.Budget,
		Claim: proto.Claim{StepTime: sol.Makespan, Peak: sol.Peak, Optimal: sol.Optimal, Within: sol.OptimalAmong,
			Bound: sol.Bound, Notes: sol.Notes, Stopped: sol.Stopped},
		Bounds:   t.bounds(sol),
		KeepAll:  t.keepAll,
		Ghost:    t.ghost,
		Schedule: sol.Schedule,
	}
	trace, err := sim.Play(t.problem, sol.Schedule)
	if err != nil {
		out.Verdict.Problem = fmt.Sprintf("the schedule cannot be played: %v", err)
		return out
	}
	out.Trace = trace
	if err := check.Trace(t.problem, sol.Schedule, trace); err != nil {
		out.Verdict.Problem = err.Error()
		return out
	}
	switch {
	case sol.Makespan != trace.Makespan:
		out.Verdict.Problem = fmt.Sprintf("the strategy claims a step time of %v; it is %v", sol.Makespan,
			trace.Makespan)
	case sol.Peak != trace.Peak:
		out.Verdict.Problem = fmt.Sprintf("the strategy claims a peak of %d bytes; it is %d bytes", sol.Peak,
			trace.Peak)
	default:
		out.Verdict.Verified = true
	}
	return out
}

// bounds returns the lower bound of the strategy's class, then the bound that the strategy itself
// has proven, if any.
func (t *task) bounds(sol *engine.Solution) []proto.Bound {
	d, name := bound.Of(t.problem, t.strategy.Class)
	out := []proto.Bound{{Name: name, StepTime: d}}
	if sol.Bound > 0 {
		out = append(out, proto.Bound{Name: sol.OptimalAmong, StepTime: sol.Bound})
	}
	return out
}
