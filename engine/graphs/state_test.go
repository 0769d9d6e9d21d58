package graphs

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// GiveAlt gives about half of the operations a second algorithm, mostly a faster one with
// a larger workspace.
func GiveAlt(r *rand.Rand, g *engine.Graph) {
	for i := range g.Ops {
		if op := &g.Ops[i]; r.IntN(2) == 0 {
			op.Alt = &engine.Alt{Time: op.Time * time.Duration(r.IntN(5)) / 4,
				Temp: op.Temp + engine.Bytes(r.IntN(7)) - min(op.Temp, 1)}
		}
	}
}

// afresh compares a state with a new one made from its sequence.
func afresh(t *testing.T, s *state) bool {
	t.Helper()
	seq := s.sequence()
	f := newState(s.m, s.budget, s.kept, seq)
	peak, took, ok := s.m.cost(seq)
	if !ok || took != s.took || slices.Max(s.during) != int64(peak) {
		t.Errorf("%v: can run %v, takes %d, peak %d; the state says %d, %d", seq, ok, took, peak, s.took,
			slices.Max(s.during))
	}
	if f.excess != s.excess || f.repeats != s.repeats || !slices.Equal(f.during, s.during) ||
		!slices.Equal(f.overs, s.overs) {
		t.Errorf("%v: excess %d, repeats %d, memory %v; afresh %d, %d, %v", seq, s.excess, s.repeats, s.during,
			f.excess, f.repeats, f.during)
	}
	var first []int32
	for _, id := range seq {
		if op := s.m.kinds[id].op; !slices.Contains(first, op) {
			first = append(first, op)
		}
	}
	if s.kept && !slices.IsSorted(first) {
		t.Errorf("%v: the first runs come in the order %v", seq, first)
	}
	return !t.Failed()
}

// TestState makes random moves, keeps some and undoes the others, and after each move compares the state with a new
// one: on graphs, some with second algorithms, and on chains with output-only runs.
func TestState(t *testing.T) {
	const seed = 5
	r := enginetest.Rand(seed)
	repeated, lean := 0, 0
	for i := range 120 {
		g := enginetest.RandomGraph(r, 12)
		for k := range g.Ops {
			g.Ops[k].Once = i%4 == 3 && r.IntN(3) == 0
		}
		if i%3 == 2 {
			c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 3, MaxStages: 8})
			enginetest.GiveUnsaved(r, c)
			g = &engine.ExpandChain(c).Graph
		}
		if i%4 == 1 {
			GiveAlt(r, g)
		}
		m, err := newModelOfWays(g)
		if err != nil {
			t.Fatal(err)
		}
		peak, _, _ := m.cost(m.given())
		a := &annealer{state: newState(m, peak*3/4, i%2 == 0, m.given()), r: newRandom(uint64(i)),
			mostAgain: math.MaxInt}
		for range 300 {
			a.begin()
			a.most = math.MaxInt64
			if !a.propose() {
				a.undo()
				continue
			}
			a.evaluate(math.MaxInt64)
			if excess, took := a.newExcess, a.newTook; r.IntN(3) > 0 {
				a.commit()
				if a.excess != excess || a.took != took {
					t.Errorf("committed %d, %d; evaluated %d, %d", a.excess, a.took, excess, took)
				}
			} else {
				a.undo()
			}
			repeated = max(repeated, a.repeats)
			for _, id := range a.sequence() {
				if int(id) > m.ops {
					lean++
				}
			}
			if !afresh(t, a.state) {
				t.Fatalf("seed %d graph %d\n%s", seed, i, enginetest.DumpGraph(g))
			}
		}
	}
	if repeated < 3 || lean < 100 {
		t.Errorf("%d repeats at most, %d output-only runs: the moves are off", repeated, lean)
	}
}
