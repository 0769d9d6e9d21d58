//go:build !js

package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"memtide/cmd/cli"
	"memtide/engine/pipeline"
	"memtide/web/display"
	"memtide/web/draw"
	"memtide/web/format"
)

// pictureWidth is the width of the picture of a pipeline, in CSS pixels.
const pictureWidth = 1200

// svg draws the lanes of the played step, and below them those of the measured one on the same axis.
func (r *pipelineReport) svg() []byte {
	list := []*draw.Passes{lanesOf(r.problem, r.trace, r.path, "Played")}
	list[0].Bound = r.bound
	lines := []string{fmt.Sprintf("Played: a step takes %s, ranks are idle %.1f %%. The line is the critical path: %s.", format.Duration(r.trace.Makespan), 100*r.trace.Idle(), pathWords(r.trace, r.path))}
	if m := r.measured; m != nil {
		list = append(list, lanesOf(r.problem, m.Trace, m.path, "Measured"))
		lines = append(lines, fmt.Sprintf("Measured: %s (%s), idle %.1f %%. Critical path: %s.",
			format.Duration(m.Trace.Makespan), change(m.Trace.Makespan, r.trace.Makespan), 100*m.Trace.Idle(),
			pathWords(m.Trace, m.path)))
	}
	var end time.Duration
	for _, x := range list {
		end = max(end, x.End())
	}
	var all, one, whole draw.Scene
	all.Reset(pictureWidth, 0)
	for _, x := range list {
		x.Draw(&one, draw.PassLanes, draw.View{Width: pictureWidth, To: end, Cursor: draw.NoCursor})
		all.Append(&one.List, 0, all.Height)
		all.Height += one.Height
	}
	all.Title, all.Desc = "Ranks of a pipeline", strings.Join(lines, " ")
	draw.Headed(&whole, &all, draw.Heading{Title: format.Capital(r.title), Lines: lines})
	var b bytes.Buffer
	cli.Must(0, whole.WriteSVG(&b, display.SVGOptions{Standalone: true, Surface: true}))
	return b.Bytes()
}

// lanesOf arranges a trace for drawing, without bytes: a forward that is dropped or runs again is drawn as a forward.
func lanesOf(p *pipeline.Problem, t *pipeline.Trace, path []pipeline.Link, title string) *draw.Passes {
	kinds := map[pipeline.Kind]draw.PassKind{pipeline.Backward: draw.PassBackward, pipeline.Inputs: draw.PassInputs,
		pipeline.Weights: draw.PassWeights}
	ranks, stages, first := make([]draw.PassRank, len(t.Ranks)), make([]draw.PassStage, len(p.Stages)), []int{0}
	for i, spans := range t.Ranks {
		for _, x := range spans {
			ranks[i].Passes = append(ranks[i].Passes, draw.Pass{Kind: kinds[x.Kind], Micro: x.Micro, Stage: x.Stage,
				Start: x.Start, End: x.End})
		}
		first = append(first, first[i]+len(spans))
	}
	x := draw.NewPasses(ranks, stages, 0, 0)
	x.Title, x.Bare = title, true
	for _, at := range path {
		x.Path = append(x.Path, first[at.Rank]+at.Place)
	}
	return x
}
