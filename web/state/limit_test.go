package state

import (
	"testing"
	"time"

	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/link"
)

// TestSolveLimits checks that a schedule for a choice from an address has a time limit. At the limit the best so
// far is shown, and a button solves without a limit. A schedule that the user asks for has no limit.
func TestSolveLimits(t *testing.T) {
	for _, c := range []struct {
		embed, best bool
		limit       time.Duration
	}{{false, true, pageLimit}, {false, false, pageLimit}, {true, true, viewLimit}, {true, false, viewLimit}} {
		p := &player{State: New()}
		p.play(Start{Choice: chosen("net-b8"), Look: link.Look{Frame: link.Frame{Embed: c.embed}}})
		p.play(opened(last[Open](t, p).ID, chain("net")))
		e := last[Solve](t, p)
		if e.Request.Limit != c.limit {
			t.Errorf("%+v: a limit of %v; want %v", c, e.Request.Limit, c.limit)
		}
		m := SolveFailed{ID: e.ID,
			Failure: proto.Fail(proto.Deadline, "it was stopped before it was done")}
		if c.best {
			m.Best = answer(e, 16).Solved
		}
		p.play(m)
		if (p.Shown != nil) != c.best || p.Alert == nil || p.Alert.Action != "Go on" || !p.Limited() {
			t.Fatalf("%+v: shown %v, alert %+v; want the best so far, and a way to go on", c, p.Shown, p.Alert)
		}
		p.play(p.Alert.Do)
		if e = last[Solve](t, p); e.Request.Limit != 0 {
			t.Errorf("%+v, going on: a limit of %v; want none", c, e.Request.Limit)
		}
		if p.play(answer(e, 12)); p.Phase() != "ready" || p.Limited() {
			t.Errorf("%+v: %s, limited: %v; want a schedule without a word", c, p.Phase(), p.Limited())
		}
		p.play(SetStrategy{"testoffload"})
		if e = last[Solve](t, p); e.Request.Limit != 0 {
			t.Errorf("%+v, a strategy that is chosen: a limit of %v; want none", c, e.Request.Limit)
		}
	}
	for _, embed := range []bool{false, true} {
		example := &player{State: New()}
		example.play(Start{Choice: choice.Example(), Look: link.Look{Frame: link.Frame{Embed: embed}}})
		example.play(opened(last[Open](t, example).ID, chain("net")))
		if e := last[Solve](t, example); e.Request.Limit != 0 {
			t.Errorf("the example, in a view %t: a limit of %v; want none", embed, e.Request.Limit)
		}
	}
	p := shown(t)
	b := chosen("net-b8")
	b.Strategy = "testoffload"
	p.play(Navigate{Choice: p.Choice, B: &b})
	if e := last[Solve](t, p); e.Slot != ForOther || e.Request.Limit != pageLimit {
		t.Errorf("the other side of a link: slot %v, a limit of %v; want %v", e.Slot, e.Request.Limit, pageLimit)
	}
}

// TestSettling checks that the best schedule so far is not shown for the choice of a page without a link, because
// the prepared page shows the answer already. For other choices it is shown.
func TestSettling(t *testing.T) {
	for preset, want := range map[string]bool{choice.ExamplePreset: true, "net-b8": false} {
		p, c := &player{State: New()}, choice.Default()
		c.Source.Preset = preset
		p.play(Start{Choice: c})
		p.play(opened(last[Open](t, p).ID, chain("net")))
		e := last[Solve](t, p)
		p.play(Progressed{ID: e.ID, Best: answer(e, 16).Solved})
		if got := p.Settling(); got != want {
			t.Errorf("%s: the best so far is held back: %t, want %t (%+v)", preset, got, want, p.Choice)
		}
		if p.play(answer(e, 14)); p.Settling() {
			t.Errorf("%s: the answer is held back", preset)
		}
	}
}
