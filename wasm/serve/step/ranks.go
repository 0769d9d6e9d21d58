package step

import (
	"fmt"
	"strings"
	"time"

	"memtide/engine"
	"memtide/engine/pipeline"
	"memtide/profiles/llm"
	"memtide/profiles/llm/ask"
	"memtide/wasm/proto"
	"memtide/web/format"
)

// ranks takes over what the ranks of a pipeline hold and do.
func ranks(out *proto.Stepped, r *llm.Ranks) {
	out.Ranks, out.Stages, out.Passes, out.Path = nil, nil, nil, nil
	if r == nil {
		return
	}
	out.Full, out.Idle, out.Order = r.Full, r.Trace.Idle(), pipeline.Title(r.Schedule.Name)
	var first []int // of the passes of each rank
	for i, rank := range r.List {
		list, peak := phases(rank.Result)
		out.Ranks = append(out.Ranks, proto.StepRank{Layers: stretches(rank.Layers), InFlight: rank.InFlight,
			Allocated: rank.Allocated,
			Low:       min(rank.Reserved, rank.Expandable), High: max(rank.Reserved, rank.Expandable), Phase: peak,
			Phases: list, Held: r.Trace.Peak[i]})
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
		out.Stages = append(out.Stages, proto.StepStage{Rank: st.Rank, First: i == 0 || of.Stages[i-1].Path != st.Path,
			Last: i+1 == len(of.Stages) || of.Stages[i+1].Path != st.Path, Act: st.Act, Rest: st.Rest})
	}
}

// made says what the critical path is made of, and how far the step is from its bound.
func made(t *pipeline.Trace, path []pipeline.Link, bound time.Duration) string {
	s := t.Shares(path)
	most := 0
	for rank, d := range s.Rank {
		if d > s.Rank[most] {
			most = rank
		}
	}
	share := func(d, of time.Duration) string { return format.Share(float64(d) / float64(max(of, 1))) }
	words := fmt.Sprintf("The line is the critical path, which decides how long the step takes: %s passes, most of them on rank %d (%s), %s messages",
		share(s.Compute(), t.Makespan), most, share(s.Rank[most], s.Compute()), share(s.Message, t.Makespan))
	if s.Idle > 0 {
		words += fmt.Sprintf(", %s waits for room", share(s.Idle, t.Makespan))
	}
	if t.Makespan <= bound {
		return words + ". No order of such passes is faster."
	}
	return words + fmt.Sprintf(". No order of such passes ends before %s, so that %s of the time could be gained at most.", format.Duration(bound), share(t.Makespan-bound, t.Makespan))
}

// orders takes over what the schedules of a pipeline come to.
func orders(out *proto.Stepped, p *llm.Plan) {
	out.Orders, out.Refused, out.Taken = nil, nil, 0
	taken, longest := p.Answer.Ranks, time.Duration(0)
	for _, o := range p.Orders {
		if o.Answer != nil {
			longest = max(longest, o.Answer.Ranks.Trace.Makespan)
		}
	}
	for _, o := range p.Orders {
		words := ask.Words("schedule", o.Name)
		if o.Answer == nil {
			out.Refused = append(out.Refused, words+": "+o.Reason)
			continue
		}
		a := o.Answer
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
