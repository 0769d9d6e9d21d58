package step

import (
	"fmt"
	"strings"
	"time"

	"memtide/engine/pipeline"
	"memtide/profiles/llm"
	"memtide/wasm/proto"
)

// ranks takes over what the ranks of a pipeline hold and do.
func ranks(out *proto.Stepped, r *llm.Ranks) {
	out.Ranks = nil
	if r == nil {
		return
	}
	out.Full, out.Idle, out.Order = r.Full, r.Trace.Idle(), pipeline.Title(r.Schedule.Name)
	for i, rank := range r.List {
		list, peak := phases(rank.Result)
		out.Ranks = append(out.Ranks, proto.StepRank{Layers: stretches(rank.Layers), InFlight: rank.InFlight, Allocated: rank.Allocated,
			Low: min(rank.Reserved, rank.Expandable), High: max(rank.Reserved, rank.Expandable), Phase: peak, Phases: list, Passes: passes(r.Trace.Ranks[i], r.Trace.Makespan)})
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

var spanKinds = map[pipeline.Kind]string{pipeline.Forward: "f", pipeline.Backward: "b", pipeline.Inputs: "b", pipeline.Weights: "w"}

// passes are the spans of a rank in parts of the whole; what is too short to be seen joins
// what comes before it.
func passes(spans []pipeline.Span, whole time.Duration) (out []proto.StepSpan) {
	at := func(t time.Duration) int { return int(float64(t)/float64(max(whole, 1))*proto.SpanScale + 0.5) }
	for _, s := range spans {
		next := proto.StepSpan{Kind: spanKinds[s.Kind], From: at(s.Start), To: at(s.End)}
		if n := len(out); n > 0 && next.From <= out[n-1].To && (next.Kind == out[n-1].Kind || next.To <= out[n-1].To) {
			out[n-1].To = max(out[n-1].To, next.To)
			continue
		}
		if next.To > next.From {
			out = append(out, next)
		}
	}
	return out
}
