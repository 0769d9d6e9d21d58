package state

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
)

func point(e Sweep, method, index, ms int) SweptPoint {
	q := proto.Point{Method: method, Index: index, Strategy: e.Request.Methods[method].Strategy, Budget: e.Request.Budgets[index].Bytes}
	if ms > 0 {
		q.StepTime, q.Bound = time.Duration(ms)*time.Millisecond, 10*time.Millisecond
	} else {
		q.Failure = proto.Fail(proto.Infeasible, "too small")
	}
	return SweptPoint{e.ID, q}
}

// curved is a page whose curve has all points of its first method.
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
	if got := len(e.Request.Budgets); got != CurveBudgets {
		t.Errorf("%d budgets; want %d", got, CurveBudgets)
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

func TestCurvePoints(t *testing.T) {
	p, e := curved(t)
	lines := p.Curve.Lines()
	if len(lines) != 1 || len(lines[0].Points) != CurveBudgets-4 {
		t.Fatalf("%d lines, the first of %d points; want 1 of %d: what does not fit is left out", len(lines), len(lines[0].Points), CurveBudgets-4)
	}
	if p.Curve.Done != CurveBudgets {
		t.Errorf("%d points done; want %d", p.Curve.Done, CurveBudgets)
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

func TestCurveOfEachSetting(t *testing.T) {
	p, e := curved(t)
	p.play(Swept{e.ID, proto.Reference{StepTime: time.Millisecond, Peak: 1}})
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
	at := CurvePoint{Strategy: "testoffload", Budget: e.Request.Budgets[9].Bytes}
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

func TestBudgetRange(t *testing.T) {
	p := shown(t)
	r := p.BudgetRange()
	if n := r.Steps(); n < sliderSteps || n > 2*sliderSteps+3 {
		t.Errorf("range %+v has %d steps; want about %d to %d", r, n, sliderSteps, 2*sliderSteps)
	}
	if r.To < 8*engine.GiB {
		t.Errorf("range ends at %d; want at least what keeps everything", r.To)
	}
	if r.Step&(r.Step-1) != 0 {
		t.Errorf("step %d; want a power of two", r.Step)
	}
	for i := 0; i <= r.Steps(); i++ {
		if got := r.Position(r.At(i)); got != i {
			t.Errorf("position of the budget at %d is %d", i, got)
		}
	}
	if got := r.Position(-5); got != 0 {
		t.Errorf("position of a negative budget is %d; want 0", got)
	}
	if got := r.Position(engine.NoLimit); got != r.Steps() {
		t.Errorf("position of no limit is %d; want the last, %d", got, r.Steps())
	}
}

func TestBandwidthSlider(t *testing.T) {
	for i := 0; i <= BandwidthSteps; i++ {
		if got := BandwidthPosition(BandwidthAt(i)); got != i {
			t.Errorf("position of the rate at %d (%d B/s) is %d", i, BandwidthAt(i), got)
		}
	}
	if got := BandwidthAt(0); got != 1e9 {
		t.Errorf("slowest rate is %d; want 1 GB/s", got)
	}
	if got := BandwidthPosition(0); got != 0 {
		t.Errorf("position of no link is %d; want 0", got)
	}
}

// A line never rises with the budget: what fits into less fits into more. Neither
// does a bound: what bounds a budget bounds every smaller one.
func TestLinesFall(t *testing.T) {
	at := func(budget, step, bound int) *proto.Point {
		return &proto.Point{Strategy: "testoffload", Budget: engine.Bytes(budget), StepTime: time.Duration(step), Bound: time.Duration(bound)}
	}
	c := &Curve{Methods: []proto.Method{{Strategy: "testoffload"}}, Points: [][]*proto.Point{{at(1, 30, 10), at(2, 20, 15), at(3, 25, 12), at(4, 20, 11), at(5, 19, 11)}}}
	l := c.Lines()[0]
	text := func(l Line) string {
		var b strings.Builder
		for _, p := range l.Points {
			fmt.Fprintf(&b, "%d:%d ", p.Budget, p.StepTime)
		}
		return b.String()
	}
	for _, x := range []struct{ what, got, want string }{
		{"the line", text(l), "1:30 2:20 4:20 5:19 "},
		{"with a faster point between", text(l.With(LinePoint{Budget: 3, StepTime: 18})), "1:30 2:20 3:18 "},
		{"with a slower one", text(l.With(LinePoint{Budget: 3, StepTime: 28})), "1:30 2:20 4:20 5:19 "},
		{"with one instead of another", text(l.With(LinePoint{Budget: 2, StepTime: 19})), "1:30 2:19 5:19 "},
		{"the bound", text(c.Bounds()[0]), "1:15 2:15 3:12 4:11 5:11 "},
	} {
		if x.got != x.want {
			t.Errorf("%s is %q; want %q", x.what, x.got, x.want)
		}
	}
}

// What two methods of a class have proven is one bound: the larger one at each
// budget, and never less than at a larger budget.
func TestBoundsOfAClass(t *testing.T) {
	var l Line
	for _, p := range [][2]int{{3, 10}, {1, 12}, {2, 11}, {3, 13}, {4, 5}, {1, 9}} {
		l.Points = append(l.Points, LinePoint{Budget: engine.Bytes(p[0]), StepTime: time.Duration(p[1])})
	}
	l.lower()
	var got []string
	for _, p := range l.Points {
		got = append(got, fmt.Sprintf("%d:%d", p.Budget, p.StepTime))
	}
	if got, want := strings.Join(got, " "), "1:13 2:13 3:13 4:5"; got != want {
		t.Errorf("the bound is %s; want %s", got, want)
	}
}
