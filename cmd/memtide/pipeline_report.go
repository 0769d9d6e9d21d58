package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"memtide/cmd/cli"
	"memtide/engine/pipeline"
	"memtide/web/display"
	"memtide/web/draw"
	"memtide/web/format"
)

// measuredReport is a step that ran on a machine.
type measuredReport struct {
	*pipeline.Measured
	path []pipeline.Link
}

// mostSlower is how many of the passes that took longer than played the text names.
const mostSlower = 8

// readMeasured reads the traces of -measured. It takes the ranks, the micro batches, and the
// times that no flag sets from them.
func (f *pipelineFlags) readMeasured(ctx context.Context, e *env, r *pipelineReport) {
	var files [][]byte
	for _, name := range f.measured {
		files = append(files, contents(ctx, e, name))
	}
	m, err := pipeline.ReadMeasured(files...)
	failAt(f.measured[0], err)
	r.measured = &measuredReport{Measured: m}
	f.plan.Ranks, f.plan.Micro = len(m.Order), m.Micro
	f.plan.Chunks = (len(m.Rank) + len(m.Order) - 1) / len(m.Order)
	flags, took := f.plan.Cost, medians(m.Trace)
	f.plan.Cost = func(x pipeline.Pass) time.Duration {
		if f.given[map[pipeline.Kind]string{pipeline.Forward: "forward", pipeline.Inputs: "inputs",
			pipeline.Weights: "weights", pipeline.Backward: "inputs"}[x.Kind]] {
			return flags(x)
		}
		both := func(k pipeline.Kind) time.Duration { return took[pipeline.Pass{Kind: k, Stage: x.Stage}] }
		whole := both(pipeline.Backward)
		switch {
		case x.Kind == pipeline.Backward && whole == 0:
			return both(pipeline.Inputs) + both(pipeline.Weights)
		case x.Kind == pipeline.Inputs && both(x.Kind) == 0:
			return whole - whole/2
		case x.Kind == pipeline.Weights && both(x.Kind) == 0:
			return whole / 2
		}
		return both(x.Kind)
	}
	if m.Later > 0 {
		r.notes = append(r.notes, fmt.Sprintf("left out: %d passes of later steps in the trace", m.Later))
	}
}

// medians returns the median duration of the passes of each kind and stage, the lower one of two.
func medians(t *pipeline.Trace) map[pipeline.Pass]time.Duration {
	all := map[pipeline.Pass][]time.Duration{}
	for _, spans := range t.Ranks {
		for _, x := range spans {
			of := pipeline.Pass{Kind: x.Kind, Stage: x.Stage}
			all[of] = append(all[of], x.End-x.Start)
		}
	}
	out := map[pipeline.Pass]time.Duration{}
	for of, list := range all {
		slices.Sort(list)
		out[of] = list[(len(list)-1)/2]
	}
	return out
}

// beside sets the critical path of the measured step. It refuses a step with other ranks than p.
func (m *measuredReport) beside(p *pipeline.Problem) {
	var ranks []int
	for _, st := range p.Stages {
		ranks = append(ranks, st.Rank)
	}
	if len(p.Micro) > 1 || p.Micro[0] != m.Micro || !slices.Equal(ranks, m.Rank) {
		fail("the trace has stages on ranks %v and %d micro batches, the schedule has them on %v and %v; name a schedule whose stages lie as in the trace, or none", m.Rank, m.Micro, ranks, p.Micro)
	}
	m.path = p.Critical(m.Trace)
}

// text writes the measured step next to the played one, for people.
func (m *measuredReport) text(w io.Writer, r *pipelineReport) {
	t, played := m.Trace, r.trace
	fmt.Fprintf(w, "\n\tmeasured\tplayed\nstep\t%v\t%v\t%s\n", t.Makespan, played.Makespan,
		change(t.Makespan, played.Makespan))
	fmt.Fprintf(w, "longest rank\t%v\t%v\t%s\n", t.Longest(), played.Longest(), change(t.Longest(), played.Longest()))
	fmt.Fprintf(w, "idle\t%.1f %%\t%.1f %%\n", 100*t.Idle(), 100*played.Idle())
	fmt.Fprint(w, "\nrank\tbusy, measured\tplayed\tidle, measured\tplayed\n")
	for i := range t.Ranks {
		fmt.Fprintf(w, "%d\t%v\t%v\t%v\t%v\n", i, t.Busy[i], played.Busy[i], t.Makespan-t.Busy[i],
			played.Makespan-played.Busy[i])
	}
	fmt.Fprintf(w, "\ncritical path, measured\t%s\n", pathWords(t, m.path))
	slower := played.Slower(t)
	n := 0
	for n < len(slower) && slower[n].Measured > slower[n].Played {
		n++
	}
	fmt.Fprintf(w, "\n%d of %d passes took longer than they were played", n, len(slower))
	if n > 0 {
		fmt.Fprint(w, ", most of all\n\trank\tmeasured\tplayed\n")
	} else {
		fmt.Fprintln(w)
	}
	for _, x := range slower[:min(n, mostSlower)] {
		fmt.Fprintf(w, "%v\t%d\t%v\t%v\t+%v\n", x.Pass, x.Rank, x.Measured, x.Played, x.Measured-x.Played)
	}
	for _, turn := range played.Turns(t) {
		fmt.Fprintf(w, "rank %d runs another order from its pass %d on: %s, played %s\n", turn.Rank, turn.Place,
			passOrEnd(turn.Measured), passOrEnd(turn.Played))
	}
	if n, most := r.problem.Early(t); n > 0 {
		fmt.Fprintf(w,
			"too early: %d of the passes start before what they wait for ends, by up to %v; the clocks of the ranks differ by as much at least\n", n, most)
	}
}

func passOrEnd(x *pipeline.Pass) string {
	if x == nil {
		return "nothing"
	}
	return x.String()
}

// pathWords describes the parts of a critical path.
func pathWords(t *pipeline.Trace, path []pipeline.Link) string {
	s := t.Shares(path)
	most := slices.Index(s.Rank, slices.Max(s.Rank))
	share := func(d time.Duration) string { return format.Share(float64(d) / float64(max(t.Makespan, 1))) }
	return fmt.Sprintf("%s passes, %s of them on rank %d; %s messages, %s idle", share(s.Compute()),
		format.Share(float64(s.Rank[most])/float64(max(s.Compute(), 1))), most, share(s.Message), share(s.Idle))
}

// pathJSON is a critical path for programs.
type pathJSON struct {
	Compute int64              `json:"compute_ns"`
	Message int64              `json:"messages_ns"`
	Idle    int64              `json:"idle_ns"`
	Passes  []pipelinePathPass `json:"passes"`
}

type pipelinePathPass struct {
	Rank int `json:"rank"`
	pipeline.Span
}

func newPathJSON(t *pipeline.Trace, path []pipeline.Link) *pathJSON {
	s := t.Shares(path)
	out := &pathJSON{Compute: int64(s.Compute()), Message: int64(s.Message), Idle: int64(s.Idle)}
	for _, at := range path {
		out.Passes = append(out.Passes, pipelinePathPass{at.Rank, t.Ranks[at.Rank][at.Place]})
	}
	return out
}

// measuredJSON is a measured step for programs.
type measuredJSON struct {
	Step    int64              `json:"step_time_ns"`
	Longest int64              `json:"longest_rank_ns"`
	Idle    float64            `json:"idle"`
	Path    *pathJSON          `json:"critical_path"`
	Ranks   []pipelineRankJSON `json:"ranks"`
	Slower  []pipeline.Slower  `json:"slower"`
	Turns   []pipeline.Turn    `json:"order_differs"`
	Early   int                `json:"early"`
	EarlyBy int64              `json:"early_ns"`
}

func (m *measuredReport) json(r *pipelineReport) *measuredJSON {
	t := m.Trace
	out := &measuredJSON{Step: int64(t.Makespan), Longest: int64(t.Longest()), Idle: t.Idle(),
		Path: newPathJSON(t, m.path), Ranks: ranksJSON(t), Slower: append([]pipeline.Slower{}, r.trace.Slower(t)...),
		Turns: append([]pipeline.Turn{}, r.trace.Turns(t)...)}
	n, most := r.problem.Early(t)
	out.Early, out.EarlyBy = n, int64(most)
	return out
}

// pictureWidth is the width of the picture of a pipeline, in CSS pixels.
const pictureWidth = 1200

// svg draws the lanes of the played step and, below on the same axis, those of the measured one.
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

// lanesOf returns a trace for drawing, without bytes. A forward that is dropped or runs again is drawn as a forward.
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
