package pipeline_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine/enginetest"
	"memtide/engine/pipeline"
	"memtide/engine/pipeline/check"
)

var freedoms = map[string]pipeline.Allowed{"keep": {}, "recompute": {Recompute: true}, "offload": {Offload: true},
	"both": {Recompute: true, Offload: true}}

// The checker accepts every example of the vectors, which were made by another program.
func TestExamples(t *testing.T) {
	count, slower := 0, 0
	for _, v := range enginetest.Load("pipeline_small") {
		p := v.Pipeline()
		for freedom := range freedoms {
			e := v.ExpectPipeline(freedom)
			if e == nil || !e.Feasible {
				continue
			}
			count++
			passes, copies := spans(&v, e.Example)
			trace := p.TraceOf(passes, copies)
			if err := check.Trace(p, nil, trace); err != nil {
				t.Errorf("%s, %s: %v", v.ID, freedom, err)
			}
			if int64(trace.Makespan) != *e.Time {
				t.Errorf("%s, %s: the example takes %d, want %d", v.ID, freedom, trace.Makespan, *e.Time)
			}
			played, err := p.Play(trace.Listed())
			if err != nil || int64(played.Makespan) < *e.Time {
				t.Errorf("%s, %s: listed and played: %v %v, want %d or more", v.ID, freedom, played, err, *e.Time)
			} else if int64(played.Makespan) > *e.Time {
				slower++
			}
		}
	}
	if slower > count/50 { // an order cannot express every start time of a copy
		t.Errorf("%d of %d examples take longer when they are listed and played", slower, count)
	}
	if count < 300 {
		t.Errorf("%d examples; want hundreds", count)
	}
}

// The exact search finds the optima of the vectors.
func TestExact(t *testing.T) {
	same := 0
	for i, v := range enginetest.Load("pipeline_small") {
		if !long && i%4 != 0 {
			continue
		}
		p := v.Pipeline()
		for freedom, allowed := range freedoms {
			e := v.ExpectPipeline(freedom)
			f, err := pipeline.Exact(p, allowed, 0, 400000, nil)
			if errors.Is(err, pipeline.ErrTooLarge) {
				if e != nil {
					t.Errorf("%s, %s: given up; want %v", v.ID, freedom, *e)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s, %s: %v", v.ID, freedom, err)
			}
			if e == nil {
				continue
			}
			same++
			if f == nil != !e.Feasible || f != nil && f.Trace.Makespan != time.Duration(*e.Time) {
				t.Errorf("%s, %s: %v; want %v", v.ID, freedom, f, *e)
				continue
			}
			if f == nil {
				continue
			}
			if err := check.Trace(p, nil, f.Trace); err != nil {
				t.Errorf("%s, %s: %v", v.ID, freedom, err)
			}
			if bound := p.Bound(allowed); bound > f.Trace.Makespan {
				t.Errorf("%s, %s: the bound %d is above the optimum %d", v.ID, freedom, bound, f.Trace.Makespan)
			}
			played, err := p.Play(f.Order)
			if err != nil || played.Makespan != f.Trace.Makespan {
				t.Errorf("%s, %s: the order takes %v (%v), the search says %d", v.ID, freedom, played, err,
					f.Trace.Makespan)
			}
		}
	}
	if same < 80 {
		t.Errorf("compared %d optima; want dozens", same)
	}
}

// spans returns the passes and the copies of an example of a vector, by rank, in order of time.
func spans(v *enginetest.Vector, example [][]string) (passes, copies [][]pipeline.Span) {
	p := v.Pipeline()
	passes, copies = make([][]pipeline.Span, v.Ranks), make([][]pipeline.Span, v.Ranks)
	kinds := []pipeline.Kind{pipeline.Forward, pipeline.Backward, pipeline.Weights, pipeline.Dropped, pipeline.Again,
		pipeline.Out, pipeline.In}
	for r, list := range example {
		for _, text := range list {
			var letter rune
			var x pipeline.Pass
			var at int64
			if _, err := fmt.Sscanf(text, "%c%d.%d@%d", &letter, &x.Stage, &x.Micro, &at); err != nil {
				panic(fmt.Sprintf("%s: %s: %v", v.ID, text, err))
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
