package graphs

import (
	"errors"
	"slices"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// jointProblems are random graphs and chains with some memory, in all modes.
func jointProblem(seed uint64) *engine.Problem {
	r := enginetest.Rand(seed)
	d := enginetest.Device([]engine.Duplex{engine.HalfDuplex, engine.FullDuplex}[seed%2])
	if seed%3 == 2 {
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 3, MaxStages: 8})
		enginetest.GiveUnsaved(r, c)
		return engine.NewChainProblem(c, d, engine.Whole, engine.NoLimit)
	}
	return &engine.Problem{Graph: enginetest.RandomGraph(r, 12), Device: d, Budget: engine.NoLimit}
}

// TestClock makes random moves with transfers, keeps some and undoes the others: after
// each the state is as one made afresh, and what sim plays with room for everything
// takes the time that the state says and no more memory.
func TestClock(t *testing.T) {
	transfers, played, over, sooner := 0, 0, 0, 0
	for seed := range uint64(150) {
		p := jointProblem(seed)
		m, err := newModel(p.Graph)
		if err != nil {
			t.Fatal(err)
		}
		m = m.linked(p)
		peak, _, _ := m.cost(m.given())
		a := &annealer{state: newState(m, peak*3/4, seed%4 < 2, m.given()), r: newRandom(seed)}
		for range 400 {
			a.begin()
			moved := false
			if a.r.one(2) {
				moved = a.proposeTransfer(&a.r)
			} else {
				moved = a.propose()
			}
			if !moved {
				continue
			}
			a.evaluate()
			if took := a.newTook; a.r.below(3) > 0 {
				if a.commit(); a.took != took {
					t.Fatalf("seed %d: committed %d, evaluated %d", seed, a.took, took)
				}
			} else {
				a.undo()
			}
			var ks []string
			for _, id := range a.sequence() {
				ks = append(ks, m.step(id).Describe(p.Graph))
			}
			for _, x := range a.order {
				if k := m.kinds[a.kind[x]]; k.what == engine.StepFetch && a.leavesAfter(k.writes[0], a.place[x]) {
					t.Fatalf("seed %d, fetched before it left: %v\n%v", seed, a.edits, ks)
				}
			}
			f := newState(m, a.budget, a.kept, a.sequence())
			if f.took != a.took || f.excess != a.excess || !slices.EqualFunc(f.at, a.at, func(x, y moment) bool {
				return x.now == y.now && max(x.now, x.out) == max(y.now, y.out) && max(x.now, x.in) == max(y.now, y.in)
			}) || !slices.Equal(f.during, a.during) || !slices.Equal(f.before, a.before) || !slices.Equal(f.fetched, a.fetched) {
				t.Logf("%v low %d high %d grown %d\n%v\n%v\n%v", a.edits, a.low, a.high, a.grown, ks, a.before, f.before)
				t.Fatalf("seed %d: takes %d, excess %d, %v; afresh %d, %d, %v\n%s", seed, a.took, a.excess, a.at, f.took, f.excess, f.at, enginetest.DumpGraph(p.Graph))
			}
			if a.took == a.m.base {
				continue
			}
			transfers++
			if trace, err := sim.Play(p, m.schedule(m.used(a.sequence()))); err == nil {
				played++
				if int64(trace.Peak) > slices.Max(a.during) {
					over++ // a value is made again while it leaves
				}
				if trace.Makespan < a.took && len(m.used(a.sequence())) == len(a.sequence()) {
					sooner++ // an older copy serves a reader
				}
				if trace.Makespan > a.took {
					t.Fatalf("seed %d: plays %d, %d; the state says %d, %d\n%s", seed, trace.Makespan, trace.Peak, a.took, slices.Max(a.during), enginetest.DumpGraph(p.Graph))
				}
			}
		}
	}
	t.Logf("%d, %d of them played, %d with more memory, %d sooner", transfers, played, over, sooner)
	if played*10 < transfers*9 || (over+sooner)*50 > played {
		t.Errorf("%d of %d could be played", played, transfers)
	}
}

func TestJointTiny(t *testing.T) {
	equal, worse, missed := 0, 0, 0
	for _, v := range enginetest.Load("graph_joint_tiny") {
		p := v.GraphProblem()
		want, _ := v.ExpectInt("time")
		sol, err := graphPofo.Solve(p, nil, nil)
		switch {
		case err != nil:
			missed++
			t.Logf("%s: %v, want %d", v.ID, err, want)
		case sol.Makespan < time.Duration(want):
			t.Errorf("%s: %d, want %d", v.ID, sol.Makespan, want)
		case sol.Makespan == time.Duration(want):
			equal++
		default:
			worse++
			t.Logf("%s: %d, want %d: %s", v.ID, sol.Makespan, want, sol.Notes)
		}
	}
	t.Logf("%d equal, %d worse, %d missed", equal, worse, missed)
}

// TestSerial: no other method needs less memory than the serial plan, and it plays in
// what it says.
func TestSerial(t *testing.T) {
	for seed := range uint64(300) {
		p := jointProblem(seed)
		if p.Graph.Ops[0].Alt != nil {
			continue
		}
		m, err := newModel(p.Graph)
		if err != nil {
			t.Fatal(err)
		}
		m = m.linked(p)
		seq := m.serial()
		peak, _, ok := m.cost(seq)
		trace, err := sim.Play(p.WithBudget(peak), m.schedule(seq))
		if !ok || err != nil || trace.Peak > peak {
			t.Fatalf("seed %d: within %d: %v, %v", seed, peak, ok, err)
		}
		for _, name := range []string{"graphexact", "window", "lms", "rotor", "pofo"} {
			var refused *engine.InfeasibleError
			if sol, err := engine.Lookup(name).Solve(p.WithBudget(peak-1), nil, nil); err == nil || errors.As(err, &refused) && refused.Smallest < peak {
				t.Errorf("seed %d: the serial plan needs %d; %s says %v, %v", seed, peak, name, sol, err)
			}
		}
	}
}
