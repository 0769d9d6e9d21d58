package state

import (
	"memtide/web/link"
	"slices"
	"testing"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/tradeoff"
)

func asked(e Sweep) (out []string) {
	for _, m := range e.Request.Methods {
		out = append(out, m.Strategy)
	}
	return out
}

// few returns a page with a complete curve that draws only the chosen strategy.
func few(t *testing.T) *player {
	t.Helper()
	p := &player{State: New()}
	p.play(Start{Choice: chosen("net-b8"), Look: link.Look{Lines: []string{}}})
	p.play(opened(last[Open](t, p).ID, chain("net")))
	p.play(answer(last[Solve](t, p), 12))
	e := last[Sweep](t, p)
	if got := asked(e); !slices.Equal(got, []string{"testremat"}) {
		t.Fatalf("the curve asks %v; want the chosen strategy only", got)
	}
	finish(p, e)
	return p
}

// finish answers all points of the sweep e.
func finish(p *player, e Sweep) {
	for m := range e.Request.Methods {
		for i := range e.Request.Budgets {
			p.play(point(e, m, i, 20+m))
		}
	}
	p.play(Swept{ID: e.ID, KeepAll: proto.Reference{StepTime: 10, Peak: 8 * engine.GiB}})
}

// TestLinesOnDemand checks that drawing a new line computes only its points. A line that is hidden stays known,
// and the chosen strategy is always drawn.
func TestLinesOnDemand(t *testing.T) {
	p := few(t)
	effects := p.play(ToggleLines{[]string{"testoffload"}})
	e := last[Sweep](t, p)
	if got := asked(e); !slices.Equal(got, []string{"testoffload"}) {
		t.Fatalf("effects %s, asks %v; want the new line only", names(effects), got)
	}
	p.play(point(e, 0, 3, 44))
	if got := p.Curve.Points[1][3]; got == nil || got.StepTime.Milliseconds() != 44 {
		t.Errorf("the point came to %+v; want it in the second row", got)
	}
	finish(p, e)
	if !p.Curve.Complete() || p.Curve.ID != 0 {
		t.Errorf("%d of %d points, sweep %d; want a complete curve", p.Curve.Done, p.Curve.Total, p.Curve.ID)
	}
	if lines := p.Lines(); len(lines) != 2 {
		t.Errorf("%d lines; want 2", len(lines))
	}
	p.play(ToggleLines{[]string{"testoffload"}})
	if lines := p.Lines(); len(lines) != 1 || lines[0].Method.Strategy != "testremat" {
		t.Errorf("lines %+v; want the chosen one", lines)
	}
	if got := names(p.play(ToggleLines{[]string{"testoffload"}})); got != "WriteURL replace" {
		t.Errorf("drawn again: effects %s; want nothing computed", got)
	}
	p.play(ToggleLines{[]string{"testremat"}})
	if !p.Drawn("testremat") {
		t.Error("the chosen strategy is not drawn")
	}
}

// TestLinesWithOtherArguments checks that points that are known from the curve with default arguments are not
// asked for again.
func TestLinesWithOtherArguments(t *testing.T) {
	p := few(t)
	p.play(ToggleLines{[]string{"testoffload"}})
	finish(p, last[Sweep](t, p))
	p.play(SetArg{"segments", "7"})
	p.play(answer(last[Solve](t, p), 15))
	if got := asked(last[Sweep](t, p)); !slices.Equal(got, []string{"testremat"}) {
		t.Errorf("asks %v; want the strategy whose argument has changed only", got)
	}
	if p.Curve.Points[1][0] == nil && p.Curve.Points[0][0] == nil {
		t.Error("the points of the other line are gone")
	}
}

// TestLinesWhileComputing checks that drawing a line while others are being computed does not lose their points.
func TestLinesWhileComputing(t *testing.T) {
	p := &player{State: New()}
	p.play(Start{Choice: chosen("net-b8"), Look: link.Look{Lines: []string{}}})
	p.play(opened(last[Open](t, p).ID, chain("net")))
	p.play(answer(last[Solve](t, p), 12))
	first := last[Sweep](t, p)
	p.play(point(first, 0, 5, 30))
	effects := p.play(ToggleLines{[]string{"testoffload"}})
	e := last[Sweep](t, p)
	if got := asked(e); !slices.Equal(got, []string{"testremat", "testoffload"}) ||
		names(effects) != "WriteURL replace, Cancel, Sweep" {
		t.Errorf("effects %s, asks %v; want both lines of a new sweep", names(effects), got)
	}
	if p.Curve.Points[0][5] == nil || p.Curve.Done != 1 {
		t.Errorf("%d points are known; want the one that was", p.Curve.Done)
	}
}

func TestLinesOfLists(t *testing.T) {
	p := few(t)
	for _, c := range []struct {
		set  []string
		want []string // expected View.Lines
	}{
		{nil, nil},
		{[]string{"rotor", "pofo", "sequential", "dynprog"}, nil},
		{[]string{"rotor", tradeoff.AllLines}, []string{tradeoff.AllLines}},
		{[]string{"rotor", "pofo", "rotor"}, []string{"pofo", "rotor"}},
		{[]string{}, []string{}},
	} {
		p.play(SetLines{c.set})
		if got := p.View.Lines; !slices.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%q: kept as %#v; want %#v", c.set, got, c.want)
		}
	}
	p.play(SetLines{[]string{tradeoff.AllLines}})
	p.play(ToggleLines{[]string{"testoffload", "testshare"}})
	if p.Drawn("testoffload") || p.Drawn("testshare") || !p.Drawn("testgraph") {
		t.Errorf("lines %q; want all but the two", p.View.Lines)
	}
	p.play(ToggleLines{[]string{"testoffload", "testgraph"}})
	if !p.Drawn("testoffload") || !p.Drawn("testgraph") {
		t.Errorf("lines %q; want the missing one of the two drawn", p.View.Lines)
	}
	p.play(SetAxis{tradeoff.Throughput})
	if p.View.Axis != tradeoff.Throughput {
		t.Errorf("axis %q; want throughput", p.View.Axis)
	}
}
