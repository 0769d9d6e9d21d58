package all_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// answer is a solution with its properties.
type answer struct {
	by   *engine.Strategy
	args engine.Args
	sol  *engine.Solution
	*played
}

func (a *answer) String() string { return fmt.Sprintf("%s %v", a.by.Name, a.args) }

// answers returns all solutions of a problem on a chain, by every strategy with each of its sets of arguments.
func answers(t *testing.T, input string, p *engine.Problem, args func(*engine.Strategy) []engine.Args) (all []answer) {
	t.Helper()
	return answersOf(t, input, p, engine.Strategies(), args)
}

// answersOf returns the answers of the strategies in list.
func answersOf(t *testing.T, input string, p *engine.Problem, list []*engine.Strategy,
	args func(*engine.Strategy) []engine.Args) (all []answer) {
	t.Helper()
	for _, s := range list {
		for _, args := range args(s) {
			sol, err := s.Solve(p, args, nil)
			if err != nil {
				continue
			}
			f, err := play(p, sol.Schedule)
			if err != nil {
				t.Errorf("%s%s %v: %v", input, s.Name, args, err)
				continue
			}
			all = append(all, answer{s, args, sol, f})
		}
	}
	return all
}

// neverBeaten compares the claims of a solution about a set with all solutions in the set, of any strategy. The
// solution must be in the set itself.
func neverBeaten(t *testing.T, input string, a *answer, all []answer) {
	t.Helper()
	if a.sol.OptimalAmong == "" {
		return
	}
	in, ok := setOf(a.sol.OptimalAmong)
	if !ok {
		t.Errorf("%s%v: claims something about %q, which is not in members", input, a, a.sol.OptimalAmong)
		return
	}
	if !in(a.played) {
		t.Errorf("%s%v: is not in the set that it claims something about, %q", input, a, a.sol.OptimalAmong)
	}
	for k := range all {
		o := &all[k]
		if !in(o.played) {
			continue
		}
		if took := o.trace.Makespan; took < a.sol.Bound || a.sol.Optimal && took < a.sol.Makespan {
			t.Errorf("%s%v: takes %d (optimal %v, bound %d) within %q, where %v takes %d", input, a, a.sol.Makespan,
				a.sol.Optimal, a.sol.Bound, a.sol.OptimalAmong, o, took)
		}
	}
}

func defaults(*engine.Strategy) []engine.Args { return []engine.Args{nil} }

// TestWithin checks that no solution is faster than another solution claims to be possible within a set that
// contains both. It also checks that every named set contains solutions of other strategies.
func TestWithin(t *testing.T) {
	count := uint64(600 / fewer())
	if os.Getenv("MEMTIDE_LONG") != "" {
		count = 30_000
	}
	met := map[string]int{}
	for seed := range count {
		p := withinProblem(seed)
		if p == nil {
			continue
		}
		input := fmt.Sprintf("seed %d %v, %v transfers, budget %d\n%s", seed, p.Device, p.Transfers, p.Budget,
			enginetest.Dump(p.Chain.Chain))
		all := answers(t, input, p, argSets)
		for k := range all {
			a := &all[k]
			neverBeaten(t, input, a, all)
			for _, o := range all {
				set := strings.TrimSuffix(a.sol.OptimalAmong, firstWays)
				if in := members[set]; in != nil && o.by != a.by && in(o.played) {
					met[set]++
				}
			}
		}
		if t.Failed() {
			return
		}
	}
	for set := range members {
		if met[set] < int(count)/20 {
			t.Errorf("%d solutions lie within %q of another strategy: the generator is off, or nobody claims anything about it", met[set], set)
		}
	}
}

// withinProblem draws a small problem in which memory is short: mostly one in
// which much depends on the order of whole transfers.
func withinProblem(seed uint64) *engine.Problem {
	r := enginetest.Rand(seed)
	if seed%4 != 3 {
		p, ok := enginetest.TightTransfers(r)
		if !ok {
			return nil
		}
		if seed%4 == 2 && p.Device.ToHost == 1e9 && p.Device.ToDev == 1e9 {
			p.Transfers = engine.Streamed
		}
		return p
	}
	c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 5, MaxSize: 6})
	if seed%8 == 7 {
		enginetest.GiveFast(r, c)
	}
	mode := modes[r.IntN(len(modes))]
	return engine.NewChainProblem(c, enginetest.Device(mode.duplex), mode.transfers, enginetest.RandomBudget(r, c))
}

// TestWithinKnown checks the claims for problems about which strategies once made false claims.
func TestWithinKnown(t *testing.T) {
	stage := func(fwd, back time.Duration, out, grad engine.Bytes) engine.Stage {
		return engine.Stage{Forward: fwd, Back: back, Out: out, Saved: out, Grad: grad}
	}
	faster := enginetest.Device(engine.HalfDuplex)
	faster.ToHost = 2e9
	last := stage(3, 7, 0, 0)
	last.FwdTemp, last.BwdTemp = 16, 12
	for _, p := range []*engine.Problem{
		engine.NewChainProblem(&engine.Chain{Input: 2, InputGrad: 2, LossGradAllocated: true,
			Stages: []engine.Stage{stage(0, 2, 1, 0), stage(0, 2, 2, 0), stage(0, 3, 0, 1)}},
			enginetest.Device(engine.HalfDuplex), engine.Whole, 5),
		engine.NewChainProblem(&engine.Chain{Input: 4, LossGradAllocated: true,
			Stages: []engine.Stage{stage(0, 0, 12, 0), stage(0, 0, 6, 0), last}}, faster, engine.Whole, 24),
	} {
		input := enginetest.Dump(p.Chain.Chain)
		all := answers(t, input, p, argSets)
		for k := range all {
			neverBeaten(t, input, &all[k], all)
		}
	}
}
