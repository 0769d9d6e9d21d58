package all_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"testing"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// stepSchedules is the number of schedules of random steps that are played, and longStepSchedules the number with
// MEMTIDE_LONG=1.
const (
	stepSchedules     = 6_000
	longStepSchedules = 100_000
)

// TestSteps compares sim and check on the schedules of strategies for random steps: graphs with operations of the
// network and the host, second algorithms, output-only runs and forwards after backwards, and chains. Searches are
// stopped early, because any schedule will do.
func TestSteps(t *testing.T) {
	most := stepSchedules * 2 / (fewer() + 1)
	if os.Getenv("MEMTIDE_LONG") != "" {
		most = longStepSchedules
	}
	all := 0
	count := map[string]int{}
	held := 0
	for seed := uint64(0); all < most; seed++ {
		p := stepProblem(seed)
		if err := p.Validate(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		r := rand.New(rand.NewPCG(seed, 2))
		for _, s := range engine.Strategies() {
			if p.Chain == nil && !s.Graphs {
				continue
			}
			sets := argSets(s)
			trace := planned(t, fmt.Sprintf("seed %d", seed), s, p, sets[r.IntN(len(sets))], 2000)
			if t.Failed() {
				return
			}
			if trace == nil {
				continue
			}
			all++
			count[s.Name]++
			for _, g := range trace.Gaps {
				if g.Reason == sim.NeedsRoom {
					held++
					break
				}
			}
		}
	}
	t.Logf("%d schedules, %d of which wait for room: %v", all, held, count)
	for _, s := range engine.Strategies() {
		if count[s.Name] < most/500 {
			t.Errorf("%s planned %d of %d schedules: the generator is off", s.Name, count[s.Name], all)
		}
	}
	if held < most/100 {
		t.Errorf("%d of %d schedules wait for room: the generator is off", held, all)
	}
}

// TestSmallSteps solves many more small steps with every strategy for graphs, with little time for searches. Every
// strategy returns a schedule or an error of its contract.
func TestSmallSteps(t *testing.T) {
	graphs := uint64(400 / fewer())
	if os.Getenv("MEMTIDE_LONG") != "" {
		graphs = longStepSchedules
	}
	for seed := range graphs {
		r := rand.New(rand.NewPCG(seed, 3))
		g := randomStep(r, 6, seed%2 == 0)
		p := &engine.Problem{Graph: g, Device: enginetest.Device(engine.Duplex(r.IntN(2))),
			Budget: engine.Bytes(8 + r.IntN(40))}
		for _, s := range engine.Strategies() {
			if s.Graphs {
				planned(t, fmt.Sprintf("seed %d", seed), s, p, nil, 50)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// stepProblem draws a step on a device. Its budget is 30 to 100 % of the memory for keeping everything.
func stepProblem(seed uint64) *engine.Problem {
	r := enginetest.Rand(seed)
	rates := []engine.Rate{1e9, 5e8, 333_333_333, 2e9}
	d := engine.Device{ToHost: rates[r.IntN(4)], ToDev: rates[r.IntN(4)], Duplex: engine.Duplex(r.IntN(2))}
	transfers := engine.Transfers(r.IntN(4) / 3)
	var p *engine.Problem
	if r.IntN(4) == 0 {
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 5})
		enginetest.GiveFast(r, c)
		if r.IntN(2) == 0 {
			enginetest.GiveUnsaved(r, c)
		}
		p = engine.NewChainProblem(c, d, transfers, engine.NoLimit)
	} else {
		g := randomStep(r, 12, transfers == engine.Whole && r.IntN(3) > 0)
		p = &engine.Problem{Graph: g, Device: d, Transfers: transfers, Budget: engine.NoLimit}
	}
	whole, err := engine.Lookup("keepall").Solve(p, nil, nil)
	if err != nil {
		return p
	}
	return p.WithBudget(p.Graph.Fixed + (whole.Peak-p.Graph.Fixed)*engine.Bytes(30+r.IntN(71))/100)
}

// planned plays the schedule of a strategy and checks the trace and the claims. It returns nil if the problem is
// refused. The strategy is stopped after a number of calls of its poll.
func planned(t *testing.T, input string, s *engine.Strategy, p *engine.Problem, args engine.Args,
	calls int) *sim.Trace {
	t.Helper()
	input = fmt.Sprintf("%s, %s %v, budget %d, %+v, %v\n%s", input, s.Name, args, p.Budget, p.Device, p.Transfers,
		enginetest.DumpGraph(p.Graph))
	defer func() {
		if what := recover(); what != nil {
			t.Errorf("%spanics: %v\n%s", input, what, debug.Stack())
		}
	}()
	sol, err := s.Solve(p, args, engine.NewPoll(engine.LimitCalls(t.Context(), calls), nil))
	var small *engine.InfeasibleError
	if err != nil && !errors.Is(err, engine.ErrUnsupported) && !errors.As(err, &small) &&
		!errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%sgot %v; want a schedule, or that it does not fit or is not supported", input, err)
	}
	if sol == nil {
		return nil
	}
	trace, err := sim.Play(p, sol.Schedule)
	if err != nil {
		t.Errorf("%scannot be played: %v\n%v", input, err, described(p.Graph, sol.Schedule))
		return nil
	}
	if err := check.Trace(p, sol.Schedule, trace); err != nil {
		t.Errorf("%scheck refutes what sim plays: %v\n%v", input, err, described(p.Graph, sol.Schedule))
	}
	if trace.Makespan != sol.Makespan || trace.Peak != sol.Peak || trace.Peak > p.Budget {
		t.Errorf("%sclaims %v and %d bytes; played %v and %d", input, sol.Makespan, sol.Peak, trace.Makespan,
			trace.Peak)
	}
	return trace
}

func described(g *engine.Graph, s engine.Schedule) (text string) {
	for i, st := range s {
		text += fmt.Sprintf("  %d %s, not before %d, reserve %v\n", i, st.Describe(g), st.NotBefore, st.Reserve)
	}
	return text
}
