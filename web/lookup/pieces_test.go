package lookup

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"memtide/engine"
	_ "memtide/engine/all" // registers strategies whose schedules have copies
	"memtide/engine/sim"
	"memtide/web/lookup/tracetest"
)

// TestPieces checks that a value that is copied to the host and back has a piece for each time that it is on the
// device: kept, leaving, arriving, and kept again. It has no piece while it is away.
func TestPieces(t *testing.T) {
	m := smallModel()
	got := ""
	for _, i := range m.Pieces().OfStage[0] {
		p := &m.Pieces().All[i]
		got += fmt.Sprintf("%d-%d %v %d; ", p.From/1e6, p.To/1e6, p.Band, p.first>>20)
	}
	if want := "0-50 activations 300; 50-70 in transfer 300; 105-155 in transfer 300; 155-195 activations 300; "; got != want {
		t.Errorf("stage 1 has the pieces %s; want %s", got, want)
	}
}

// TestPiecesStreamed checks that the bytes of a piece change linearly during a streamed copy.
func TestPiecesStreamed(t *testing.T) {
	p := tracetest.Problem()
	p.Transfers = engine.Streamed
	m := New(p, tracetest.Trace(p))
	got := ""
	for _, i := range m.Pieces().OfStage[0] {
		p := &m.Pieces().All[i]
		got += fmt.Sprintf("%d ", p.Bytes((p.From+p.To)/2)>>20)
	}
	if want := "300 60 150 300 "; got != want {
		t.Errorf("in the middle of its pieces stage 1 has %sMiB; want %s", got, want)
	}
}

// TestPhases checks that the forward pass ends when the loss or the first backward operation begins.
func TestPhases(t *testing.T) {
	p := tracetest.Problem()
	tr := tracetest.Trace(p)
	if got, want := fmt.Sprint(New(p, tr).Phases), "[{forward 0s 50ms} {backward 50ms 195ms}]"; got != want {
		t.Errorf("a loss of no duration: %s; want %s", got, want)
	}
	tr.Spans[3].Start, tr.Spans[4].End = 45*ms, 60*ms
	if got, want := fmt.Sprint(New(p, tr).Phases),
		"[{forward 0s 45ms} {loss 45ms 60ms} {backward 60ms 195ms}]"; got != want {
		t.Errorf("a loss that takes time: %s; want %s", got, want)
	}
	p.Chain.Chain.Stages[0].Kind = engine.OptimizerKind
	if got, want := fmt.Sprint(New(p, tr).Phases),
		"[{forward 0s 45ms} {loss 45ms 60ms} {backward 60ms 155ms} {optimizer 155ms 195ms}]"; got != want {
		t.Errorf("a first stage for the optimizer: %s; want %s", got, want)
	}
	if rows := New(p, tr).Rows; slices.Contains(rows, 0) || len(rows) != len(tr.Spans)+len(tr.Gaps)-1 {
		t.Errorf("rows %v; want all but the optimizer's forward, which is nothing", rows)
	}
	if got := New(tracetest.Empty()).Phases; got != nil {
		t.Errorf("nothing runs: %v; want no phases", got)
	}
}

// TestPiecesOfPlayed checks that the pieces of a category have exactly the bytes that the trace has at every
// moment, for values that are kept, computed again and copied.
func TestPiecesOfPlayed(t *testing.T) {
	r, copied := rand.New(rand.NewPCG(1, 2)), 0
	for round := range 30 {
		c := &engine.Chain{Input: 50, Stages: make([]engine.Stage, 6+r.IntN(6))}
		for i := range c.Stages {
			c.Stages[i] = engine.Stage{Forward: time.Duration(1+r.IntN(30)) * ms,
				Back: time.Duration(1+r.IntN(60)) * ms, Out: 50, Saved: engine.Bytes(60 + r.IntN(100)), Grad: 10}
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
		m := New(p, tr)
		copied += m.CopyLanes()
		checkPieces(t, round, m)
	}
	if copied < 20 {
		t.Errorf("%d lanes of copies in all schedules; want 20 at least", copied)
	}
}

func checkPieces(t *testing.T, round int, m *Index) {
	for i := range len(m.Memory.Samples) - 1 {
		at := (m.Memory.Samples[i].At + m.Memory.Samples[i+1].At) / 2
		if at == m.Memory.Samples[i].At {
			continue
		}
		used := m.Memory.Used(at)
		var sum [sim.NumCategories]engine.Bytes
		for _, p := range m.Pieces().All {
			if p.From <= int64(at) && int64(at) < p.To {
				sum[p.Band] += engine.Bytes(p.Bytes(int64(at)))
			}
		}
		for _, c := range []sim.Category{sim.Activation, sim.Recomputed, sim.InTransfer} {
			if sum[c] != used[c] {
				t.Fatalf("round %d, at %v: %d bytes of %v in pieces; the trace says %d", round, at, sum[c], c, used[c])
			}
		}
	}
}
