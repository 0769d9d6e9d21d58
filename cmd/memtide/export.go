//go:build !js

package main

import (
	"context"
	"flag"

	"memtide/cmd/cli"
	"memtide/engine/export"
	"memtide/wasm/proto"
)

func exportCommand() *command {
	return &command{
		name:    "export",
		args:    "[flags] FILE | -preset NAME | -from LINK",
		summary: "write a schedule as JSON, or as a Python file that runs it",
		doc: `Solves as solve does and writes the schedule down. With -format json it is a
documented list of steps (docs/run-a-schedule.md). With -format python it is a
file that does the training step on an nn.Sequential with PyTorch: it recomputes,
offloads and fetches as the schedule says, and checks first that the model and
the device are those that the schedule was made for. Only verified schedules are
written.`,
		examples: []string{
			"memtide export -format python -budget 900MiB -strategy rotor -o schedule.py net.csv",
			"memtide export -format json -preset vgg16-b32 -budget 90%",
		},
		flags: about(asked{}, func(fs *flag.FlagSet, _ *asked) doing {
			o := exportOptions{format: "json"}
			fs.Func("format", "`json|python` what to write (default json)", oneOf(&o.format, "json", "python"))
			fs.StringVar(&o.file, "o", "", "`FILE` write to it instead of the standard output")
			return func(ctx context.Context, e *env, in *input) { exportPlan(ctx, e, in, o) }
		}),
	}
}

// exportOptions are the flags of export beside the input.
type exportOptions struct {
	format string
	file   string
}

func exportPlan(ctx context.Context, e *env, in *input, o exportOptions) {
	solved, stopped := findSchedule(ctx, e, in, 0)
	switch {
	case solved == nil:
		tellFailure(e, in, solveOptions{}, stopped)
	case !solved.Verdict.Verified:
		cli.Fail("the schedule is not verified, so it is not written: %s", solved.Verdict.Problem)
	}
	e.write(o.file, cli.Must(exportText(in, solved, o.format)))
	cli.Check(stopped)
}

func exportText(in *input, solved *proto.Solved, format string) ([]byte, error) {
	plan := &export.Plan{Name: in.profile.Name, Strategy: in.method().Strategy, Args: in.method().Args,
		Problem: in.problem(solved.Budget), Schedule: solved.Schedule}
	if format == "json" {
		return plan.JSON()
	}
	text, err := plan.Python()
	return []byte(text), err
}
