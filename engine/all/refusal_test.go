package all_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/profiles/preset"
)

// TestContractUnlinked checks the contract of every strategy with no link, a link in one direction, or one that is too
// slow. Strategies solve problems that need no transfer, and do not name a smallest budget that they then refuse.
func TestContractUnlinked(t *testing.T) {
	links := []engine.Device{{}, {ToHost: 1e9}, {ToDev: 1e9}, {ToHost: 1, ToDev: 1}}
	for _, s := range engine.Strategies() {
		t.Run(s.Name, func(t *testing.T) {
			solved, refused := 0, 0
			for i, in := range instances(60, enginetest.Shape{MaxStages: 6}) {
				if spared(s, i) {
					continue
				}
				for k, budget := range in.budgets {
					d, c := links[(i+k)%len(links)], in.chain
					if d.ToHost == 1 {
						if c = large(c); budget < engine.NoLimit {
							budget *= giant
						}
					}
					for a, args := range argSets(s) {
						if a > 0 && (i+a)%3 != 0 {
							continue // the default on all networks, the others in turn
						}
						p := engine.NewChainProblem(c, d, modes[(i+k)/len(links)%len(modes)].transfers, budget)
						input := fmt.Sprintf("link %d and %d, %s", d.ToHost, d.ToDev,
							describe(instance{name: in.name, chain: c}, p, args))
						if _, err := holds(t, input, s, p, args); err == nil {
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
			both := s.Class == engine.MayRecompute|engine.MayOffload // strategies that do both always need a link
			enough := 50 / fewer()
			if slices.Contains(laborious, s.Name) {
				enough /= 6
			}
			if solved < enough/10 && !both || refused < enough {
				t.Errorf("%d problems are solved and %d refused: the generator is off", solved, refused)
			}
		})
	}
}

// giant is a factor of sizes with which transfers at a byte per second take a hundred years.
const giant = 1 << 40

// large returns a copy of a chain with all sizes multiplied by giant.
func large(c *engine.Chain) *engine.Chain {
	d := *c
	d.Stages = append([]engine.Stage(nil), c.Stages...)
	sizes := []*engine.Bytes{&d.Input, &d.InputGrad, &d.Resident.Weights, &d.Resident.Grads, &d.Resident.Optimizer,
		&d.Resident.Pinned}
	for i := range d.Stages {
		s := &d.Stages[i]
		sizes = append(sizes, &s.Out, &s.Saved, &s.Grad, &s.FwdTemp, &s.BwdTemp)
	}
	for _, b := range sizes {
		*b *= giant
	}
	return &d
}

// TestUnlinked checks that strategies refuse a problem whose values have to move if there is no link, without a
// smallest budget. They solve it with a budget in which everything can stay.
func TestUnlinked(t *testing.T) {
	c := enginetest.RandomChain(enginetest.Rand(5), enginetest.Shape{MinStages: 6, MaxStages: 6})
	all := c.KeepAllPeak()
	for _, s := range engine.Strategies() {
		if s.Class != engine.MayOffload {
			continue
		}
		p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, all-1)
		if _, err := s.Solve(p, nil, nil); !errors.Is(err, engine.ErrNeedsLink) {
			t.Errorf("%s, a byte short of keeping everything: got %v, want %v", s.Name, err, engine.ErrNeedsLink)
		}
		if _, err := s.Solve(p.WithBudget(all), nil, nil); err != nil {
			t.Errorf("%s, with room for everything: got %v, want a schedule", s.Name, err)
		}
	}
}

// TestStopped checks a network on which dynprog stops its search by its own limits. The solution reports this and
// keeps the contract.
func TestStopped(t *testing.T) {
	known, batch, err := preset.Parse("resnet1001-b16")
	if err != nil {
		t.Fatal(err)
	}
	profile, err := known.Profile(batch)
	if err != nil {
		t.Fatal(err)
	}
	s := engine.Lookup("dynprog")
	p := engine.NewChainProblem(profile.Chain, *profile.Device, engine.Whole, profile.Chain.KeepAllPeak()/2)
	sol, err := s.Solve(p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !sol.Stopped {
		t.Errorf("the search was not stopped: the network is not the one for this test")
	}
	saysStopped(t, "", s, sol)
	keepsClaims(t, "", s, p, sol)
}

// saysStopped checks that a solution reports in a field and in a note that the strategy's own limits stopped the
// search, and that such a solution does not claim to be optimal.
func saysStopped(t *testing.T, input string, s *engine.Strategy, sol *engine.Solution) {
	t.Helper()
	if noted := strings.Contains(strings.Join(sol.Notes, "\n"), "stopped"); noted != sol.Stopped || sol.Stopped &&
		sol.Optimal {
		t.Errorf("%s%s: stopped %v, optimal %v, notes %q; want them to agree", input, s.Name, sol.Stopped,
			sol.Optimal, sol.Notes)
	}
}

// TestNeedsAddUp checks that the sizes in the reason of a refusal add up to the smallest budget. Strategies of
// every kind must give such reasons for at least a quarter of the chains.
func TestNeedsAddUp(t *testing.T) {
	sizes, told := regexp.MustCompile(` (\d+) bytes`), map[string]int{}
	count := 150 / fewer()
	for seed := range uint64(count) {
		r := enginetest.Rand(seed)
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 7})
		if seed%2 == 0 {
			enginetest.GiveUnsaved(r, c)
		}
		p := engine.NewChainProblem(c, enginetest.Device(engine.FullDuplex), engine.Whole, c.Resident.Total()+1)
		for _, s := range engine.Strategies() {
			for _, args := range argSets(s) {
				_, err := s.Solve(p, args, nil)
				small, _ := errors.AsType[*engine.InfeasibleError](err)
				if small == nil {
					continue
				}
				_, parts, named := strings.Cut(small.Why, " needs the most: ")
				if !named {
					continue
				}
				told[s.Name]++
				var sum engine.Bytes
				for _, m := range sizes.FindAllStringSubmatch(parts, -1) {
					n, err := strconv.Atoi(m[1])
					if err != nil {
						t.Fatal(err)
					}
					sum += engine.Bytes(n)
				}
				if sum != small.Smallest {
					t.Errorf("seed %d %s %v: got %q, which adds up to %d; want %d\n%s", seed, s.Name, args, small.Why,
						sum, small.Smallest, enginetest.Dump(c))
				}
			}
		}
	}
	for _, name := range []string{"keepall", "layerwise", "nonpersistent", "offloadexact", "greedy", "pofo",
		"revolve", "rotor", "sequential", "wrappable"} {
		if told[name] < count/4 {
			t.Errorf("%s names the values of %d refusals, want %d", name, told[name], count/4)
		}
	}
}
