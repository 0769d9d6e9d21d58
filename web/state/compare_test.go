package state

import (
	"testing"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// solveAll answers all solves among the effects of the last play. The step of the n-th one takes base + n
// milliseconds.
func solveAll(p *player, base int) {
	effects := p.effects
	for _, e := range effects {
		if e, ok := e.(Solve); ok {
			p.play(answer(e, base))
			base++
		}
	}
}

// letters returns the step times of A and B. A side without a schedule has 0.
func letters(p *player) (a, b time.Duration) {
	pa, pb, _ := p.Sides()
	if pa != nil {
		a = pa.Solved.Trace.Makespan
	}
	if pb != nil {
		b = pb.Solved.Trace.Makespan
	}
	return a, b
}

// choices returns the choices of A and B.
func choices(p *player) (a, b Choice) {
	x, y := p.AB()
	return x.Choice, y.Choice
}

func TestCompareOpens(t *testing.T) {
	p := shown(t)
	p.play(ToggleCompare{})
	if got, want := names(p.effects), "WriteURL push, WriteURL replace, Solve"; got != want {
		t.Errorf("opening a comparison: effects %s; want %s: A has its schedule", got, want)
	}
	if p.Compare == nil || p.Compare.OnA || p.Compare.Other.Shown == nil || p.Compare.Other.busy() {
		t.Fatalf("comparison is %+v; want open, A ready, the controls on B", p.Compare)
	}
	if a, b := choices(p); b.Strategy == a.Strategy || b.Budget != a.Budget {
		t.Errorf("A is %+v, B %+v; want another plan in the same budget", a, b)
	}
	solveAll(p, 20)
	if a, b := letters(p); a != 12*time.Millisecond || b != 20*time.Millisecond {
		t.Errorf("A takes %v, B %v; want 12 and 20 ms", a, b)
	}
	p.play(SetStrategy{Name: "testoffload"})
	solveAll(p, 9)
	a, b := choices(p)
	if a.Strategy != "testremat" || b.Strategy != "testoffload" {
		t.Errorf("A is %s, B is %s; want testremat, testoffload: the controls change B only", a.Strategy, b.Strategy)
	}
	d, ok := p.Delta()
	if !ok || d.Step != -3*time.Millisecond {
		t.Errorf("the step changes by %v, %v; want -3 ms", d.Step, ok)
	}
	if got := p.End(); got != 12*time.Millisecond {
		t.Errorf("the time axis ends at %v; want 12 ms, the longer step", got)
	}
}

func TestSwapTurnClose(t *testing.T) {
	p := shown(t)
	p.play(ToggleCompare{})
	p.play(SetStrategy{Name: "testoffload"})
	solveAll(p, 9)

	p.play(SwapSides{})
	if a, b := letters(p); a != 9*time.Millisecond || b != 12*time.Millisecond || !p.Compare.OnA ||
		p.Choice.Strategy != "testoffload" {
		t.Errorf("swapped: A %v, B %v, controls on A %v of %s; want 9 ms, 12 ms, true, testoffload", a, b,
			p.Compare.OnA, p.Choice.Strategy)
	}
	p.play(SwapSides{}, EditSide{A: true})
	if p.Choice.Strategy != "testremat" || !p.Compare.OnA {
		t.Errorf("turned to A: the controls are on %s, on A %v; want testremat, true", p.Choice.Strategy, p.Compare.OnA)
	}
	for _, e := range p.effects {
		if _, ok := e.(Solve); ok {
			t.Errorf("turning the controls solved again: %s; want schedules that are known", names(p.effects))
		}
	}
	if a, b := letters(p); a != 12*time.Millisecond || b != 9*time.Millisecond {
		t.Errorf("turned to A: A %v, B %v; want 12 ms, 9 ms: the sides stay where they are", a, b)
	}
	p.play(EditSide{A: false}, ToggleCompare{})
	if p.Compare != nil || p.Choice.Strategy != "testremat" || stepTime(p) != 12*time.Millisecond {
		t.Errorf("closed: comparison %v, %s in %v; want none, A: testremat in 12 ms", p.Compare, p.Choice.Strategy,
			stepTime(p))
	}
	if last[WriteURL](t, p); names(p.effects[len(p.effects)-1:]) != "WriteURL push" {
		t.Errorf("closing: effects %s; want a push at the end", names(p.effects))
	}
}

// TestTurnWhileSolving checks that moving the controls to the other side while B is being solved loses neither
// side.
func TestTurnWhileSolving(t *testing.T) {
	p := shown(t)
	p.play(ToggleCompare{}, SetBudget{Bytes: 3 * engine.GiB, Settled: true})
	first := last[Solve](t, p)
	p.play(EditSide{A: true})
	if got := last[Cancel](t, p).ID; got != first.ID {
		t.Errorf("cancelled %d; want the solve %d of the page", got, first.ID)
	}
	again := last[Solve](t, p)
	if again.Slot != ForOther || again.Choice.Budget.Bytes != 3*engine.GiB || p.Phase() != "solving" {
		t.Fatalf("asked for %+v in phase %s; want B in the slot of the other side", again, p.Phase())
	}
	p.play(answer(again, 20))
	if a, b := letters(p); a != 12*time.Millisecond || b != 20*time.Millisecond || p.Phase() != "ready" {
		t.Errorf("A %v, B %v, phase %s; want 12 ms, 20 ms, ready", a, b, p.Phase())
	}
}

func TestOtherSideDoesNotFit(t *testing.T) {
	p := shown(t)
	b := chosen("net-b8")
	b.Budget = choice.Budget{Bytes: engine.MiB}
	p.play(Navigate{Choice: p.Choice, B: &b})
	e := last[Solve](t, p)
	p.play(SolveFailed{ID: e.ID,
		Failure: &proto.Failure{Kind: proto.Infeasible, Budget: engine.MiB, Smallest: engine.GiB}})
	if o := p.Compare.Other; o.Failed != "it needs at least 1 GiB" || o.Shown != nil || p.OverBudget != nil {
		t.Errorf("failed %q, shown %v, misfit %v; want the smallest budget, none, none: A stays", o.Failed, o.Shown,
			p.OverBudget)
	}
	if _, ok := p.Delta(); ok {
		t.Error("there is a delta without a schedule of B")
	}
	p.play(FitSide{})
	if c := p.Choice; p.Compare.OnA || c.Budget.Bytes != engine.GiB || last[Solve](t, p).Choice.Budget != c.Budget {
		t.Errorf("with the budget that B lacks: the controls on A %v, budget %+v; want them on B, 1 GiB, and it asked for", p.Compare.OnA, c.Budget)
	}
	if o := p.Compare.Other; o.Failed != "" || o.Offer() != 0 {
		t.Errorf("A, which fits, failed %q, offer %d", o.Failed, o.Offer())
	}
	p.play(SolveFailed{ID: last[Solve](t, p).ID,
		Failure: &proto.Failure{Kind: proto.Infeasible, Budget: engine.GiB, Smallest: 2 * engine.GiB}}, FitSide{})
	if p.Compare.OnA || p.Choice.Budget.Bytes != 2*engine.GiB {
		t.Errorf("B lacks its budget: the controls on A %v, budget %+v; want them on B, 2 GiB", p.Compare.OnA,
			p.Choice.Budget)
	}
}

// TestCompareKeepsBudget checks that both sides of a comparison keep the same memory: another device or batch
// size of one side does not change its budget.
func TestCompareKeepsBudget(t *testing.T) {
	for _, budget := range []choice.Budget{{Share: 80 * choice.Percent}, choice.Default().Budget,
		{Bytes: 3 * engine.GiB}} {
		p := &player{State: New()}
		c := chosen("resnet50-b32")
		c.Budget = budget
		p.play(Start{Choice: c})
		p.play(opened(last[Open](t, p).ID, chain("resnet50")))
		solveAll(p, 12)
		want := budget.Of(p.Network.Totals.KeepAllPeak)
		p.play(ToggleCompare{}, PickPreset{ID: "resnet50-b64"})
		if got := p.Opening.Choice.Budget; got.Bytes != want || got.Share != 0 {
			t.Errorf("%+v: B's budget becomes %+v; want %d bytes, as A has", budget, got, want)
		}
	}
}

// TestOverBudgetInComparison checks that a side that does not fit shows its schedule in the smallest budget,
// whatever the page showed before.
func TestOverBudgetInComparison(t *testing.T) {
	p := shown(t)
	p.play(ToggleCompare{}, EditSide{A: true}, SetBudget{Bytes: engine.MiB, Settled: true})
	e := last[Solve](t, p)
	p.play(SolveFailed{ID: e.ID,
		Failure: &proto.Failure{Kind: proto.Infeasible, Budget: engine.MiB, Smallest: engine.GiB}})
	stand := last[Solve](t, p)
	if stand.Choice.Budget.Bytes != p.OverBudget.Offer || p.Shown != nil {
		t.Errorf("asked for %+v, shown %v; want the smallest budget, and nothing until it is there",
			stand.Choice.Budget, p.Shown)
	}
}

// TestFirstFileFails checks that the second of two files is opened if the first is not valid.
func TestFirstFileFails(t *testing.T) {
	p := shown(t)
	p.play(PickFiles{A: PickFile{Name: "a.csv", Bytes: []byte("a")}, B: PickFile{Name: "b.csv", Bytes: []byte("b")}})
	p.play(OpenFailed{ID: last[Open](t, p).ID, Text: "line 2: no number"})
	if p.Alert == nil || p.Alert.Text != "a.csv: line 2: no number" || p.Opening == nil || p.Opening.Name != "b.csv" {
		t.Errorf("alert %+v, opening %+v; want what is wrong with a.csv, and b.csv", p.Alert, p.Opening)
	}
}

func TestLinkOpensBoth(t *testing.T) {
	p := &player{State: New()}
	b := chosen("other-b1")
	p.play(Start{Choice: chosen("net-b8"), B: &b})
	p.play(opened(last[Open](t, p).ID, chain("net")))
	open := last[Open](t, p)
	if open.Request.Preset != "other-b1" || p.Compare == nil || !p.Compare.OnA {
		t.Fatalf("then %+v is opened, comparison %+v; want other-b1 as B", open.Request, p.Compare)
	}
	solveAll(p, 12)
	p.play(opened(open.ID, chain("other")))
	solveAll(p, 17)
	if a, b := letters(p); a != 12*time.Millisecond || b != 17*time.Millisecond {
		t.Errorf("A takes %v, B %v; want 12 ms, 17 ms", a, b)
	}
	x, y := p.AB()
	na, nb := x.Network, y.Network
	if na.Profile.Name != "net" || nb.Profile.Name != "other" {
		t.Errorf("A is %s, B is %s; want net, other", na.Profile.Name, nb.Profile.Name)
	}
	// Back to a link without B.
	p.play(EditSide{A: false}, Navigate{Choice: chosen("net-b8")})
	if p.Compare != nil || p.Network != na || p.Choice.Source.Preset != "net-b8" {
		t.Errorf("back: comparison %v, network %s; want none, net", p.Compare, p.Network.Profile.Name)
	}
}

func TestTwoFiles(t *testing.T) {
	p := shown(t)
	p.play(PickFiles{A: PickFile{Name: "a.csv", Bytes: []byte("a")}, B: PickFile{Name: "b.csv", Bytes: []byte("b")}})
	open := last[Open](t, p)
	if open.Request.File != "a.csv" || p.Compare != nil {
		t.Fatalf("first %q is opened, comparison %v; want a.csv, none", open.Request.File, p.Compare)
	}
	p.play(opened(open.ID, chain("one")))
	open = last[Open](t, p)
	if string(open.Request.Bytes) != "b" {
		t.Fatalf("then %+v; want b.csv", open.Request)
	}
	solveAll(p, 5)
	p.play(opened(open.ID, chain("two")))
	solveAll(p, 7)
	if a, b := letters(p); a != 5*time.Millisecond || b != 7*time.Millisecond {
		t.Errorf("A takes %v, B %v; want 5 ms, 7 ms", a, b)
	}
	// A file that is dropped now replaces the side that the controls are on.
	p.play(EditSide{A: false}, PickFile{Name: "c.csv", Bytes: []byte("c")})
	p.play(opened(last[Open](t, p).ID, chain("three")))
	solveAll(p, 8)
	a, b := choices(p)
	if a.Source.File != "a.csv" || b.Source.File != "c.csv" {
		t.Errorf("A is %s, B is %s; want a.csv, c.csv", a.Source.File, b.Source.File)
	}
}

// TestSecondFileFails checks that A stays if the second file is not valid, and that an alert says why.
func TestSecondFileFails(t *testing.T) {
	p := shown(t)
	p.play(PickFiles{A: PickFile{Name: "a.csv", Bytes: []byte("a")}, B: PickFile{Name: "b.csv", Bytes: []byte("b")}})
	p.play(opened(last[Open](t, p).ID, chain("one")))
	open := last[Open](t, p)
	solveAll(p, 5)
	p.play(OpenFailed{ID: open.ID, Text: "line 2: no number"})
	if p.Compare != nil || p.Alert == nil || p.Alert.Text != "B cannot be opened. Line 2: no number" ||
		stepTime(p) != 5*time.Millisecond {
		t.Errorf("comparison %v, alert %+v, step %v; want none, what is wrong with B, A's 5 ms", p.Compare, p.Alert,
			stepTime(p))
	}
}

// TestStopOtherSide checks that Stop cancels the request of the other side, and that its best schedule so far
// stays.
func TestStopOtherSide(t *testing.T) {
	for _, withBest := range []bool{false, true} {
		p := shown(t)
		b := chosen("net-b8")
		b.Strategy = "testoffload"
		p.play(Navigate{Choice: p.Choice, B: &b})
		e := last[Solve](t, p)
		if withBest {
			p.play(Progressed{ID: e.ID, Best: answer(e, 15).Solved})
			if a, b := letters(p); a != 12*time.Millisecond || b != 15*time.Millisecond {
				t.Errorf("A takes %v, B so far %v; want 12 ms, 15 ms", a, b)
			}
		}
		p.play(Stop{})
		if got := last[Cancel](t, p).ID; got != e.ID || p.Phase() != "ready" {
			t.Errorf("cancelled %d, phase %s; want %d, ready", got, p.Phase(), e.ID)
		}
		o := p.Compare.Other
		if withBest != (o.Shown != nil && o.Shown.Partial) || withBest != (o.Failed == "") {
			t.Errorf("with a best so far %v: shown %v, failed %q", withBest, o.Shown, o.Failed)
		}
		p.play(EditSide{A: false}, EditSide{A: true}) // must lose nothing
		if o := p.Compare.Other; withBest && o.Shown == nil {
			t.Error("turned to B and back: the best so far is gone")
		}
	}
}

// TestProgressOfB checks that the progress of reading side B is not shown as progress of solving it.
func TestProgressOfB(t *testing.T) {
	p := &player{State: New()}
	b := chosen("other-b8")
	p.play(Start{Choice: chosen("net-b8"), B: &b})
	p.play(opened(last[Open](t, p).ID, chain("net")))
	file := last[Open](t, p)
	for _, c := range []struct {
		what string
		m    func() Message
		want int
	}{
		{"B is being read", func() Message {
			return Progressed{ID: file.ID,
				Progress: proto.Progress{Done: 8, Total: 10}}
		}, 8},
		{"B has been read", func() Message { return opened(file.ID, chain("other")) }, 0},
		{"B is being solved", func() Message {
			return Progressed{ID: last[Solve](t, p).ID, Progress: proto.Progress{Done: 3, Total: 10}}
		}, 3},
	} {
		p.play(c.m())
		if got := p.Compare.Other.Progress().Done; got != c.want {
			t.Errorf("%s: done %d of 10; want %d", c.what, got, c.want)
		}
	}
}
