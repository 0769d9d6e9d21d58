package whatif_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/engine/enginetest"
	"memtide/engine/whatif"
)

// TestOfChain compares a chain scaled from two samples to three with sizes and times worked out by hand.
func TestOfChain(t *testing.T) {
	c := &engine.Chain{Name: "net", Batch: 2, Input: 5, InputGrad: 4, LossGradAllocated: true,
		Resident: engine.Resident{Weights: 7, Grads: 8, Optimizer: 9, Pinned: 10},
		Stages: []engine.Stage{
			{Name: "conv", Kind: "conv", Forward: 5001, Back: 7000, Out: 3, Saved: 6, Grad: 3, FwdTemp: 1, BwdTemp: 0,
				Fast: &engine.Algorithm{Forward: 5000, Back: 5002, FwdTemp: 9, BwdTemp: 2}},
			{Name: "act", Forward: 40, Back: 0, Out: 2, Saved: 2, Grad: 2},
		}}
	build, err := whatif.ScaleChain(c)
	if err != nil {
		t.Fatal(err)
	}
	p, err := build(3)
	if err != nil {
		t.Fatal(err)
	}
	// 5 us of each operation are fixed. The rest becomes 1.5 times as much, rounded up.
	want := &engine.Chain{Name: "net", Batch: 3, Input: 8, InputGrad: 6, LossGradAllocated: true, Resident: c.Resident,
		Stages: []engine.Stage{
			{Name: "conv", Kind: "conv", Forward: 5002, Back: 8000, Out: 5, Saved: 9, Grad: 5, FwdTemp: 2, BwdTemp: 0,
				Fast: &engine.Algorithm{Forward: 5000, Back: 5003, FwdTemp: 14, BwdTemp: 3}},
			{Name: "act", Forward: 40, Back: 0, Out: 3, Saved: 3, Grad: 3},
		}}
	if !reflect.DeepEqual(p.Chain.Chain, want) {
		t.Errorf("got\n%s%+v\nwant\n%s%+v", enginetest.Dump(p.Chain.Chain), *p.Chain.Chain, enginetest.Dump(want),
			*want)
	}
	if p, err := build(2); err != nil || !reflect.DeepEqual(p.Chain.Chain, c) {
		t.Errorf("at its own batch the chain is %+v (%v), want what it was", p.Chain.Chain, err)
	}
	if _, err := build(0); err == nil {
		t.Error("a batch of 0 is built; want an error")
	}
	if _, err := whatif.ScaleChain(&engine.Chain{Name: "net"}); err == nil {
		t.Error("a chain without a batch is scaled; want an error")
	}
}

// TestOfGraph checks that scaling a graph changes everything but its weights and its fixed memory.
func TestOfGraph(t *testing.T) {
	g := &engine.Graph{Done: engine.NoValue, Fixed: 11, Values: []engine.Value{
		{Name: "x", Kind: engine.KindActivation, Size: 3, PartOf: engine.NoValue},
		{Name: "w", Kind: engine.KindWeight, Size: 3, PartOf: engine.NoValue, Initial: engine.OnHost},
		{Name: "d", Kind: engine.KindGradient, Size: 4, PartOf: engine.NoValue}},
		Ops: []engine.Op{{Name: "f", Time: 5002, Temp: 1, In: []engine.ValueID{1}, Out: []engine.ValueID{0, 2},
			Alt: &engine.Alt{Time: 6000, Temp: 2}}}}
	build, err := whatif.ScaleGraph(g, 2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := build(5)
	if err != nil {
		t.Fatal(err)
	}
	op := p.Graph.Ops[0]
	got := fmt.Sprint(p.Graph.Values[0].Size, p.Graph.Values[1].Size, p.Graph.Values[2].Size, p.Graph.Fixed, op.Time,
		op.Temp, *op.Alt)
	if want := fmt.Sprint(8, 3, 10, 11, time.Duration(5005), 3, engine.Alt{Time: 7500, Temp: 5}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if g.Values[0].Size != 3 || g.Ops[0].Alt.Time != 6000 {
		t.Error("the graph itself was changed")
	}
	if _, err := whatif.ScaleGraph(g, 0); err == nil {
		t.Error("a graph without a batch is scaled; want an error")
	}
}

// question returns a question about the batches of a chain, for a strategy and a budget.
func question(t *testing.T, c *engine.Chain, s *engine.Strategy, budget engine.Bytes) *whatif.BatchQuestion {
	t.Helper()
	build, err := whatif.ScaleChain(c)
	if err != nil {
		t.Fatal(err)
	}
	return &whatif.BatchQuestion{Build: build, Strategy: s, Device: enginetest.Device(engine.HalfDuplex),
		Budget: budget, Most: 40}
}

// TestLargest compares LargestBatch with solving every batch, for every strategy.
func TestLargest(t *testing.T) {
	const seed = 61
	r := enginetest.Rand(seed)
	found, none, all := 0, 0, 0
	for i := range 12 {
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 6, MaxSize: 20})
		c.Batch = 1 + r.IntN(6)
		budget := c.Resident.Total() + engine.Bytes(1+r.IntN(8))*c.KeepAllPeak()/3
		if i%6 == 5 {
			budget *= 30
		}
		for _, s := range engine.Strategies() {
			q := question(t, c, s, budget)
			got, err := whatif.LargestBatch(t.Context(), q, nil)
			if err != nil {
				t.Fatalf("seed %d chain %d: %s: %v", seed, i, s.Name, err)
			}
			var trains []int
			for b := 1; b <= q.Most; b++ {
				at, err := whatif.AtBatch(t.Context(), q, b)
				if err != nil {
					t.Fatalf("seed %d chain %d: %s at %d: %v", seed, i, s.Name, b, err)
				}
				if at.StepTime > 0 || at.Peak > 0 {
					trains = append(trains, b)
				}
			}
			want := 0
			if len(trains) > 0 {
				want = slices.Max(trains)
			}
			input := fmt.Sprintf("seed %d chain %d, batch %d, budget %d, %s\n%s", seed, i, c.Batch, budget, s.Name,
				enginetest.Dump(c))
			if gaps := len(trains) != want; got.Batch != want && !gaps {
				t.Errorf("%sgot %+v, want batch %d", input, got, want)
			}
			if slices.Contains(trains, got.Fails) || got.Batch > 0 && !slices.Contains(trains, got.Batch) {
				t.Errorf("%sgot %+v; it trains at %v", input, got, trains)
			}
			switch got.Batch {
			case 0:
				if none++; got.Smallest <= budget {
					t.Errorf("%sone sample needs %d bytes, and %d are not enough", input, got.Smallest, budget)
				}
			case q.Most:
				if all++; got.Fails != 0 {
					t.Errorf("%sall batches train, but %d", input, got.Fails)
				}
			default:
				found++
			}
		}
	}
	if found < 100 || none < 10 || all < 10 {
		t.Errorf("seed %d: %d found, %d where nothing trains, %d where all do: the generator is off", seed, found,
			none, all)
	}
}

// pretend returns a strategy that solves like keepall, but refuses the batches for which refuses returns true.
func pretend(refuses func(batch int) bool) *engine.Strategy {
	keep := engine.Lookup("keepall")
	return &engine.Strategy{Name: "pretend",
		Solver: func(p *engine.Problem, _ engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
			if b := p.Chain.Chain.Batch; refuses(b) {
				return nil, &engine.InfeasibleError{Budget: p.Budget, Smallest: engine.Bytes(1000 + b)}
			}
			return keep.Solve(p.WithBudget(engine.NoLimit), nil, poll)
		}}
}

func oneByte() *engine.Chain {
	return &engine.Chain{Batch: 1, Input: 1,
		Stages: []engine.Stage{{Forward: 10_000, Back: 20_000, Out: 1, Saved: 1, Grad: 1}}}
}

// TestGaps checks a strategy that refuses a batch between others that it solves.
func TestGaps(t *testing.T) {
	q := question(t, oneByte(), pretend(func(b int) bool { return b >= 8 && b < 10 || b > 21 }), 100)
	got, err := whatif.LargestBatch(t.Context(), q, nil)
	if err != nil || got.Batch != 21 || got.Fails != 22 || !got.Gaps {
		t.Errorf("got %+v, %v; want batch 21 with gaps below it", got, err)
	}
	// 21 samples take the fixed parts once, and 21 times the rest of 10 us and 20 us.
	if want := 2*whatif.Launch + 21*(30*time.Microsecond-2*whatif.Launch); got.StepTime != want ||
		got.Throughput() != 21/want.Seconds() {
		t.Errorf("21 samples take %v, %v samples/s; want %v", got.StepTime, got.Throughput(), want)
	}
}

// TestUndecided checks that a batch without an answer within the limit is undecided.
func TestUndecided(t *testing.T) {
	s := pretend(func(b int) bool { return false })
	solve := s.Solver
	s.Solver = func(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
		for p.Chain.Chain.Batch >= 5 {
			if err := poll.Err(); err != nil {
				return nil, err
			}
		}
		return solve(p, args, poll)
	}
	q := question(t, oneByte(), s, 100)
	limited := engine.LimitCalls(t.Context(), 1000)
	got, err := whatif.LargestBatch(limited, q, nil)
	if err != nil || got.Batch != 4 || got.Fails != 5 || !slices.Contains(got.Undecided, 5) {
		t.Errorf("got %+v, %v; want batch 4, and 5 undecided", got, err)
	}
	at, err := whatif.AtBatch(limited, q, 5)
	if err != nil || !at.Partial || at.StepTime != 0 || at.Smallest != 0 {
		t.Errorf("batch 5: got %+v, %v; want no answer", at, err)
	}
	// The time limit of the question has the same effect. Here the clock advances at each poll.
	synctest.Test(t, func(t *testing.T) {
		q := *q
		q.Limit = 10 * time.Millisecond
		ticking := context.WithValue(t.Context(), engine.Yield{}, func() { time.Sleep(time.Millisecond) })
		if at, err := whatif.AtBatch(ticking, &q, 5); err != nil || !at.Partial || at.StepTime != 0 {
			t.Errorf("batch 5 in %v: got %+v, %v; want no answer", q.Limit, at, err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := whatif.LargestBatch(ctx, q, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %+v, %v", got, err)
	}
	if err := whatif.BatchCurve(ctx, q, []int{1},
		func(whatif.BatchPoint) { t.Error("cancelled, and a point comes") }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

// TestErrors checks a strategy that does not apply, a missing link, and a false claim.
func TestErrors(t *testing.T) {
	c := enginetest.RandomChain(enginetest.Rand(3), enginetest.Shape{MinStages: 14, MaxStages: 14})
	c.Batch = 1
	if got, err := whatif.LargestBatch(t.Context(), question(t, c, engine.Lookup("offloadexact"), engine.Bytes(1)),
		nil); !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("offloadexact on 14 stages: got %+v, %v; want that it does not apply", got, err)
	}
	q := question(t, c, engine.Lookup("greedy"), 3*c.KeepAllPeak())
	q.Device = engine.Device{}
	keep := question(t, c, engine.Lookup("keepall"), q.Budget)
	got, err := whatif.LargestBatch(t.Context(), q, nil)
	want, _ := whatif.LargestBatch(t.Context(), keep, nil)
	if err != nil || got.Batch != want.Batch || got.Batch < 2 {
		t.Errorf("without a link: got %+v, %v; want the %d of keeping everything", got, err, want.Batch)
	}
	s := pretend(func(int) bool { return false })
	solve := s.Solver
	s.Solver = func(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
		sol, err := solve(p, args, poll)
		sol.Makespan--
		return sol, err
	}
	if at, err := whatif.AtBatch(t.Context(), question(t, oneByte(), s, 100), 1); err == nil {
		t.Errorf("a false claim: got %+v, want an error", at)
	}
}

// TestCurve checks that a curve has every batch once, in order, including those that do not fit.
func TestCurve(t *testing.T) {
	q := question(t, oneByte(), engine.Lookup("keepall"), 30)
	var got []whatif.BatchPoint
	if err := whatif.BatchCurve(t.Context(), q, []int{1, 10, 20, 30, 40},
		func(p whatif.BatchPoint) { got = append(got, p) }); err != nil {
		t.Fatal(err)
	}
	// Input, saved activations and gradient are a byte each: 30 bytes hold 10 samples.
	for i, want := range []struct {
		batch int
		fits  bool
	}{{1, true}, {10, true}, {20, false}, {30, false}, {40, false}} {
		if i >= len(got) || got[i].Batch != want.batch || (got[i].StepTime > 0) != want.fits ||
			(got[i].Smallest == 0) != want.fits {
			t.Errorf("point %d of %+v; want batch %d, fits %v", i, got, want.batch, want.fits)
		}
	}
}

// A search ends where the numbers exceed the supported range, and reports the next batch as undecided.
func TestBeyondRange(t *testing.T) {
	c := &engine.Chain{Batch: 1, Stages: []engine.Stage{{Forward: engine.MaxTime / 1000, Out: 1, Saved: 1}}}
	q := question(t, c, engine.Lookup("keepall"), engine.NoLimit)
	q.Most = whatif.MaxBatch
	got, err := whatif.LargestBatch(t.Context(), q, nil)
	if err != nil || got.Batch < 900 || got.Batch > 1100 || got.Fails != got.Batch+1 ||
		!slices.Contains(got.Undecided, got.Fails) {
		t.Errorf("got %+v, %v; want about 1000 samples, and the next one undecided", got, err)
	}
	_, err = whatif.AtBatch(t.Context(), q, 2000)
	if !errors.Is(err, engine.ErrRange) ||
		!strings.HasPrefix(err.Error(), "at batch 2000: the times add up to 208 days") {
		t.Errorf("batch 2000: got %v, want what is too large", err)
	}
}
