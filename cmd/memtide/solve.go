package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/engine/sim"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/format"
	"memtide/web/question"
)

var solveCommand = &command{
	name: "solve",
	flags: about(asked{}, func(fs *flag.FlagSet, _ *asked) doing {
		var o solveOptions
		o.define(fs, 0)
		return func(ctx context.Context, e *env, in *input) { solve(ctx, e, in, o) }
	}),
}

// solveOptions are the flags of solve and sweep besides the input.
type solveOptions struct {
	json  bool
	limit time.Duration
}

// define adds the flags; limit is the default of -limit.
func (o *solveOptions) define(fs *flag.FlagSet, limit time.Duration) {
	fs.BoolVar(&o.json, "json", false, "write JSON instead of a table")
	fs.DurationVar(&o.limit, "limit", limit,
		"`TIME` most that each solve may take, such as 30s; 0 is as long as it needs")
}

func solve(ctx context.Context, e *env, in *input, o solveOptions) {
	solved, fail := findSchedule(ctx, e, in, o.limit)
	if solved == nil {
		tellFailure(ctx, e, in, o, fail)
	}
	r := &result{in: in, solved: solved, complete: fail == nil && !solved.Claim.Stopped}
	e.tell(o.json, func() any { return r.json(ctx, o.limit) }, r.table)
	if cli.Check(fail); !solved.Verdict.Verified {
		cli.Fail("the schedule is not verified: %s", solved.Verdict.Problem)
	}
}

// findSchedule solves, with a bar on a terminal. With an error it returns the best schedule so far, if there is one.
func findSchedule(ctx context.Context, e *env, in *input, limit time.Duration) (*proto.Solved, error) {
	var best *proto.Solved
	b := cli.NewBar(e.stderr)
	defer b.Clear()
	b.Set(0, 0, "Solving with "+in.title())
	q := &proto.Solve{Setting: in.setting(), Method: in.method(), Budget: in.link.Budget, Limit: limit}
	// serve.Local would drop what a strategy has found when it is cancelled.
	solved, err := proto.Do(ctx, new(serve.Server).Handle, q, func(p *proto.Solving) {
		if p.Best != nil && p.Best.Trace != nil {
			best = p.Best
		}
		text := "Solving with " + in.title()
		if best != nil {
			text += ", best so far " + format.Duration(best.Trace.Makespan)
		}
		b.Set(p.Done, p.Total, text)
	})
	switch {
	case err == nil:
		return solved, nil
	case proto.FailureOf(err).Kind != proto.Deadline: // the best schedule so far would not answer the question
		return nil, err
	case solved != nil:
		return solved, err
	}
	return best, err
}

// tellFailure ends the command with the reason why there is no schedule. With -json it also writes the reason as JSON.
func tellFailure(ctx context.Context, e *env, in *input, o solveOptions, err error) {
	fail, ok := errors.AsType[*proto.Failure](err)
	if !ok {
		cli.Check(err)
	}
	e.tell(o.json, func() any {
		r := &failureReport{Schema: solveSchema, Question: in.question(), Error: failureOf(fail)}
		if fail.Kind == proto.Infeasible {
			r.Help, _ = in.levers(ctx, o.limit, 0)
		}
		return r
	}, func() string { return in.header() + in.findingsText() })
	cli.Check(&proto.Failure{Kind: fail.Kind, Text: in.reason(fail)})
}

// reason returns a failure in words, with what to do next.
func (in *input) reason(f *proto.Failure) string {
	switch f.Kind {
	case proto.Infeasible:
		text := fmt.Sprintf("%s finds no schedule in %s (%d bytes)", in.title(), format.Bytes(f.Budget), f.Budget)
		if f.Why != "" {
			text += ": " + f.Why
		}
		text += "."
		if f.Smallest > 0 {
			text += fmt.Sprintf(" The smallest budget that would do is %s: -budget %dB", format.BytesUp(f.Smallest),
				f.Smallest)
		}
		return text
	case proto.Unsupported:
		return fmt.Sprintf("%s cannot be used here: %s", in.title(),
			strings.TrimPrefix(f.Text, engine.ErrUnsupported.Error()+": "))
	case proto.Crash:
		return f.Text + "\n" + f.Detail
	}
	return f.Text
}

// result is a schedule with its question.
type result struct {
	in       *input
	solved   *proto.Solved
	complete bool // false if the solver was stopped, or stopped itself
}

// table returns the result for people.
func (r *result) table() string {
	return r.in.header() + cli.Table(func(w *tabwriter.Writer) {
		s := r.solved
		share := ""
		if s.KeepAll.Peak > 0 {
			share = fmt.Sprintf(", %s of keeping everything", format.Share(float64(s.Budget)/float64(s.KeepAll.Peak)))
		}
		fmt.Fprintf(w, "%s (%s), budget %s%s\n\n", r.in.title(), methodText(r.in.method()), format.Bytes(s.Budget),
			share)
		if s.Trace == nil {
			fmt.Fprintf(w, "\tclaimed\nstep time\t%s\npeak\t%s\n\n%s\n",
				format.Duration(s.Claim.StepTime), format.Bytes(s.Claim.Peak), r.verdict())
			return
		}
		fmt.Fprint(w, "\tclaimed\tmeasured\n")
		fmt.Fprintf(w, "step time\t%s\t%s\n", format.Duration(s.Claim.StepTime), format.Duration(s.Trace.Makespan))
		fmt.Fprintf(w, "peak\t%s\t%s\n\n", format.Bytes(s.Claim.Peak), format.Bytes(s.Trace.Peak))
		r.costs(w)
		fmt.Fprintf(w, "\n%s\n", r.verdict())
	}) + list("Notes", r.solved.Claim.Notes) + r.in.findingsText()
}

// costs writes the rows about time and the decisions on the stages.
func (r *result) costs(w *tabwriter.Writer) {
	s, t := r.solved, r.solved.Trace
	if s.KeepAll.StepTime > 0 {
		fmt.Fprintf(w, "slowdown\t%s\tagainst no limit (%s, peak %s)\n",
			change(t.Makespan, s.KeepAll.StepTime), format.Duration(s.KeepAll.StepTime), format.Bytes(s.KeepAll.Peak))
	}
	told := time.Duration(0)
	for _, b := range s.Bounds {
		if b.StepTime > told { // the strategy's own bound only if it is higher
			told = b.StepTime
			fmt.Fprintf(w, "above bound\t%s\tlower bound %s: %s\n", change(t.Makespan, b.StepTime),
				format.Duration(b.StepTime), b.Name)
		}
	}
	fmt.Fprintf(w, "compute\t%s\n", format.Duration(t.ComputeTime))
	fmt.Fprintf(w, "recompute\t%s\n", format.Duration(t.RecomputeTime))
	fmt.Fprintf(w, "waiting\t%s\n", format.Duration(t.WaitingTotal()))
	for reason, d := range t.Waiting {
		if d > 0 {
			fmt.Fprintf(w, "  %s\t%s\n", sim.Reason(reason), format.Duration(d))
		}
	}
	if t.HostPeak > 0 {
		fmt.Fprintf(w, "host peak\t%s\n", format.Bytes(t.HostPeak))
	}
	if len(t.Decisions) > 0 {
		fmt.Fprintf(w, "stages\t%s\n", decisionCounts(t.Decisions))
	}
}

// verdict returns how much of the table is certain: what was checked, and what the strategy
// claims about faster schedules.
func (r *result) verdict() string {
	s := r.solved
	switch {
	case !s.Verdict.Verified:
		return "NOT VERIFIED: " + s.Verdict.Problem
	case !r.complete:
		return "step time and peak checked; the best so far, since the search was stopped"
	case s.Claim.Optimal:
		return "step time and peak checked; the strategy claims that nothing is faster within " + s.Claim.Within
	}
	return "step time and peak checked; not proven optimal"
}

// change returns by how much d is longer than a reference.
func change(d, reference time.Duration) string { return format.Percent(format.Longer(d, reference)) }

// decisionNames are the words for decisions.
var decisionNames = [...]string{sim.Keep: "keep", sim.Recompute: "recompute", sim.Offload: "offload",
	sim.Recompute | sim.Offload: "recompute and offload"}

// decisionCounts returns text such as "keep 20, recompute 13".
func decisionCounts(all []sim.Decision) string {
	var count [len(decisionNames)]int
	for _, d := range all {
		count[d]++
	}
	var parts []string
	for _, d := range []sim.Decision{sim.Keep, sim.Recompute, sim.Offload, sim.Recompute | sim.Offload} {
		if count[d] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", decisionNames[d], count[d]))
		}
	}
	return strings.Join(parts, ", ")
}

// methodText returns a strategy with the parameters that are not at their default.
func methodText(m proto.Method) string {
	text := m.Strategy
	for _, a := range sortedArgs(m.Args) {
		text += " " + a
	}
	return text
}

// header describes the network, the device and its link. A wrong unit in a profile shows here.
func (in *input) header() string {
	p, t := in.profile, in.profile.Totals()
	var b strings.Builder
	b.WriteString(p.Name)
	switch {
	case in.network.Preset != "":
		fmt.Fprintf(&b, " (preset %s)", in.network.Preset)
	case p.Batch > 0:
		fmt.Fprintf(&b, " (%s, batch %d)", p.Format, p.Batch)
	default:
		fmt.Fprintf(&b, " (%s)", p.Format)
	}
	b.WriteByte('\n')
	what := fmt.Sprintf("%d stages", t.Stages)
	switch {
	case p.Chain == nil:
		what = fmt.Sprintf("%d operations", t.Ops)
	case p.Chain.Len() > t.Stages:
		what += " and the loss"
	}
	fmt.Fprintf(&b, "%s: forward %s, backward %s, saved %s, weights and other resident memory %s\n",
		what, format.Duration(t.Forward), format.Duration(t.Back), format.Bytes(t.Saved),
		format.Bytes(t.Resident.Total()))
	fmt.Fprintf(&b, "%s\n", in.provenance())
	name := cmp.Or(in.device.Name, "device without a name")
	rate := format.Rate(in.device.ToDev)
	if in.device.ToHost != in.device.ToDev {
		rate += " to the device, " + format.Rate(in.device.ToHost) + " to the host"
	}
	fmt.Fprintf(&b, "%s: host link %s, %s duplex, %s transfers\n", name, rate, in.device.Duplex, in.choice.Transfers)
	return b.String()
}

// list returns a heading with one item per line, or "" without items.
func list(heading string, items []string) string {
	if len(items) == 0 {
		return ""
	}
	return "\n" + heading + "\n  " + format.Durations(strings.Join(items, "\n  ")) + "\n"
}

// leverLimit is the longest time for the schedule of one change.
const leverLimit = 1500 * time.Millisecond

// leverReport is a change that helps: it makes the same work faster, or gives a schedule to a step that has none.
type leverReport struct {
	Change string        `json:"change"`
	Preset string        `json:"preset,omitempty"`       // the changed network; empty if it is the same
	Budget engine.Bytes  `json:"budget_bytes,omitempty"` // if the change is another budget
	Link   *deviceReport `json:"device,omitempty"`       // if the change is another link
	// work per second relative to now, minus 1; 0 if there is no schedule now
	Faster   float64 `json:"faster"`
	Complete bool    `json:"complete"`
	proto.Reference
}

// levers returns the changes that would help, as on the page but without other strategies, and the names of those that
// were tried and do not help. base is the step time of the schedule; 0 if there is no schedule.
func (in *input) levers(ctx context.Context, limit, base time.Duration) (help []leverReport, none []string) {
	if limit <= 0 || limit > leverLimit {
		limit = leverLimit
	}
	a := question.Answers{Strategy: in.method().Strategy, Base: base}
	q := &proto.Question{Setting: in.setting(), Method: in.method(), Budget: in.link.Budget, Limit: limit}
	_, err := proto.Do(ctx, new(serve.Server).Handle, q, func(x *proto.Suggestion) { a.List = append(a.List, *x) })
	help, none = []leverReport{}, []string{}
	if err != nil && len(a.List) == 0 {
		return help, none
	}
	best, rest := a.Helps(base <= 0, engine.NoLimit)
	for _, i := range best {
		x := &a.List[i]
		r := leverReport{Change: question.ChangeName(x), Preset: x.Preset, Faster: a.Gain(i), Complete: !x.Partial,
			Reference: proto.Reference{StepTime: x.StepTime, Peak: x.Peak}}
		if x.Preset == "" && x.Device == nil { // more memory
			r.Budget = x.Budget
		}
		if d := x.Device; d != nil {
			r.Link = &deviceReport{ToHost: d.ToHost, ToDevice: d.ToDev, Duplex: d.Duplex.String()}
		}
		help = append(help, r)
	}
	for _, i := range rest {
		none = append(none, question.ChangeName(&a.List[i]))
	}
	return help, none
}
