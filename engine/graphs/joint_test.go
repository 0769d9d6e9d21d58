package graphs

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// jointProblem returns a random graph or chain, with a half- or full-duplex link.
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

// TestClock makes random moves with transfers, keeps some and undoes the others. After each move the state must
// equal a new state of the same sequence. Played by sim with room for everything, it must take no more time and
// no more memory than the state says.
func TestClock(t *testing.T) {
	transfers, played, over, sooner := 0, 0, 0, 0
	for seed := range uint64(150) {
		p := jointProblem(seed)
		m, err := newModelOfWays(p.Graph)
		if err != nil {
			t.Fatal(err)
		}
		m = m.linked(p)
		peak, _, _ := m.cost(m.given())
		a := &annealer{state: newState(m, peak*3/4, seed%4 < 2, m.given()), r: newRandom(seed), mostAgain: math.MaxInt}
		for range 400 {
			a.begin()
			a.most = math.MaxInt64
			moved := false
			if a.r.one(2) {
				moved = a.proposeTransfer(&a.r)
			} else {
				moved = a.propose()
			}
			if !moved {
				a.undo()
				continue
			}
			a.evaluate(math.MaxInt64)
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
				k := m.kinds[a.kind[x]]
				if k.what == engine.DoFetch && slices.ContainsFunc(a.runs[m.kinds[m.offload[k.writes[0]]].op],
					func(y int32) bool { return a.place[y] > a.place[x] }) {
					t.Fatalf("seed %d, fetched before it left: %v\n%v", seed, a.edits, ks)
				}
			}
			f := newState(m, a.budget, a.kept, a.sequence())
			if f.took != a.took || f.excess != a.excess || !slices.EqualFunc(f.at, a.at, func(x, y moment) bool {
				return x.now == y.now && max(x.now, x.out) == max(y.now, y.out) && max(x.now, x.in) == max(y.now, y.in)
			}) || !slices.Equal(f.during, a.during) || !slices.Equal(f.overs, a.overs) ||
				!slices.Equal(f.fetched, a.fetched) {
				t.Logf("%v low %d high %d grown %d\n%v\n%v\n%v", a.edits, a.low, a.high, a.grown, ks, a.during,
					f.during)
				t.Fatalf("seed %d: takes %d, excess %d, %v; afresh %d, %d, %v\n%s", seed, a.took, a.excess, a.at,
					f.took, f.excess, f.at, enginetest.DumpGraph(p.Graph))
			}
			if a.took == a.m.base {
				continue
			}
			transfers++
			if trace, err := sim.Play(p, m.schedule(m.used(a.sequence()))); err == nil {
				played++
				if int64(trace.Peak) > slices.Max(a.during) {
					over++ // a value is made again while it is being offloaded
				}
				if trace.Makespan < a.took && len(m.used(a.sequence())) == len(a.sequence()) {
					sooner++ // a reader can use an older copy
				}
				if trace.Makespan > a.took {
					t.Fatalf("seed %d: plays %d, %d; the state says %d, %d\n%s", seed, trace.Makespan, trace.Peak,
						a.took, slices.Max(a.during), enginetest.DumpGraph(p.Graph))
				}
			}
		}
	}
	t.Logf("%d, %d of them played, %d with more memory, %d sooner", transfers, played, over, sooner)
	if played*10 < transfers*9 || (over+sooner)*50 > played {
		t.Errorf("%d of %d could be played", played, transfers)
	}
}

// TestJointVectors checks that the default effort finds 97 % of the optima of the vectors, and never a faster
// schedule.
func TestJointVectors(t *testing.T) {
	equal, all := 0, 0
	for _, v := range Vectors("graph_joint_tiny") {
		p := v.GraphProblem()
		want, feasible := v.ExpectInt("time")
		sol, err := graphPofo.Solve(p, nil, nil)
		all++
		switch {
		case err == nil && (!feasible || sol.Makespan < time.Duration(want)):
			t.Errorf("%s: takes %d, want %d, feasible %v", v.ID, sol.Makespan, want, feasible)
		case (err == nil) == feasible && (err != nil || sol.Makespan == time.Duration(want)):
			equal++
		default:
			t.Logf("%s: %+v, %v, want %d", v.ID, sol, err, want)
		}
	}
	if equal*100 < all*97 {
		t.Errorf("%d of %d are optimal; want 97 %%", equal, all)
	}
}

// TestJointEffort checks that more effort finds the optima of all vectors.
func TestJointEffort(t *testing.T) {
	for _, v := range Vectors("graph_joint_tiny") {
		want, feasible := v.ExpectInt("time")
		sol, err := graphPofo.Solve(v.GraphProblem(), engine.Args{"effort": "3"}, nil)
		if (err == nil) != feasible || feasible && sol.Makespan != time.Duration(want) {
			t.Errorf("%s: %+v, %v; want %d, feasible %v", v.ID, sol, err, want, feasible)
		}
	}
}

// TestJointAnneals checks that the annealing finds optima that no other method finds.
func TestJointAnneals(t *testing.T) {
	equal, faster := 0, 0
	for _, v := range Vectors("graph_joint_tiny") {
		p := v.GraphProblem()
		want, _ := v.ExpectInt("time")
		args, _ := graphPofo.Parse(nil)
		j := &joint{p: p, args: args}
		m, err := newModelOfWays(p.Graph)
		if err != nil {
			t.Fatal(err)
		}
		j.m = m.linked(p)
		if j.begin(); j.best == nil {
			continue
		}
		before := j.best.Makespan
		if j.search(); j.best.Makespan < before {
			faster++
		}
		if j.best.Makespan == time.Duration(want) {
			equal++
		}
	}
	if equal < 97 || faster < 3 {
		t.Errorf("%d are optimal, and %d faster than what others find", equal, faster)
	}
	t.Logf("%d are optimal, %d faster than what others find", equal, faster)
}

// TestJointIsNeverWorse checks that graphpofo is no slower than the strategies that it starts from, in any mode,
// and that its schedules play as claimed.
func TestJointIsNeverWorse(t *testing.T) {
	faster := 0
	for seed := range uint64(48) {
		p := jointProblem(seed)
		p.Transfers = []engine.Transfers{engine.Whole, engine.Streamed}[seed/2%2]
		m, err := newModelOfWays(p.Graph)
		if err != nil {
			t.Fatal(err)
		}
		peak, _, _ := m.cost(m.given())
		p = p.WithBudget(peak * 7 / 10)
		sol, err := graphPofo.Solve(p, nil, nil)
		if err == nil {
			trace, played := sim.Play(p, sol.Schedule)
			if played != nil || check.Trace(p, sol.Schedule, trace) != nil || trace.Makespan != sol.Makespan ||
				trace.Peak != sol.Peak || trace.Peak > p.Budget {
				t.Errorf("seed %d: %v; claims %d in %d", seed, played, sol.Makespan, sol.Peak)
			}
		}
		best := true
		for _, name := range []string{"graphsearch", "blocks", "window", "lms", "pofo"} {
			other, errOther := engine.Lookup(name).Solve(p, nil, nil)
			if errOther == nil && (err != nil || other.Makespan < sol.Makespan) {
				t.Errorf("seed %d: %s finds %d; got %v, %+v", seed, name, other.Makespan, err, sol)
			}
			best = best && err == nil && (errOther != nil || sol.Makespan < other.Makespan)
		}
		if best {
			faster++
		}
	}
	if faster < 3 {
		t.Errorf("%d are faster than all others", faster)
	}
	t.Logf("%d are faster than all others", faster)
}

// TestSerial checks that no other method needs less memory than the serial plan, and that the plan plays as
// claimed.
func TestSerial(t *testing.T) {
	for seed := range uint64(300) {
		p := jointProblem(seed)
		m, err := newModelOfWays(p.Graph)
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
			if sol, err := engine.Lookup(name).Solve(p.WithBudget(peak-1), nil, nil); err == nil ||
				errors.As(err, &refused) && refused.Smallest < peak {
				t.Errorf("seed %d: the serial plan needs %d; %s says %v, %v", seed, peak, name, sol, err)
			}
		}
	}
}
