package known

import (
	"memtide/wasm/proto"
	"memtide/web/draw"
)

// passKinds are the kinds of passes by proto.StepPass.Kind.
var passKinds = map[byte]draw.PassKind{'F': draw.PassForward, 'A': draw.PassBackward, 'B': draw.PassInputs,
	'W': draw.PassWeights}

// PassesOf arranges the passes of a pipeline for drawing. It returns nil if r has no pipeline.
func PassesOf(r *proto.Stepped) *draw.Passes {
	if r == nil || len(r.Ranks) == 0 {
		return nil
	}
	ranks := make([]draw.PassRank, len(r.Ranks))
	for i := range r.Ranks {
		ranks[i].Base = max(0, r.Ranks[i].Allocated-r.Ranks[i].Held)
		ranks[i].Reserved = r.Ranks[i].High
	}
	var stages []draw.PassStage
	for _, st := range r.Stages {
		stages = append(stages, draw.PassStage(st))
	}
	for _, p := range r.Passes {
		ranks[p.Rank].Passes = append(ranks[p.Rank].Passes,
			draw.Pass{Kind: passKinds[p.Kind], Micro: p.Micro, Stage: p.Stage, Start: p.Start, End: p.End})
	}
	x := draw.NewPasses(ranks, stages, r.Memory-r.Context, r.Full)
	x.Path, x.Made, x.Bound = r.Path, r.Made, r.Bound
	return x
}
