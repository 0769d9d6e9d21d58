// Package step makes a program that imports it one that answers about whole training
// steps of language models.
package step

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/formats/native"
	"memtide/profiles/llm"
	"memtide/profiles/llm/ask"
	"memtide/profiles/llm/family"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/format"
)

func init() { serve.Register(answer) }

func answer(_ *serve.Server, ctx context.Context, q *proto.Step, tell func(*proto.Stepped)) (*proto.Stepped,
	*proto.Failure) {
	m, config, err := model(q.Model)
	if err != nil {
		return nil, proto.Fail(proto.BadRequest, "%v", err)
	}
	a, err := llm.New(m, q.Args)
	if err != nil {
		return nil, proto.Fail(proto.BadRequest, "%v", err)
	}
	if q.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, q.Limit)
		defer cancel()
	}
	poll, out := engine.NewPoll(ctx, nil), &proto.Stepped{Config: config}
	switch a = a.Until(poll); {
	case q.Chain:
		return chain(a)
	case q.Brief:
		p := &llm.Plan{Ask: a, Done: 1}
		if p.Answer, err = a.Answer(); err == nil {
			fill(out, p)
		}
		return ended(out, err, poll)
	case q.Policies:
		p := &llm.Plan{Ask: a}
		if p.Answer, err = a.Answer(); err == nil {
			p.Policies, err = a.Policies(poll)
		}
		if err == nil {
			fill(out, p)
		}
		return ended(out, err, poll)
	}
	_, err = a.Plan(poll, func(p *llm.Plan) {
		fill(out, p)
		if p.Done < llm.PlanStages {
			so := *out
			tell(&so)
		}
	})
	return ended(out, err, poll)
}

// ended returns the answer, or why there is none, or not all of it.
func ended(out *proto.Stepped, err error, poll *engine.Poll) (*proto.Stepped, *proto.Failure) {
	switch {
	case err == nil:
		return out, nil
	case poll.Err() != nil:
		return nil, proto.Fail(proto.Deadline, "it was stopped before all of it was known")
	}
	return nil, proto.Fail(proto.Unsupported, "%v", err)
}

// model returns the one that is asked about, and what of a config.json was understood.
func model(name string) (*llm.Model, string, error) {
	if !ask.IsConfig(name) {
		m := cmp.Or(llm.Lookup(name), family.Diffuser(name))
		if m == nil {
			return nil, "", llm.Unknown(name)
		}
		return m, "", nil
	}
	m, err := family.Read([]byte(name))
	if err != nil {
		return nil, "", told(err)
	}
	return m.Model, m.Config, nil
}

// told returns an error of a file with what to do about it.
func told(err error) error {
	if e, ok := errors.AsType[*profiles.FormatError](err); ok {
		return fmt.Errorf("%w %s", err, e.Remedy)
	}
	return err
}

// chain returns the step as a profile of its own.
func chain(a llm.Ask) (*proto.Stepped, *proto.Failure) {
	p, err := a.Profile()
	if err != nil {
		return nil, proto.Fail(proto.Unsupported, "%v", err)
	}
	var text bytes.Buffer
	if err := native.Encode(&text, p); err != nil {
		return nil, proto.Fail(proto.Unsupported, "%v", err)
	}
	return &proto.Stepped{Profile: text.Bytes()}, nil
}

// fits are the verdicts.
var fits = map[llm.Verdict]proto.Fit{llm.Fits: proto.Fits, llm.FitsNot: proto.FitsNot, llm.Uncertain: proto.Unsure}

// fill takes over what is known of a plan.
func fill(out *proto.Stepped, p *llm.Plan) {
	a, s := p.Answer, p.Ask.Setup
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
	out.Time, out.Rate = a.Time, p.Rate()
	out.TimeLow, out.TimeHigh = p.TimeRange()
	out.Phases, out.Phase = phases(a.Result)
	ranks(out, a.Ranks)
	orders(out, p)
	out.Changes, out.Fixes = changes(p.Changes), changes(p.Fixes)
	out.Policies, out.Curve = changes(p.Policies), curve(p)
	if n := p.Nearest; n != nil {
		out.Nearest = &proto.StepMeasured{Model: n.Model, Args: n.Published.Args, Where: n.Where, URL: n.URL,
			Bytes: n.Bytes, Low: n.Answer.Low, High: n.Answer.High, Percent: n.Percent, Differs: n.Differs}
	}
	out.Longest, out.Batch, out.Fewest = p.Longest, p.Batch, p.Fewest
	out.Done, out.Total = p.Done, llm.PlanStages
}

// phases returns those in which something lives, and the index of that of the peak.
func phases(r *llm.Result) (out []proto.StepPhase, peak int) {
	for phase := llm.Forward; phase <= llm.Step; phase++ {
		if r.Phases[phase] == 0 {
			continue
		}
		if phase == r.Phase {
			peak = len(out)
		}
		out = append(out, proto.StepPhase{Name: phase.String(), Bytes: r.Phases[phase], Parts: parts(r.PartsOf(phase))})
	}
	return out, peak
}

// kinds are what pictures show a class as.
var kinds = map[llm.Class]proto.PartKind{
	llm.Weights: proto.PartStates, llm.Masters: proto.PartStates, llm.Gradients: proto.PartStates,
	llm.Moments:  proto.PartStates,
	llm.Gathered: proto.PartMoved, llm.Saved: proto.PartKept, llm.Logits: proto.PartScratch,
	llm.Working:   proto.PartWorking,
	llm.Backwards: proto.PartBack, llm.Buffers: proto.PartMoved, llm.StepTemps: proto.PartScratch,
}

func parts(list []llm.Part) (out []proto.StepPart) {
	for _, p := range list {
		origin, why := p.Class.Origin()
		out = append(out, proto.StepPart{Name: p.Class.String(), Kind: kinds[p.Class], Bytes: p.Bytes,
			Origin: proto.Origin(origin), Why: why})
	}
	return out
}

func changes(list []llm.Change) (out []proto.StepChange) {
	for _, c := range list {
		out = append(out, proto.StepChange{Names: c.Names, Words: c.Words, Args: c.Args, Chain: c.Method != "",
			Card: c.Card, Fit: fits[c.Answer.Verdict], GPUs: c.GPUs, Low: c.Answer.Low, High: c.Answer.High,
			Time: c.Answer.Time, Allocated: c.Answer.Allocated})
	}
	return out
}
