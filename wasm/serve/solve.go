package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/check"
	"memtide/engine/sim"
	"memtide/engine/whatif"
	"memtide/profiles"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/question"
)

// task is a request for one schedule whose network is built, whose strategy is found and whose budget is in bytes.
type task struct {
	problem  *engine.Problem
	strategy *engine.Strategy
	args     engine.Args
	under    *engine.Chain   // see proto.Solved.Chain
	reserved [2]engine.Bytes // see proto.Solved.Reserved
	host     engine.Bytes    // see profiles.Profile.Host
	keepAll  proto.Reference
	ghost    []sim.Point
}

// task resolves a request. Budgets in per cent become bytes here.
func (s *Server) task(set *proto.Setting, m *proto.Method, b choice.Budget) *task {
	nw := s.network(&set.Network)
	strategy := engine.Lookup(m.Strategy)
	if strategy == nil {
		profiles.End(proto.Fail(proto.BadRequest, "there is no strategy %q", m.Strategy))
	}
	Valid(strategy.Parse(m.Args))
	return &task{problem: nw.on(set, b.Of(nw.keepAll.Peak)), strategy: strategy, args: m.Args, under: nw.under,
		reserved: nw.profile.Reserved, host: nw.profile.Host, keepAll: nw.keepAll, ghost: nw.ghost}
}

// longSolves is the number of operations from which on solve does not wait for Unseen: such a solve
// takes longer anyway.
const longSolves = 1000

func init() { Register((*Server).solve) }

func (s *Server) solve(ctx context.Context, q *proto.Solve, tell func(*proto.Solving)) (*proto.Solved, *proto.Failure) {
	t := s.task(&q.Setting, &q.Method, q.Budget)
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
	ctx, cancel := proto.Within(ctx, limit)
	defer cancel()
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

// failure returns an error of a strategy, or of the network with another batch, as a failure of the kind that fits.
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
	// The request was validated before, so this is a defect of the program, like a panic.
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
		Chain:    t.under,
		Reserved: t.reserved,
		Schedule: sol.Schedule,
	}
	trace, err := sim.Play(t.problem, sol.Schedule)
	if err != nil {
		out.Verdict.Problem = fmt.Sprintf("the schedule cannot be played: %v", err)
		return out
	}
	out.Trace, out.Host = trace, max(t.host, trace.HostPeak)
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

// bounds returns the lower bound of the strategy's class, then the bound that the strategy itself has proven, if any.
func (t *task) bounds(sol *engine.Solution) []proto.Bound {
	d, name := bound.Of(t.problem, t.strategy.Class)
	out := []proto.Bound{{Name: name, StepTime: d}}
	if sol.Bound > 0 {
		out = append(out, proto.Bound{Name: sol.OptimalAmong, StepTime: sol.Bound})
	}
	return out
}

func init() { Register((*Server).sweep) }

// sweep tells every point: method by method, and within a method in an order that the method
// chooses; a point that turns out better later is told again. A point that fails does not end the
// sweep. A bad network or setting fails the sweep as a whole.
func (s *Server) sweep(ctx context.Context, q *proto.Sweep, tell func(*proto.Point)) (*proto.Swept, *proto.Failure) {
	nw := s.network(&q.Setting.Network)
	total := len(q.Methods) * len(q.Budgets)
	done, told := 0, make([]bool, total)
	for m := range q.Methods {
		s.sweepMethod(ctx, q, m, func(p *proto.Point) {
			if at := p.Method*len(q.Budgets) + p.Index; !told[at] {
				told[at] = true
				done++
			}
			p.Done, p.Total = done, total
			tell(p)
		})
		if ctx.Err() != nil {
			return nil, proto.Fail(proto.Deadline, "the sweep was stopped after %d of %d points", done, total)
		}
	}
	return &proto.Swept{KeepAll: nw.keepAll}, nil
}

// sweepMethod answers the points of method m: together if the method shares work between budgets, otherwise one by one.
// A method that does not apply to the problem is asked once and fails at every point.
func (s *Server) sweepMethod(ctx context.Context, q *proto.Sweep, m int, emit func(*proto.Point)) {
	var tasks []*task
	var points []*proto.Point
	for b := range q.Budgets {
		p := &proto.Point{Method: m, Index: b, Strategy: q.Methods[m].Strategy, Budget: q.Budgets[b].Bytes}
		t, err := profiles.Try(func() *task { return s.task(&q.Setting, &q.Methods[m], q.Budgets[b]) })
		if p.Failure = proto.FailureOf(err); err != nil {
			emit(p)
			continue
		}
		p.Budget = t.problem.Budget
		tasks, points = append(tasks, t), append(points, p)
	}
	if len(tasks) > 1 && tasks[0].strategy.Sweeper != nil {
		sweepTogether(ctx, q.Limit, tasks, points, emit)
		return
	}
	var refused *proto.Failure
	for i, t := range tasks {
		if ctx.Err() != nil {
			return
		}
		if refused != nil {
			measured(t, points[i])(nil, refused)
			emit(points[i])
			continue
		}
		start := time.Now()
		measured(t, points[i])(t.run(ctx, q.Limit, nil))
		points[i].Took = time.Since(start)
		if f := points[i].Failure; f != nil && f.Kind == proto.Unsupported {
			refused = f
		}
		emit(points[i])
	}
}

// sweepTogether has the strategy share work between the tasks, which differ only in their budgets.
// The tasks have limit times their number together. Each may use an equal part of what is left, so
// that later ones get what earlier ones did not need.
func sweepTogether(ctx context.Context, limit time.Duration, tasks []*task, points []*proto.Point,
	emit func(*proto.Point)) {
	ctx, cancel := proto.Within(ctx, limit*time.Duration(len(tasks)))
	defer cancel()
	budgets := make([]engine.Bytes, len(tasks))
	for i, t := range tasks {
		budgets[i] = t.problem.Budget
	}
	answered, last := make([]bool, len(tasks)), time.Now()
	first := tasks[0]
	poll := engine.NewPoll(ctx, nil)
	poll.Split(len(tasks))
	first.strategy.Sweep(first.problem, first.args, budgets, poll, func(i int, sol *engine.Solution, err error) {
		answered[i] = true
		measured(tasks[i], points[i])(tasks[i].conclude(sol, err))
		now := time.Now()
		points[i].Took += now.Sub(last)
		last = now
		emit(points[i])
	})
	if i := slices.Index(answered, false); i >= 0 {
		panic(fmt.Sprintf("strategy %s did not answer budget %d of %d", first.strategy.Name, i+1, len(tasks)))
	}
}

// measured returns a function that writes the result of t into out.
func measured(t *task, out *proto.Point) func(*proto.Solved, *proto.Failure) {
	return func(solved *proto.Solved, fail *proto.Failure) {
		out.Failure = fail
		if solved == nil {
			out.Bound, _ = bound.Of(t.problem, t.strategy.Class)
			return
		}
		out.Bound = solved.Bounds[0].StepTime      // that of the class
		if solved.Claim.Within == bound.AnyOrder { // the class allows any order: the strategy's own bound holds for it
			out.Bound = max(out.Bound, solved.Claim.Bound)
		}
		out.Optimal, out.Verdict = solved.Claim.Optimal, solved.Verdict
		if solved.Trace != nil {
			out.StepTime, out.Peak = solved.Trace.Makespan, solved.Trace.Peak
		}
	}
}

func init() { Register((*Server).question) }

// question answers q. It tells each answer as soon as it is found. An answer without a schedule has
// a Failure; a bad request fails the whole question.
func (s *Server) question(ctx context.Context, q *proto.Question, tell func(*proto.Suggestion)) (*proto.Nothing,
	*proto.Failure) {
	t := s.task(&q.Setting, &q.Method, q.Budget)
	w := &question.Work{Problem: t.problem, Method: whatif.Method{Strategy: t.strategy, Args: t.args},
		Preset: q.Network.Preset, Model: q.Model, Options: q.Options, Limit: q.Limit,
		Emit: func(a *proto.Suggestion, err error) {
			if err != nil {
				a.Failure = failure(err, engine.Lookup(a.Strategy), a.Budget)
			}
			tell(a)
		},
	}
	for i := range q.Methods {
		m := s.task(&q.Setting, &q.Methods[i], q.Budget)
		w.Methods = append(w.Methods, whatif.Method{Strategy: m.strategy, Args: m.args})
	}
	err := w.Answer(ctx)
	if errors.Is(err, preset.ErrElsewhere) {
		return nil, proto.Fail(proto.Elsewhere, "%v", err)
	}
	Check(err)
	if ctx.Err() != nil && w.Given < w.Total {
		return nil, proto.Fail(proto.Deadline, "the question was stopped after %d of %d answers", w.Given, w.Total)
	}
	return new(proto.Nothing), nil
}
