package remat

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// impossible is the cost of a state that does not fit.
const impossible = int64(1) << 60

// plain returns the result of the recursion of Theorem 1 as printed, over every m. The table has to agree with
// it. ok is false if nothing fits.
func plain(t *terms) (best int64, ok bool) {
	if t.room < 0 {
		return 0, false
	}
	best = plainRows(t)(1, t.n)[t.room]
	return best, best < impossible
}

// plainRows returns the function that gives the values of a state (s,u) by m.
func plainRows(t *terms) func(s, u int) []int64 {
	side, width := t.n+1, int(t.room)+1
	cost := make([]int64, side*side*width)
	row := func(s, u int) []int64 { return cost[(s*side+u)*width:][:width] }
	for s := t.n; s >= 1; s-- {
		for u := s; u <= t.n; u++ {
			for m := range row(s, u) {
				row(s, u)[m] = plainState(t, row, s, u, int64(m))
			}
		}
	}
	return row
}

func plainState(t *terms, row func(s, u int) []int64, s, u int, m int64) int64 {
	if s == u {
		if m >= t.single[s] {
			return 0
		}
		return impossible
	}
	best := impossible
	if !t.outputOnly && m >= t.all(s, u) {
		best = row(s+1, u)[min(m-t.saved[s], t.room)] // no state has more than all of the room
	}
	if m >= t.none(s, u) {
		sum := int64(0)
		for j := s + 1; j <= u; j++ {
			sum += t.fwd[j-1]
			if m >= t.in[j] {
				best = min(best, sum+row(j, u)[m-t.in[j]]+row(s, j-1)[m])
			}
		}
	}
	return best
}

// combinations returns all settings of the switches.
func combinations() []tricks {
	var all []tricks
	for i := range 32 {
		on := func(bit int) bool { return i>>bit&1 == 1 }
		all = append(all, tricks{on(0), on(1), on(2), on(3), on(4)})
	}
	return all
}

// TestTableAgainstPlainRecursion compares the table, with every combination of its tricks, with the
// plain recursion on small chains: the values, and the time of the sequence.
func TestTableAgainstPlainRecursion(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for WebAssembly, after this ran natively")
	}
	r := enginetest.Rand(1)
	feasible := 0
	for i := range 96 {
		shape := enginetest.Shape{MinStages: 1, MaxStages: 14, MaxSize: 12, MaxTime: 50}
		if i%3 == 0 { // long enough for groups
			shape = enginetest.Shape{MinStages: 25, MaxStages: 30, MaxSize: 3, MaxTime: 9}
		}
		c := enginetest.RandomChain(r, shape)
		if i%4 == 1 || i == 6 {
			enginetest.GiveUnsaved(r, c)
		}
		budget := enginetest.RandomBudget(r, c)
		builds := []func(*engine.Chain, engine.Bytes) *terms{newTerms, printedTerms, outputOnlyTerms}
		for variant, build := range builds {
			want, fits := plain(build(c, budget))
			if fits {
				feasible++
			}
			for _, use := range combinations() {
				checkTable(t, fmt.Sprintf("seed 1 chain %d variant %d %+v budget %d\n%s", i, variant, use, budget,
					enginetest.Dump(c)),
					c, build(c, budget), use, want, fits)
			}
		}
	}
	if feasible < 96 {
		t.Errorf("only %d of 288 cases are feasible: the generator is off", feasible)
	}
}

func checkTable(t *testing.T, input string, c *engine.Chain, terms *terms, use tricks, want int64, fits bool) {
	t.Helper()
	o, err := solve(terms, use, nil, nil)
	if !fits {
		if err != errNoRoom {
			t.Fatalf("%s: got %v, want %v", input, err, errNoRoom)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s: got %v, want extra time %d", input, err, want)
	}
	if got := o.extra; got != want {
		t.Fatalf("%s: got extra time %d, want %d", input, got, want)
	}
	total, _ := Replay(c, o.seq)
	if got := int64(total - c.ForwardTime() - c.BackTime()); got != want {
		t.Fatalf("%s: the sequence %v takes %d more, want %d", input, o.seq, got, want)
	}
}

// spike makes one stage of a chain need far more than the others, because the needs of the forwards in between
// only matter beside a large gradient or a large temporary.
func spike(r *rand.Rand, c *engine.Chain) {
	st := &c.Stages[r.IntN(c.Len())]
	most := c.KeepAllPeak() - c.Resident.Total() + 1
	switch r.IntN(4) {
	case 0:
		st.FwdTemp += engine.Bytes(r.Int64N(int64(most)))
	case 1:
		st.Grad += engine.Bytes(r.Int64N(int64(most)))
	case 2:
		c.Stages[c.Len()-1].Grad += most
	}
}

// TestRowsAreExact compares every value of every state, with nothing dropped
// because of a limit.
func TestRowsAreExact(t *testing.T) {
	r := enginetest.Rand(10)
	for i := range 40 {
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 5, MaxStages: 20, MaxSize: 30, MaxTime: 1000})
		spike(r, c)
		terms := newTerms(c, c.KeepAllPeak()*9/10)
		if terms.room < 0 {
			continue
		}
		rows := plainRows(terms)
		x := newTable(terms, tricks{gallop: true}, nil)
		if _, err := x.fill(1 << 28); err != nil {
			t.Fatal(err)
		}
		for s := 1; s <= x.n; s++ {
			for u := s; u <= x.n; u++ {
				for m, want := range rows(s, u) {
					got, ok := x.value(s, u, int64(m))
					if ok != (want < impossible) || ok && got != want {
						t.Fatalf("seed 10 chain %d state (%d,%d,%d): got %d, %v; want %d\n%s", i, s, u, m, got, ok,
							want, enginetest.Dump(c))
					}
				}
			}
		}
	}
}

// TestLimitIsTight gives the table the optimum itself as the limit, which it has to reach, and one less, which it
// must not. The rows are long enough for galloping, and in some of them many steps have the same m.
func TestLimitIsTight(t *testing.T) {
	r := enginetest.Rand(9)
	feasible := 0
	for i := range 300 {
		shape := enginetest.Shape{MinStages: 3, MaxStages: 18, MaxSize: 30, MaxTime: 1000}
		if i%3 == 0 {
			shape.MaxSize, shape.MaxTime = 4, 5
		}
		c := enginetest.RandomChain(r, shape)
		spike(r, c)
		terms := newTerms(c, enginetest.RandomBudget(r, c))
		want, fits := plain(terms)
		if !fits {
			continue
		}
		feasible++
		for _, use := range []tricks{allTricks, {limit: true, forward: true},
			{limit: true, gallop: true}} {
			x := newTable(terms, use, nil)
			input := fmt.Sprintf("seed 9 chain %d room %d %+v\n%s", i, terms.room, use, enginetest.Dump(c))
			found, _ := x.fill(want)
			if got, _ := x.value(1, x.n, x.room); !found || got != want {
				t.Fatalf("%slimit %d: got %d, %v; want it found", input, want, got, found)
			}
			if total, _ := Replay(c, x.trace()); int64(total-c.ForwardTime()-c.BackTime()) != want {
				t.Fatalf("%slimit %d: the sequence takes %v", input, want, total)
			}
			if found, _ := x.fill(want - 1); found {
				t.Fatalf("%slimit %d: found something below the optimum", input, want-1)
			}
		}
	}
	if feasible < 100 {
		t.Errorf("only %d of 300 cases fit: the generator is off", feasible)
	}
}

// TestRotorAgainstBrute checks the recursion itself on small chains: no persistent sequence of Table 1 is faster.
func TestRotorAgainstBrute(t *testing.T) {
	againstBrute(t, 2, Persistent, Rotor.Solve, newTerms)
}

// TestRevolveAgainstBrute does the same for the sequences without saved activations.
func TestRevolveAgainstBrute(t *testing.T) {
	againstBrute(t, 12, OutputsOnly, revolve.Solve, outputOnlyTerms)
}

func againstBrute(t *testing.T, seed uint64, class Class,
	solve func(*engine.Problem, engine.Args, *engine.Poll) (*engine.Solution, error),
	terms func(*engine.Chain, engine.Bytes) *terms,
) {
	r := enginetest.Rand(seed)
	feasible, smaller := 0, 0
	for i := range 1200 {
		shape := enginetest.Shape{MaxStages: 4, MaxSize: 6}
		if i%8 == 0 {
			shape = enginetest.Shape{MinStages: 5, MaxStages: 6, MaxSize: 5}
		}
		c := enginetest.RandomChain(r, shape)
		if i%2 == 0 {
			spike(r, c)
		}
		budget := enginetest.RandomBudget(r, c)
		if i%4 == 0 { // within a byte of the smallest budget
			f, err := newFloors(terms(c, budget), nil)
			if err != nil {
				t.Fatal(err)
			}
			budget = engine.Bytes(f.root()) + c.Input + c.Resident.Total() + engine.Bytes(r.IntN(3)) - 1
		}
		if budget < 0 {
			continue
		}
		want, fits := Best(c, budget, class)
		p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Whole, budget)
		sol, err := solve(p, nil, nil)
		if fits != (err == nil) {
			t.Fatalf("seed %d chain %d budget %d\n%sgot %v, brute force says that it fits: %v", seed, i, budget,
				enginetest.Dump(c), err, fits)
		}
		if !fits {
			continue
		}
		feasible++
		if sol.Makespan != want || sol.Peak > budget {
			t.Fatalf("seed %d chain %d budget %d\n%sgot step time %v and peak %d, want %v", seed, i, budget,
				enginetest.Dump(c), sol.Makespan, sol.Peak, want)
		}
		if want > c.ForwardTime()+c.BackTime() {
			smaller++
		}
	}
	if feasible < 500 || smaller < 100 {
		t.Errorf("%d cases are feasible and %d need recomputation: the generator is off", feasible, smaller)
	}
	t.Logf("%d feasible, %d with recomputation", feasible, smaller)
}

// TestGroupedSchedules solves chains with their stages taken together. The result is a schedule of
// the chain, with the time that was found, within the budget, and never faster than the optimum.
func TestGroupedSchedules(t *testing.T) {
	r := enginetest.Rand(6)
	feasible := 0
	for i := range 200 {
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 2, MaxStages: 30})
		budget := enginetest.RandomBudget(r, c)
		g := 2 + r.IntN(5)
		o, err := solve(newTerms(c, budget).group(g), allTricks, nil, nil)
		if err != nil {
			continue
		}
		feasible++
		input := fmt.Sprintf("seed 6 chain %d, %d stages as one, budget %d\n%s", i, g, budget, enginetest.Dump(c))
		seq := newTerms(c, budget).ungroup(o.seq, g)
		if _, _, err := engine.ExpandChain(c).CompileSequence(seq); err != nil {
			t.Fatalf("%s%v: %v", input, seq, err)
		}
		best, err := solve(newTerms(c, budget), allTricks, nil, nil)
		if err != nil {
			t.Fatalf("%s: the grouped chain fits, the chain does not: %v", input, err)
		}
		least, _ := Replay(c, best.seq)
		if total, peak := Replay(c, seq); peak > budget || total < least {
			t.Errorf("%s: takes %v and %d bytes, the optimum is %v", input, total, peak, least)
		}
	}
	if feasible < 80 {
		t.Errorf("only %d of 200 cases fit: the generator is off", feasible)
	}
}

// TestLongChains compares chains that are grouped several times, and whose rows are cut to narrow
// bands, with the results without groups and bands.
func TestLongChains(t *testing.T) {
	r := enginetest.Rand(19)
	for i := range 40 {
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 20, MaxStages: 110, MaxSize: 1 << 10, MaxTime: 1000})
		for _, build := range []func(*engine.Chain, engine.Bytes) *terms{newTerms, outputOnlyTerms} {
			budget := c.KeepAllPeak() / 10 * engine.Bytes(3+r.IntN(6))
			plain := tricks{limit: true, gallop: true}
			want, errWant := solve(build(c, budget), plain, nil, nil)
			got, err := solve(build(c, budget), allTricks, nil, nil)
			if err != errWant || err == nil && got.extra != want.extra {
				t.Fatalf("seed 19 chain %d budget %d: got %+v, %v; want %+v, %v\n%s", i, budget, got, err, want,
					errWant, enginetest.Dump(c))
			}
		}
	}
}

// TestTableFull gives the rows hardly any memory. The result is a schedule of the grouped chain
// that does not claim to be optimal, and a chain that is too short for groups is refused.
func TestTableFull(t *testing.T) {
	before := maxRowBytes
	defer func() { maxRowBytes = before }()
	r := enginetest.Rand(21)
	grouped := 0
	for range 20 {
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 60, MaxStages: 120, MaxSize: 1 << 20, MaxTime: 1e7})
		p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, c.KeepAllPeak()/2)
		maxRowBytes = before
		best, err := Rotor.Solve(p, nil, nil)
		if err != nil {
			continue
		}
		maxRowBytes = 100 << 10
		for _, args := range []engine.Args{nil, {"slots": "50"}, {"printed": "yes"}} {
			sol, err := Rotor.Solve(p, args, nil)
			var infeasible *engine.InfeasibleError
			if errors.Is(err, engine.ErrUnsupported) || errors.As(err, &infeasible) && args["slots"] != "" {
				continue // not even the grouped chain fits into the rows
			}
			if err != nil || sol.Makespan < best.Makespan || sol.Bound > best.Makespan || sol.Peak > p.Budget {
				t.Fatalf("arguments %v: got %+v, %v; the optimum is %v", args, sol, err, best.Makespan)
			}
			if !sol.Optimal {
				grouped++
			}
		}
	}
	if grouped < 10 {
		t.Errorf("only %d tables were full: the generator is off", grouped)
	}
}

// TestBestSoFar stops the solver when it has reached the chain itself. The result is the schedule
// of a grouped chain, and the schedules that were reported before are slower.
func TestBestSoFar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := enginetest.RandomChain(enginetest.Rand(8),
			enginetest.Shape{MinStages: 400, MaxStages: 400, MaxSize: 1 << 20, MaxTime: 1e7})
		p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, c.KeepAllPeak()/4)
		// The clock advances at each poll, so that no report is dropped.
		ticking := context.WithValue(t.Context(), engine.Yield{}, func() { time.Sleep(engine.ReportEvery) })
		ctx, cancel := context.WithCancel(ticking)
		defer cancel()
		var told []*engine.Solution
		poll := engine.NewPoll(ctx, func(pr engine.Progress) {
			if pr.Best != nil {
				told = append(told, pr.Best)
			}
			if pr.Total == c.Len() { // the solver works on the chain itself
				cancel()
			}
		})
		stopped, err := Rotor.Solve(p, nil, poll)
		if !errors.Is(err, context.Canceled) || stopped == nil {
			t.Fatalf("got a schedule: %v, error %v; want a schedule and %v", stopped != nil, err, context.Canceled)
		}
		if stopped.Peak > p.Budget || stopped.Optimal || stopped.Bound > stopped.Makespan {
			t.Errorf("got peak %d within %d, optimal %v, bound %v of %v", stopped.Peak, p.Budget, stopped.Optimal,
				stopped.Bound, stopped.Makespan)
		}
		if len(told) < 2 {
			t.Fatalf("%d schedules were told on the way; want some of them", len(told))
		}
		for i, sol := range append(told, stopped) {
			tr, err := sim.Play(p, sol.Schedule)
			if err != nil || tr.Makespan != sol.Makespan || tr.Peak != sol.Peak || tr.Peak > p.Budget {
				t.Errorf("schedule %d: got %v and %v, error %v; want %v and %v within %v", i, tr.Makespan, tr.Peak,
					err, sol.Makespan, sol.Peak, p.Budget)
			}
			if i > 0 && sol.Makespan > told[i-1].Makespan {
				t.Errorf("schedule %d takes %v, the one before %v", i, sol.Makespan, told[i-1].Makespan)
			}
		}
	})
}
