//go:build !js

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/profiles/llm"
	"memtide/profiles/llm/family"
	"memtide/web/format"
)

var scoreCommand = &command{
	name:    "score",
	args:    "[flags] FILE",
	summary: "compare the model of language-model steps with published figures",
	doc: `Reads rows of published figures with their configurations (memtide-llm-rows/1),
predicts each from its configuration alone, and tells how far off that is. What
a row has that is not understood, a field, a model, a kind, is a refusal with
its reason. Allocated peaks are compared with allocated ones, reserved with
reserved. How a run's allocator was set up is not in the rows: both its default
and expandable segments are replayed; low and high are the two with a margin with
which nine of ten published figures lie between them, and the point is the middle.
Rows with guessed inputs count only as inside low to high or not. A row names its
model, or a config.json as config_json: its name, beside the rows, or what stands
in it. With schedule, vpp, grad_accum and rank a pipeline is played and that rank
told; opt_on_host is an optimizer in host memory.`,
	examples: []string{"memtide score rows.json", "memtide score -json rows.json"},
	flags: func(fs *flag.FlagSet) action {
		asJSON := fs.Bool("json", false, "write the report as JSON")
		return func(ctx context.Context, e *env, args []string) {
			if len(args) != 1 {
				fail("score takes one file of rows; got %d", len(args))
			}
			score(ctx, e, args[0], *asJSON)
		}
	},
}

// score reads rows, predicts them and writes the report.
func score(ctx context.Context, e *env, name string, asJSON bool) {
	rows, err := llm.ReadRows(contents(ctx, e, name))
	failAt(name, err)
	report, err := llm.Score(rows, func(config json.RawMessage) (*llm.Model, error) {
		var file string
		if json.Unmarshal(config, &file) == nil {
			if !filepath.IsAbs(file) {
				file = filepath.Join(filepath.Dir(name), file)
			}
			if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
				return nil, fmt.Errorf("%s: it is no file that can be read; want a config.json beside the rows", file)
			}
			config = contents(ctx, e, file)
		}
		m, err := family.Read(config)
		if err != nil {
			return nil, err
		}
		return m.Model, nil
	}, engine.NewPoll(ctx, nil))
	e.tell(asJSON, func() any { return report }, func() string { return scoreTable(report) })
	cli.Check(err)
}

// scoreTable returns the report for people: the rows, what was refused, the summary.
func scoreTable(r *llm.Report) string {
	rows := cli.Table(func(w *tabwriter.Writer) {
		fmt.Fprint(w, "row\tkind\tlow\thigh\tpredicted\tmeasured\terror\tphase\n")
		for _, s := range r.Rows {
			if s.Refused == "" {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%+.1f %%\t%s\n", cli.Printable(s.ID), s.Set, amount(s, s.Low),
					amount(s, s.High), amount(s, s.Predicted), amount(s, s.Measured), s.Error, s.Phase)
			}
		}
	})
	refused := cli.Table(func(w *tabwriter.Writer) {
		first := "\nrefused\tkind\twhy\n"
		for _, s := range r.Rows {
			if s.Refused != "" {
				fmt.Fprintf(w, "%s%s\t%s\t%s\n", first, cli.Printable(s.ID), cli.Printable(s.Kind),
					cli.Printable(s.Refused))
				first = ""
			}
		}
	})
	return rows + refused + cli.Table(func(w *tabwriter.Writer) {
		fmt.Fprint(w, "\nsummary\trows\tmedian\t90th\tworst\tinside\n")
		for _, k := range r.Kinds {
			inside := ""
			if k.Inside != nil {
				inside = fmt.Sprintf("%.0f %%", *k.Inside)
			}
			fmt.Fprintf(w, "%s\t%d\t%.1f %%\t%.1f %%\t%.1f %%\t%s\n", k.Kind, k.N, k.Median, k.P90, k.Worst, inside)
		}
	})
}

// amount returns a number of a row in the unit of its measurement.
func amount(s llm.Scored, x float64) string {
	switch {
	case s.Set == "time":
		return fmt.Sprintf("%.3g s", x)
	case s.Kind == "formula_relative":
		return fmt.Sprintf("%.2f %%", x)
	}
	return format.Bytes(engine.Bytes(engine.Int64(x)))
}
