// Package step answers requests about whole training steps of language models, in programs that import it.
package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"memtide/engine"
	"memtide/engine/pipeline"
	"memtide/profiles"
	"memtide/profiles/llm"
	"memtide/profiles/llm/ask"
	"memtide/profiles/llm/family"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/format"
)

func init() { serve.Register(answer) }

func answer(_ *serve.Server, ctx context.Context, q *proto.Step, tell func(*proto.Stepped)) (*proto.Stepped,
	*proto.Failure) {
	m, config := model(q.Model)
	a := serve.Valid(llm.New(m, q.Args))
	ctx, cancel := proto.Within(ctx, q.Limit)
	defer cancel()
	poll, out := engine.NewPoll(ctx, nil), &proto.Stepped{Config: config}
	var err error
	if a = a.Until(poll); q.Policies {
		p := &llm.Answer{Ask: a}
		if p.Estimate, err = a.Estimate(); err == nil && q.Parts != 1 {
			p.Policies, err = a.Policies()
		}
		if err == nil {
			fill(out, p)
		}
		return ended(out, err, poll)
	}
	a.Parts = q.Parts
	_, err = a.Plan(poll, func(p *llm.Answer) {
		fill(out, p)
		if p.Done < cmp.Or(q.Parts, llm.PlanStages) {
			so := *out
			tell(&so)
		}
	})
	return ended(out, err, poll)
}

// ended returns out if err is nil, otherwise a failure: Deadline if poll was stopped, or Unsupported.
func ended(out *proto.Stepped, err error, poll *engine.Poll) (*proto.Stepped, *proto.Failure) {
	switch {
	case err == nil:
		return out, nil
	case poll.Err() != nil:
		return nil, proto.Fail(proto.Deadline, "it was stopped before all of it was known")
	}
	return nil, proto.Fail(proto.Unsupported, "%v", err)
}

// model returns the model with this name. If name is the text of a config.json, model also returns the part of it that
// was read.
func model(name string) (m *llm.Model, config string) {
	if !ask.IsConfig(name) {
		if m = family.Lookup(name); m == nil {
			profiles.End(proto.Fail(proto.BadRequest, "there is no model %q", name))
		}
		return m, ""
	}
	read, err := family.Read([]byte(name))
	if e, ok := errors.AsType[*profiles.FormatError](err); ok {
		err = fmt.Errorf("%w %s", err, e.Remedy)
	}
	serve.Check(err)
	return read.Model, read.Config
}

var fits = map[llm.Verdict]proto.Fit{llm.Fits: proto.Fits, llm.FitsNot: proto.FitsNot, llm.Uncertain: proto.Unsure}

// fill writes what is known in p into out.
func fill(out *proto.Stepped, p *llm.Answer) {
	a, s := p.Estimate, p.Ask.Setup
	out.Name, out.Params, out.Experts, out.Program = s.Model.Name, s.Model.Params(), s.Model.MoE != nil,
		llm.FindProgram(ask.Value(p.Ask.Args, "program")).Source
	out.Notes = p.Ask.Card.Says(&p.Ask.Setup)
	if pictures := s.Pictured(); pictures != "" {
		out.Notes = append(out.Notes, fmt.Sprintf("%s are %d tokens.", pictures, s.Seq))
	}
	if a.Host > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("Up to %s wait in host memory.", format.Bytes(a.Host)))
	}
	out.Fit, out.Card, out.GPUs, out.Memory, out.Context = fits[a.Verdict], p.Ask.Card.Name, p.Ask.GPUs,
		p.Ask.Card.Memory, p.Ask.Context
	out.Low, out.High, out.Allocated, out.States = a.Low, a.High, a.Allocated, a.States
	out.Time = a.Time
	out.Unit, out.Trained = p.Trained()
	out.TimeLow, out.TimeHigh = p.TimeRange()
	working := proto.PartScratch
	if _, policy, _ := preset.Split(p.Ask.Args); policy != nil { // some of it is computed again
		working = proto.PartWorking
	}
	out.Phases, out.Phase = phases(a.Result, working)
	ranks(out, a.Ranks, working)
	orders(out, p)
	out.Changes, out.Fixes = changes(p.Changes), changes(p.Fixes)
	out.Policies = changes(p.Policies)
	if n := p.Nearest; n != nil {
		out.Nearest = &proto.StepMeasured{Model: n.Model, Args: n.Published.Args, Where: n.Where, URL: n.URL,
			Bytes: n.Bytes, Low: n.Estimate.Low, High: n.Estimate.High, Percent: n.Percent, Differs: n.Differs}
	}
	out.Longest, out.Batch, out.Fewest = p.Longest, p.Batch, p.Fewest
	out.Done, out.Total = p.Done, llm.PlanStages
}

// phases returns the phases in which memory is allocated, and the index of the phase of the peak. working is the kind
// of working values.
func phases(r *llm.Result, working proto.PartKind) (out []proto.StepPhase, peak int) {
	for phase := llm.Forward; phase <= llm.Step; phase++ {
		if r.Phases[phase] == 0 {
			continue
		}
		if phase == r.Phase {
			peak = len(out)
		}
		out = append(out, proto.StepPhase{Name: phase.String(), Bytes: r.Phases[phase],
			Parts: parts(r.PartsOf(phase), working)})
	}
	return out, peak
}

// names are the page's words for classes of memory where the command line has others.
var names = map[llm.Class]string{llm.Moments: "optimizer", llm.Saved: "kept"}

// kinds maps classes of memory, except Working, to their kinds in pictures.
var kinds = map[llm.Class]proto.PartKind{
	llm.Weights: proto.PartStates, llm.Masters: proto.PartStates, llm.Gradients: proto.PartStates,
	llm.Moments:  proto.PartStates,
	llm.Gathered: proto.PartMoved, llm.Saved: proto.PartKept, llm.Logits: proto.PartScratch,
	llm.Backwards: proto.PartBack, llm.Buffers: proto.PartMoved, llm.StepTemps: proto.PartScratch,
}

func parts(list []llm.Part, working proto.PartKind) (out []proto.StepPart) {
	for _, p := range list {
		origin, why := p.Class.Origin()
		out = append(out, proto.StepPart{Name: cmp.Or(names[p.Class], p.Class.String()),
			Kind: cmp.Or(kinds[p.Class], working), Bytes: p.Bytes, Origin: proto.Origin(origin), Why: why})
	}
	return out
}

func changes(list []llm.Change) (out []proto.StepChange) {
	for _, c := range list {
		out = append(out, proto.StepChange{Names: c.Names, Words: c.Words, Args: c.Args, Chain: c.Method != "",
			Card: c.Card, Fit: fits[c.Estimate.Verdict], GPUs: c.GPUs, Low: c.Estimate.Low, High: c.Estimate.High,
			Time: c.Estimate.Time, Allocated: c.Estimate.Allocated})
	}
	return out
}

// ranks writes the memory and the passes of the ranks of a pipeline into out. r is nil without a pipeline.
func ranks(out *proto.Stepped, r *llm.Ranks, working proto.PartKind) {
	out.Ranks, out.Stages, out.Passes, out.Path = nil, nil, nil, nil
	if r == nil {
		return
	}
	out.Full, out.Idle, out.Order, out.Fastest = r.Full, r.Trace.Idle(), pipeline.Title(r.Schedule.Name), r.Fastest
	var first []int // index of the first pass of each rank in out.Passes
	for i, rank := range r.List {
		list, peak := phases(rank.Result, working)
		out.Ranks = append(out.Ranks, proto.StepRank{Layers: ranges(rank.Layers), InFlight: rank.InFlight,
			Allocated: rank.Allocated,
			High:      max(rank.Reserved, rank.Expandable), Phase: peak, Phases: list, Held: r.Trace.Peak[i]})
		first = append(first, len(out.Passes))
		for _, x := range r.Trace.Ranks[i] {
			out.Passes = append(out.Passes,
				proto.StepPass{Kind: x.Kind.Letter()[0], Rank: i, Stage: x.Stage, Micro: x.Micro, Start: x.Start,
					End: x.End})
		}
	}
	of := r.Schedule.Problem
	path := of.Critical(r.Trace)
	for _, at := range path {
		out.Path = append(out.Path, first[at.Rank]+at.Place)
	}
	out.Bound = of.Bound(pipeline.Allowed{})
	out.Made = made(r.Trace, path, out.Bound)
	for i, st := range of.Stages {
		out.Stages = append(out.Stages, proto.StepStage{First: i == 0 || of.Stages[i-1].Path != st.Path,
			Last: i+1 == len(of.Stages) || of.Stages[i+1].Path != st.Path, Act: st.Act, Rest: st.Rest})
	}
}

// made returns a sentence about the shares of the critical path, and about how far the step is from its bound.
func made(t *pipeline.Trace, path []pipeline.Link, bound time.Duration) string {
	s := t.Shares(path)
	most := slices.Index(s.Rank, slices.Max(s.Rank))
	share := func(d, of time.Duration) string { return format.Share(float64(d) / float64(max(of, 1))) }
	of := fmt.Sprintf("most of them on rank %d (%s)", most, share(s.Rank[most], s.Compute()))
	if 2*s.Rank[most] <= s.Compute() {
		of = fmt.Sprintf("at most %s of them on one rank", share(s.Rank[most], s.Compute()))
	}
	words := fmt.Sprintf("The line is the critical path, which decides how long the step takes: %s passes, %s, %s messages",
		share(s.Compute(), t.Makespan), of, share(s.Message, t.Makespan))
	if s.Idle > 0 {
		words += fmt.Sprintf(", %s waits for room", share(s.Idle, t.Makespan))
	}
	if t.Makespan <= bound {
		return words + ". No order of such passes is faster."
	}
	return words + fmt.Sprintf(". No order of such passes ends before %s, so that %s of the time could be gained at most.", format.Duration(bound), share(t.Makespan-bound, t.Makespan))
}

// orders writes the results of the schedules of a pipeline into out.
func orders(out *proto.Stepped, p *llm.Answer) {
	out.Orders, out.Refused, out.Taken = nil, nil, 0
	taken, longest := p.Estimate.Ranks, time.Duration(0)
	for _, o := range p.Orders {
		if o.Estimate != nil {
			longest = max(longest, o.Estimate.Ranks.Trace.Makespan)
		}
	}
	for _, o := range p.Orders {
		words := ask.Words("schedule", o.Name)
		if o.Estimate == nil {
			out.Refused = append(out.Refused, words+": "+o.Reason)
			continue
		}
		a := o.Estimate
		about := fmt.Sprintf("ranks wait %.0f %%", 100*a.Ranks.Trace.Idle())
		if o.Name == taken.Schedule.Name {
			out.Taken = len(out.Orders)
		} else {
			about += fmt.Sprintf(", now %.0f %%", 100*taken.Trace.Idle())
		}
		least, most := a.High, engine.Bytes(0)
		for _, rank := range a.Ranks.List {
			high := max(rank.Reserved, rank.Expandable)
			least, most = min(least, high), max(most, high)
		}
		about += fmt.Sprintf("; they reserve %s, rank %d most", format.Range(least, most), a.Ranks.Full)
		if o.Twice() {
			about += ", all states twice"
		}
		out.Orders = append(out.Orders, proto.StepChange{Names: []string{words}, Words: about,
			Lanes: lanes(a.Ranks.Trace,
				taken.Trace.Makespan, longest), Args: ask.With(p.Ask.Args, "schedule", o.Name),
			Fit: fits[a.Verdict], GPUs: p.Ask.GPUs, Low: a.Low, High: a.High, Time: a.Time})
	}
}

// ranges writes layers as ranges of numbers, such as "0-1, 14-15".
func ranges(layers []int64) string {
	var out []string
	for i := 0; i < len(layers); {
		end := i + 1
		for end < len(layers) && layers[end] == layers[end-1]+1 {
			end++
		}
		text := fmt.Sprint(layers[i])
		if end > i+1 {
			text += fmt.Sprintf("-%d", layers[end-1])
		}
		out = append(out, text)
		i = end
	}
	return strings.Join(out, ", ")
}
