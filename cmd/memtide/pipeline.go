package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/engine/pipeline"
	"memtide/engine/pipeline/check"
	"memtide/web/format"
)

var pipelineCommand = &command{
	name: "pipeline",
	flags: func(fs *flag.FlagSet) action {
		f := pipelineFlags{schedule: "1f1b", shape: "straight", messages: "latency", limit: engine.NoLimit,
			given: map[string]bool{}}
		f.define(fs)
		return func(ctx context.Context, e *env, args []string) {
			fs.Visit(func(x *flag.Flag) { f.given[x.Name] = true })
			f.run(ctx, e, args)
		}
	},
}

// pipelineFlags holds the values of the flags.
type pipelineFlags struct {
	plan                     pipeline.Request
	schedule, shape          string
	messages                 string
	forward, inputs, weights time.Duration
	act, rest, input         engine.Bytes
	given                    map[string]bool // names of the flags on the command line
	measured                 []string        // files
	fixed, limit             engine.Bytes
	host                     engine.Rate
	whole, recompute         bool
	seed                     uint64
	within                   time.Duration
	asJSON, asCSV, asTrace   bool
	asSVG                    bool
	file                     string
}

var shapes = map[string]pipeline.Shape{"straight": pipeline.Straight, "wrapped": pipeline.Wrapped, "v": pipeline.Vee,
	"both-ways": pipeline.BothWays}
var messageMeanings = map[string]pipeline.Messages{"latency": pipeline.Latency, "queued": pipeline.Queued,
	"blocking": pipeline.Blocking, "included": pipeline.Included}

func (f *pipelineFlags) define(fs *flag.FlagSet) {
	size := func(name, doc string, to *engine.Bytes) { parsed(fs, name, doc, to, format.ParseBytes) }
	fs.IntVar(&f.plan.Ranks, "ranks", 4, "`N` ranks of the pipeline")
	fs.IntVar(&f.plan.Micro, "micro", 8, "`N` micro batches of a step, of both directions together")
	fs.IntVar(&f.plan.Chunks, "stages", 2, "`N` stages a rank, where the schedule leaves that open")
	fs.IntVar(&f.plan.Group, "group", 0, "`N` micro batches of a round of interleaved and bf-pp; 0 is as many as ranks")
	fs.Func("schedule", "`NAME` of the order: "+strings.Join(pipeline.Names(),
		", ")+", search, or exact for small steps (default 1f1b)",
		oneOf(&f.schedule, append(pipeline.Names(), "search", "exact")...))
	fs.Func("shape", "`"+strings.Join(slices.Sorted(maps.Keys(shapes)),
		"|")+"` of stages on ranks, for search (default straight)",
		oneOf(&f.shape, slices.Sorted(maps.Keys(shapes))...))
	fs.DurationVar(&f.forward, "forward", time.Millisecond, "`TIME` of a stage's forward")
	fs.DurationVar(&f.inputs, "inputs", time.Millisecond, "`TIME` of its backward of the inputs")
	fs.DurationVar(&f.weights, "weights", time.Millisecond, "`TIME` of its backward of the weights")
	fs.DurationVar(&f.plan.Send, "send", 0, "`TIME` of a message between ranks")
	fs.Func("messages", "`"+strings.Join(slices.Sorted(maps.Keys(messageMeanings)),
		"|")+"` what messages take beside their time (default latency)",
		oneOf(&f.messages, slices.Sorted(maps.Keys(messageMeanings))...))
	size("act", "`SIZE` that a forward keeps for its backward", &f.act)
	size("rest", "`SIZE` of it that stays between the two backwards (default all of it)", &f.rest)
	size("input", "`SIZE` that stays of a forward which runs again (default 0)", &f.input)
	size("fixed", "`SIZE` of weights, gradients and optimizer states of a rank (default 0)", &f.fixed)
	size("limit", "`SIZE` of a rank's memory (default none)", &f.limit)
	fs.BoolVar(&f.whole, "whole", false, "search with backwards in one part")
	fs.BoolVar(&f.recompute, "recompute", false, "search may run forwards again")
	parsed(fs, "host", "`RATE` of copies to the host and back, which search may use then", &f.host, format.ParseRate)
	fs.Uint64Var(&f.seed, "seed", 1, "`N` chance of the search: the same number finds the same")
	fs.DurationVar(&f.within, "time", 0,
		"`TIME` most that the search may take; 0 is until it has done its work, some seconds")
	fs.Func("measured", "`FILE` of a step that ran, shown beside the played one; again for each further file",
		func(name string) error {
			f.measured = append(f.measured, name)
			return nil
		})
	fs.BoolVar(&f.asJSON, "json", false, "write the answer as JSON")
	fs.BoolVar(&f.asCSV, "csv", false, "write the order as torch.distributed.pipelining reads it (compute_only)")
	fs.BoolVar(&f.asTrace, "trace", false, "write the step for Chrome's and Perfetto's trace viewers")
	fs.BoolVar(&f.asSVG, "svg", false, "draw the lanes of the ranks, with -measured of both steps on one axis")
	fs.StringVar(&f.file, "o", "", "`FILE` write to it instead of the standard output")
}

// run finds the order, plays it, and writes the result.
func (f *pipelineFlags) run(ctx context.Context, e *env, args []string) {
	if len(args) > 1 {
		fail("pipeline takes one file of torch's CSV at most; got %s", cli.Quoted(args))
	}
	r := &pipelineReport{title: pipeline.Title(f.schedule)}
	f.complete()
	if len(f.measured) > 0 {
		f.readMeasured(ctx, e, r)
	}
	switch {
	case len(args) == 1:
		in, err := pipeline.ReadCSV(contents(ctx, e, args[0]))
		failAt(args[0], err)
		f.read(r, args[0], in)
	case r.measured != nil && !f.given["schedule"]:
		f.read(r, f.measured[0], &r.measured.Imported)
	case f.schedule == "search", f.schedule == "exact":
		f.search(ctx, r)
	default:
		s := valid(pipeline.New(f.schedule, f.plan))
		r.problem, r.order = s.Problem, s.Order
	}
	r.problem.Messages = messageMeanings[f.messages]
	r.trace = cli.Must(r.problem.Play(r.order))
	r.path = r.problem.Critical(r.trace)
	if r.measured != nil {
		r.measured.beside(r.problem)
	}
	r.refuted = check.Trace(r.problem, r.order, r.trace)
	r.bound = r.problem.Bound(pipeline.Allowed{Recompute: f.recompute, Offload: f.host > 0})
	if r.exact {
		r.bound = r.trace.Makespan
	}
	switch {
	case f.asCSV:
		e.write(f.file, valid(pipeline.WriteCSV(r.problem, r.order)))
	case f.asTrace:
		e.write(f.file, r.trace.ChromeTrace())
	case f.asSVG:
		e.write(f.file, r.svg())
	default:
		e.tell(f.asJSON, func() any { return r.json() }, r.text)
	}
	if r.refuted != nil {
		fail("the checker refutes the step: %v", r.refuted)
	}
}

// complete sets the times and sizes of the plan.
func (f *pipelineFlags) complete() {
	f.plan.Cost = func(x pipeline.Pass) time.Duration {
		switch x.Kind {
		case pipeline.Inputs:
			return f.inputs
		case pipeline.Weights:
			return f.weights
		case pipeline.Backward:
			return f.inputs + f.weights
		}
		return f.forward
	}
	if !f.given["act"] {
		f.act = 1
	}
	if !f.given["rest"] {
		f.rest = f.act
	}
	holds := pipeline.Holds{Act: f.act, Rest: f.rest, Input: f.input}
	if f.host > 0 {
		holds.Off = f.act
		holds.Out = f.host.Time(f.act)
		holds.In = holds.Out
	}
	f.plan.Keep = func(int) pipeline.Holds { return holds }
	f.plan.Room = func(int) (fixed, limit engine.Bytes) { return f.fixed, f.limit }
}

// read uses the order of a file, with the stages, ranks and micro batches of the file.
func (f *pipelineFlags) read(r *pipelineReport, name string, in *pipeline.Imported) {
	f.plan.Ranks, f.plan.Micro = len(in.Order), in.Micro
	f.plan.Chunks = (len(in.Rank) + len(in.Order) - 1) / len(in.Order)
	p := f.plan.Problem(pipeline.Wrapped)
	p.Stages = p.Stages[:len(in.Rank)]
	for s, rank := range in.Rank {
		p.Stages[s].Rank, p.Stages[s].Comm = rank, 0
		if s > 0 && in.Rank[s-1] != rank {
			p.Stages[s].Comm = f.plan.Send
		}
	}
	r.title, r.problem, r.order = "the order of "+name, p, in.Order
	for _, action := range slices.Sorted(maps.Keys(in.Ignored)) {
		r.notes = append(r.notes, fmt.Sprintf("left out: %d of %s", in.Ignored[action], action))
	}
}

// search finds an order within the limit.
func (f *pipelineFlags) search(ctx context.Context, r *pipelineReport) {
	searching, proving := ctx, ctx
	if f.within > 0 {
		var stop, end context.CancelFunc
		proving, stop = context.WithTimeout(ctx, f.within)
		defer stop()
		part := f.within
		if f.schedule == "exact" { // the proof gets the rest
			part /= 4
		}
		searching, end = context.WithTimeout(proving, part)
		defer end()
	}
	p := f.plan.Problem(shapes[f.shape])
	p.Cost, p.Fused = nil, f.whole
	o := pipeline.Options{Seed: f.seed, Allowed: pipeline.Allowed{Recompute: f.recompute, Offload: f.host > 0}}
	find := func() {
		found, err := pipeline.Search(p, o, engine.NewPoll(searching, nil))
		r.problem, r.order = p, cli.Must(found, err).Order
		r.title, r.trace = "found by search, from "+found.From, found.Trace
	}
	if f.schedule == "exact" {
		o.Effort = effortBeforeProof
	}
	find()
	if f.schedule == "exact" && !f.prove(proving, r, o.Allowed) {
		o.Effort = 0
		find()
	}
}

// effortBeforeProof is the effort of the search before the exact one, which needs a step to
// beat. Any step near the optimum will do.
const effortBeforeProof = 2_000_000

// exactStates bounds the memory of the exact search.
const exactStates = 2_000_000

// prove replaces the step that search found by the fastest one, or proves that it is the
// fastest. It returns false if the step is too large for that.
func (f *pipelineFlags) prove(ctx context.Context, r *pipelineReport, a pipeline.Allowed) bool {
	faster, err := pipeline.Exact(r.problem, a, r.trace.Makespan, exactStates, engine.NewPoll(ctx, nil))
	switch {
	case errors.Is(err, pipeline.ErrTooLarge):
		r.notes = append(r.notes, fmt.Sprintf("not proven: the exact search ended after %d states", exactStates))
		return false
	case errors.Is(err, context.DeadlineExceeded):
		r.notes = append(r.notes, "not proven: the time of -time was over; give it more")
		return true
	case errors.Is(err, engine.ErrUnsupported):
		fail("%v; -schedule search takes it", err)
	case err != nil:
		cli.Must(faster, err)
	case faster != nil:
		r.order, r.title = faster.Order, "found by exact search"
	}
	r.exact = true
	return true
}

// pipelineReport is a step that was played.
type pipelineReport struct {
	title   string
	problem *pipeline.Problem
	order   [][]pipeline.Pass
	trace   *pipeline.Trace
	refuted error // why the checker refutes the trace; nil if it is correct
	bound   time.Duration
	exact   bool // the exact search found that no order is faster
	notes   []string

	path     []pipeline.Link // the critical path
	measured *measuredReport // nil if no step was measured
}

// text returns the step for people.
func (r *pipelineReport) text() string {
	return cli.Table(func(w *tabwriter.Writer) {
		t := r.trace
		fmt.Fprintf(w, "%s: %d ranks, %d stages, %s micro batches\n\n", cli.Printable(r.title), r.problem.Ranks,
			len(r.problem.Stages),
			strings.ReplaceAll(strings.Trim(fmt.Sprint(r.problem.Micro), "[]"), " ", " + "))
		fmt.Fprintf(w, "step\t%v\t%s\n", t.Makespan, r.verdict())
		fmt.Fprintf(w, "longest rank\t%v\tfrom its own first pass to its last\n", t.Longest())
		fmt.Fprintf(w, "idle\t%.1f %%\tof the step, on average\n", 100*t.Idle())
		if t.Makespan == r.bound {
			fmt.Fprintf(w, "bound\t%v\tproven: no order within the limits is faster\n", r.bound)
		} else {
			fmt.Fprintf(w, "bound\t%v\tno order is faster: at most %.1f %% could be gained\n", r.bound,
				100*(1-float64(r.bound)/float64(max(t.Makespan, 1))))
		}
		if again := t.Twice(); again > 0 {
			fmt.Fprintf(w, "computed twice\t%v\tof all ranks\n", again)
		}
		fmt.Fprintf(w, "critical path\t%v\t%s\n", t.Makespan, pathWords(t, r.path))
		fmt.Fprint(w, "\nrank\tbusy\tpasses held\tpeak\tcopies\n")
		for i := range t.Ranks {
			fmt.Fprintf(w, "%d\t%v\t%d\t%s\t%d\n", i, t.Busy[i], t.Held[i], format.Bytes(t.Peak[i]), len(t.Copies[i]))
		}
		if r.measured != nil {
			r.measured.text(w, r)
		}
		for _, note := range r.notes {
			fmt.Fprintln(w, note)
		}
	})
}

// verdict returns the result of the checker.
func (r *pipelineReport) verdict() string {
	if r.refuted != nil {
		return "NOT VERIFIED: " + r.refuted.Error()
	}
	return "checked"
}

// pipelineJSON is the step for programs.
type pipelineJSON struct {
	Schema  string             `json:"schema"`
	Title   string             `json:"title"`
	Step    int64              `json:"step_time_ns"`
	Verdict string             `json:"verdict"`
	Longest int64              `json:"longest_rank_ns"`
	Bound   int64              `json:"bound_ns"`
	Proven  bool               `json:"proven"`
	Idle    float64            `json:"idle"`
	Twice   int64              `json:"recompute_ns"`
	Path    *pathJSON          `json:"critical_path"`
	Ranks   []pipelineRankJSON `json:"ranks"`
	Notes   []string           `json:"notes,omitempty"`

	Measured *measuredJSON `json:"measured,omitempty"`
}

// pipelineRankJSON is a rank for programs. Passes are named as in torch's CSV, plus D, R, O and I of package pipeline,
// A for a whole backward and B for a backward of the inputs. The bytes of a measured step are unknown.
type pipelineRankJSON struct {
	Busy   time.Duration   `json:"busy_ns"`
	Held   int             `json:"passes_held"`
	Peak   engine.Bytes    `json:"peak_bytes"`
	Passes []pipeline.Span `json:"passes"`
	Copies []pipeline.Span `json:"copies,omitempty"`
}

func (r *pipelineReport) json() *pipelineJSON {
	t := r.trace
	out := &pipelineJSON{Schema: "memtide-pipeline/1", Title: r.title, Step: int64(t.Makespan), Verdict: r.verdict(),
		Longest: int64(t.Longest()), Bound: int64(r.bound), Proven: t.Makespan == r.bound, Idle: t.Idle(),
		Twice: int64(t.Twice()), Path: newPathJSON(t, r.path), Ranks: ranksJSON(t), Notes: r.notes}
	if r.measured != nil {
		out.Measured = r.measured.json(r)
	}
	return out
}

// ranksJSON returns the ranks of a trace for programs.
func ranksJSON(t *pipeline.Trace) (out []pipelineRankJSON) {
	for i := range t.Ranks {
		out = append(out, pipelineRankJSON{t.Busy[i], t.Held[i], t.Peak[i], t.Ranks[i], t.Copies[i]})
	}
	return out
}
