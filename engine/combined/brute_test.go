package combined

import (
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// brute tries every plan of a chain: all cuts of the first sweep into segments, all canonical ways
// to run their backward parts, and all sets of offloaded inputs. Each is played tick by tick, where
// a tick moves one byte. It shares no code with the solver.
type brute struct {
	c    *engine.Chain
	room engine.Bytes
	mode engine.Transfers
	best int64
	runs int
	each func([]bruteSegment) // if not nil, it gets the segments of every plan instead
}

type bruteSegment struct {
	forward, backward []engine.ChainOp
	input             engine.Bytes // size of Z_i
}

func bruteMakespan(p *engine.Problem) (ticks int64, plans int) {
	c := p.Chain.Chain
	b := &brute{c: c, room: p.Budget - c.Resident.Total(), mode: p.Transfers, best: never}
	b.cut(1, c.Input, nil)
	return b.best, b.runs
}

// cut goes on with a segment that starts at stage i and reads a value of z bytes.
func (b *brute) cut(i int, z engine.Bytes, segs []bruteSegment) {
	n := b.c.Len()
	segs = segs[:len(segs):len(segs)]
	keep := bruteSegment{[]engine.ChainOp{{Kind: engine.FAll, Stage: i}},
		[]engine.ChainOp{{Kind: engine.BStep, Stage: i}}, z}
	if i == n {
		b.offloads(append(segs, keep))
		return
	}
	b.cut(i+1, b.c.Saved(i), append(segs, keep))
	for j := i; j < n; j++ {
		forward := leanForward(i, j)
		for _, backward := range canonical(i, j) {
			b.cut(j+1, b.c.Act(j), append(segs, bruteSegment{forward, backward, z}))
		}
	}
}

func leanForward(i, j int) []engine.ChainOp {
	ops := []engine.ChainOp{{Kind: engine.FCk, Stage: i}}
	for k := i + 1; k <= j; k++ {
		ops = append(ops, engine.ChainOp{Kind: engine.FNone, Stage: k})
	}
	return ops
}

// canonical lists the ways to run stages i..j, forward and backward.
func canonical(i, j int) (all [][]engine.ChainOp) {
	first, last := engine.ChainOp{Kind: engine.FAll, Stage: i}, engine.ChainOp{Kind: engine.BStep, Stage: i}
	if i == j {
		return [][]engine.ChainOp{{first, last}}
	}
	for _, rest := range canonical(i+1, j) {
		all = append(all, append(append([]engine.ChainOp{first}, rest...), last))
	}
	for k := i; k < j; k++ {
		for _, right := range canonical(k+1, j) {
			for _, left := range canonical(i, k) {
				all = append(all, append(append(leanForward(i, k), right...), left...))
			}
		}
	}
	return all
}

// bruteRun is an operation with the memory that it needs if nothing is offloaded.
type bruteRun struct {
	ticks int64
	need  engine.Bytes
	item  int // the segment whose input is copied along with it, -1: none
}

// offloads tries all sets of inputs.
func (b *brute) offloads(segs []bruteSegment) {
	if b.each != nil {
		b.each(segs)
		return
	}
	forward, backward := b.needs(segs)
	for set := range 1 << (len(segs) - 1) {
		b.runs++
		f, ok := b.play(forward, segs, set, true)
		if !ok || f >= b.best {
			continue
		}
		// The backward pass in reversed time: inputs leave once their segment is done.
		g, ok := b.play(backward, segs, set, false)
		if ok {
			b.best = min(b.best, f+g)
		}
	}
}

// needs runs the sequence of a plan, keeps track of the values on the device, and returns the operations of both
// passes with the memory that they need.
func (b *brute) needs(segs []bruteSegment) (forward, backward []bruteRun) {
	n := b.c.Len()
	act, saved := map[int]bool{0: true}, map[int]bool{}
	grad := b.c.HeldGrad(n)
	during := func(op engine.ChainOp) bruteRun {
		k := op.Stage
		st := &b.c.Stages[k-1]
		sum := grad
		for x := range act {
			sum += b.c.Act(x)
		}
		for x := range saved {
			sum += b.c.Saved(x)
		}
		r := bruteRun{ticks: int64(st.Forward), item: -1}
		switch op.Kind {
		case engine.FAll:
			r.need = sum + st.Saved + st.FwdTemp
			saved[k] = true
			delete(act, k)
		case engine.BStep:
			r.ticks = int64(st.Back)
			r.need = sum + b.c.Grad(k) - b.c.HeldGrad(k) + b.c.Grad(k-1) + st.BwdTemp
			grad = b.c.Grad(k - 1)
			delete(saved, k)
			delete(act, k-1)
		default:
			r.need = sum + st.Out + st.FwdTemp
			act[k] = true
			if op.Kind == engine.FNone {
				delete(act, k-1)
			}
		}
		return r
	}
	for x, seg := range segs {
		for y, op := range seg.forward {
			r := during(op)
			if y == 0 {
				r.item = x
			}
			forward = append(forward, r)
		}
	}
	for x := len(segs) - 1; x >= 0; x-- {
		for y, op := range segs[x].backward {
			r := during(op)
			if y == 0 {
				r.item = x
			}
			backward = append([]bruteRun{r}, backward...)
		}
	}
	return forward, backward
}

// play returns the time of one pass, including transfers. An input can be copied from the start of its operation
// on, and leaves when the operation ends; in reversed time both happen when it ends. A whole transfer frees
// memory only when its last byte has moved.
func (b *brute) play(runs []bruteRun, segs []bruteSegment, set int, forward bool) (now int64, ok bool) {
	var queued, moved, whole engine.Bytes // whole: bytes of the items whose operation has ended
	var ends []engine.Bytes               // for each item, the bytes in the queue up to its last byte
	x, until := 0, int64(-1)
	gone := func() engine.Bytes {
		if b.mode == engine.Streamed {
			return min(moved, whole)
		}
		last := engine.Bytes(0)
		for _, end := range ends {
			if end <= moved && end <= whole {
				last = end
			}
		}
		return last
	}
	issue := func(r *bruteRun) {
		if r.item >= 0 && set>>r.item&1 == 1 {
			queued += segs[r.item].input
			ends = append(ends, queued)
		}
	}
	if forward {
		issue(&runs[0])
	}
	for {
		for again := true; again; {
			again = false
			if until == now {
				if !forward {
					issue(&runs[x])
				}
				whole = queued
				x, until, again = x+1, -1, true
				if forward && x < len(runs) {
					issue(&runs[x])
				}
			}
			if x < len(runs) && until < 0 && runs[x].need-gone() <= b.room {
				until, again = now+runs[x].ticks, true
			}
		}
		if x == len(runs) && moved == queued {
			return now, true
		}
		if x < len(runs) && until < 0 && moved == queued {
			return 0, false
		}
		now++
		if moved < queued {
			moved++
		}
	}
}

// bruteProblem returns a random chain of at most five stages with a budget.
func bruteProblem(seed uint64, duplex engine.Duplex, mode engine.Transfers) *engine.Problem {
	r := enginetest.Rand(5000 + seed)
	shape := enginetest.Shape{MaxStages: 4, MaxSize: 7, MaxTime: 6}
	if seed%5 == 0 {
		shape.MinStages, shape.MaxStages = 5, 5
	}
	c := enginetest.RandomChain(r, shape)
	return engine.NewChainProblem(c, enginetest.Device(duplex), mode, enginetest.RandomBudget(r, c))
}

// cases returns the number of cases of a test: all, or a quarter for a short run.
func cases(all uint64) uint64 {
	if testing.Short() {
		return all / 4
	}
	return all
}

var duplexes = []engine.Duplex{engine.HalfDuplex, engine.FullDuplex}

// TestAllPlans checks that with streamed transfers the step time is the least of all plans in both duplex modes,
// and that the recursion agrees.
func TestAllPlans(t *testing.T) {
	feasible, offloads, plans := uint64(0), uint64(0), 0
	for seed := range cases(1500) {
		p := bruteProblem(seed, engine.HalfDuplex, engine.Streamed)
		want, tried := bruteMakespan(p)
		plans += tried
		got, ok := plainMakespan(mustTerms(t, p))
		if ok != (want < never) || ok && got != want {
			t.Fatalf("seed %d, budget %d: the recursion says %d, %v; all plans %d\n%s", seed, p.Budget, got, ok, want,
				enginetest.Dump(p.Chain.Chain))
		}
		for _, duplex := range duplexes {
			p := bruteProblem(seed, duplex, engine.Streamed)
			sol := planHolds(t, p)
			if (sol != nil) != ok || ok && (int64(sol.Makespan) != want || !sol.Optimal) {
				t.Fatalf("seed %d, budget %d, %v: got %+v, all plans %d\n%s", seed, p.Budget, duplex, sol, want,
					enginetest.Dump(p.Chain.Chain))
			}
			if sol == nil {
				continue
			}
			feasible++
			if rotor, err := engine.Lookup("rotor").Solve(p, nil, nil); err != nil || rotor.Makespan > sol.Makespan {
				offloads++
			}
		}
	}
	t.Logf("%d plans, %d feasible cases, %d of them better with offloads", plans, feasible, offloads)
	if feasible < cases(1000) || offloads < cases(240) {
		t.Errorf("%d feasible cases, %d of them better with offloads: the generator is off", feasible, offloads)
	}
}

// TestAllPlansWhole checks that with whole transfers no step time is below the least of all plans
// and no bound is above it, that solutions claimed to be optimal are, and that most solutions are
// optimal.
func TestAllPlansWhole(t *testing.T) {
	feasible, exact, slower := uint64(0), uint64(0), uint64(0)
	for seed := range cases(1500) {
		want, _ := bruteMakespan(bruteProblem(seed, engine.HalfDuplex, engine.Whole))
		streamed, _ := bruteMakespan(bruteProblem(seed, engine.HalfDuplex, engine.Streamed))
		for _, duplex := range duplexes {
			p := bruteProblem(seed, duplex, engine.Whole)
			sol := planHolds(t, p)
			if sol == nil && want < never || sol != nil &&
				(int64(sol.Makespan) < want || int64(sol.Bound) > want || sol.Optimal && int64(sol.Makespan) != want) {
				t.Fatalf("seed %d, budget %d, %v: got %+v, all plans %d\n%s", seed, p.Budget, duplex, sol, want,
					enginetest.Dump(p.Chain.Chain))
			}
			if sol == nil {
				continue
			}
			feasible++
			if int64(sol.Makespan) == want {
				exact++
			}
			if want > streamed {
				slower++
			}
		}
	}
	t.Logf("%d feasible cases, %d of them as fast as the best plan, %d slower than byte by byte", feasible, exact,
		slower)
	if feasible < cases(1000) || exact < feasible*9/10 || slower < cases(30) {
		t.Errorf("%d feasible cases, %d of them as fast as the best plan, %d slower than byte by byte", feasible,
			exact, slower)
	}
}
