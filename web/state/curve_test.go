package state

import (
	"slices"
	"testing"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/tradeoff"
)

func point(e Sweep, method, index, ms int) SweptPoint {
	q := proto.Point{Method: method, Index: index, Strategy: e.Request.Methods[method].Strategy,
		Budget: e.Request.Budgets[index].Bytes}
	if ms > 0 {
		q.StepTime, q.Bound = time.Duration(ms)*time.Millisecond, 10*time.Millisecond
	} else {
		q.Failure = proto.Fail(proto.Infeasible, "too small")
	}
	return SweptPoint{e.ID, q}
}

// curved returns a page whose curve has all points of its first method, and the sweep of the curve.
func curved(t *testing.T) (*player, Sweep) {
	t.Helper()
	p := shown(t)
	e := last[Sweep](t, p)
	for i := range e.Request.Budgets {
		ms := 0 // the first four do not fit
		if i > 3 {
			ms = 100 - i
		}
		p.play(point(e, 0, i, ms))
	}
	return p, e
}

func TestSweepRequest(t *testing.T) {
	p := shown(t)
	e := last[Sweep](t, p)
	if got := len(e.Request.Budgets); got != tradeoff.CurveBudgets {
		t.Errorf("%d budgets; want %d", got, tradeoff.CurveBudgets)
	}
	r := p.BudgetRange()
	for i, b := range e.Request.Budgets {
		if r.At(r.Position(b.Bytes)) != b.Bytes {
			t.Errorf("budget %d is %d; want a position of the slider, so that dragging finds it", i, b.Bytes)
		}
	}
	for _, m := range e.Request.Methods {
		if engine.Lookup(m.Strategy).Class == 0 {
			t.Errorf("the curve has %s, which never moves anything", m.Strategy)
		}
	}
}

// TestCurveOfCard checks that the curve has a point for the memory of the card that a plan may use.
func TestCurveOfCard(t *testing.T) {
	c := chosen("net-b8")
	c.Device = "gtx-970"
	p := &player{State: New()}
	p.play(Start{Choice: c})
	p.play(opened(last[Open](t, p).ID, chain("net")))
	p.play(answer(last[Solve](t, p), 12))
	want := c.Usable(DeviceOf(c).Memory)
	var got []engine.Bytes
	for _, b := range last[Sweep](t, p).Request.Budgets {
		got = append(got, b.Bytes)
	}
	if r := p.BudgetRange(); !slices.Contains(got, want) || want <= r.From || want >= r.To {
		t.Errorf("budgets %d; want %d, which the card leaves, among them", got, want)
	}
}

func TestCurvePoints(t *testing.T) {
	p, e := curved(t)
	lines := p.Curve.Lines()
	if len(lines) != 1 || len(lines[0].Points) != tradeoff.CurveBudgets-4 {
		t.Fatalf("%d lines, the first of %d points; want 1 of %d: what does not fit is left out", len(lines),
			len(lines[0].Points), tradeoff.CurveBudgets-4)
	}
	if p.Curve.Done != tradeoff.CurveBudgets {
		t.Errorf("%d points done; want %d", p.Curve.Done, tradeoff.CurveBudgets)
	}
	p.play(point(Sweep{ID: e.ID - 1, Request: e.Request}, 1, 0, 99))
	if p.Curve.Points[1][0] != nil {
		t.Error("a point of a sweep that was given up came into the curve")
	}
	if got, want := p.Curve.Smallest(), e.Request.Budgets[4].Bytes; got != want {
		t.Errorf("smallest budget that fits %d; want %d", got, want)
	}
}

func TestStopAndResumeSweep(t *testing.T) {
	p, e := curved(t)
	if got, want := names(p.play(StopSweep{})), "Cancel"; got != want {
		t.Errorf("StopSweep: effects %s; want %s", got, want)
	}
	if len(p.Curve.Lines()) != 1 {
		t.Error("the points known so far are gone")
	}
	p.play(point(e, 1, 0, 9))
	if p.Curve.Points[1][0] != nil {
		t.Error("a point came after the stop")
	}
	if got, want := names(p.play(StartSweep{})), "Sweep"; got != want {
		t.Errorf("StartSweep: effects %s; want %s", got, want)
	}
}

// TestBandwidthKeepsCard checks that another bandwidth of the link leaves the card, on which the verdict depends.
func TestBandwidthKeepsCard(t *testing.T) {
	s := New()
	s.Choice = choice.Example()
	s.Update(SetBandwidth{Rate: 5e9, Settled: true})
	if c := s.Choice; c.Device != choice.ExampleDevice || c.Linked() || c.ToDev != 5e9 || DeviceOf(c) == nil {
		t.Errorf("on %q, linked as that: %t, %v to the device; want %q with a link of its own", c.Device, c.Linked(),
			c.ToDev, choice.ExampleDevice)
	}
}

func TestCurveOfEachSetting(t *testing.T) {
	p, e := curved(t)
	p.play(Swept{ID: e.ID, KeepAll: proto.Reference{StepTime: time.Millisecond, Peak: 1}})
	first := p.Curve
	if got := names(p.play(SetBudget{Bytes: 3 * engine.GiB})); got != "WriteURL replace, Solve, Cancel" {
		t.Errorf("a budget: effects %s; want no other curve, and what was asked while nothing else was to be done given up", got)
	}
	p.play(answer(last[Solve](t, p), 13))
	p.play(SetBandwidth{Rate: 5e9, Settled: true})
	p.play(answer(last[Solve](t, p), 13))
	last[Sweep](t, p)
	if p.Curve == first {
		t.Error("another bandwidth has the same curve")
	}
	effects := p.play(SetBandwidth{Rate: 1e9, Settled: true})
	if p.Curve != first {
		t.Errorf("effects %s; want the first curve back from the cache", names(effects))
	}
}

func TestPreviewAndAdopt(t *testing.T) {
	p, e := curved(t)
	at := tradeoff.Point{Strategy: "testoffload", Budget: e.Request.Budgets[9].Bytes}
	before := p.Choice
	p.play(Hover{at})
	ask := last[Solve](t, p)
	if ask.Slot != ForPreview {
		t.Errorf("slot %d; want that of previews", ask.Slot)
	}
	p.play(answer(ask, 18))
	wantStep(t, p, 18, "the point under the pointer")
	if !p.Choice.Equal(before) || p.Shown == p.Visible() {
		t.Error("the preview has changed the choice or the picture")
	}
	p.play(Unhover{})
	wantStep(t, p, 12, "the pointer has left")
	p.play(Hover{at})
	wantStep(t, p, 18, "from the cache")
	effects := p.play(Adopt{at})
	if p.Choice.Strategy != "testoffload" || p.Choice.Budget.Bytes != at.Budget || p.Preview != nil {
		t.Errorf("choice %+v; want the point, effects %s", p.Choice, names(effects))
	}
	wantStep(t, p, 18, "adopted from the cache")
}
