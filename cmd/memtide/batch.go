//go:build !js

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/engine/whatif"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/format"
)

var batchCommand = &command{
	name:    "batch",
	args:    "[flags] FILE | -preset NAME | -from LINK",
	summary: "find the largest batch that trains, by strategy",
	doc: `Finds the largest batch that each strategy trains within a budget, and how many
samples it trains per second; with -batches also at other batches. Presets are
built at every batch that is looked at. A profile has to state its batch, and is
scaled: activations are proportional to the batch, what stays does not change, a
time is 5 us for the start and the rest proportional.

Every schedule is played and checked. That a larger batch needs more memory is
known of most strategies and assumed of all; batches above the one that does not
train are sampled, and what contradicts the assumption is told.`,
	examples: []string{
		"memtide batch -preset resnet50 -device v100-sxm2-16gb-nvlink2",
		"memtide batch -preset vgg16 -budget 11GiB -strategy keepall,vdnnpp -batches 32,64,128",
		"memtide batch -preset resnet50-b32 -budget 16GB -strategy keepall,greedy -json",
	},
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
	c.flags.Args = nil // they need not belong to the link's strategy
	asked := c.flags.Budget != (choice.Budget{})
	in := c.read(ctx, e, args)
	g := &grown{in: in, complete: true}
	g.budget = in.batchBudget(asked)
	g.methods = in.batchMethods(o.strategies, given)
	g.build, g.most, g.model = in.builder(o.most)
	g.batches = batchList(o.batches, g.most)
	cli.Check(g.run(ctx, e, o))
	e.tell(o.json, func() any { return g.json() }, g.table)
	cli.Check(g.outcome())
}

// batchBudget returns the budget in bytes: shares are of keeping everything at the
// batch that was named.
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

// batchMethods returns the strategies named, or all that can work here, keeping
// everything first.
func (in *input) batchMethods(names string, given engine.Args) []proto.Method {
	methods := in.methods(names, given)
	if names != "" {
		return methods
	}
	methods = slices.DeleteFunc(methods, func(m proto.Method) bool {
		return in.graph && !engine.Lookup(m.Strategy).Graphs
	})
	return append([]proto.Method{{Strategy: engine.KeepAll}}, methods...)
}

// builder says how the network gets other batches, up to which, and by which
// model, for people.
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

// batchList reads "64,128".
func batchList(text string, most int) (list []int) {
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > most {
			fail("-batches: %q; expected whole numbers from 1 to %d with commas between them", clip(part), most)
		}
		list = append(list, n)
	}
	return list
}

// grown is a question about batches and what has come of it.
type grown struct {
	in       *input
	budget   engine.Bytes
	methods  []proto.Method
	build    whatif.Builder
	most     int
	model    string // built or scaled
	batches  []int
	rows     []batchRow // by method, as far as they were reached
	complete bool
}

// batchRow is what a strategy trains.
type batchRow struct {
	largest *whatif.LargestAnswer
	points  []whatif.BatchPoint // by batch
	err     error               // why there is nothing: the strategy does not apply
}

// run asks every strategy. Being stopped is no error: the answer is not complete.
func (g *grown) run(ctx context.Context, e *env, o batchOptions) error {
	b := cli.NewBar(e.stderr)
	defer b.Clear()
	for i, m := range g.methods {
		s := engine.Lookup(m.Strategy)
		if _, err := s.Parse(m.Args); err != nil {
			return bad("%v", err)
		}
		q := &whatif.BatchQuestion{Build: g.build, Strategy: s, Args: m.Args, Device: g.in.device,
			Transfers: g.in.choice.Transfers,
			Budget:    g.budget, Most: g.most, Limit: o.limit}
		b.Set(i, len(g.methods), s.Name)
		row, err := g.row(ctx, q, func(p whatif.BatchProgress) {
			b.Set(i, len(g.methods), fmt.Sprintf("%s: batch %d trains", s.Name, p.Trains))
		})
		if errors.Is(err, context.Canceled) {
			g.complete = false
			return nil
		}
		if err != nil {
			return err
		}
		g.rows = append(g.rows, row)
	}
	return nil
}

func (g *grown) row(ctx context.Context, q *whatif.BatchQuestion, report func(whatif.BatchProgress)) (row batchRow,
	err error) {
	if row.largest, err = whatif.LargestBatch(ctx, q, report); err == nil {
		err = whatif.BatchCurve(ctx, q, g.batches, func(p whatif.BatchPoint) { row.points = append(row.points, p) })
	}
	if errors.Is(err, engine.ErrUnsupported) {
		return batchRow{err: err}, nil
	}
	return row, err
}

// outcome returns the error of the whole.
func (g *grown) outcome() error {
	if !g.complete {
		return fmt.Errorf("stopped after %d of %d strategies", len(g.rows), len(g.methods))
	}
	for _, r := range g.rows {
		if r.err == nil && r.largest.Batch > 0 {
			return nil
		}
	}
	return fmt.Errorf("not even one sample trains in %s", format.Bytes(g.budget))
}
