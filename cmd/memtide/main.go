// Command memtide answers on the command line the questions that the page answers in the
// browser, with the same code: how a training step fits into a memory budget, and what that
// costs.
//
//	memtide solve -preset resnet101-b32 -budget 60%
//	memtide solve -budget 900MiB -strategy greedy -bw 6GB/s net.csv
//	memtide solve -json - < net.csv
//	memtide sweep -preset resnet50-b32 -strategy rotor,greedy -budget 30%..90% -points 4
//	memtide batch -preset resnet50 -device v100-sxm2-16gb-nvlink2 -strategy keepall,vdnnpp
//	memtide place -preset resnet101-b32 -budget 60% -alloc optimal
//	memtide doctor snapshot.pickle
//	memtide link -budget 900MiB -strategy rotor net.csv
//	memtide svg -preset vgg16-b32 -budget 90% -theme dark -o vgg16.svg
//	memtide export -budget 900MiB -strategy rotor -o schedule.json net.csv
//	memtide torch -class nested -budget 10GiB -o plan.json operators.json
//	memtide estimate -card rtx-4090 operators.json
//	memtide diff before.json after.json
//	memtide plan -model llama3-8b -gpus 8 -ckpt full
//	memtide pipeline -ranks 4 -micro 8 -schedule zb-h1
//	memtide score rows.json
//	memtide serve -dir dist -addr 127.0.0.1:8080
//	memtide help strategies
//
// # Input
//
// solve, sweep, batch, place, link, svg and export take a network: a FILE of any format that the
// page reads (- is the standard input), -preset, or -from with a permalink, whose other settings
// can be overridden one by one. doctor takes memory snapshots; torch, estimate and diff take
// files of operators; the help of plan, pipeline, score and serve describes their input. Flags
// may come before and after the file.
//
// # Output
//
// Results go to the standard output, everything else to the standard error, so that either can
// be piped. solve and sweep write tables for people, or JSON with -json. Fields of the JSON end
// in their unit (_ns, _bytes, _bytes_per_s). Fields may be added but are never renamed: "schema"
// would change if that promise were broken. A step time and a peak are called checked (in JSON,
// verified) only if an independent checker agreed with the simulator about the schedule, and
// both with the strategy's claim. Only the strategy claims that no schedule is faster.
//
// # Exit status
//
//	0  done
//	1  it cannot be done, was stopped early, or is refuted: a budget that is too
//	   small (the message has the smallest that would do), a strategy that does
//	   not apply, Ctrl-C, a claim that the checker does not confirm
//	2  the command line or the input is wrong
//
// Ctrl-C and SIGTERM stop every command within a second, even while it reads. solve and sweep
// then write what they have found.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"memtide/cmd/cli"
	"memtide/engine"
)

func main() { cli.Main(run) }

// env holds the standard streams of one run.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

// tell writes an answer as JSON or as text.
func (e *env) tell(asJSON bool, answer func() any, text func() string) {
	if asJSON {
		cli.Check(writeJSON(e, answer()))
		return
	}
	cli.Must(fmt.Fprint(e.stdout, text()))
}

// write writes to a file, or to the standard output if file is empty.
func (e *env) write(file string, text []byte) {
	if file != "" {
		cli.Check(os.WriteFile(file, text, 0o644))
		return
	}
	cli.Must(e.stdout.Write(text))
}

// action runs a command with its arguments. It runs within cli.Try, which ends it at the first
// error.
type action func(ctx context.Context, e *env, args []string)

// command is one of the subcommands.
type command struct {
	name string
	// flags defines the command's flags and returns the action that runs after parsing, with the
	// remaining arguments.
	flags func(fs *flag.FlagSet) action

	// The fields below are set from commands.txt.
	args     string // of the usage line
	summary  string // one line
	doc      string // help besides the flags
	examples []string
}

// commands lists the commands in the order of the help text.
var commands = []*command{solveCommand, sweepCommand, batchCommand, placeCommand, doctorCommand, linkCommand,
	svgCommand, exportCommand, torchCommand, estimateCommand, diffCommand, planCommand, pipelineCommand,
	scoreCommand, serveCommand, versionCommand}

// run runs the program and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	e := &env{stdin, stdout, stderr}
	if len(args) == 0 {
		fmt.Fprint(stderr, overview())
		return cli.Usage
	}
	name := args[0]
	if name == "-version" || name == "--version" {
		name = "version"
	}
	if name == "help" || name == "-h" || name == "-help" || name == "--help" {
		return cli.Finish(stderr, "memtide help", help(e, args[1:]))
	}
	c := lookup(name)
	if c == nil {
		if strings.Contains(name, ":") {
			return cli.Finish(stderr, "memtide",
				cli.Bad("%s would be a factory in Python: python -m memtide %s collects its step", name, name))
		}
		return cli.Finish(stderr, "memtide",
			cli.Bad("there is no command %q; known are %s and help", name, strings.Join(commandNames(), ", ")))
	}
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // cli.Finish writes errors, usage the help
	do := c.flags(fs)
	rest, err := cli.ParseMixed(fs, args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, c.usage())
		return cli.OK
	case err != nil:
		err = cli.Bad("%v; memtide %s -h lists the flags", err, c.name)
	default:
		err = cli.Try(func() { do(ctx, e, rest) })
	}
	return cli.Finish(stderr, "memtide "+c.name, err)
}

func lookup(name string) *command {
	for _, c := range commands {
		if c.name == name {
			return c
		}
	}
	return nil
}

func commandNames() (names []string) {
	for _, c := range commands {
		names = append(names, c.name)
	}
	return names
}

// fail ends an action with an error of the command line or of the input: exit status 2.
func fail(format string, args ...any) { cli.Check(cli.Bad(format, args...)) }

// failAt ends an action with an error about part of the input, if err is not nil.
func failAt(what string, err error) {
	if err != nil {
		fail("%s: %v", what, err)
	}
}

// valid returns given. If err is not nil, it ends the action with an error of the input.
func valid[T any](given T, err error) T {
	if err != nil {
		fail("%v", err)
	}
	return given
}

var versionCommand = &command{
	name: "version",
	flags: func(*flag.FlagSet) action {
		return func(_ context.Context, e *env, args []string) {
			if len(args) > 0 {
				fail("version takes nothing; got %q", args[0])
			}
			cli.Must(fmt.Fprintf(e.stdout, "memtide %s\n", engine.Version))
		}
	},
}
