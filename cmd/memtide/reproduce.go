//go:build !js

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"memtide/profiles/preset"
)

func reproduceCommand() *command {
	return &command{
		name:    "reproduce",
		args:    "[flags] [NAME]",
		summary: "recompute the experiments of the papers on the presets",
		doc: `Recomputes the experiment behind figures of the papers, with the presets in place
of the networks that the papers measured, and says which of the papers' claims
come out and which do not. Every step time is measured by the simulator and
confirmed by the checker; if one is not, nothing is written. Every run has the
same result, however long it takes. REPRODUCTIONS.md has them with remarks.

Without a NAME, the experiments are listed:
` + strings.TrimRight(experimentList(), "\n"),
		examples: []string{
			"memtide reproduce rotor-figs3-5",
			"memtide reproduce offload-fig2 -preset vgg16-b32",
			"memtide reproduce",
		},
		flags: func(fs *flag.FlagSet) func(context.Context, *env, []string) error {
			presets := fs.String("preset", strings.Join(usualPresets(), ","), "`NAMES` presets with commas between them")
			return func(ctx context.Context, e *env, args []string) error {
				return reproduce(ctx, e, args, *presets)
			}
		},
	}
}

// experiment is what a paper did, done again.
type experiment struct {
	name    string
	title   string
	source  string // authors, title, doi or arXiv number, figures and section
	theirs  string // the setting of the paper
	ours    string // what is different here
	measure func(l *lab, refs []string) (*findings, error)
}

// findings are what comes out of an experiment: tables, by network or about all
// of them, and what they say about the paper's claims.
type findings struct {
	sections []string
	claims   []claim
}

// claim is a sentence of a paper and what comes out here.
type claim struct {
	says    string // with its place in the paper
	here    string
	verdict verdict
}

// experiments are what can be reproduced, in the order of the papers.
func experiments() []*experiment {
	return []*experiment{offloadRatio(), offloadOrRecompute(), recomputeThroughput(), combination(), swapLayers(), swapBatches()}
}

func experimentList() string {
	return table(func(w *tabwriter.Writer) {
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

func reproduce(ctx context.Context, e *env, args []string, presets string) error {
	if len(args) == 0 {
		_, err := fmt.Fprintf(e.stdout, "What can be reproduced; memtide reproduce NAME does it.\n\n%s", experimentList())
		return err
	}
	if len(args) > 1 {
		return bad("one experiment at a time; got %s", quoted(args))
	}
	var refs []string
	for ref := range strings.SplitSeq(presets, ",") {
		p, batch, err := preset.Parse(strings.TrimSpace(ref))
		if err != nil {
			return bad("-preset: %v", err)
		}
		refs = append(refs, preset.Ref(p.ID, batch))
	}
	var names []string
	for _, x := range experiments() {
		if x.name == args[0] {
			return x.run(ctx, e, refs)
		}
		names = append(names, x.name)
	}
	return bad("there is no experiment %q; known are %s", args[0], strings.Join(names, ", "))
}

// run does an experiment and writes what comes out.
func (x *experiment) run(ctx context.Context, e *env, refs []string) error {
	l := &lab{ctx: ctx, bar: newBar(e.stderr)}
	found, err := x.measure(l, refs)
	l.bar.clear()
	if errors.Is(err, context.Canceled) {
		return errors.New("stopped; there is no result")
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(e.stdout, x.report(found))
	return err
}

// report is the whole text of an experiment.
func (x *experiment) report(f *findings) string {
	var b strings.Builder
	b.WriteString(x.title + "\n" + wrap(x.source, 0) + "\n")
	b.WriteString(wrap("In the paper: "+x.theirs, 0) + wrap("Here: "+x.ours, 0))
	for _, s := range f.sections {
		b.WriteString("\n" + s)
	}
	b.WriteString("\nClaims of the paper, and what comes out here\n")
	for i, c := range f.claims {
		fmt.Fprintf(&b, "%d. %s%s   It %s.\n", i+1, strings.TrimLeft(wrap(c.says, 3), " "), wrap("Here: "+c.here, 3), c.verdict)
	}
	return b.String()
}

// lineWidth is where lines of a report end; tables are as wide as they are.
const lineWidth = 100

// wrap breaks text into indented lines, but not between a number and its unit.
func wrap(text string, indent int) string {
	var b strings.Builder
	used := 0
	words := strings.Fields(text)
	for i := 0; i < len(words); i++ {
		word := words[i]
		if i+1 < len(words) && isUnit(strings.TrimRight(words[i+1], ".,;:)")) {
			i++
			word += " " + words[i]
		}
		n := utf8.RuneCountInString(word)
		switch {
		case used == 0:
			b.WriteString(strings.Repeat(" ", indent))
			used = indent
		case used+1+n > lineWidth:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			used = indent
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String() + "\n"
}

func isUnit(word string) bool {
	return slices.Contains([]string{"%", "MiB", "GiB", "GB/s"}, word)
}
