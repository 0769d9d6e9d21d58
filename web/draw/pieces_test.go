package draw

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"memtide/engine"
	_ "memtide/engine/all" // schedules with copies
	"memtide/engine/sim"
	"memtide/web/lookup/tracetest"
)

// A value that is copied to the host and back is kept, leaves, is away, arrives and is
// kept.
func TestPieces(t *testing.T) {
	m := smallIndex()
	got := ""
	for _, i := range m.pieces().ofStage[0] {
		p := &m.pieces().all[i]
		got += fmt.Sprintf("%d-%d %v %d; ", p.from/1e6, p.to/1e6, p.band, p.first>>20)
	}
	if want := "0-50 activations 300; 50-70 in transfer 300; 105-155 in transfer 300; 155-195 activations 300; "; got != want {
		t.Errorf("stage 1 has the pieces %s; want %s", got, want)
	}
}

// What a streamed copy fills or empties changes linearly.
func TestPiecesStreamed(t *testing.T) {
	p := tracetest.Problem()
	p.Transfers = engine.Streamed
	m := newIndexModel(p, tracetest.Trace(p))
	got := ""
	for _, i := range m.pieces().ofStage[0] {
		p := &m.pieces().all[i]
		got += fmt.Sprintf("%d ", p.bytes((p.from+p.to)/2)>>20)
	}
	if want := "300 60 150 300 "; got != want {
		t.Errorf("in the middle of its pieces stage 1 has %sMiB; want %s", got, want)
	}
}

// The pieces that are found are those that a scan finds.
func TestSeenPieces(t *testing.T) {
	m := newIndexModel(tracetest.ManyLives(3000))
	x, r := m.pieces(), rand.New(rand.NewPCG(5, 6))
	for range 200 {
		from := r.Int64N(int64(m.Makespan()))
		to, least, size := from+r.Int64N(int64(m.Makespan())), r.Int64N(int64(40*msIndex)), r.Int64N(1<<30)
		var want []int32
		for i := range x.all {
			if p := &x.all[i]; p.from < to && min(p.to, to)-max(p.from, from) >= least && p.most() >= size {
				want = append(want, int32(i))
			}
		}
		if got := x.seen(from, to, least, size, nil); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("in %d to %d, at least %d long and %d large: %v; want %v", from, to, least, size, got, want)
		}
	}
}

// Forward ends where the first backward operation begins, or the loss.
func TestPhases(t *testing.T) {
	p := tracetest.Problem()
	tr := tracetest.Trace(p)
	if got, want := fmt.Sprint(newIndexModel(p, tr).phases), "[{forward 0 50000000} {backward 50000000 195000000}]"; got != want {
		t.Errorf("a loss of no duration: %s; want %s", got, want)
	}
	tr.Spans[3].Start, tr.Spans[4].End = 45*msIndex, 60*msIndex
	if got, want := fmt.Sprint(newIndexModel(p, tr).phases), "[{forward 0 45000000} {loss 45000000 60000000} {backward 60000000 195000000}]"; got != want {
		t.Errorf("a loss that takes time: %s; want %s", got, want)
	}
	if got := newIndexModel(tracetest.Empty()).phases; got != nil {
		t.Errorf("nothing runs: %v; want no phases", got)
	}
}

// The pieces are never more than the trace says, of any category, and say all of what
// is kept, computed again and copied.
func TestPiecesOfPlayed(t *testing.T) {
	r, copied := rand.New(rand.NewPCG(1, 2)), 0
	for round := range 30 {
		c := &engine.Chain{Input: 50, Stages: make([]engine.Stage, 6+r.IntN(6))}
		for i := range c.Stages {
			c.Stages[i] = engine.Stage{Forward: time.Duration(1+r.IntN(30)) * msIndex, Back: time.Duration(1+r.IntN(60)) * msIndex, Out: 50, Saved: engine.Bytes(60 + r.IntN(100)), Grad: 10}
		}
		p := engine.NewChainProblem(c, engine.Device{ToHost: 3000, ToDev: 3000}, engine.Whole, engine.NoLimit)
		all, err := engine.Lookup("keepall").Solve(p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := sim.Play(p, all.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		p.Budget = tr.Peak * 7 / 10
		s, err := engine.Lookup([]string{"greedy", "pofo"}[round%2]).Solve(p, nil, nil)
		if err != nil {
			continue // too little memory
		}
		if tr, err = sim.Play(p, s.Schedule); err != nil {
			t.Fatal(err)
		}
		copied += CopyLanes(tr)
		checkPieces(t, round, newIndexModel(p, tr))
	}
	if copied < 20 {
		t.Errorf("%d lanes of copies in all schedules; want 20 at least", copied)
	}
}

func checkPieces(t *testing.T, round int, m *indexModel) {
	for i := range len(m.memory.samples) - 1 {
		at := (m.memory.samples[i].At + m.memory.samples[i+1].At) / 2
		if at == m.memory.samples[i].At {
			continue
		}
		used := m.memory.used(at)
		var sum [sim.NumCategories]engine.Bytes
		for _, p := range m.pieces().all {
			if p.from <= int64(at) && int64(at) < p.to {
				sum[p.band] += engine.Bytes(p.bytes(int64(at)))
			}
		}
		for _, c := range []sim.Category{sim.Activation, sim.Recomputed, sim.InTransfer} {
			if sum[c] != used[c] {
				t.Fatalf("round %d, at %v: %d bytes of %v in pieces; the trace says %d", round, at, sum[c], c, used[c])
			}
		}
	}
}
