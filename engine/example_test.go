package engine_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"memtide/engine"
	_ "memtide/engine/offload"
	_ "memtide/engine/remat"
)

// threeStages returns a chain of two layers and a loss.
func threeStages() *engine.Chain {
	const ms, kib = time.Millisecond, engine.KiB
	return &engine.Chain{Name: "example", Input: kib, Stages: []engine.Stage{
		{Name: "conv", Forward: 2 * ms, Back: 4 * ms, Out: 4 * kib, Saved: 8 * kib, Grad: 4 * kib},
		{Name: "fc", Forward: ms, Back: 2 * ms, Out: kib, Saved: 4 * kib, Grad: kib},
		{Name: "loss"},
	}}
}

// A strategy is found by its name. It returns a schedule with claims about it, which package sim measures.
func ExampleStrategy_Solve() {
	p := engine.NewChainProblem(threeStages(), engine.Device{}, engine.Whole, 14*engine.KiB)
	sol, err := engine.Lookup("rotor").Solve(p, nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sol.Makespan, sol.Peak.Text(), sol.OptimalAmong)
	for _, s := range sol.Schedule {
		if s.Kind == engine.DoRun {
			fmt.Println(s.Describe(p.Graph))
		}
	}
	// Output:
	// 11ms 14336 bytes persistent recomputation
	// run F1, output only
	// run F2
	// run F3
	// run B3
	// run B2
	// run F1
	// run B1
}

// The error distinguishes a budget that is too small from a strategy that does not apply or has run out of time.
func ExampleInfeasibleError() {
	p := engine.NewChainProblem(threeStages(), engine.Device{}, engine.Whole, 4*engine.KiB)
	_, err := engine.Lookup("rotor").Solve(p, nil, nil)
	if short, ok := errors.AsType[*engine.InfeasibleError](err); ok {
		fmt.Println("needs", short.Smallest.Text())
	}
	_, err = engine.Lookup("greedy").Solve(p, nil, nil)
	fmt.Println(errors.Is(err, engine.ErrUnsupported), err)
	// Output:
	// needs 14336 bytes
	// true this strategy does not apply: the device has no link to the host
}

// Sweep shares work between budgets. Answers come in the order that draws a curve from coarse to fine.
func ExampleStrategy_Sweep() {
	p := engine.NewChainProblem(threeStages(), engine.Device{}, engine.Whole, 0)
	budgets := []engine.Bytes{8 * engine.KiB, 14 * engine.KiB, 20 * engine.KiB}
	found := make([]string, len(budgets))
	engine.Lookup("rotor").Sweep(p, nil, budgets, nil, func(i int, s *engine.Solution, err error) {
		found[i] = "does not fit"
		if err == nil {
			found[i] = s.Makespan.String()
		}
	})
	for i, b := range budgets {
		fmt.Println(b.Text(), found[i])
	}
	// Output:
	// 8192 bytes does not fit
	// 14336 bytes 11ms
	// 20480 bytes 9ms
}

// Arguments come from links and flags as texts. A solver gets them parsed, with defaults filled in.
func ExampleParseArgs() {
	params := []engine.Param{{Name: "slots", Default: "50", Min: 1, Max: 1000},
		{Name: "drop", Default: "no", Choices: []string{"no", "yes"}}}
	args, err := engine.ParseArgs("rotor", params, engine.Args{"slots": "20"})
	fmt.Println(args.Int("slots"), args.Is("drop", "no"), err)
	_, err = engine.ParseArgs("rotor", params, engine.Args{"slots": "none"})
	fmt.Println(err)
	// Output:
	// 20 true <nil>
	// slots is "none"; expected a whole number from 1 to 1000
}

// A search calls Err of its poll in every loop. Tests limit the calls instead of the time, so that they give the same
// result on any machine.
func ExampleLimitCalls() {
	poll := engine.NewPoll(engine.LimitCalls(context.Background(), 3), nil)
	rounds := 0
	for poll.Err() == nil {
		rounds++
	}
	fmt.Println(rounds, poll.Err())
	// Output:
	// 3 context deadline exceeded
}

// A sequence of the operations of the papers becomes a schedule with every Free where it belongs.
func ExampleChainGraph_CompileSequence() {
	g := engine.NewChainProblem(threeStages(), engine.Device{}, engine.Whole, engine.NoLimit).Chain
	steps, _, err := g.CompileSequence([]engine.ChainOp{
		{Kind: engine.FCk, Stage: 1}, {Kind: engine.FAll, Stage: 2}, {Kind: engine.FAll, Stage: 3},
		{Kind: engine.BStep, Stage: 3}, {Kind: engine.BStep, Stage: 2},
		{Kind: engine.FAll, Stage: 1}, {Kind: engine.BStep, Stage: 1}})
	for _, s := range steps {
		fmt.Println(s.Describe(&g.Graph))
	}
	_, _, missing := g.CompileSequence([]engine.ChainOp{{Kind: engine.FAll, Stage: 2}})
	fmt.Println(err, "-", missing)
	// Output:
	// run F1, output only
	// run F2
	// run F3
	// run B3
	// free d3
	// free s3
	// run B2
	// free d2
	// free s2
	// free a1
	// run F1
	// run B1
	// free d1
	// free s1
	// free a0
	// <nil> - operation 0: Fall2: its input is not on the device
}

// Times round up, so that a transfer never takes longer than reported.
func ExampleRate_Time() {
	const link engine.Rate = 12_000_000_000 // bytes per second
	fmt.Println(link.Time(engine.GiB), link.Time(1), link.Moved(time.Microsecond))
	// Output:
	// 89.478486ms 1ns 12000
}
