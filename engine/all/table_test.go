package all_test

import (
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// The states of the value a^k outside of a saved set.
const (
	absent = iota
	fresh  // neither F_ck nor F_all has read it yet
	kept   // F_ck or F_all has read it
)

// table is the state of the device during a schedule in terms of Table 1 of Beaumont et al. (arXiv:1911.13214). An
// output-only run is F_none if its input is freed before the next run, and F_ck otherwise. F_all also frees an input
// that no backward reads.
type table struct {
	act         [16]uint8 // the state of each a^k outside of a saved set
	there, back [16]bool  // whether abar^k is on the device; whether B^k has run
	lean, full  uint8     // the stage of the last run if it was an output-only or a full forward run; otherwise 0
}

func newTable() (t table) {
	t.act[0] = fresh
	return t
}

// holds reports whether any value of stages k..n that will still be read is on the device.
func (t *table) holds(k, n int) bool {
	for i := k; i <= n; i++ {
		if t.there[i] && !t.back[i] || i < n && t.act[i] != absent && !t.back[i+1] {
			return true
		}
	}
	return false
}

// run updates the state for a run. needed is false for a forward of a stage whose saved set is on the device.
func (t *table) run(g *engine.ChainGraph, st engine.Instruction) (needed bool) {
	if t.lean > 0 && t.act[t.lean-1] == fresh {
		t.act[t.lean-1] = kept
	}
	op := &g.Ops[st.Op]
	k := op.Stage
	t.lean, t.full = 0, 0
	needed = op.Pass == engine.Backward || !t.there[k]
	switch {
	case op.Pass == engine.Backward:
		t.back[k] = true
	case st.OutputOnly:
		t.lean, t.act[k] = uint8(k), fresh
	default:
		t.full, t.act[k], t.there[k] = uint8(k), absent, true
		if g.Chain.Unsaved(k) {
			t.act[k] = fresh
		}
		if t.act[k-1] == fresh {
			t.act[k-1] = kept
		}
	}
	return needed
}

// free updates the state for the free of an activation. consumed reports whether an operation of Table 1 frees it, and
// lasting is false if it was kept and its backward is still to come.
func (t *table) free(g *engine.ChainGraph, v engine.ValueID) (consumed, lasting bool) {
	k := g.Values[v].Stage
	if v != g.Act(k) {
		t.there[k] = false
		return t.back[k], true
	}
	full, lean, unsaved := int(t.full), int(t.lean), g.Chain.Unsaved(k)
	dead := k < g.Chain.Len() && t.back[k+1]
	all := unsaved && (full == k+1 || full == k && t.there[k+1]) // F_all^{k+1} has read it, now or before
	lasting = dead || all || t.act[k] != kept
	t.act[k] = absent
	return dead || all || lean == k+1, lasting
}

// search finds the fastest schedule in the sets of Table 1 by Dijkstra's algorithm, over all runs and all frees that
// table accepts.
type search struct {
	g    *engine.ChainGraph
	room engine.Bytes
	seen map[table]time.Duration
	open engine.Heap[entry]
}

type entry struct {
	table
	cost time.Duration
}

func (a entry) Before(b entry) bool { return a.cost < b.cost }

// fastest returns the least step time of a sequence of Table 1 that runs no stage forward while its saved set is on
// the device. ok is false if no such sequence within the budget takes less than limit.
func fastest(p *engine.Problem, limit time.Duration) (best time.Duration, ok bool) {
	c := p.Chain.Chain
	s := &search{g: p.Chain, room: p.Budget - c.Resident.Total(), seen: map[table]time.Duration{}}
	if c.Input+c.HeldGrad(c.Len()) > s.room {
		return 0, false
	}
	s.reach(newTable(), c.BackTime())
	for len(s.open) > 0 {
		at := s.open.Pop()
		switch {
		case at.cost >= limit:
			return 0, false
		case at.back[1]:
			return at.cost, true
		case at.cost == s.seen[at.table]:
			s.expand(at)
		}
	}
	return 0, false
}

func (s *search) reach(t table, cost time.Duration) {
	for k := range t.act {
		t.act[k] = min(t.act[k], fresh) // the search may free kept values
	}
	if old, ok := s.seen[t]; !ok || cost < old {
		s.seen[t] = cost
		s.open.Push(entry{t, cost})
	}
}

// expand tries all frees, all runs forward and the backward that is next.
func (s *search) expand(at entry) {
	c, g := s.g.Chain, s.g
	n, next := c.Len(), c.Len()
	held := engine.Bytes(0)
	for k := 0; k <= n; k++ {
		if at.act[k] != absent {
			held += c.Act(k)
			s.free(at, g.Act(k))
		}
		if k > 0 && at.there[k] {
			held += c.Saved(k)
			s.free(at, g.Saved(k))
		}
		if at.back[k] {
			next = min(next, k-1)
		}
	}
	held += c.HeldGrad(next)
	for k := 1; k <= n; k++ {
		st, t := &c.Stages[k-1], at.table
		input := t.act[k-1] != absent || t.there[k-1] && !c.Unsaved(k-1)
		if k == next && t.there[k] && (input || c.Unsaved(k-1)) {
			s.run(at, engine.Run(g.Bwd(k)), held+c.Grad(k)-c.HeldGrad(k)+c.Grad(k-1)+st.BwdTemp)
		}
		if input {
			s.run(at, engine.Run(g.Fwd(k)), held+st.Saved+c.Beside(k)+st.FwdTemp)
			s.run(at, engine.RunOutputOnly(g.Fwd(k)), held+st.Out+st.FwdTemp)
		}
	}
}

func (s *search) run(at entry, st engine.Instruction, need engine.Bytes) {
	op := &s.g.Ops[st.Op]
	if need > s.room || !at.run(s.g, st) {
		return
	}
	if op.Pass == engine.Forward {
		at.cost += op.Time
	}
	s.reach(at.table, at.cost)
}

func (s *search) free(at entry, v engine.ValueID) {
	if consumed, _ := at.table.free(s.g, v); consumed {
		s.reach(at.table, at.cost)
	}
}

// TestTableOne compares the results of nonpersistent for chains of up to four stages with all sequences of its set.
func TestTableOne(t *testing.T) {
	count := 2000 / fewer()
	if os.Getenv("MEMTIDE_LONG") != "" {
		count = 15_000
	}
	optima, refused := 0, 0
	for seed := range uint64(count) {
		r := enginetest.Rand(seed)
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 4, MaxSize: 12})
		if seed%3 == 0 {
			enginetest.GiveUnsaved(r, c)
		}
		budget := c.Resident.Total() + (enginetest.RandomBudget(r, c)-c.Resident.Total())*3/4
		p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, budget)
		sol, err := engine.Lookup("nonpersistent").Solve(p, nil, nil)
		small, none := errors.AsType[*engine.InfeasibleError](err)
		switch {
		case none:
			refused++
			if best, ok := fastest(p.WithBudget(small.Smallest-1), math.MaxInt64); ok {
				t.Errorf("seed %d budget %d: got that %d bytes are the least, want what fits into one less, in %d\n%s", seed, budget, small.Smallest, best, enginetest.Dump(c))
			}
		case err != nil:
			t.Fatal(err)
		default:
			optima++
			if best, ok := fastest(p, sol.Makespan); ok || !sol.Optimal {
				t.Errorf("seed %d budget %d: got %d, optimal %v; want %d\n%s", seed, budget, sol.Makespan,
					sol.Optimal, best, enginetest.Dump(c))
			}
		}
	}
	if min(optima, refused) < count/10 {
		t.Errorf("%d optima and %d refusals: the generator is off", optima, refused)
	}
}

// TestForgetting checks chains on which only sequences that run F^3 again while abar^3 is on the device, in order
// to free a^2, fit or are the fastest. Such sequences are outside of the set that nonpersistent names.
func TestForgetting(t *testing.T) {
	stage := func(fwd, back time.Duration, out, saved, grad, fwdTemp, bwdTemp engine.Bytes) engine.Stage {
		return engine.Stage{Forward: fwd, Back: back, Out: out, Saved: saved, Grad: grad, FwdTemp: fwdTemp,
			BwdTemp: bwdTemp}
	}
	one := &engine.Chain{Input: 3, InputGrad: 6,
		Stages: []engine.Stage{stage(5, 0, 2, 2, 6, 0, 8), stage(11, 4, 8, 8, 0, 0, 0),
			stage(0, 5, 3, 3, 8, 0, 0), stage(0, 0, 0, 0, 0, 0, 4)}}
	one.Stages[2].Unsaved = true
	two := &engine.Chain{Input: 4, InputGrad: 7, LossGradAllocated: true, Resident: engine.Resident{Weights: 2},
		Stages: []engine.Stage{
			stage(2, 4, 0, 0, 0, 0, 0), stage(9, 0, 6, 6, 6, 4, 0), stage(5, 6, 0, 0, 7, 10, 0),
			stage(0, 0, 2, 7, 0, 0, 0)}}
	for _, tc := range []struct {
		chain    *engine.Chain
		takes    time.Duration // the step time of such a sequence
		makespan time.Duration // the step time of nonpersistent; 0 means no schedule
		smallest engine.Bytes
	}{{one, 36, 41, 0}, {two, 40, 0, 26}} {
		p := engine.NewChainProblem(tc.chain, engine.Device{}, engine.Whole, 25)
		g := p.Chain
		run, lean, free := func(k int) engine.Instruction { return engine.Run(g.Fwd(k)) },
			func(k int) engine.Instruction { return engine.RunOutputOnly(g.Fwd(k)) }, engine.Free
		back := func(k int) engine.Schedule {
			return engine.Schedule{engine.Run(g.Bwd(k)), free(g.Grad(k)), free(g.Saved(k))}
		}
		steps := slices.Concat(engine.Schedule{run(1), lean(2), run(3), lean(3), free(g.Act(2)), run(4)}, back(4),
			engine.Schedule{free(g.Act(3)), run(2)}, back(3), back(2), back(1))
		f, err := play(p, steps)
		if err != nil || f.trace.Makespan != tc.takes || !f.table1 {
			t.Errorf("%d bytes at the start: got %+v, %v; want a sequence of Table 1 of %d", tc.chain.Input, f, err,
				tc.takes)
			continue
		}
		sol, err := engine.Lookup("nonpersistent").Solve(p, nil, nil)
		if tc.makespan > 0 {
			in, ok := setOf(sol.OptimalAmong)
			if err != nil || sol.Makespan != tc.makespan || !sol.Optimal || !ok || in(f) {
				t.Errorf("got %+v, %v; want the optimum of a set without the faster sequence", sol, err)
			}
			continue
		}
		const set = "sequences of Table 1 that run no stage forward while its saved set is there"
		small, _ := errors.AsType[*engine.InfeasibleError](err)
		if small == nil || small.Smallest != tc.smallest ||
			!strings.HasPrefix(small.Why, "nothing needs less within "+set+": ") || members[set](f) {
			t.Errorf("got %v; want that %d bytes are needed within a set without the sequence that fits", err,
				tc.smallest)
		}
	}
}
