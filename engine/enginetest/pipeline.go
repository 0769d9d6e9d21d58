package enginetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"memtide/engine"
	"memtide/engine/pipeline"
)

// Pipeline is the vector's pipeline; a unit of time is a nanosecond.
func (v *Vector) Pipeline() *pipeline.Problem {
	p := &pipeline.Problem{Ranks: v.Ranks, Micro: v.Micro, Fused: v.Fused}
	for _, s := range v.Stages {
		p.Stages = append(p.Stages, pipeline.Stage{Rank: s.Rank, Path: s.Path,
			Forward: time.Duration(s.Forward), Inputs: time.Duration(s.Inputs), Weights: time.Duration(s.Weights), Comm: time.Duration(s.Comm),
			Holds: pipeline.Holds{Act: engine.Bytes(s.Act), Rest: engine.Bytes(s.Rest), Input: engine.Bytes(s.Input), FwdTemp: engine.Bytes(s.FwdTemp),
				InputsTemp: engine.Bytes(s.InputsTemp), WeightsTemp: engine.Bytes(s.WeightsTemp),
				Off: engine.Bytes(s.Off), Out: time.Duration(s.Out), In: time.Duration(s.In)}})
	}
	for r := range v.Ranks {
		p.Fixed = append(p.Fixed, engine.Bytes(v.Fixed[r]))
		limit := engine.NoLimit
		if v.Limit[r] != nil {
			limit = engine.Bytes(*v.Limit[r])
		}
		p.Limit = append(p.Limit, limit)
	}
	return p
}

// PipelineExpect is the optimum of a pipeline with some freedom.
type PipelineExpect struct {
	Feasible bool       `json:"feasible"`
	Time     *int64     `json:"time"`
	Example  [][]string `json:"example"` // by rank, in order of time
}

// ExpectPipeline is the optimum that is expected with a freedom: keep, recompute, offload or both. It is nil where it was
// not computed.
func (v *Vector) ExpectPipeline(freedom string) *PipelineExpect {
	var e *PipelineExpect
	if err := json.Unmarshal(v.Expect[freedom], &e); err != nil {
		panic(fmt.Sprintf("enginetest: %s: expect.%s: %v", v.ID, freedom, err))
	}
	return e
}

// Spans are the passes and the copies of an example of a vector, by rank, in order of time.
func (v *Vector) Spans(example [][]string) (passes, copies [][]pipeline.Span) {
	p := v.Pipeline()
	passes, copies = make([][]pipeline.Span, v.Ranks), make([][]pipeline.Span, v.Ranks)
	kinds := []pipeline.Kind{pipeline.Forward, pipeline.Backward, pipeline.Weights, pipeline.Dropped, pipeline.Again, pipeline.Out, pipeline.In}
	for r, list := range example {
		for _, text := range list {
			var letter rune
			var x pipeline.Pass
			var at int64
			if _, err := fmt.Sscanf(text, "%c%d.%d@%d", &letter, &x.Stage, &x.Micro, &at); err != nil {
				panic(fmt.Sprintf("enginetest: %s: %s: %v", v.ID, text, err))
			}
			x.Kind = kinds[strings.IndexRune("FBWDROI", letter)]
			if x.Kind == pipeline.Backward && !v.Fused {
				x.Kind = pipeline.Inputs
			}
			span := pipeline.Span{Pass: x, Start: time.Duration(at), End: time.Duration(at) + p.Time(x)}
			if x.Kind == pipeline.Out || x.Kind == pipeline.In {
				copies[r] = append(copies[r], span)
			} else {
				passes[r] = append(passes[r], span)
			}
		}
		slices.SortStableFunc(passes[r], func(a, b pipeline.Span) int { return int(a.Start - b.Start) })
	}
	return passes, copies
}
