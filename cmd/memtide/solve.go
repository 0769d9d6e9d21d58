//go:build !js

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/format"
)

var solveCommand = &command{
	name:    "solve",
	args:    "[flags] FILE | -preset NAME | -from LINK",
	summary: "find one schedule and say whether it fits and what it costs",
	doc: `Finds a schedule for one budget. The table puts what the strategy claims beside
what the simulator measures; it says "checked" only if an independent checker
agrees on both. Whether something faster exists, only the strategy says.`,
	examples: []string{
		"memtide solve -preset resnet101-b32 -budget 60%",
		"memtide solve -budget 900MiB -strategy greedy -bw 6GB/s net.csv",
		"memtide solve -json - < net.csv",
	},
	flags: about(asked{}, func(fs *flag.FlagSet, _ *asked) doing {
		var o solveOptions
		o.define(fs, 0)
		return func(ctx context.Context, e *env, in *input) { solve(ctx, e, in, o) }
	}),
}

// solveOptions are the flags of solve and sweep beside the input.
type solveOptions struct {
	json  bool
	limit time.Duration
}

// define adds the flags; limit is the default of -limit.
func (o *solveOptions) define(fs *flag.FlagSet, limit time.Duration) {
	fs.BoolVar(&o.json, "json", false, "write JSON instead of a table")
	fs.DurationVar(&o.limit, "limit", limit,
		"`TIME` most that each solve may take, such as 30s; 0 is as long as it needs")
}

func solve(ctx context.Context, e *env, in *input, o solveOptions) {
	solved, fail := findSchedule(ctx, e, in, o.limit)
	if solved == nil {
		tellFailure(ctx, e, in, o, fail)
	}
	r := &result{in: in, solved: solved, complete: fail == nil && !solved.Claim.Stopped}
	e.tell(o.json, func() any { return r.json(ctx, o.limit) }, r.table)
	if cli.Check(fail); !solved.Verdict.Verified {
		cli.Fail("the schedule is not verified: %s", solved.Verdict.Problem)
	}
}

// findSchedule solves, with a bar on a terminal. With an error the schedule is
// the best so far, if there was one.
func findSchedule(ctx context.Context, e *env, in *input, limit time.Duration) (*proto.Solved, error) {
	var best *proto.Solved
	b := cli.NewBar(e.stderr)
	defer b.Clear()
	b.Set(0, 0, "Solving with "+in.title())
	q := &proto.Solve{Setting: in.setting(), Method: in.method(), Budget: in.link.Budget, Limit: limit}
	// The server itself rather than serve.Local, which drops what a strategy has
	// found when it is cancelled.
	solved, err := proto.Do(ctx, new(serve.Server).Handle, q, func(p *proto.Solving) {
		if p.Best != nil && p.Best.Trace != nil {
			best = p.Best
		}
		text := "Solving with " + in.title()
		if best != nil {
			text += ", best so far " + format.Duration(best.Trace.Makespan)
		}
		b.Set(p.Done, p.Total, text)
	})
	switch {
	case err == nil:
		return solved, nil
	case proto.FailureOf(err).Kind != proto.Deadline: // the best so far would not answer the question
		return nil, err
	case solved != nil:
		return solved, err
	}
	return best, err
}

// tellFailure ends with why there is no schedule, and with -json also says it to
// programs.
func tellFailure(ctx context.Context, e *env, in *input, o solveOptions, err error) {
	fail, ok := errors.AsType[*proto.Failure](err)
	if !ok {
		cli.Check(err)
	}
	e.tell(o.json, func() any {
		r := &failureReport{Schema: solveSchema, Question: in.question(), Error: failureOf(fail)}
		if fail.Kind == proto.Infeasible {
			r.Help, _ = in.levers(ctx, o.limit, 0)
		}
		return r
	}, func() string { return in.header() + in.findingsText() })
	cli.Check(&toldFailure{in.reason(fail), fail})
}

// toldFailure is a failure in better words.
type toldFailure struct {
	text string
	fail *proto.Failure
}

func (f *toldFailure) Error() string { return f.text }
func (f *toldFailure) Unwrap() error { return f.fail }

// reason returns a failure in words, with the way on.
func (in *input) reason(f *proto.Failure) string {
	switch f.Kind {
	case proto.Infeasible:
		text := fmt.Sprintf("%s finds no schedule in %s (%d bytes)", in.title(), format.Bytes(f.Budget), f.Budget)
		if f.Why != "" {
			text += ": " + f.Why
		}
		text += "."
		if f.Smallest > 0 {
			text += fmt.Sprintf(" The smallest budget that would do is %s: -budget %dB", format.BytesUp(f.Smallest),
				f.Smallest)
		}
		return text
	case proto.Unsupported:
		return fmt.Sprintf("%s cannot be used here: %s", in.title(),
			strings.TrimPrefix(f.Text, engine.ErrUnsupported.Error()+": "))
	case proto.Crash:
		return f.Text + "\n" + f.Detail
	}
	return f.Text
}
