package all_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	_ "memtide/engine/all"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	"memtide/engine/offload"
	"memtide/engine/sim"
)

// These tests check the contract of every registered strategy, on random chains, with budgets from far too small to
// more than enough, in both duplex modes and both transfer modes.

const contractSeed = 20

// mode is a duplex mode with a transfer mode.
type mode struct {
	duplex    engine.Duplex
	transfers engine.Transfers
}

// modes are all modes.
var modes = []mode{
	{engine.HalfDuplex, engine.Whole},
	{engine.FullDuplex, engine.Whole},
	{engine.HalfDuplex, engine.Streamed},
	{engine.FullDuplex, engine.Streamed},
}

// instance is a chain with budgets of increasing size.
type instance struct {
	name    string
	chain   *engine.Chain
	budgets []engine.Bytes
}

func instances(count int, shape enginetest.Shape) []instance {
	count = max(1, count/fewer())
	r := enginetest.Rand(contractSeed)
	var all []instance
	for i := range count {
		c := enginetest.RandomChain(r, shape)
		if i%5 == 4 {
			enginetest.GiveUnsaved(enginetest.Rand(uint64(i)), c)
		}
		in := instance{name: fmt.Sprintf("seed %d chain %d", contractSeed, i), chain: c}
		for range 4 {
			in.budgets = append(in.budgets, enginetest.RandomBudget(r, c))
		}
		in.budgets = append(in.budgets, c.KeepAllPeak()-1, c.KeepAllPeak(), engine.NoLimit)
		slices.Sort(in.budgets)
		if in.budgets[0] < 0 {
			in.budgets = in.budgets[1:]
		}
		all = append(all, in)
	}
	return all
}

// fewer returns the divisor of the number of random cases. All cases run with MEMTIDE_LONG=1, a fifth in an ordinary
// run, and a sixteenth with -short, which the run in WebAssembly uses.
func fewer() int {
	switch {
	case testing.Short():
		return 16
	case os.Getenv("MEMTIDE_LONG") == "":
		return 5
	}
	return 1
}

// laborious are the strategies that search: each of their answers takes as long as a hundred answers of others.
// They solve every sixth network only, or all of them with MEMTIDE_LONG=1.
var laborious = []string{"graphexact", "graphpofo", "graphsearch", "offloadexact"}

func spared(s *engine.Strategy, i int) bool {
	return i%6 != 0 && slices.Contains(laborious, s.Name) && os.Getenv("MEMTIDE_LONG") == ""
}

// argSets returns the sets of arguments with which a strategy is tested: the defaults, every choice of a word,
// and a few values of a number.
func argSets(s *engine.Strategy) []engine.Args {
	sets := []engine.Args{nil}
	for _, p := range s.Params {
		values := p.Choices
		if values == nil {
			values = []string{fmt.Sprint(p.Min), fmt.Sprint(min(p.Min+2, p.Max))}
		}
		for _, v := range values {
			sets = append(sets, engine.Args{p.Name: v})
		}
	}
	return sets
}

// modesOf returns the modes that make a difference to a strategy: one mode for strategies without transfers.
func modesOf(s *engine.Strategy) []mode {
	if s.Class&engine.MayOffload == 0 {
		return modes[:1]
	}
	return modes
}

// TestContract checks the claims of every solution and every refusal.
func TestContract(t *testing.T) {
	for _, s := range engine.Strategies() {
		t.Run(s.Name, func(t *testing.T) {
			solved, refused := 0, 0
			for i, in := range instances(120, enginetest.Shape{MaxStages: 8}) {
				if spared(s, i) {
					continue
				}
				for j, mode := range modesOf(s) {
					if j > 0 && (i+j)%2 != 0 {
						continue // the first mode on all networks, the others in turn
					}
					for k, args := range argSets(s) {
						if k > 0 && (i+k)%3 != 0 {
							continue // the default arguments on all networks, the others in turn
						}
						for _, budget := range in.budgets {
							p := engine.NewChainProblem(in.chain, enginetest.Device(mode.duplex), mode.transfers,
								budget)
							if _, err := holds(t, describe(in, p, args), s, p, args); err == nil {
								solved++
							} else {
								refused++
							}
							if t.Failed() {
								return
							}
						}
					}
				}
			}
			enough := 100 / fewer()
			if slices.Contains(laborious, s.Name) {
				enough /= 6
			}
			if solved < enough || refused < enough {
				t.Errorf("%d problems are solved and %d refused: the generator is off", solved, refused)
			}
		})
	}
}

func describe(in instance, p *engine.Problem, args engine.Args) string {
	return fmt.Sprintf("%s, budget %d, %v duplex, %v transfers, arguments %v\n%s", in.name, p.Budget, p.Device.Duplex,
		p.Transfers, args, enginetest.Dump(in.chain))
}

// holds solves a problem, checks the result and returns it.
func holds(t *testing.T, input string, s *engine.Strategy, p *engine.Problem,
	args engine.Args) (*engine.Solution, error) {
	t.Helper()
	sol, err := s.Solve(p, args, nil)
	var infeasible *engine.InfeasibleError
	switch {
	case errors.As(err, &infeasible):
		refuses(t, input, s, p, args, infeasible)
	case err == nil:
		keepsClaims(t, input, s, p, sol)
	case !errors.Is(err, engine.ErrUnsupported):
		t.Errorf("%s%s: %v", input, s.Name, err)
	}
	return sol, err
}

// refuses checks that the smallest budget that an InfeasibleError names is enough, and that one byte less is not.
func refuses(t *testing.T, input string, s *engine.Strategy, p *engine.Problem, args engine.Args,
	e *engine.InfeasibleError) {
	t.Helper()
	if e.Budget != p.Budget || e.Smallest <= p.Budget {
		t.Errorf("%s%s: refused with %v", input, s.Name, e)
		return
	}
	least := p.WithBudget(e.Smallest)
	sol, err := s.Solve(least, args, nil)
	if err != nil {
		t.Errorf("%s%s: the smallest budget %d does not do: %v", input, s.Name, e.Smallest, err)
		return
	}
	keepsClaims(t, input+fmt.Sprintf("(at its smallest budget %d) ", e.Smallest), s, least, sol)
	var again *engine.InfeasibleError
	if _, err := s.Solve(p.WithBudget(e.Smallest-1), args, nil); !errors.As(err, &again) ||
		again.Smallest != e.Smallest {
		t.Errorf("%s%s: one byte less than the smallest budget %d: got %v, want the same refusal", input, s.Name,
			e.Smallest, err)
	}
}

// keepsClaims plays the schedule of a solution and compares the trace with the claims of the solution.
func keepsClaims(t *testing.T, input string, s *engine.Strategy, p *engine.Problem, sol *engine.Solution) {
	t.Helper()
	trace, err := sim.Play(p, sol.Schedule)
	if err != nil {
		t.Errorf("%s%s: cannot be played: %v", input, s.Name, err)
		return
	}
	if err := check.Trace(p, sol.Schedule, trace); err != nil {
		t.Errorf("%s%s: the check refutes the trace: %v", input, s.Name, err)
	}
	if trace.Makespan != sol.Makespan || trace.Peak != sol.Peak {
		t.Errorf("%s%s: claims step time %d and peak %d, plays %d and %d", input, s.Name, sol.Makespan, sol.Peak,
			trace.Makespan, trace.Peak)
	}
	if trace.Peak > p.Budget {
		t.Errorf("%s%s: peak %d is above the budget", input, s.Name, trace.Peak)
	}
	if sum := trace.ComputeTime + trace.RecomputeTime + trace.WaitingTotal(); sum != trace.Makespan {
		t.Errorf("%s%s: compute %d, recompute %d, waiting %v do not add up to %d", input, s.Name,
			trace.ComputeTime, trace.RecomputeTime, trace.Waiting, trace.Makespan)
	}
	if sol.Bound > sol.Makespan {
		t.Errorf("%s%s: the lower bound %d is above the step time %d", input, s.Name, sol.Bound, sol.Makespan)
	}
	if sol.Optimal && sol.OptimalAmong == "" {
		t.Errorf("%s%s: is optimal, but does not say among what", input, s.Name)
	}
	staysInClass(t, input, s, p, trace)
}

// staysInClass counts runs and transfers. Backward operations must run once, forward operations once unless the
// strategy may recompute, and transfers are allowed only if it may offload.
func staysInClass(t *testing.T, input string, s *engine.Strategy, p *engine.Problem, trace *sim.Trace) {
	t.Helper()
	runs := make([]int, len(p.Graph.Ops))
	for _, span := range trace.Spans {
		if span.Op != engine.NoOp {
			runs[span.Op]++
		} else if s.Class&engine.MayOffload == 0 {
			t.Errorf("%s%s: moves %s, and is not in the class that may", input, s.Name, p.Graph.Values[span.Value].Name)
		}
	}
	for i, op := range p.Graph.Ops {
		again := op.Pass == engine.Forward && s.Class&engine.MayRecompute != 0
		if runs[i] == 0 || runs[i] > 1 && !again {
			t.Errorf("%s%s: %s ran %d times", input, s.Name, op.Name, runs[i])
		}
	}
}

// TestOptimal compares solutions that claim to be optimal with exhaustive search and with all solutions within the
// same set (see members), and checks that more memory never makes them slower.
func TestOptimal(t *testing.T) {
	proven := map[string]int{}
	moving := slices.DeleteFunc(engine.Strategies(), func(s *engine.Strategy) bool { return len(modesOf(s)) == 1 })
	for _, in := range instances(150, enginetest.Shape{MaxStages: 5, MaxSize: 6}) {
		still := map[engine.Bytes][]answer{} // answers of strategies without transfers: the same in all modes
		for m, mode := range modes {
			before := map[string]time.Duration{}
			for _, budget := range in.budgets {
				p := engine.NewChainProblem(in.chain, enginetest.Device(mode.duplex), mode.transfers, budget)
				input := describe(in, p, nil)
				var all []answer
				if m == 0 {
					all = answers(t, input, p, defaults)
					still[budget] = slices.DeleteFunc(slices.Clone(all), func(a answer) bool {
						return len(modesOf(a.by)) > 1
					})
				} else {
					all = append(answersOf(t, input, p, moving, defaults), still[budget]...)
				}
				for k := range all {
					s, sol := all[k].by, all[k].sol
					neverBeaten(t, input, &all[k], all)
					if !sol.Optimal || m > 0 && len(modesOf(s)) == 1 {
						continue
					}
					proven[s.Name]++
					if best, ok := exhaustive(p, s); ok && sol.Makespan > best {
						t.Errorf("%s%s: claims that %d is optimal, %d is possible", input, s.Name, sol.Makespan, best)
					}
					key := s.Name + " " + sol.OptimalAmong
					if last, ok := before[key]; ok && sol.Makespan > last {
						t.Errorf("%s%s: takes %d, and %d with less memory", input, s.Name, sol.Makespan, last)
					}
					before[key] = sol.Makespan
				}
				if t.Failed() {
					return
				}
			}
		}
	}
	for _, name := range []string{"keepall", "nonpersistent", "pofo", "revolve", "rotor"} {
		if proven[name] < 100/fewer() {
			t.Errorf("%s was optimal in %d cases only: the generator is off", name, proven[name])
		}
	}
}

// exhaustive returns the best step time over all sets to offload in order. This is not the optimum, because other
// orders can be faster, but solutions that claim to be optimal must not be slower. What recomputes is compared with
// all sequences in the tests of package remat.
func exhaustive(p *engine.Problem, s *engine.Strategy) (best time.Duration, ok bool) {
	if s.Class != engine.MayOffload {
		return 0, false
	}
	n := p.Chain.Chain.Len()
	set := make([]bool, n)
	for bits := range 1 << n {
		for i := range set {
			set[i] = bits>>i&1 == 1
		}
		if plan, fits := offload.NewOrdered(p, set); fits && (!ok || plan.Makespan < best) {
			best, ok = plan.Makespan, true
		}
	}
	return best, ok
}

// TestSolveIsPure solves every problem twice. The results are equal, and the problem is unchanged.
func TestSolveIsPure(t *testing.T) {
	r := rand.New(rand.NewPCG(contractSeed, 1))
	for i := range max(8/fewer(), 2) {
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 15, MaxSize: 50, MaxTime: 500})
		budget := enginetest.RandomBudget(r, c)
		for _, s := range engine.Strategies() {
			if spared(s, i) {
				continue
			}
			mode := modesOf(s)[i%len(modesOf(s))]
			build := func() *engine.Problem {
				copied := *c
				copied.Stages = slices.Clone(c.Stages)
				return engine.NewChainProblem(&copied, enginetest.Device(mode.duplex), mode.transfers, budget)
			}
			p, q := build(), build()
			sol, err := s.Solve(p, nil, nil)
			again, errAgain := s.Solve(p, nil, nil)
			input := fmt.Sprintf("chain %d, budget %d\n%s%s", i, budget, enginetest.Dump(c), s.Name)
			if !reflect.DeepEqual(sol, again) || !reflect.DeepEqual(err, errAgain) {
				t.Errorf("%s: got %v, %v and then %v, %v", input, sol, err, again, errAgain)
			}
			if !reflect.DeepEqual(p, q) {
				t.Errorf("%s: changed the problem", input)
			}
		}
	}
}
