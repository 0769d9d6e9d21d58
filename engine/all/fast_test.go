package all_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// TestFast gives every strategy chains whose stages have two algorithms. The contract holds, and strategies that do
// not use the second algorithm give the same answers as without it.
func TestFast(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for WebAssembly, after this ran natively")
	}
	const seed = 23
	r := enginetest.Rand(seed)
	chosen := map[string]int{}
	for i := range 60 {
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 7})
		plain := *c
		plain.Stages = append([]engine.Stage(nil), c.Stages...)
		enginetest.GiveFast(r, c)
		for range 4 {
			budget, mode := enginetest.RandomBudget(r, c), modes[r.IntN(len(modes))]
			p := engine.NewChainProblem(c, enginetest.Device(mode.duplex), mode.transfers, budget)
			q := engine.NewChainProblem(&plain, p.Device, mode.transfers, budget)
			input := fmt.Sprintf("seed %d chain %d, budget %d, %v duplex, %v transfers\n%s", seed, i, budget,
				mode.duplex, mode.transfers, enginetest.Dump(c))
			for _, s := range engine.Strategies() {
				if spared(s, i) {
					continue
				}
				sol, err := holds(t, input, s, p, nil)
				without, errWithout := s.Solve(q, nil, nil)
				if fast := secondWays(sol); fast > 0 {
					chosen[s.Name] += fast
					continue
				}
				if takesAlgo(s) {
					continue
				}
				if strings.ReplaceAll(fmt.Sprint(err), firstWays, "") != fmt.Sprint(errWithout) || sol != nil &&
					!reflect.DeepEqual(sol.Schedule, without.Schedule) {
					t.Errorf("%s%s: the second algorithm changes the schedule, or the refusal %v, %v", input, s.Name,
						err, errWithout)
				}
			}
			if t.Failed() {
				return
			}
		}
	}
	for _, s := range engine.Strategies() {
		if got := chosen[s.Name]; takesAlgo(s) != (got > 0) {
			t.Errorf("%s runs %d operations by the second algorithm", s.Name, got)
		}
	}
}

// TestFastClaims compares claims about chains with second algorithms with the solutions of every strategy for every
// choice of algorithms.
func TestFastClaims(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for WebAssembly, after this ran natively")
	}
	count := 160 / fewer()
	if os.Getenv("MEMTIDE_LONG") != "" {
		count = 4000
	}
	first, faster := 0, 0
	for seed := range uint64(count) {
		r := enginetest.Rand(seed)
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 3, MaxSize: 6})
		enginetest.GiveFast(r, c)
		if seed%4 == 0 {
			enginetest.GiveUnsaved(r, c)
		}
		mode := modes[r.IntN(len(modes))]
		p := engine.NewChainProblem(c, enginetest.Device(mode.duplex), mode.transfers, enginetest.RandomBudget(r, c))
		input := fmt.Sprintf("seed %d, budget %d, %v duplex, %v transfers\n%s", seed, p.Budget, mode.duplex,
			mode.transfers, enginetest.Dump(c))
		own := answers(t, input, p, argSets)
		all := slices.Concat(own, chosenWays(t, input, p))
		for k := range own {
			a := &own[k]
			neverBeaten(t, input, a, all)
			if !a.sol.Optimal || !strings.HasSuffix(a.sol.OptimalAmong, firstWays) {
				continue
			}
			first++
			in := members[strings.TrimSuffix(a.sol.OptimalAmong, firstWays)]
			if slices.ContainsFunc(all, func(o answer) bool {
				return in(o.played) &&
					o.trace.Makespan < a.sol.Makespan
			}) {
				faster++
			}
		}
		if t.Failed() {
			return
		}
	}
	if first < count || faster < count/2 {
		t.Errorf("%d optima of first algorithms, and a second one is faster in %d cases: the generator is off", first,
			faster)
	}
}

// chosenWays returns the answers to all problems in which every operation has only one of its algorithms, as
// schedules of the original problem.
func chosenWays(t *testing.T, input string, p *engine.Problem) (all []answer) {
	t.Helper()
	n := p.Chain.Chain.Len()
	for bits := range 1 << (2 * n) {
		c := *p.Chain.Chain
		c.Stages = slices.Clone(c.Stages)
		alt, fits := make([]bool, 2*n), true
		for k := 1; k <= n; k++ {
			st := &c.Stages[k-1]
			forward, back := bits>>(2*k-2)&1 == 1, bits>>(2*k-1)&1 == 1
			alt[p.Chain.Fwd(k)], alt[p.Chain.Bwd(k)] = forward, back
			fits = fits && (st.Fast != nil || !forward && !back)
			if fits && forward {
				st.Forward, st.FwdTemp = st.Fast.Forward, st.Fast.FwdTemp
			}
			if fits && back {
				st.Back, st.BwdTemp = st.Fast.Back, st.Fast.BwdTemp
			}
			st.Fast = nil
		}
		if !fits {
			continue
		}
		q := engine.NewChainProblem(&c, p.Device, p.Transfers, p.Budget)
		for _, a := range answers(t, input, q, defaults) {
			steps := slices.Clone(a.sol.Schedule)
			for i := range steps {
				steps[i].Alt = steps[i].Kind == engine.DoRun && alt[steps[i].Op]
			}
			f, err := play(p, steps)
			if err != nil {
				t.Errorf("%s%v with the second ways %v: %v", input, &a, alt, err)
				continue
			}
			all = append(all, answer{a.by, a.args, a.sol, f})
		}
	}
	return all
}

// takesAlgo reports whether a strategy chooses between algorithms.
func takesAlgo(s *engine.Strategy) bool {
	if slices.Contains([]string{"graphexact", "graphsearch", "graphpofo"}, s.Name) {
		return true
	}
	for _, p := range s.Params {
		if p.Name == "algo" {
			return true
		}
	}
	return false
}

func secondWays(sol *engine.Solution) (n int) {
	if sol == nil {
		return 0
	}
	for _, st := range sol.Schedule {
		if st.Alt {
			n++
		}
	}
	return n
}
