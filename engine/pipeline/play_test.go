package pipeline_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/pipeline"
	"memtide/engine/pipeline/check"
)

// randomProblem draws a small pipeline: a straight, wrapped or V-shaped path, or two of them.
func randomProblem(r *rand.Rand) *pipeline.Problem {
	plan := pipeline.Request{Ranks: 1 + r.IntN(4), Micro: 1 + r.IntN(5), Chunks: 2}
	shape := pipeline.Shape(r.IntN(4))
	if shape == pipeline.BothWays {
		plan.Micro++
	}
	p := plan.Problem(shape)
	p.Fused = r.IntN(3) == 0
	for i := range p.Stages {
		st := &p.Stages[i]
		d := func() time.Duration { return time.Duration(1 + r.IntN(6)) }
		b := func(n int) engine.Bytes { return engine.Bytes(r.IntN(n)) }
		st.Forward, st.Inputs, st.Weights, st.Out, st.In = d(), d(), d(), d(), d()
		if i > 0 && p.Stages[i-1].Path == st.Path && p.Stages[i-1].Rank != st.Rank {
			st.Comm = time.Duration(r.IntN(4))
		}
		st.Act, st.Rest = 1+b(8), b(9)
		st.Input, st.Off = b(int(st.Act)), 1+b(int(st.Act))
		if r.IntN(3) == 0 {
			st.FwdTemp, st.InputsTemp, st.WeightsTemp = b(3), b(3), b(3)
		}
	}
	return p
}

// randomOrder draws passes in an order in which they can run. If again is set, activations are dropped (D) and
// recomputed (R); if copies is set, some are copied to the host and back.
func randomOrder(r *rand.Rand, p *pipeline.Problem, again, copies bool) [][]pipeline.Pass {
	type cell struct{ done, dropped, away, back bool }
	order := make([][]pipeline.Pass, p.Ranks)
	cells := make([][]cell, len(p.Stages))
	left := 0
	for s := range cells {
		cells[s] = make([]cell, p.Micro[p.Stages[s].Path])
		left += len(cells[s])
	}
	same := func(s, to int) bool {
		return to >= 0 && to < len(p.Stages) && p.Stages[to].Path == p.Stages[s].Path
	}
	waiting := map[pipeline.Pass]bool{} // backwards of weights that have not been put yet
	for left > 0 || len(waiting) > 0 {
		s := r.IntN(len(cells))
		m := r.IntN(len(cells[s]))
		c := &cells[s][m]
		put := func(k pipeline.Kind) {
			order[p.Stages[s].Rank] = append(order[p.Stages[s].Rank], pipeline.Pass{Kind: k, Micro: m, Stage: s})
		}
		w := pipeline.Pass{Kind: pipeline.Weights, Micro: m, Stage: s}
		switch {
		case waiting[w]:
			delete(waiting, w)
			put(pipeline.Weights)
		case !c.done && (!same(s, s-1) || cells[s-1][m].done):
			c.done, c.dropped = true, again && r.IntN(3) == 0
			if c.dropped {
				put(pipeline.Dropped)
			} else {
				put(pipeline.Forward)
			}
		case c.done && c.dropped:
			c.dropped = false
			put(pipeline.Again)
		case c.done && c.away:
			c.away = false
			put(pipeline.In)
		case c.done && !c.back && copies && r.IntN(3) == 0:
			c.away = true
			put(pipeline.Out)
		case c.done && !c.back && (!same(s, s+1) || cells[s+1][m].back):
			c.back = true
			left--
			if p.Fused || r.IntN(3) == 0 {
				put(pipeline.Backward)
				continue
			}
			put(pipeline.Inputs)
			waiting[w] = true
		}
	}
	return order
}

// squeeze gives a rank a limit between its largest pass and the peak of a trace.
func squeeze(r *rand.Rand, p *pipeline.Problem, trace *pipeline.Trace) {
	p.Limit = nil
	for _, peak := range trace.Peak {
		p.Limit = append(p.Limit, peak-engine.Bytes(r.IntN(3)*r.IntN(3)))
	}
}

// orders returns the number of random orders that a test plays.
func orders() int {
	switch {
	case long:
		return 10000
	case testing.Short():
		return 300
	}
	return 3000
}

// TestPlayerAndChecker checks that the checker proves every trace of the player, for all rules for messages, with
// copies on both lanes, and with limits under which passes and copies wait for room. Playing again gives the same
// trace.
func TestPlayerAndChecker(t *testing.T) {
	waited, stuck := 0, 0
	for seed := range orders() {
		r := enginetest.Rand(uint64(seed))
		p := randomProblem(r)
		order := randomOrder(r, p, seed%2 == 0, seed%3 == 0)
		p.Messages = pipeline.Messages(r.IntN(4))
		free, err := p.Play(order)
		if err != nil {
			t.Fatalf("seed %d: without limits: %v", seed, err)
		}
		if err := check.Trace(p, order, free); err != nil {
			t.Fatalf("seed %d: without limits: %v", seed, err)
		}
		squeeze(r, p, free)
		trace, err := p.Play(order)
		if _, refused := errors.AsType[*pipeline.StuckError](err); refused {
			stuck++
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if trace.Makespan > free.Makespan {
			waited++
		}
		if err := check.Trace(p, order, trace); err != nil {
			t.Fatalf("seed %d: with limits %v: %v", seed, p.Limit, err)
		}
	}
	if waited < orders()/100 || stuck < orders()/100 {
		t.Errorf("of %d orders %d waited for room and %d got stuck; want a hundredth at least of each", orders(),
			waited, stuck)
	}
}

// The checker refutes traces that are changed anywhere.
func TestCheckerRefutes(t *testing.T) {
	for seed := range 200 {
		r := enginetest.Rand(uint64(seed))
		p := randomProblem(r)
		order := randomOrder(r, p, true, true)
		trace, err := p.Play(order)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		rank := r.IntN(p.Ranks)
		x := &trace.Ranks[rank][r.IntN(len(trace.Ranks[rank]))]
		what := "a pass is moved"
		switch seed % 4 {
		case 0:
			x.Start, x.End = x.Start+1, x.End+1
		case 1:
			x.End++
			what = "a pass takes longer"
		case 2:
			trace.Peak[rank]++
			what = "a peak is larger"
		case 3:
			trace.Makespan--
			what = "the step is shorter"
		}
		if err := check.Trace(p, order, trace); err == nil {
			t.Errorf("seed %d: %s, and the checker agrees", seed, what)
		}
	}
}

// The errors for orders that cannot run name the pass that waits and what it waits for.
func TestRefusals(t *testing.T) {
	plan := pipeline.Request{Ranks: 2, Micro: 2, Cost: costs(1, 1, 1)}
	s, err := pipeline.New("1f1b", plan)
	if err != nil {
		t.Fatal(err)
	}
	at := func(r, i int) *pipeline.Pass { return &s.Order[r][i] }
	keep := func(do func()) string {
		old := [][]pipeline.Pass{append([]pipeline.Pass{}, s.Order[0]...), append([]pipeline.Pass{}, s.Order[1]...)}
		do()
		_, err := s.Play()
		s.Order, s.Problem.Limit = old, nil
		if err == nil {
			return "played"
		}
		return err.Error()
	}
	for _, c := range []struct {
		got, want string
	}{
		{keep(func() {
			*at(1, 0), *at(1, 2) = *at(1, 2), *at(1, 0)
			*at(1, 1), *at(1, 3) = *at(1, 3), *at(1, 1)
			*at(0, 1), *at(0, 2) = *at(0, 2), *at(0, 1)
		}),
			"rank 0 waits for ever: the backward of micro batch 0 at stage 0 waits for the backward of micro batch 0 at stage 1"},
		{keep(func() { s.Problem.Limit = []engine.Bytes{1, 1} }),
			"rank 0 waits for ever: the forward of micro batch 1 at stage 0 lacks 1 bytes of room"},
		{keep(func() { *at(0, 0) = *at(0, 2) }),
			"rank 0, place 0: the backward of micro batch 0 at stage 0: it needs its activations on the device before it, and runs once"},
		{keep(func() { s.Order[1] = s.Order[1][:3] }),
			"rank 1: the backward of micro batch 1 at stage 1 is missing: every micro batch runs forward and backward at every stage"},
		{keep(func() { at(0, 1).Stage = 1 }),
			"rank 0, place 1: the forward of micro batch 1 at stage 1: the stage lies on rank 1"},
		{keep(func() { s.Order[0] = append(s.Order[0], pipeline.Pass{Kind: pipeline.Out}) }),
			"rank 0, place 4: the copy to the host of micro batch 0 at stage 0: the stage has nothing to copy"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if !strings.Contains(keep(func() { s.Order = s.Order[:1] }), "2 ranks") {
		t.Error("a list too few is not refused")
	}
}

// TestLongestPath checks Proposition 1: without copies the longest path is the step time of the player. The bytes
// follow from the order alone, so limits that the order keeps change nothing, and lower limits refuse it.
func TestLongestPath(t *testing.T) {
	refused := 0
	for seed := range orders() {
		r := enginetest.Rand(uint64(seed))
		p := randomProblem(r)
		order := randomOrder(r, p, seed%2 == 0, false)
		if !p.Fused {
			order = splitAll(order)
		} else {
			order = fuseAll(order)
		}
		free, err := p.Play(order)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		squeeze(r, p, free)
		trace, err := p.Play(order)
		got, ok := p.LongestPath(order)
		if ok != (err == nil) {
			t.Fatalf("seed %d: the longest path fits: %v; the player says %v", seed, ok, err)
		}
		if !ok {
			refused++
			continue
		}
		if got != int64(trace.Makespan) || trace.Makespan != free.Makespan {
			t.Fatalf("seed %d: the longest path is %d; played are %d, and %d without limits", seed, got,
				trace.Makespan, free.Makespan)
		}
	}
	if refused < orders()/10 {
		t.Errorf("%d of %d orders do not fit; want a tenth at least", refused, orders())
	}
}

// splitAll splits whole backwards into two passes. fuseAll joins the two passes into one.
func splitAll(order [][]pipeline.Pass) (out [][]pipeline.Pass) {
	for _, list := range order {
		var l []pipeline.Pass
		for _, x := range list {
			if x.Kind == pipeline.Backward {
				l = append(l, pipeline.Pass{Kind: pipeline.Inputs, Micro: x.Micro, Stage: x.Stage})
				x.Kind = pipeline.Weights
			}
			l = append(l, x)
		}
		out = append(out, l)
	}
	return out
}

func fuseAll(order [][]pipeline.Pass) (out [][]pipeline.Pass) {
	for _, list := range order {
		var l []pipeline.Pass
		for _, x := range list {
			if x.Kind == pipeline.Inputs {
				x.Kind = pipeline.Backward
			}
			if x.Kind != pipeline.Weights {
				l = append(l, x)
			}
		}
		out = append(out, l)
	}
	return out
}

// TestMoves checks that the player agrees with the moves of the search, which only play the part after a change:
// the orders fit, and take the time that the search computed.
func TestMoves(t *testing.T) {
	changed := 0
	for seed := range orders() / 4 {
		r := enginetest.Rand(uint64(seed))
		p := randomProblem(r)
		order := splitAll(randomOrder(r, p, false, false))
		if p.Fused {
			order = fuseAll(order)
		}
		p.Limit = nil
		for i := range p.Ranks {
			p.Limit = append(p.Limit, engine.Bytes(10+r.IntN(60)+0*i))
		}
		got, took := p.Perturbed(order, 1+r.IntN(60), pipeline.Allowed{Recompute: seed%2 == 0})
		if got == nil {
			continue
		}
		trace, err := p.Play(got)
		if err != nil || int64(trace.Makespan) != took {
			t.Fatalf("seed %d: %v (%v); the search takes %d", seed, trace, err, took)
		}
		if err := check.Trace(p, got, trace); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i := range got {
			if len(got[i]) != len(order[i]) {
				changed++
				break
			}
		}
	}
	if changed < orders()/100 {
		t.Errorf("forwards are dropped in %d orders; want more", changed)
	}
}
