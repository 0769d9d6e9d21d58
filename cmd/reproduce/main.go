//go:build !js

// Command reproduce recomputes the experiments of the papers on the presets, and
// says which of the papers' claims come out and which do not.
//
//	go run ./cmd/reproduce
//	go run ./cmd/reproduce rotor-figs3-5
//	go run ./cmd/reproduce offload-fig2 -preset vgg16-b32
//
// What it writes stands in REPRODUCTIONS.md. The exit status is 2 if the command
// line is wrong, 1 if an experiment fails or is stopped; nothing is written then.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"memtide/cmd/cli"
	"memtide/profiles/preset"
)

func main() { cli.Main(run) }

// run returns the whole program: it returns the exit status.
func run(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("reproduce", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // cli.Finish tells the errors, help the rest
	presets := fs.String("preset", strings.Join(usualPresets(), ","), "`NAMES` presets with commas between them")
	rest, err := cli.ParseMixed(fs, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, help(fs))
		return cli.OK
	case err != nil:
		err = cli.Bad("%v; reproduce -h lists the flags", err)
	default:
		err = reproduce(ctx, stdout, stderr, rest, *presets)
	}
	return cli.Finish(stderr, "reproduce", err)
}

func help(fs *flag.FlagSet) string {
	return cli.Help("reproduce [flags] [NAME]", `Recomputes the experiment behind figures of the papers, with the presets in place
of the networks that the papers measured, and says which of the papers' claims
come out and which do not. Every step time is measured by the simulator and
confirmed by the checker; if one is not, nothing is written. Every run has the
same result, however long it takes. REPRODUCTIONS.md has them with remarks.

Without a NAME, the experiments are listed:
`+strings.TrimRight(experimentList(), "\n"), fs, []string{
		"reproduce rotor-figs3-5",
		"reproduce offload-fig2 -preset vgg16-b32",
		"reproduce",
	})
}

// reproduce does the experiment that args name, or lists them all.
func reproduce(ctx context.Context, stdout, stderr io.Writer, args []string, presets string) error {
	if len(args) == 0 {
		_, err := fmt.Fprintf(stdout, "What can be reproduced; reproduce NAME does it.\n\n%s", experimentList())
		return err
	}
	if len(args) > 1 {
		return cli.Bad("one experiment at a time; got %s", cli.Quoted(args))
	}
	var refs []string
	for ref := range strings.SplitSeq(presets, ",") {
		p, batch, err := preset.Parse(strings.TrimSpace(ref))
		if err != nil {
			return cli.Bad("-preset: %v", err)
		}
		refs = append(refs, preset.Ref(p.ID, batch))
	}
	var names []string
	for _, x := range experiments() {
		if x.name == args[0] {
			return x.run(ctx, stdout, stderr, refs)
		}
		names = append(names, x.name)
	}
	return cli.Bad("there is no experiment %q; known are %s", args[0], strings.Join(names, ", "))
}

// experiments returns what can be reproduced, in the order of the papers.
func experiments() []*experiment {
	return []*experiment{offloadRatio(), offloadOrRecompute(), recomputeThroughput(), combination(), swapLayers(),
		swapBatches()}
}

func experimentList() string {
	return cli.Table(func(w *tabwriter.Writer) {
		for _, x := range experiments() {
			fmt.Fprintf(w, "  %s\t%s\n", x.name, x.title)
		}
	})
}

// papersNetworks are the presets that are networks people train; the others
// make a point.
var papersNetworks = []string{"resnet50", "resnet101", "vgg16", "gpt2-medium"}

func usualPresets() []string {
	var refs []string
	for _, id := range papersNetworks {
		refs = append(refs, preset.Ref(id, preset.Lookup(id).DefaultBatch))
	}
	return refs
}
