package step

import (
	"fmt"
	"strings"

	"memtide/engine/pipeline"
	"memtide/profiles/llm"
	"memtide/profiles/llm/ask"
	"memtide/wasm/proto"
)

// ranks takes over what the ranks of a pipeline hold and do.
func ranks(out *proto.Stepped, r *llm.Ranks) {
	out.Ranks, out.Stages, out.Passes = nil, nil, nil
	if r == nil {
		return
	}
	out.Full, out.Idle, out.Order = r.Full, r.Trace.Idle(), pipeline.Title(r.Schedule.Name)
	for i, rank := range r.List {
		list, peak := phases(rank.Result)
		out.Ranks = append(out.Ranks, proto.StepRank{Layers: stretches(rank.Layers), InFlight: rank.InFlight, Allocated: rank.Allocated,
			Low: min(rank.Reserved, rank.Expandable), High: max(rank.Reserved, rank.Expandable), Phase: peak, Phases: list, Held: r.Trace.Peak[i]})
		for _, x := range r.Trace.Ranks[i] {
			out.Passes = append(out.Passes, proto.StepPass{Kind: x.Kind.Letter()[0], Rank: i, Stage: x.Stage, Micro: x.Micro, Start: x.Start, End: x.End})
		}
	}
	of := r.Schedule.Problem
	for i, st := range of.Stages {
		out.Stages = append(out.Stages, proto.StepStage{Rank: st.Rank, First: i == 0 || of.Stages[i-1].Path != st.Path,
			Last: i+1 == len(of.Stages) || of.Stages[i+1].Path != st.Path, Act: st.Act, Rest: st.Rest})
	}
}

// orders takes over what the schedules of a pipeline come to.
func orders(out *proto.Stepped, p *llm.Plan) {
	out.Orders, out.Refused, out.Taken = nil, nil, 0
	for _, o := range p.Orders {
		words := ask.Words("schedule", o.Name)
		if o.Answer == nil {
			out.Refused = append(out.Refused, words+": "+o.Reason)
			continue
		}
		a := o.Answer
		if o.Name == p.Answer.Ranks.Schedule.Name {
			out.Taken = len(out.Orders)
		}
		about := fmt.Sprintf("ranks wait %.0f %%, rank %d is the fullest", 100*a.Ranks.Trace.Idle(), a.Ranks.Full)
		if o.Twice() {
			about += ", all states twice"
		}
		out.Orders = append(out.Orders, proto.StepChange{Names: []string{words}, Words: about, Args: ask.With(p.Ask.Args, "schedule", o.Name),
			Fit: fits[a.Verdict], GPUs: p.Ask.GPUs, Low: a.Low, High: a.High, Time: a.Time})
	}
}

// stretches writes layers as stretches of numbers.
func stretches(layers []int64) string {
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
