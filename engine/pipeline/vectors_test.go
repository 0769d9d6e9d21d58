package pipeline_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/pipeline"
	"memtide/engine/pipeline/check"
)

var freedoms = map[string]pipeline.Allowed{"keep": {}, "recompute": {Recompute: true}, "offload": {Offload: true},
	"both": {Recompute: true, Offload: true}}

// vector is a vector of a pipeline.
type vector struct {
	ID     string
	Stages []struct {
		Rank, Path       int
		F, B, W, Comm    time.Duration
		Act, Rest, Input engine.Bytes
		TempF            engine.Bytes `json:"temp_f"`
		TempB            engine.Bytes `json:"temp_b"`
		TempW            engine.Bytes `json:"temp_w"`
		Off              engine.Bytes
		Out, In          time.Duration
	}
	Ranks  int
	Micro  []int // micro batches of each path
	Fused  bool  // backwards are whole
	Fixed  []engine.Bytes
	Limit  []*engine.Bytes // of each rank; nil: no limit
	Expect struct {
		optima
		NoLimitTime *int64 `json:"no_limit_time"`
	}
}

// optima are the optima by freedom; nil for those that were not computed.
type optima struct{ Keep, Recompute, Offload, Both *optimum }

type optimum struct {
	Feasible bool
	Time     *int64
	Example  [][]string // by rank, in order of time
}

// vectors returns the vectors of pipelines.
func vectors() []vector { return enginetest.LoadAs[vector]("pipeline_small") }

// problem returns the vector's pipeline; a unit of time is a nanosecond.
func (v *vector) problem() *pipeline.Problem {
	p := &pipeline.Problem{Ranks: v.Ranks, Micro: v.Micro, Fused: v.Fused, Fixed: v.Fixed}
	for _, s := range v.Stages {
		p.Stages = append(p.Stages, pipeline.Stage{Rank: s.Rank, Path: s.Path, Forward: s.F, Inputs: s.B, Weights: s.W,
			Comm: s.Comm, Holds: pipeline.Holds{Act: s.Act, Rest: s.Rest, Input: s.Input, FwdTemp: s.TempF,
				InputsTemp: s.TempB, WeightsTemp: s.TempW, Off: s.Off, Out: s.Out, In: s.In}})
	}
	for _, limit := range v.Limit {
		if limit == nil {
			limit = new(engine.NoLimit)
		}
		p.Limit = append(p.Limit, *limit)
	}
	return p
}

// expect returns the optimum with a freedom: keep, recompute, offload or both. It is nil if it was not computed.
func (v *vector) expect(freedom string) *optimum {
	return map[string]*optimum{"keep": v.Expect.Keep, "recompute": v.Expect.Recompute, "offload": v.Expect.Offload,
		"both": v.Expect.Both}[freedom]
}

// The checker accepts every example of the vectors, which were made by another program.
func TestExamples(t *testing.T) {
	count, slower := 0, 0
	for _, v := range vectors() {
		p := v.problem()
		for freedom := range freedoms {
			e := v.expect(freedom)
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
	for i, v := range vectors() {
		if !long && i%4 != 0 {
			continue
		}
		p := v.problem()
		for freedom, allowed := range freedoms {
			e := v.expect(freedom)
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

// TestLeastTimes checks that the search, and the exact one where that proves nothing, find the optima of the vectors
// with each freedom and without limits, and that the bound is not above them.
func TestLeastTimes(t *testing.T) {
	compared := 0
	for _, v := range vectors() {
		p := v.problem()
		for freedom, allowed := range freedoms {
			e := v.expect(freedom)
			if e == nil {
				continue
			}
			found, proven := fastest(t, p, allowed)
			if compared++; !e.Feasible && found > 0 || e.Feasible && found != time.Duration(*e.Time) {
				t.Errorf("%s, %s: %d, proven %v; want %v", v.ID, freedom, found, proven, *e)
			}
			if freedom == "keep" && e.Feasible && p.Bound(allowed) > time.Duration(*e.Time) {
				t.Errorf("%s: the bound %d is above the optimum %d", v.ID, p.Bound(allowed), *e.Time)
			}
		}
		p.Limit = nil
		if found, proven := fastest(t, p, pipeline.Allowed{}); v.Expect.NoLimitTime != nil &&
			(!proven || found != time.Duration(*v.Expect.NoLimitTime)) {
			t.Errorf("%s, without limits: %d, proven %v; want %d", v.ID, found, proven, *v.Expect.NoLimitTime)
		}
	}
	if compared < 300 {
		t.Errorf("compared %d optima; want hundreds", compared)
	}
}

// fastest returns the least step time that it finds, or 0 if nothing fits, and whether the result is proven.
func fastest(t *testing.T, p *pipeline.Problem, allowed pipeline.Allowed) (least time.Duration, proven bool) {
	t.Helper()
	found, err := pipeline.Search(p, pipeline.Options{Allowed: allowed, Effort: 200_000}, nil)
	if _, refused := errors.AsType[*pipeline.InfeasibleError](err); !refused {
		if err != nil {
			t.Fatal(err)
		}
		if least = found.Trace.Makespan; found.Proven() {
			return least, true
		}
	}
	exact, err := pipeline.Exact(p, allowed, least, 400_000, nil)
	switch {
	case errors.Is(err, pipeline.ErrTooLarge) || errors.Is(err, engine.ErrUnsupported):
		return least, false
	case err != nil:
		t.Fatal(err)
	case exact != nil:
		return exact.Trace.Makespan, true
	}
	return least, true
}

// spans returns the passes and the copies of an example of a vector, by rank, in order of time.
func spans(v *vector, example [][]string) (passes, copies [][]pipeline.Span) {
	p := v.problem()
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
