// Command memtide answers on the command line the questions that the page answers in the browser, with the same
// code: how a training step fits into a memory budget, and what that costs. memtide help says what it can do, and
// docs/command-line.md how it reads, writes and exits.
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

// action runs a command with its arguments. It runs within cli.Try, which ends it at the first error.
type action func(ctx context.Context, e *env, args []string)

// command is one of the subcommands.
type command struct {
	name string
	// flags defines the command's flags and returns the action that runs after parsing, with the remaining arguments.
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
