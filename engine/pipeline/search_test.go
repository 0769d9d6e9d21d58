package pipeline_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/pipeline"
	"memtide/engine/pipeline/check"
)

// TestSearchVectors checks that the search, without the exact one, finds nearly all optima of the vectors, and
// never a faster order. It tries every eighth of them, all with MEMTIDE_LONG=1, and every eightieth with -short.
func TestSearchVectors(t *testing.T) {
	tried, missed := 0, 0
	for i, v := range vectors() {
		if !long && i%8 != 0 || testing.Short() && i%80 != 0 {
			continue
		}
		p := v.problem()
		for freedom, allowed := range freedoms {
			e := v.expect(freedom)
			if e == nil {
				continue
			}
			tried++
			f, err := pipeline.Search(p, pipeline.Options{Allowed: allowed, Effort: 500_000}, nil)
			if err != nil {
				if _, refused := errors.AsType[*pipeline.InfeasibleError](err); !refused {
					t.Errorf("%s, %s: %v", v.ID, freedom, err)
				}
				if e.Feasible {
					missed++
				}
				continue
			}
			if !e.Feasible || int64(f.Trace.Makespan) < *e.Time {
				t.Errorf("%s, %s: found %d; the optimum is %v", v.ID, freedom, f.Trace.Makespan, *e)
				continue
			}
			if int64(f.Trace.Makespan) > *e.Time {
				missed++
			}
			if err := check.Trace(p, f.Order, f.Trace); err != nil {
				t.Errorf("%s, %s: %v", v.ID, freedom, err)
			}
		}
	}
	if missed > tried/20 {
		t.Errorf("%d of %d optima are missed; want a twentieth at most", missed, tried)
	}
}

// TestSearchHolds checks that a search that is stopped returns its best order so far, which is no slower than any
// published schedule that fits; that the same seed gives the same order; and that more room is never slower.
func TestSearchHolds(t *testing.T) {
	plans := 6
	if testing.Short() {
		plans = 2
	}
	for i := range plans {
		r := enginetest.Rand(uint64(i))
		plan := pipeline.Request{Ranks: 2 + r.IntN(4), Send: time.Duration(r.IntN(3)),
			Cost: costs(time.Duration(1+r.IntN(9)), time.Duration(1+r.IntN(9)), time.Duration(1+r.IntN(9)))}
		plan.Micro = 2 * plan.Ranks
		shape := pipeline.Shape(i % 4)
		least := time.Duration(0)
		for _, limit := range []engine.Bytes{engine.Bytes(3 * plan.Ranks), engine.Bytes(plan.Ranks + 1)} {
			plan.Room = func(int) (fixed, most engine.Bytes) { return 0, limit }
			p := plan.Problem(shape)
			var times []time.Duration
			for _, calls := range []int{1, 300, 300} {
				poll := engine.NewPoll(engine.LimitCalls(context.Background(), calls), nil)
				f, err := pipeline.Search(p, pipeline.Options{Seed: 7}, poll)
				if err != nil {
					t.Fatalf("%d: stopped after %d calls: %v", i, calls, err)
				}
				times = append(times, f.Trace.Makespan)
			}
			if times[1] != times[2] || times[1] > times[0] {
				t.Errorf("%d: searches take %v; want the last two equal, and the first no faster", i, times)
			}
			for _, name := range pipeline.Names() {
				s, err := pipeline.New(name, plan)
				if searched := name == "zb-1p" || name == "zb-2p"; searched || err != nil ||
					!reflect.DeepEqual(s.Problem.Stages, p.Stages) {
					continue
				}
				if trace, err := s.Play(); err == nil && trace.Makespan < times[0] {
					t.Errorf("%d: %s takes %d within %d bytes, the search %d", i, name, trace.Makespan, limit, times[0])
				}
			}
			if least > times[2] {
				t.Errorf("%d: less room takes %d, more room %d", i, times[2], least)
			}
			least = times[2]
		}
	}
}

// TestSearchRefuses checks that the search refuses problems that it does not support, and names a pass that does
// not fit alone.
func TestSearchRefuses(t *testing.T) {
	plan := pipeline.Request{Ranks: 2, Micro: 2, Cost: costs(1, 1, 1),
		Room: func(int) (fixed, limit engine.Bytes) { return 5, 5 }}
	p := plan.Problem(pipeline.Straight)
	if _, err := pipeline.Search(p, pipeline.Options{Effort: 1000}, nil); err == nil ||
		err.Error() != "rank 0 needs 6 bytes for one pass alone; its limit is 5" {
		t.Errorf("without room: %v", err)
	}
	p.Messages = pipeline.Queued
	if _, err := pipeline.Search(p, pipeline.Options{}, nil); !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("messages that compete: %v", err)
	}
	if _, err := pipeline.Exact(p, pipeline.Allowed{}, 0, 1000, nil); !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("the exact search with messages that compete: %v", err)
	}
}

// The bound of equal stages with the memory of 1F1B is the closed form of its corollary: (P-1)(b+2c) and (P-1)(f+2c-w).
func TestBoundCorollary(t *testing.T) {
	for _, c := range []struct{ p, m, f, b, w, c int64 }{{4, 8, 1, 1, 1, 0}, {8, 24, 18522, 18086, 9337, 601},
		{3, 9, 2, 5, 7, 1}, {16, 48, 11347, 11248, 8132, 377}} {
		plan := pipeline.Request{Ranks: int(c.p), Micro: int(c.m), Send: time.Duration(c.c),
			Cost: costs(time.Duration(c.f), time.Duration(c.b), time.Duration(c.w)),
			Room: func(int) (fixed, limit engine.Bytes) { return 0, engine.Bytes(c.p) }}
		want := c.m*(c.f+c.b+c.w) + (c.p-1)*(c.b+2*c.c) + (c.p-1)*max(0, c.f+2*c.c-c.w)
		if got := plan.Problem(pipeline.Straight).Bound(pipeline.Allowed{}); int64(got) != want {
			t.Errorf("%+v: bound %d, want %d", c, got, want)
		}
	}
}

// TestExactStopsWithinAMoment checks that the exact search can be stopped while it tries what may start at one
// moment. There can be far more of these choices than there are moments.
func TestExactStopsWithinAMoment(t *testing.T) {
	holds := pipeline.Holds{Act: 1, Rest: 1, Off: 1, Out: 1, In: 1}
	plan := pipeline.Request{Ranks: 4, Micro: 6, Cost: costs(1, 1, 1), Keep: func(int) pipeline.Holds { return holds },
		Room: func(int) (fixed, limit engine.Bytes) { return 0, 3 }}
	const states, calls = 200, 2000
	poll := engine.NewPoll(engine.LimitCalls(t.Context(), calls), nil)
	_, err := pipeline.Exact(plan.Problem(pipeline.Straight), pipeline.Allowed{Recompute: true, Offload: true}, 0,
		states, poll)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with %d moments and %d calls of the poll: %v; want the poll's end", states, calls, err)
	}
}
