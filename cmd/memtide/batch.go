package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/engine/whatif"
	"memtide/profiles"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/format"
)

var batchCommand = &command{
	name: "batch",
	flags: func(fs *flag.FlagSet) action {
		var c asked
		var o batchOptions
		c.define(fs)
		o.define(fs, sweepLimit)
		c.flag(fs, "m", "`SIZE` device memory that may be used, such as 16GB (default all that the device has)")
		fs.StringVar(&o.strategies, "strategy", "",
			"`NAMES` strategies, with commas between them (default all that apply)")
		fs.StringVar(&o.batches, "batches", "",
			"`LIST` batches with commas between them, solved besides the largest")
		fs.IntVar(&o.most, "most", 4096, "`NUMBER` largest batch to look at")
		return func(ctx context.Context, e *env, args []string) {
			batch(ctx, e, &c, o, args)
		}
	},
}

type batchOptions struct {
	solveOptions
	strategies, batches string
	most                int
}

func batch(ctx context.Context, e *env, c *asked, o batchOptions, args []string) {
	given := c.flags.Args
	c.flags.Args = nil // the strategy of the link need not have them
	asked := c.flags.Budget != (choice.Budget{})
	in := c.read(ctx, e, args)
	methods := in.methods(o.strategies, given)
	if o.strategies == "" { // all that can work here, with keeping everything first
		methods = slices.DeleteFunc(methods, func(m proto.Method) bool {
			return in.graph && !engine.Lookup(m.Strategy).Graphs
		})
		methods = append([]proto.Method{{Strategy: engine.KeepAll}}, methods...)
	}
	g := &grown{in: in, budget: in.batchBudget(asked), methods: methods}
	g.build, g.most, g.model = in.builder(o.most)
	g.batches = batchList(o.batches, g.most)
	g.complete = g.run(ctx, e, o)
	e.tell(o.json, func() any { return g.json() }, g.table)
	g.finish()
}

// batchBudget returns the budget in bytes. Shares are of keeping everything at the batch of the network.
func (in *input) batchBudget(asked bool) engine.Bytes {
	if !asked && in.choice.Roomy() {
		if in.device.Memory <= 0 {
			fail("the memory of %s is not known; give -budget, such as 16GiB", in.device.Name)
		}
		return in.device.Memory
	}
	if in.link.Budget.Bytes == 0 && in.graph {
		fail("-budget: this network is a graph, whose share of keeping everything is not known; give a size")
	}
	return in.link.Budget.Of(in.profile.Totals().KeepAllPeak)
}

// builder returns how the network gets another batch, the largest batch, and the method in a
// word for people. most is the value of -most.
func (in *input) builder(most int) (build whatif.Builder, largest int, model string) {
	if most < 1 {
		fail("-most is %d; expected 1 or more", most)
	}
	if ref := in.network.Preset; ref != "" {
		known, _, err := preset.Parse(ref)
		valid(known, err)
		valid(known, known.Builds())
		return known.Problem, min(most, known.Largest()), "built"
	}
	var err error
	if in.graph {
		build, err = whatif.ScaleGraph(in.profile.Graph, in.profile.Batch)
	} else {
		build, err = whatif.ScaleChain(in.profile.Chain)
	}
	if err != nil {
		err = fmt.Errorf("%v; a profile says it in its field batch", err)
	}
	return valid(build, err), most, "scaled"
}

// batchList parses a list of batches such as "64,128".
func batchList(text string, most int) (list []int) {
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > most {
			fail("-batches: %q; expected whole numbers from 1 to %d with commas between them", profiles.Clip(part), most)
		}
		list = append(list, n)
	}
	return list
}

// grown is a question about batches and its answer.
type grown struct {
	in       *input
	budget   engine.Bytes
	methods  []proto.Method
	build    whatif.Builder
	most     int
	model    string // built or scaled
	batches  []int
	rows     []batchRow // by method; shorter if stopped
	complete bool
}

// batchRow is the answer for one strategy.
type batchRow struct {
	largest *whatif.LargestAnswer
	points  []whatif.BatchPoint // by batch
	err     error               // set if the strategy does not apply
}

// run answers the question for every strategy. It returns false if ctx is cancelled before.
func (g *grown) run(ctx context.Context, e *env, o batchOptions) (complete bool) {
	b := cli.NewBar(e.stderr)
	defer b.Clear()
	for i, m := range g.methods {
		s := engine.Lookup(m.Strategy)
		q := &whatif.BatchQuestion{Build: g.build, Strategy: s, Args: m.Args, Device: g.in.device,
			Transfers: g.in.choice.Transfers, Budget: g.budget, Most: g.most, Limit: o.limit}
		b.Set(i, len(g.methods), s.Name)
		row, err := g.row(ctx, q, func(trains int) {
			b.Set(i, len(g.methods), fmt.Sprintf("%s: batch %d trains", s.Name, trains))
		})
		if cancelled(err) {
			return false
		}
		g.rows = append(g.rows, row)
	}
	return true
}

func (g *grown) row(ctx context.Context, q *whatif.BatchQuestion, report func(trains int)) (row batchRow, err error) {
	if row.largest, err = whatif.LargestBatch(ctx, q, report); err == nil {
		err = whatif.BatchCurve(ctx, q, g.batches, func(p whatif.BatchPoint) { row.points = append(row.points, p) })
	}
	if errors.Is(err, engine.ErrUnsupported) {
		return batchRow{err: err}, nil
	}
	return row, err
}

// finish ends the command with an error if it was stopped, or nothing trains.
func (g *grown) finish() {
	if !g.complete {
		cli.Fail("stopped after %d of %d strategies", len(g.rows), len(g.methods))
	}
	for _, r := range g.rows {
		if r.err == nil && r.largest.Batch > 0 {
			return
		}
	}
	cli.Fail("not even one sample trains in %s", format.Bytes(g.budget))
}

// table returns the answer for people.
func (g *grown) table() string {
	how := "the network is built at each"
	if g.model == "scaled" {
		how = fmt.Sprintf("scaled from batch %d", g.in.profile.Batch)
	}
	text := g.in.header() + fmt.Sprintf("budget %s, batches up to %d, %s\n\n", format.Bytes(g.budget), g.most, how)
	text += cli.Table(func(w *tabwriter.Writer) {
		fmt.Fprint(w, "strategy\tlargest batch\tstep time\tsamples/s\tpeak\tremark\n")
		for i := range g.rows {
			fmt.Fprintf(w, "%s\t%s\n", methodText(g.methods[i]), g.rows[i].cells(g.most))
		}
	})
	if len(g.batches) == 0 {
		return text + g.in.findingsText()
	}
	text += cli.Table(func(w *tabwriter.Writer) {
		fmt.Fprint(w, "\nsamples/s at batch")
		for _, b := range g.batches {
			fmt.Fprintf(w, "\t%d", b)
		}
		fmt.Fprintln(w)
		for i := range g.rows {
			if g.rows[i].err != nil {
				continue
			}
			fmt.Fprint(w, methodText(g.methods[i]))
			for k := range g.rows[i].points {
				fmt.Fprintf(w, "\t%s", cli.Number(g.rows[i].points[k].Throughput()))
			}
			fmt.Fprintln(w)
		}
	})
	return text + g.in.findingsText()
}

// cells returns the columns of a strategy, starting with the batch.
func (r *batchRow) cells(most int) string {
	if r.err != nil {
		return "–\t–\t–\t–\tdoes not apply: " + strings.TrimPrefix(r.err.Error(), engine.ErrUnsupported.Error()+": ")
	}
	a := r.largest
	var remarks []string
	switch {
	case a.Batch == 0 && a.Smallest > 0:
		remarks = append(remarks, "one sample needs "+format.BytesUp(a.Smallest))
	case a.Batch == 0:
		remarks = append(remarks, "one sample does not fit")
	case a.Fails == 0:
		remarks = append(remarks, fmt.Sprintf("no more than %d are looked at", most))
	}
	if a.Gaps {
		remarks = append(remarks, "some smaller batches do not train")
	}
	if len(a.Undecided) > 0 {
		remarks = append(remarks, fmt.Sprintf("no answer in time at %d batches", len(a.Undecided)))
	}
	if a.Partial {
		remarks = append(remarks, "best when the time was over")
	}
	if a.Batch == 0 {
		return "none\t–\t–\t–\t" + strings.Join(remarks, "; ")
	}
	if a.StepTime == 0 {
		return fmt.Sprintf("%d\t–\t–\t–\t%s", a.Batch, strings.Join(remarks, "; "))
	}
	return strings.Join([]string{fmt.Sprint(a.Batch), format.Duration(a.StepTime), cli.Number(a.Throughput()),
		format.Bytes(a.Peak), strings.Join(remarks, "; ")}, "\t")
}

// batchReport is the output of batch -json. Scripts rely on its field names: new ones may be added, but none renamed.
type batchReport struct {
	Schema      string           `json:"schema"`
	Question    questionReport   `json:"question"`
	BudgetBytes engine.Bytes     `json:"budget_bytes"`
	Most        int              `json:"most"`  // the largest batch that is tried
	Model       string           `json:"model"` // built: exact at every batch; scaled: from the batch of the profile
	Complete    bool             `json:"complete"`
	Strategies  []batchRowReport `json:"strategies"`
}

// batchRowReport is the answer for one strategy.
type batchRowReport struct {
	Strategy  string             `json:"strategy"`
	Args      engine.Args        `json:"args,omitempty"`
	Largest   *batchPointReport  `json:"largest"` // null if not even one sample trains, or the strategy does not apply
	Fails     int                `json:"fails,omitempty"`
	Gaps      bool               `json:"gaps"`
	Undecided []int              `json:"undecided"`
	Points    []batchPointReport `json:"points"`
	Problem   string             `json:"problem,omitempty"`
}

// batchPointReport is one batch. Step time and peak are 0 if there is no schedule.
type batchPointReport struct {
	Batch int `json:"batch"`
	proto.Reference
	SamplesPerS   float64      `json:"samples_per_s"`
	SmallestBytes engine.Bytes `json:"smallest_bytes,omitempty"`
	Complete      bool         `json:"complete"`
}

func (g *grown) json() *batchReport {
	out := &batchReport{Schema: "memtide-batch/1", Question: g.in.question(), BudgetBytes: g.budget, Most: g.most,
		Model: g.model, Complete: g.complete, Strategies: []batchRowReport{}}
	for i, r := range g.rows {
		row := batchRowReport{Strategy: g.methods[i].Strategy, Args: g.methods[i].Args, Undecided: []int{},
			Points: []batchPointReport{}}
		if r.err != nil {
			row.Problem = r.err.Error()
		} else {
			row.Fails, row.Gaps, row.Undecided = r.largest.Fails, r.largest.Gaps,
				append(row.Undecided, r.largest.Undecided...)
			if r.largest.Batch > 0 {
				point := pointOf(r.largest.BatchPoint)
				row.Largest = &point
			}
			for _, p := range r.points {
				row.Points = append(row.Points, pointOf(p))
			}
		}
		out.Strategies = append(out.Strategies, row)
	}
	return out
}

func pointOf(p whatif.BatchPoint) batchPointReport {
	return batchPointReport{Batch: p.Batch, Reference: proto.Reference{StepTime: p.StepTime, Peak: p.Peak},
		SamplesPerS: p.Throughput(), SmallestBytes: p.Smallest, Complete: !p.Partial}
}
