package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/engine/play"
	"memtide/profiles/llm"
	"memtide/profiles/llm/family"
	"memtide/web/format"
)

var diffCommand = &command{
	name: "diff",
	flags: func(fs *flag.FlagSet) action {
		o := diffOptions{optimizer: "adamw", most: engine.NoLimit}
		fs.StringVar(&o.card, "card", "", "`NAME` of a card: also say what a whole step takes on it")
		fs.Func("optimizer", "`adamw|momentum|sgd` of that step (default adamw)",
			oneOf(&o.optimizer, "adamw", "momentum", "sgd"))
		parsed(fs, "most", "`SIZE` by which the peak may grow", &o.most, format.ParseBytes)
		fs.BoolVar(&o.asJSON, "json", false, "write the answer as JSON")
		return func(ctx context.Context, e *env, args []string) { o.run(ctx, e, args) }
	},
}

type diffOptions struct {
	card, optimizer string
	most            engine.Bytes
	asJSON          bool
}

// diffReport is the output of diff -json. Pairs are before and after.
type diffReport struct {
	Schema   string          `json:"schema"`
	Peaks    [2]engine.Bytes `json:"peak_bytes"`
	TimesNS  [2]int64        `json:"time_ns"`
	Modules  []diffModule    `json:"modules"` // the largest difference first
	Estimate [2]*estimate    `json:"estimate,omitzero"`
}

// diffModule is the bytes that the operators of a module hold at the two peaks.
type diffModule struct {
	Name  string          `json:"name"`
	Bytes [2]engine.Bytes `json:"bytes"`
}

func (m *diffModule) delta() engine.Bytes { return m.Bytes[1] - m.Bytes[0] }

func (o *diffOptions) run(ctx context.Context, e *env, args []string) {
	if len(args) != 2 {
		fail("diff takes two files of kind operators, before and after; got %d", len(args))
	}
	r := &diffReport{Schema: "memtide-diff/1"}
	held := map[string]*diffModule{}
	poll := engine.NewPoll(ctx, nil)
	for i, file := range args {
		_, trace := operatorsOf(file, contents(ctx, e, file), poll)
		player := play.NewPlayer(trace)
		whole := player.Play(nil)
		r.Peaks[i], r.TimesNS[i] = whole.Peak, int64(whole.Time)
		for _, h := range player.Holders(nil) {
			name := holderName(&h)
			held[name] = cmp.Or(held[name], &diffModule{Name: name})
			held[name].Bytes[i] += h.Bytes
		}
		if o.card != "" {
			r.Estimate[i] = newEstimate(newSteps(file, trace, o.optimizer, nil), cardOf(o.card), poll)
		}
	}
	for _, m := range held {
		if m.delta() != 0 {
			r.Modules = append(r.Modules, *m)
		}
	}
	slices.SortFunc(r.Modules, func(a, b diffModule) int {
		return cmp.Or(cmp.Compare(max(b.delta(), -b.delta()), max(a.delta(), -a.delta())), cmp.Compare(a.Name, b.Name))
	})
	e.tell(o.asJSON, func() any { return r }, func() string { return r.text(o.card) })
	if more := r.Peaks[1] - r.Peaks[0]; more > o.most {
		cli.Fail("the peak has grown by %s, more than %s", format.Bytes(more), format.Bytes(o.most))
	}
}

// text returns the report for people: the change and the modules with most of it.
func (r *diffReport) text(on string) string {
	var b strings.Builder
	if change := r.Peaks[1] - r.Peaks[0]; change == 0 && len(r.Modules) == 0 {
		fmt.Fprintf(&b, "peak unchanged, %s\n", format.Bytes(r.Peaks[0]))
	} else {
		fmt.Fprintf(&b, "peak %s, from %s to %s\n", format.BytesChange(change), format.Bytes(r.Peaks[0]),
			format.Bytes(r.Peaks[1]))
	}
	for _, m := range r.Modules[:min(len(r.Modules), 2*mostHolders)] {
		fmt.Fprintf(&b, "  %s\t%s\n", format.BytesChange(m.delta()), m.Name)
	}
	if before := max(r.TimesNS[0], 1); r.TimesNS[0] != r.TimesNS[1] {
		fmt.Fprintf(&b, "time of the operators %s, by the times of the files\n",
			format.Percent(float64(r.TimesNS[1]-r.TimesNS[0])/float64(before)))
	}
	if on != "" {
		c := cardOf(on)
		for i, when := range []string{"before", "after"} {
			fmt.Fprintf(&b, "%s: %s", when, r.Estimate[i].text(c))
		}
	}
	return b.String()
}

var scoreCommand = &command{
	name: "score",
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

// score predicts the rows of a file and writes the report.
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

// scoreTable returns the report for people: the rows, the refused ones, and the summary.
func scoreTable(r *llm.ScoreReport) string {
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

// amount returns a number of a row in the unit of the measurement.
func amount(s llm.Scored, x float64) string {
	switch {
	case s.Set == "time":
		return fmt.Sprintf("%.3g s", x)
	case s.Kind == "formula_relative":
		return fmt.Sprintf("%.2f %%", x)
	}
	return format.Bytes(engine.Bytes(engine.Int64(x)))
}
