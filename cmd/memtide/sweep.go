package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"strings"
	"text/tabwriter"
	"time"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/choice"
	"memtide/web/format"
)

var sweepCommand = &command{
	name: "sweep",
	flags: func(fs *flag.FlagSet) action {
		var c asked
		var o sweepOptions
		c.define(fs)
		o.define(fs, sweepLimit)
		fs.StringVar(&o.strategies, "strategy", "",
			"`NAMES` strategies, with commas between them (default all that apply)")
		fs.StringVar(&o.budgets, "budget", "20%..100%",
			"`LIST` sizes or shares with commas between them, or FROM..TO")
		fs.IntVar(&o.points, "points", 9, "`NUMBER` how many budgets from FROM to TO")
		return func(ctx context.Context, e *env, args []string) {
			sweep(ctx, e, &c, o, args)
		}
	},
}

type sweepOptions struct {
	solveOptions
	strategies string
	budgets    string
	points     int
}

// sweepLimit is the default time for each point: some strategies search for as long as they may.
const sweepLimit = 10 * time.Second

// maxPoints is the largest number of budgets in a sweep.
const maxPoints = 1000

func sweep(ctx context.Context, e *env, c *asked, o sweepOptions, args []string) {
	given := c.flags.Args
	c.flags.Args = nil // the strategy of the link need not have them
	in := c.read(ctx, e, args)
	s := &swept{in: in, methods: in.methods(o.strategies, given), budgets: in.budgets(o.budgets, o.points)}
	s.complete = s.run(ctx, e, o.limit)
	e.tell(o.json, func() any { return s.json() }, s.table)
	s.finish()
}

// methods returns the strategies of a sweep with their parameters: the named ones, or all that
// can work here. Keeping everything is a single point, so it is included only by name.
func (in *input) methods(names string, given engine.Args) []proto.Method {
	var list []*engine.Strategy
	if names == "" {
		for _, s := range engine.Strategies() {
			linkless := in.device.ToHost <= 0 || in.device.ToDev <= 0
			if s.Class != 0 && !(linkless && s.Class&engine.MayOffload != 0) {
				list = append(list, s)
			}
		}
	} else {
		for name := range strings.SplitSeq(names, ",") {
			list = append(list, strategy(strings.TrimSpace(name)))
		}
	}
	used := map[string]bool{}
	var out []proto.Method
	for _, s := range list {
		m := proto.Method{Strategy: s.Name, Args: engine.Args{}}
		if s.Name == in.link.Strategy {
			maps.Copy(m.Args, in.link.Args)
		}
		for _, p := range s.Params {
			if value, ok := given[p.Name]; ok {
				m.Args[p.Name], used[p.Name] = value, true
			}
		}
		valid(s.Parse(m.Args))
		out = append(out, m)
	}
	for _, a := range sortedArgs(given) {
		if name, _, _ := strings.Cut(a, "="); !used[name] {
			fail("-arg %s: none of the strategies has a parameter %q", a, name)
		}
	}
	return out
}

// budgets parses "4GiB,60%", or "20%..100%" as n budgets.
func (in *input) budgets(text string, n int) []choice.Budget {
	from, to, isRange := strings.Cut(text, "..")
	if isRange {
		return in.budgetRange(from, to, n)
	}
	var out []choice.Budget
	for part := range strings.SplitSeq(text, ",") {
		b, err := choice.ParseBudget(part)
		failAt("-budget", err)
		out = append(out, b)
	}
	if len(out) > maxPoints {
		fail("-budget lists %d budgets; at most %d are solved", len(out), maxPoints)
	}
	return out
}

func (in *input) budgetRange(from, to string, n int) []choice.Budget {
	if n < 2 || n > maxPoints {
		fail("-points is %d; expected 2 to %d", n, maxPoints)
	}
	all := in.profile.Totals().KeepAllPeak
	var ends [2]engine.Bytes
	for i, text := range []string{from, to} {
		b, err := choice.ParseBudget(text)
		failAt("-budget", err)
		if b.Bytes == 0 && all == 0 {
			fail("-budget: this network is not a chain, so shares of keeping everything are not known; give sizes")
		}
		ends[i] = b.Of(all)
	}
	if ends[1] <= ends[0] {
		fail("-budget goes from %s to %s; expected the smaller one first", format.Bytes(ends[0]), format.Bytes(ends[1]))
	}
	out := make([]choice.Budget, n)
	for i := range out {
		// Floating point is exact at the ends, and in between a byte does not matter.
		part := float64(i) / float64(n-1)
		out[i].Bytes = ends[0] + engine.Bytes(engine.Int64(part*float64(ends[1]-ends[0])))
	}
	out[n-1].Bytes = ends[1]
	return out
}

// swept is a sweep and its results.
type swept struct {
	in       *input
	methods  []proto.Method
	budgets  []choice.Budget
	keepAll  proto.Reference
	points   []*proto.Point // by method, then by budget; nil if not reached
	complete bool
}

// run solves all points. It returns false if ctx is cancelled before.
func (s *swept) run(ctx context.Context, e *env, limit time.Duration) (complete bool) {
	s.points = make([]*proto.Point, len(s.methods)*len(s.budgets))
	pool := new(serve.Local)
	// The reference first: a sweep that is stopped would not have it.
	all, err := proto.Do(ctx, pool.Do, &proto.Solve{
		Setting: s.in.setting(), Method: proto.Method{Strategy: engine.KeepAll},
		Budget: choice.Budget{Bytes: engine.NoLimit},
	}, nil)
	if cancelled(err) {
		return false
	}
	s.keepAll = all.KeepAll
	b := cli.NewBar(e.stderr)
	defer b.Clear()
	b.Set(0, len(s.points), "")
	q := &proto.Sweep{Setting: s.in.setting(), Methods: s.methods, Budgets: s.budgets, Limit: limit}
	_, err = proto.Do(ctx, pool.Do, q, func(p *proto.Point) {
		s.points[p.Method*len(s.budgets)+p.Index] = p
		b.Set(p.Done, p.Total, p.Strategy+" in "+format.Bytes(p.Budget))
	})
	return !cancelled(err)
}

// cancelled reports whether work was cancelled. It ends the command with any other error.
func cancelled(err error) bool {
	if errors.Is(err, context.Canceled) {
		return true
	}
	cli.Check(err)
	return false
}

// finish ends the command with an error if the sweep was stopped, or a point is wrong, or none has a schedule.
func (s *swept) finish() {
	solved, reached := 0, 0
	for _, p := range s.points {
		if p == nil {
			continue
		}
		if reached++; p.StepTime <= 0 {
			continue
		}
		if solved++; !p.Verdict.Verified {
			cli.Fail("%s in %s is not verified: %s", p.Strategy, format.Bytes(p.Budget), p.Verdict.Problem)
		}
	}
	if !s.complete {
		cli.Fail("stopped after %d of %d points", reached, len(s.points))
	}
	if solved == 0 {
		cli.Fail("none of the points has a schedule")
	}
}

// table returns the sweep for people.
func (s *swept) table() string {
	return s.in.header() + "\n" + cli.Table(func(w *tabwriter.Writer) {
		fmt.Fprint(w, "strategy\tbudget\tshare\tstep time\tslowdown\tabove bound\tpeak\tverdict\n")
		for i, p := range s.points {
			if p == nil {
				continue
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", methodText(s.methods[i/len(s.budgets)]), format.Bytes(p.Budget),
				format.Share(float64(p.Budget)/float64(max(s.keepAll.Peak, 1))), s.cells(p))
		}
		fmt.Fprintf(w, "\nno limit: step time %s, peak %s\n", format.Duration(s.keepAll.StepTime),
			format.Bytes(s.keepAll.Peak))
	}) + s.in.findingsText()
}

// cells returns the columns of a point, starting with the step time.
func (s *swept) cells(p *proto.Point) string {
	if p.StepTime <= 0 {
		return "–\t–\t–\t–\t" + pointVerdict(p)
	}
	bound := "–"
	if p.Bound > 0 {
		bound = change(p.StepTime, p.Bound)
	}
	return strings.Join([]string{format.Duration(p.StepTime), change(p.StepTime, max(s.keepAll.StepTime, 1)), bound,
		format.Bytes(p.Peak), pointVerdict(p)}, "\t")
}

func pointVerdict(p *proto.Point) string {
	switch f := p.Failure; {
	case f != nil && f.Kind == proto.Infeasible && f.Smallest > 0:
		return "does not fit; " + format.BytesUp(f.Smallest) + " would do"
	case f != nil && f.Kind == proto.Infeasible:
		return "does not fit"
	case f != nil && f.Kind == proto.Deadline && p.StepTime <= 0:
		return "no answer in time"
	case f != nil && p.StepTime <= 0:
		return f.Text
	case !p.Verdict.Verified:
		return "NOT VERIFIED: " + p.Verdict.Problem
	case f != nil:
		return "checked; best when the time was over"
	case p.Optimal:
		return "checked; optimal in its class"
	}
	return "checked"
}

func (s *swept) json() *sweepReport {
	out := &sweepReport{
		Schema:   "memtide-sweep/1",
		Question: s.in.question(),
		Complete: s.complete,
		KeepAll:  s.keepAll,
		Points:   []pointReport{},
	}
	for i, p := range s.points {
		if p == nil {
			continue
		}
		r := pointReport{
			Strategy: p.Strategy, Args: s.methods[i/len(s.budgets)].Args, Budget: p.Budget,
			Reference: proto.Reference{StepTime: p.StepTime, Peak: p.Peak},
			Verified:  p.Verdict.Verified, Problem: p.Verdict.Problem, Optimal: p.Optimal,
			LowerBoundNS: p.Bound,
		}
		if p.Failure != nil {
			r.Error = failureOf(p.Failure)
		}
		out.Points = append(out.Points, r)
	}
	return out
}
