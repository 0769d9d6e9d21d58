package all_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// wider are the strategies that combine others, with the names of the sets whose schedules are never faster.
var wider = []struct {
	name string
	args engine.Args
	sets []string
}{
	{"graphpofo", nil, []string{"all schedules"}},
	{"graphsearch", nil, []string{"schedules that recompute in any order and do not offload"}},
	{"graphsearch", engine.Args{"order": "kept"}, []string{keptFirst}},
	{"pofo", nil, []string{"persistent recomputation", orderedOnly}},
	{"pofo", engine.Args{"overlap": "yes"}, []string{"persistent recomputation", orderedOnly,
		"persistent recomputation, segment by segment, with ordered offloads of segment inputs, passes apart"}},
	{"offloadsearch", nil, []string{orderedOnly + ", with each saved set there while the stage after it runs"}},
}

const (
	keptFirst   = "first runs in the order of the operations"
	orderedOnly = "schedules that offload activations in the order of the layers, then fetch them in reverse, and do not recompute"
)

// method is a strategy with arguments.
type method struct {
	*engine.Strategy
	args engine.Args
}

func (m method) String() string { return fmt.Sprint(m.Name, m.args) }

// dearest are the strategies that search exhaustively, which is fast on the smallest problems only.
var dearest = []string{"graphexact", "nonpersistent", "offloadexact"}

// methods returns all strategies that apply to a problem, with every choice of a word.
func methods(p *engine.Problem) (list []method) {
	for _, s := range engine.Strategies() {
		if p.Chain == nil && !s.Graphs || len(p.Graph.Ops) > 12 && slices.Contains(dearest, s.Name) {
			continue
		}
		for _, args := range argSets(s) {
			words := true
			for _, q := range s.Params {
				words = words && (args[q.Name] == "" || q.Choices != nil)
			}
			if words {
				list = append(list, method{s, args})
			}
		}
	}
	return list
}

// inSet reports whether a schedule is in a set of wider.
func inSet(t *testing.T, p *engine.Problem, steps engine.Schedule, set string) bool {
	ran := make([]bool, len(p.Graph.Ops))
	last, inOrder, moves := engine.OpID(-1), true, false
	for _, st := range steps {
		switch {
		case st.Kind == engine.DoOffload || st.Kind == engine.DoFetch:
			moves = true
		case st.Kind == engine.DoRun && !ran[st.Op]:
			ran[st.Op], inOrder, last = true, inOrder && st.Op > last, st.Op
		}
	}
	switch {
	case set == "all schedules":
		return true
	case set == keptFirst:
		return inOrder && !moves
	case p.Chain == nil:
		return !moves && set == "schedules that recompute in any order and do not offload"
	}
	f, err := play(p, steps)
	if err != nil {
		t.Errorf("cannot be played: %v", err)
		return false
	}
	return members[set](f) && !f.alt
}

// widerProblems returns random chains and graphs. It also returns chains of equal layers as in a language model,
// whose first layers are worth offloading if the budget is a little too small. The first problem is a graph for
// which a plan that fits is found sooner with the order kept than with any order.
func widerProblems() (list []*engine.Problem) {
	list = append(list, &engine.Problem{Graph: enginetest.RandomGraph(enginetest.Rand(8), 40),
		Device: enginetest.Device(engine.HalfDuplex)})
	r := enginetest.Rand(61)
	for i := range max(9/fewer(), 3) {
		mode := modes[i%len(modes)]
		device := enginetest.Device(mode.duplex)
		switch i % 3 {
		case 0:
			c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 2, MaxStages: 6})
			if i%2 == 0 {
				enginetest.GiveUnsaved(r, c)
			}
			list = append(list, engine.NewChainProblem(c, device, mode.transfers, 0))
		case 1:
			list = append(list, &engine.Problem{Graph: enginetest.RandomGraph(r, 8+2*i), Device: device,
				Transfers: mode.transfers})
		case 2:
			c := &engine.Chain{Input: 1, Stages: make([]engine.Stage, 6+i)}
			for k := range c.Stages {
				c.Stages[k] = engine.Stage{Forward: 20, Back: 40, Out: 6, Saved: engine.Bytes(120 + i), Grad: 6,
					Unsaved: k < len(c.Stages)-1}
			}
			list = append(list, engine.NewChainProblem(c, device, mode.transfers, 0))
		}
	}
	return list
}

// TestWiderIsNoSlower checks that a strategy that combines others is no slower than any strategy that has found a
// schedule in one of its sets, both in Solve and in sweeps. In a sweep it is also no slower for a budget than its
// own schedule for another budget, if that schedule fits.
func TestWiderIsNoSlower(t *testing.T) {
	compared, narrower := 0, map[string]bool{}
	for n, p := range widerProblems() {
		keep, err := engine.Lookup("keepall").Solve(p.WithBudget(engine.NoLimit), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		budgets := []engine.Bytes{keep.Peak * 93 / 100, keep.Peak * 5 / 10, keep.Peak * 7 / 10, keep.Peak * 9 / 10}
		list := methods(p)
		alone, swept := map[string][]*engine.Solution{}, map[string][]*engine.Solution{}
		for _, m := range list {
			one, many := make([]*engine.Solution, len(budgets)), make([]*engine.Solution, len(budgets))
			for i, b := range budgets {
				one[i], _ = m.Solve(p.WithBudget(b), m.args, nil)
			}
			if m.Sweeper == nil {
				copy(many, one) // without a Sweeper, every budget is solved by itself
			} else {
				m.Sweep(p, m.args, budgets, nil, func(i int, sol *engine.Solution, err error) { many[i] = sol })
			}
			alone[m.String()], swept[m.String()] = one, many
		}
		for _, w := range wider {
			name := method{engine.Lookup(w.name), w.args}.String()
			if alone[name] == nil {
				continue
			}
			for i, b := range budgets {
				for how, answers := range map[string]map[string][]*engine.Solution{"by itself": alone,
					"in a sweep": swept} {
					got := answers[name][i]
					for _, m := range slices.Sorted(maps.Keys(answers)) {
						other := answers[m][i]
						if other == nil || got != nil && got.Makespan <= other.Makespan {
							continue
						}
						if slices.ContainsFunc(w.sets,
							func(set string) bool { return inSet(t, p.WithBudget(b), other.Schedule, set) }) {
							t.Errorf("problem %d within %d, %s: %s gives %v, %s %d\n%s", n, b, how, name,
								claimOf(got), m, other.Makespan, enginetest.DumpGraph(p.Graph))
						}
					}
					if got != nil {
						compared++
					}
				}
				for k, other := range swept[name] {
					if got := swept[name][i]; w.name != "offloadsearch" && other != nil && other.Peak <= b &&
						(got == nil || got.Makespan > other.Makespan) {
						t.Errorf("problem %d: within %d %s gives %v in a sweep; that for %d takes %d in %d", n, b,
							name, claimOf(got), budgets[k], other.Makespan, other.Peak)
					}
				}
				if sol := swept[name][i]; sol != nil {
					if trace, err := sim.Play(p.WithBudget(b), sol.Schedule); err != nil ||
						trace.Makespan != sol.Makespan || sol.Bound > sol.Makespan {
						t.Errorf("problem %d: within %d %s claims %v in a sweep, bound %d: %v", n, b, name,
							claimOf(sol), sol.Bound, err)
					}
				}
			}
			narrower[name] = true
		}
	}
	if compared < 100/fewer() || len(narrower) != len(wider) {
		t.Errorf("%d answers of %v are compared: the problems are off", compared, narrower)
	}
	t.Logf("%d answers are compared", compared)
}

func claimOf(sol *engine.Solution) string {
	if sol == nil {
		return "nothing"
	}
	return fmt.Sprintf("%d in %d", sol.Makespan, sol.Peak)
}
