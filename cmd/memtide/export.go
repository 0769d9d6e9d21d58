//go:build !js

package main

import (
	"context"
	"flag"
	"fmt"

	"memtide/cmd/cli"
	"memtide/engine/export"
)

var exportCommand = &command{
	name:    "export",
	args:    "[flags] FILE | -preset NAME | -from LINK",
	summary: "write a schedule as JSON, or as a trace for Perfetto",
	doc: `Solves as solve does and writes the schedule down, as a documented list of steps
(docs/run-a-schedule.md). Only verified schedules are written. What PyTorch runs on
a model is a plan: see memtide help torch.`,
	examples: []string{
		"memtide export -preset vgg16-b32 -budget 90%",
		"memtide export -budget 900MiB -strategy rotor -o schedule.json net.csv",
		"memtide export -format trace -preset resnet101-b32 -budget 60% -o trace.json",
	},
	flags: about(asked{}, func(fs *flag.FlagSet, _ *asked) doing {
		var file string
		kind := "json"
		fs.Func("format", "`json|trace` what to write: the schedule, or what happens when it is played, for Chrome's and Perfetto's trace viewers (default json)", func(text string) error {
			if kind = text; text == "json" || text == "trace" {
				return nil
			}
			return fmt.Errorf("%s is not written; expected json or trace. What PyTorch runs is a plan: memtide help torch", cli.Printable(text))
		})
		fs.StringVar(&file, "o", "", "`FILE` write to it instead of the standard output")
		return func(ctx context.Context, e *env, in *input) { exportPlan(ctx, e, in, kind, file) }
	}),
}

func exportPlan(ctx context.Context, e *env, in *input, kind, file string) {
	solved, stopped := findSchedule(ctx, e, in, 0)
	switch {
	case solved == nil:
		tellFailure(ctx, e, in, solveOptions{}, stopped)
	case !solved.Verdict.Verified:
		cli.Fail("the schedule is not verified, so it is not written: %s", solved.Verdict.Problem)
	}
	if kind == "trace" {
		e.write(file, cli.Must(export.ChromeTrace(in.problem(solved.Budget), solved.Trace)))
		cli.Check(stopped)
		return
	}
	plan := &export.File{Name: in.profile.Name, Strategy: in.method().Strategy, Args: in.method().Args,
		Problem: in.problem(solved.Budget), Schedule: solved.Schedule}
	e.write(file, cli.Must(plan.JSON()))
	cli.Check(stopped)
}
