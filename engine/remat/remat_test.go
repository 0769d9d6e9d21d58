package remat_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/remat"
	"memtide/engine/sim"
)

func problem(c *engine.Chain, budget engine.Bytes) *engine.Problem {
	return engine.NewChainProblem(c, engine.Device{}, engine.Whole, budget)
}

func solve(t *testing.T, name string, p *engine.Problem, args engine.Args) (*engine.Solution, error) {
	t.Helper()
	return engine.Lookup(name).Solve(p, args, nil)
}

// TestRotorVectors compares step times and smallest budgets with the proven ones.
func TestRotorVectors(t *testing.T) {
	for _, file := range []string{"rotor_small", "rotor_medium", "paper_examples"} {
		for _, v := range enginetest.Load(file) {
			if v.Algorithm != "rotor" {
				continue
			}
			sol, err := solve(t, "rotor", v.Problem(engine.Whole), nil)
			want, fits := v.ExpectInt("makespan")
			if fits != (err == nil) || fits && v.Units(sol.Makespan) != want {
				t.Errorf("%s: got %v, %v; want %d, feasible %v", v.ID, sol, err, want, fits)
			}
			var infeasible *engine.InfeasibleError
			if least, ok := v.ExpectInt("min_budget"); ok && errors.As(err, &infeasible) &&
				int64(infeasible.Smallest) != least {
				t.Errorf("%s: smallest budget: got %d, want %d", v.ID, infeasible.Smallest, least)
			}
			if least, ok := v.ExpectInt("min_budget"); ok && fits && *v.Budget < least {
				t.Errorf("%s: feasible in %d, below the smallest budget %d", v.ID, *v.Budget, least)
			}
		}
	}
}

// TestRevolveVectors compares step times with the proven ones.
func TestRevolveVectors(t *testing.T) {
	for _, v := range enginetest.Load("revolve_small") {
		sol, err := solve(t, "revolve", v.Problem(engine.Whole), nil)
		want, fits := v.ExpectInt("makespan")
		var infeasible *engine.InfeasibleError
		if fits != (err == nil) || err != nil && !errors.As(err, &infeasible) || fits && v.Units(sol.Makespan) != want {
			t.Errorf("%s: got %v, %v; want %d, feasible %v", v.ID, sol, err, want, fits)
		}
	}
}

// TestSequentialVectors compares the time and the peak of a given number of segments with the vectors.
func TestSequentialVectors(t *testing.T) {
	for _, v := range enginetest.Load("sequential") {
		c := v.Chain()
		total, peak := remat.Replay(c, remat.SegmentSequence(c, v.Segments))
		wantTime, _ := v.ExpectInt("makespan")
		wantPeak, _ := v.ExpectInt("peak")
		if v.Units(total) != wantTime || int64(peak) != wantPeak {
			t.Errorf("%s: got time %d and peak %d, want %d and %d", v.ID, v.Units(total), peak, wantTime, wantPeak)
		}
	}
}

// TestReplayVectors replays the valid sequences of the vectors, many of which no strategy would
// find.
func TestReplayVectors(t *testing.T) {
	count := 0
	for _, v := range append(enginetest.Load("simulate"), enginetest.Load("paper_examples")...) {
		wantTime, ok := v.ExpectInt("makespan")
		if v.Algorithm != "simulate" || !ok {
			continue
		}
		count++
		wantPeak, _ := v.ExpectInt("peak")
		if total, peak := remat.Replay(v.Chain(), v.Ops()); v.Units(total) != wantTime || int64(peak) != wantPeak {
			t.Errorf("%s: got time %d and peak %d, want %d and %d", v.ID, v.Units(total), peak, wantTime, wantPeak)
		}
	}
	if count < 20 {
		t.Errorf("only %d sequences are valid", count)
	}
}

// TestReplayPlays compares Replay with the simulator on random valid sequences, in which outputs are computed
// again beside saved activations or as part of them.
func TestReplayPlays(t *testing.T) {
	r := enginetest.Rand(11)
	complete := 0
	for i := range 400 {
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 4})
		if i%2 == 0 { // so that the peak is early, whatever runs there
			c.LossGradAllocated = false
			c.Stages[c.Len()-1].Grad += 20
			c.Stages[0].FwdTemp += 60
		}
		p := problem(c, engine.NoLimit)
		var seq []engine.ChainOp
		schedule, _, err := p.Chain.CompileSequence(seq)
		for tries := 0; err != nil && tries < 200; tries++ {
			op := engine.ChainOp{Kind: engine.ChainOpKind(r.IntN(4)), Stage: 1 + r.IntN(c.Len())}
			longer := append(slices.Clone(seq), op)
			var bad *engine.SequenceError
			schedule, _, err = p.Chain.CompileSequence(longer)
			if err == nil || errors.As(err, &bad) && bad.Index == len(longer) {
				seq = longer // valid so far
			}
		}
		if err != nil {
			continue
		}
		complete++
		trace, err := sim.Play(p, schedule)
		if err != nil {
			t.Fatalf("seed 11 chain %d %v: %v", i, seq, err)
		}
		if total, peak := remat.Replay(c, seq); total != trace.Makespan || peak != trace.Peak {
			t.Errorf("seed 11 chain %d %v: got %d and %d, plays %d and %d\n%s", i, seq, total, peak, trace.Makespan,
				trace.Peak, enginetest.Dump(c))
		}
	}
	if complete < 100 {
		t.Errorf("only %d sequences reach the end", complete)
	}
}

// TestNothingLeft gives rotor room for exactly the saved activations of the first stage. The second stage needs
// no memory.
func TestNothingLeft(t *testing.T) {
	c := &engine.Chain{Stages: []engine.Stage{{Forward: 3, Back: 1, Out: 5, Saved: 5}, {Forward: 2, Back: 1}}}
	sol, err := solve(t, "rotor", problem(c, 5), nil)
	if err != nil || sol.Makespan != 7 || sol.Peak != 5 {
		t.Errorf("got %+v, %v; want step time 7 and peak 5", sol, err)
	}
}

// TestSequentialTakesTheFastest compares sequential with every number of segments.
func TestSequentialTakesTheFastest(t *testing.T) {
	r := enginetest.Rand(3)
	for i := range 200 {
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 12})
		budget := enginetest.RandomBudget(r, c)
		layers := c.Len() - 1
		if c.LossGradAllocated {
			layers++
		}
		best, least := time.Duration(-1), engine.NoLimit
		for k := 1; k <= max(layers, 1); k++ {
			total, peak := remat.Replay(c, remat.SegmentSequence(c, k))
			least = min(least, peak)
			if peak <= budget && (best < 0 || total < best) {
				best = total
			}
		}
		sol, err := solve(t, "sequential", problem(c, budget), nil)
		var infeasible *engine.InfeasibleError
		switch {
		case best < 0 && (!errors.As(err, &infeasible) || infeasible.Smallest != least):
			t.Errorf("seed 3 chain %d budget %d: got %v, want that %d would do\n%s", i, budget, err, least,
				enginetest.Dump(c))
		case best >= 0 && (err != nil || sol.Makespan != best):
			t.Errorf("seed 3 chain %d budget %d: got %v, %v; want %v\n%s", i, budget, sol, err, best,
				enginetest.Dump(c))
		}
	}
}

// TestSequentialTooManySegments checks that the error does not depend on the budget.
func TestSequentialTooManySegments(t *testing.T) {
	v := enginetest.Load("sequential")[0]
	_, err := solve(t, "sequential", v.Problem(engine.Whole), engine.Args{"segments": "10"})
	if !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("%d stages and 10 segments: got %v, want an error that wraps %v", len(v.Stages), err,
			engine.ErrUnsupported)
	}
}

// TestLargeNumbers scales a chain so that neither sizes nor times fit into 32 bits, even after division by their
// common factors. The optimum scales with it.
func TestLargeNumbers(t *testing.T) {
	vectors := enginetest.Load("rotor_medium")
	v := vectors[slices.IndexFunc(vectors, func(v enginetest.Vector) bool {
		feasible, _ := v.ExpectBool("feasible")
		return feasible
	})]
	small := v.Chain()
	big := *small
	big.Stages = nil
	const size, span = engine.Bytes(1<<33 + 7), time.Duration(1<<34 + 3)
	for _, s := range small.Stages {
		s.Forward, s.Back = s.Forward*span, s.Back*span
		s.Out, s.Saved, s.Grad, s.FwdTemp, s.BwdTemp = s.Out*size, s.Saved*size, s.Grad*size, s.FwdTemp*size,
			s.BwdTemp*size
		big.Stages = append(big.Stages, s)
	}
	big.Input, big.InputGrad = big.Input*size, big.InputGrad*size
	big.Stages[3].Forward++ // so that the numbers have no common factor
	big.Stages[3].FwdTemp++
	budget := v.BudgetBytes()*size + 1
	got, err := solve(t, "rotor", problem(&big, budget), nil)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := v.ExpectInt("makespan")
	if near := got.Makespan / span; int64(near) != want {
		t.Errorf("got %d (%d units), want %d units", got.Makespan, near, want)
	}
	if got.Peak > budget {
		t.Errorf("peak %d is above the budget %d", got.Peak, budget)
	}
}

// TestInfeasibleNamesTheStage checks the reasons of refusals if the forward, the backward or the saved set of one
// stage is far too large.
func TestInfeasibleNamesTheStage(t *testing.T) {
	for _, test := range []struct {
		change func(*engine.Stage)
		want   string
	}{
		{func(s *engine.Stage) { s.BwdTemp = 1000 },
			"the backward of stage 3 (wide) needs the most: its workspace 1000 bytes, its saved set 3 bytes, " +
				"its input 2 bytes, the gradient of its output 2 bytes, the gradient of its input 2 bytes, other values 1 bytes"},
		{func(s *engine.Stage) { s.FwdTemp = 1000 },
			"the forward of stage 3 (wide) needs the most: its workspace 1000 bytes, its saved set 3 bytes, " +
				"other values 3 bytes, its input 2 bytes"},
		{func(s *engine.Stage) { s.Saved = 1000 },
			"the backward of stage 3 (wide) needs the most: its saved set 1000 bytes, its input 2 bytes, " +
				"the gradient of its output 2 bytes, the gradient of its input 2 bytes, other values 1 bytes"},
	} {
		c := &engine.Chain{Input: 1, InputGrad: 1}
		for range 6 {
			c.Stages = append(c.Stages, engine.Stage{Name: "narrow", Forward: 1, Back: 1, Out: 2, Saved: 3, Grad: 2})
		}
		c.Stages[2].Name = "wide"
		test.change(&c.Stages[2])
		_, err := solve(t, "rotor", problem(c, 100), nil)
		var infeasible *engine.InfeasibleError
		if !errors.As(err, &infeasible) || infeasible.Why != test.want {
			t.Errorf("got %v, want one that says %q", err, test.want)
		}
	}
}

// TestPrinted plays the counterexample of Theorem 1 as printed: the theorem accepts three bytes,
// four are needed, and the strategy refuses three.
func TestPrinted(t *testing.T) {
	for _, v := range enginetest.Load("paper_examples") {
		if v.ID != "p002-mall-erratum" {
			continue
		}
		want, _ := v.ExpectInt("makespan_printed_formula")
		d, ok, err := remat.PrintedMakespan(v.Chain(), v.BudgetBytes(), nil)
		if err != nil || !ok || v.Units(d) != want {
			t.Errorf("printed: got %v, %v, %v; want %d", d, ok, err, want)
		}
		var infeasible *engine.InfeasibleError
		if _, err := solve(t, "rotor", v.Problem(engine.Whole), nil); !errors.As(err, &infeasible) ||
			infeasible.Smallest != 4 {
			t.Errorf("got %v, want that 4 bytes would do", err)
		}
		sol, err := solve(t, "rotor", v.Problem(engine.Whole).WithBudget(4), engine.Args{"printed": "yes"})
		if err != nil || len(sol.Notes) != 2 || !strings.Contains(sol.Notes[1], "As printed") {
			t.Errorf("got %v, %v; want a second note on the printed theorem", sol, err)
		}
		return
	}
	t.Fatal("the vector p002-mall-erratum is gone")
}

// TestMediumPlays plays schedules of chains that are too long for brute force, and checks their
// claims.
func TestMediumPlays(t *testing.T) {
	r := enginetest.Rand(4)
	for i := range 30 {
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 40, MaxStages: 80, MaxSize: 1 << 20, MaxTime: 1e6})
		p := problem(c, c.KeepAllPeak()/100*engine.Bytes(20+r.IntN(80)))
		sol, err := solve(t, "rotor", p, nil)
		var infeasible *engine.InfeasibleError
		if errors.As(err, &infeasible) {
			p = p.WithBudget(infeasible.Smallest)
			sol, err = solve(t, "rotor", p, nil)
		}
		if err != nil {
			t.Fatalf("seed 4 chain %d: %v", i, err)
		}
		trace, err := sim.Play(p, sol.Schedule)
		if err != nil {
			t.Fatalf("seed 4 chain %d: %v", i, err)
		}
		if trace.Makespan != sol.Makespan || trace.Peak != sol.Peak || trace.Peak > p.Budget {
			t.Errorf("seed 4 chain %d: claims %v and %d, plays %v and %d within %d", i, sol.Makespan, sol.Peak,
				trace.Makespan, trace.Peak, p.Budget)
		}
	}
}
