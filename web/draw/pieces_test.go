package draw

import (
	"memtide/web/lookup/tracetest"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	_ "memtide/engine/all" // schedules with copies
	"memtide/engine/sim"
)

// A value that is copied to the host and back is kept, leaves, is away, arrives and is
// kept.
func TestPieces(t *testing.T) {
	m := smallModel()
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
	m := NewModel(p, tracetest.Trace(p))
	got := ""
	for _, i := range m.pieces().ofStage[0] {
		p := &m.pieces().all[i]
		got += fmt.Sprintf("%d ", p.bytes((p.from+p.to)/2)>>20)
	}
	if want := "300 60 150 300 "; got != want {
		t.Errorf("in the middle of its pieces stage 1 has %sMiB; want %s", got, want)
	}
}

// manyLives is a trace with n values that live for a random while, of which the samples
// know.
func manyLives(n int) *Model {
	r := rand.New(rand.NewPCG(3, 4))
	c := &engine.Chain{Input: 1, Stages: make([]engine.Stage, 50)}
	for i := range c.Stages {
		c.Stages[i] = engine.Stage{Forward: ms, Back: ms, Out: 1, Saved: engine.GiB}
	}
	p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, 80*engine.GiB)
	t := &sim.Trace{Makespan: time.Duration(n) * ms, Decisions: make([]sim.Decision, 50)}
	var used [sim.NumCategories]engine.Bytes
	ends := map[int][]int{}
	for i := range n {
		at := time.Duration(i) * ms
		t.Memory = append(t.Memory, sim.Sample{At: at, Used: used})
		for _, l := range ends[i] {
			used[sim.Activation] -= t.Lives[l].Bytes
		}
		life := 1 + r.IntN(60)
		if i%97 == 0 {
			life = n / 3
		}
		end := min(i+life, n)
		t.Lives = append(t.Lives, sim.Life{Value: p.Chain.Saved(1 + i%50), Op: engine.NoOp, Category: sim.Activation, Bytes: engine.Bytes(1 + r.IntN(1<<30)), Start: at, End: time.Duration(end) * ms, From: sim.NoSpan})
		used[sim.Activation] += t.Lives[i].Bytes
		ends[end] = append(ends[end], i)
		t.Memory = append(t.Memory, sim.Sample{At: at, Used: used})
		t.Peak = max(t.Peak, used[sim.Activation])
	}
	return NewModel(p, t)
}

// The pieces that are found are those that a scan finds.
func TestSeenPieces(t *testing.T) {
	m := manyLives(3000)
	x, r := m.pieces(), rand.New(rand.NewPCG(5, 6))
	for range 200 {
		from := r.Int64N(int64(m.Makespan()))
		to, least, size := from+r.Int64N(int64(m.Makespan())), r.Int64N(int64(40*ms)), r.Int64N(1<<30)
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

// Seams are bounded by pixels, however many values there are.
func TestSeamsAreBounded(t *testing.T) {
	for _, n := range []int{100, 3000, 60_000} {
		m := manyLives(n)
		for _, to := range []time.Duration{0, m.Makespan() / 50} {
			var s Scene
			m.Draw(&s, Memory, View{To: to, Width: 1000})
			if most := 50_000; s.Items() > most {
				t.Errorf("%d values until %v: %d items; want at most %d", n, to, s.Items(), most)
			}
		}
	}
}

// The layer that is selected lies on what is fixed, and what lies above all bands stays.
func TestSink(t *testing.T) {
	m := smallModel()
	f := m.frame(Memory, View{Width: 600, Selected: Target{OnStage, 1}})
	sc := m.memoryScale(&f)
	pieces := m.sunkPieces(&f, &sc)
	plain := m.bandPoints(&f, nil)
	sunk := m.sink(&f, pieces, plain, nil)
	const top = sim.NumCategories - 1
	for _, p := range sunk {
		below := p.sum[0] + p.sunk
		for b := 1; b <= int(top); b++ {
			if p.sum[b] < below {
				t.Errorf("at %v band %d ends at %d, below what lies under it, %d", p.x, b, p.sum[b], below)
			}
			below = p.sum[b]
		}
	}
	for at, want := range map[time.Duration]int64{10 * ms: 300, 40 * ms: 300, 90 * ms: 0, 120 * ms: 300, 170 * ms: 300} {
		if _, got := m.sunkAt(&f, pieces, f.x(int64(at)), false); got>>20 != want {
			t.Errorf("at %v %d MiB of stage 1 lie at the bottom; want %d", at, got>>20, want)
		}
		if a, b := topAt(plain, f.x(int64(at))), topAt(sunk, f.x(int64(at))); a != b {
			t.Errorf("at %v the bands reach up to %d; want %d, as without a selection", at, b, a)
		}
	}
}

// topAt is the upper end of all bands at x.
func topAt(pts []bandPoint, x float64) int64 {
	for i := 1; i < len(pts); i++ {
		if pts[i-1].x <= x && x < pts[i].x {
			return pts[i-1].sum[sim.NumCategories-1]
		}
	}
	return 0
}

// Forward ends where the first backward operation begins, or the loss.
func TestPhases(t *testing.T) {
	p := tracetest.Problem()
	tr := tracetest.Trace(p)
	if got, want := fmt.Sprint(NewModel(p, tr).phases), "[{forward 0 50000000} {backward 50000000 195000000}]"; got != want {
		t.Errorf("a loss of no duration: %s; want %s", got, want)
	}
	tr.Spans[3].Start, tr.Spans[4].End = 45*ms, 60*ms
	if got, want := fmt.Sprint(NewModel(p, tr).phases), "[{forward 0 45000000} {loss 45000000 60000000} {backward 60000000 195000000}]"; got != want {
		t.Errorf("a loss that takes time: %s; want %s", got, want)
	}
	if got := emptyModel().phases; got != nil {
		t.Errorf("nothing runs: %v; want no phases", got)
	}
}

// The labels of two lines that are near stand on different sides of them.
func TestNearLines(t *testing.T) {
	m := smallModel()
	at := func(capacity engine.Bytes) (device, budget float64) {
		var s Scene
		m.Draw(&s, Memory, View{Width: 640, Budget: 900 * engine.MiB, Capacity: capacity, Device: "one card"})
		for _, g := range s.groups {
			for i := g.first; i < g.last; i++ {
				y := float64(s.nums[g.from+2*(i-g.first)+1])
				if strings.HasPrefix(s.texts[i].s, "one card") {
					device = y
				} else if strings.HasPrefix(s.texts[i].s, "budget") {
					budget = y
				}
			}
		}
		return device, budget
	}
	if device, budget := at(910 * engine.MiB); device == 0 || budget-device < 14 {
		t.Errorf("the labels of two near lines are at %v and %v; want the lower one 14 pixels lower", device, budget)
	}
	v := View{Width: 640, Budget: 900 * engine.MiB, Capacity: 1100 * engine.MiB}
	if device, budget := at(v.Capacity); device > m.frameY(v, v.Capacity) || budget > m.frameY(v, v.Budget) {
		t.Errorf("far from each other the labels are at %v and %v; want both above their lines", device, budget)
	}
}

// The pieces are never more than the trace says, of any category, and say all of what
// is kept, computed again and copied.
func TestPiecesOfPlayed(t *testing.T) {
	r, copied := rand.New(rand.NewPCG(1, 2)), 0
	for round := range 30 {
		c := &engine.Chain{Input: 50, Stages: make([]engine.Stage, 6+r.IntN(6))}
		for i := range c.Stages {
			c.Stages[i] = engine.Stage{Forward: time.Duration(1+r.IntN(30)) * ms, Back: time.Duration(1+r.IntN(60)) * ms, Out: 50, Saved: engine.Bytes(60 + r.IntN(100)), Grad: 10}
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
		checkPieces(t, round, NewModel(p, tr))
	}
	if copied < 20 {
		t.Errorf("%d lanes of copies in all schedules; want 20 at least", copied)
	}
}

func checkPieces(t *testing.T, round int, m *Model) {
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

// A lane is drawn only if something runs on it.
func TestLanesThatRun(t *testing.T) {
	p := tracetest.Problem()
	tr := tracetest.Trace(p)
	tr.Spans = append(tr.Spans[:7:7], tr.Spans[8]) // nothing comes back
	tr.Spans[7].Cause = sim.NoSpan
	tr.Gaps = nil
	m := NewModel(p, tr)
	var s Scene
	m.Draw(&s, Timeline, View{Width: 640})
	words := strings.Join(s.words(), " ")
	if !strings.Contains(words, "to host") || strings.Contains(words, "to device") {
		t.Errorf("the lanes are in %q; want the one to the host and not the one to the device", words)
	}
	if got := CopyLanes(tr); got != 1 {
		t.Errorf("%d lanes of copies; want 1", got)
	}
}

// The key has what occurs.
func TestKey(t *testing.T) {
	words := func(m *Model) (out string) {
		for _, e := range Key(m) {
			out += e.Words + ", "
		}
		return out
	}
	if got, want := words(smallModel()), "forward, kept, computed again, backward, copied, leaving or arriving, scratch, waiting, "; got != want {
		t.Errorf("the key is %q; want %q", got, want)
	}
	if got := words(emptyModel()); got != "" {
		t.Errorf("the key of nothing is %q", got)
	}
}

// The wait that is selected says beside it what it is about.
func TestWaitIsNamed(t *testing.T) {
	m := smallModel()
	var s Scene
	m.Draw(&s, Timeline, View{Width: 640, Selected: Target{OnGap, 0}})
	if got, want := strings.Join(s.words(), "|"), "waits 15 ms for conv1 to arrive"; !strings.Contains(got, want) {
		t.Errorf("the timeline says %q; want %q in it", got, want)
	}
}
