package whatif

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/sim"
)

// BatchQuestion is the question how a network trains at different batches, with a strategy on a device.
type BatchQuestion struct {
	Build     Builder
	Strategy  *engine.Strategy
	Args      engine.Args // nil: the defaults
	Device    engine.Device
	Transfers engine.Transfers
	Budget    engine.Bytes
	Most      int           // the largest batch that is tested; 0: MaxBatch
	Limit     time.Duration // for each solve; 0: no limit
}

// MaxBatch is the largest batch that is tried by default.
const MaxBatch = 1 << 16

func (q *BatchQuestion) most() int { return cmp.Or(q.Most, MaxBatch) }

func (q *BatchQuestion) problem(batch int) (*engine.Problem, error) {
	p, err := q.Build(batch)
	if err != nil {
		return nil, err
	}
	p.Device, p.Transfers, p.Budget = q.Device, q.Transfers, q.Budget
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("at batch %d: %w", batch, err)
	}
	return p, nil
}

// solve solves p within the limit. stopped reports that the limit stopped it, and not ctx.
func (q *BatchQuestion) solve(ctx context.Context, p *engine.Problem) (sol *engine.Solution, stopped bool, err error) {
	limited := ctx
	if q.Limit > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, q.Limit)
		defer cancel()
	}
	sol, err = q.Strategy.Solve(p, q.Args, engine.NewPoll(limited, nil))
	if err != nil && ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	return sol, errors.Is(err, context.DeadlineExceeded), err
}

// BatchPoint is the result for one batch.
type BatchPoint struct {
	Batch    int
	StepTime time.Duration // of the schedule as played and checked; 0 if there is no schedule
	Peak     engine.Bytes  // resident memory included
	Smallest engine.Bytes  // the smallest budget that would do; 0 if the batch fits, or it is not known
	Partial  bool          // the limit stopped the strategy: the schedule is the best so far, if there is one
}

// Throughput returns samples per second, or 0 if there is no schedule.
func (p *BatchPoint) Throughput() float64 {
	if p.StepTime <= 0 {
		return 0
	}
	return float64(p.Batch) / p.StepTime.Seconds()
}

// AtBatch solves one batch, plays the schedule and checks it. A batch that does not fit, or has no schedule within
// the limit, is a point without step time. The error says why the strategy does not apply, why the batch cannot be
// built, or what the checker refutes.
func AtBatch(ctx context.Context, q *BatchQuestion, batch int) (BatchPoint, error) {
	at := BatchPoint{Batch: batch}
	p, err := q.problem(batch)
	if err != nil {
		return at, err
	}
	sol, stopped, err := q.solve(ctx, p)
	var least *engine.InfeasibleError
	switch {
	case errors.As(err, &least):
		at.Smallest = least.Smallest
		return at, nil
	case stopped:
		at.Partial = true
		if sol == nil {
			return at, nil
		}
	case err != nil:
		return at, err
	}
	trace, err := sim.Play(p, sol.Schedule)
	if err != nil {
		return at, fmt.Errorf("%s at batch %d: the schedule cannot be played: %w", q.Strategy.Name, batch, err)
	}
	if err := check.Trace(p, sol.Schedule, trace); err != nil {
		return at, fmt.Errorf("%s at batch %d: the schedule is not verified: %w", q.Strategy.Name, batch, err)
	}
	if trace.Makespan != sol.Makespan || trace.Peak != sol.Peak {
		return at, fmt.Errorf("%s at batch %d: the schedule claims %v and a peak of %d bytes, but it takes %v and %d bytes", q.Strategy.Name, batch,
			sol.Makespan, sol.Peak, trace.Makespan, trace.Peak)
	}
	at.StepTime, at.Peak = trace.Makespan, trace.Peak
	return at, nil
}

// BatchCurve calls yield with the result of AtBatch for every batch. It stops at the first error, which is ctx's or
// that of AtBatch.
func BatchCurve(ctx context.Context, q *BatchQuestion, batches []int, yield func(BatchPoint)) error {
	for _, b := range batches {
		if err := ctx.Err(); err != nil {
			return err
		}
		at, err := AtBatch(ctx, q, b)
		if err != nil {
			return err
		}
		yield(at)
	}
	return nil
}
