package state

import (
	"testing"

	"memtide/engine"
	"memtide/wasm/proto"
)

// TestLastResort checks that a page without a picture shows that of keeping everything if the smallest budget of a plan
// that does not fit is not answered either, and then asks no more.
func TestLastResort(t *testing.T) {
	p := &player{State: New()}
	p.play(Start{Choice: chosen("net-b8")})
	p.play(opened(last[Open](t, p).ID, chain("net")))
	p.play(SolveFailed{ID: last[Solve](t, p).ID,
		Failure: &proto.Failure{Kind: proto.Infeasible, Budget: engine.GiB, Smallest: 2 * engine.GiB}})
	late := &proto.Failure{Kind: proto.Deadline, Text: "too late"}
	p.play(SolveFailed{ID: last[Solve](t, p).ID, Failure: late})
	e := last[Solve](t, p)
	if e.Choice.Strategy != engine.KeepAll {
		t.Errorf("after the smallest budget the page asks for %s; want keeping everything", e.Choice.Strategy)
	}
	if p.play(SolveFailed{ID: e.ID, Failure: late}); len(p.effects) > 0 {
		t.Errorf("without that it has the effects %s; want none", names(p.effects))
	}
}

// TestOutOfTime checks that a page without a picture shows that of keeping everything if the strategy finds nothing in its
// time.
func TestOutOfTime(t *testing.T) {
	p := &player{State: New()}
	p.play(Start{Choice: chosen("net-b8")})
	p.play(opened(last[Open](t, p).ID, chain("net")))
	p.play(SolveFailed{ID: last[Solve](t, p).ID, Failure: &proto.Failure{Kind: proto.Deadline, Text: "too late"}})
	e := last[Solve](t, p)
	if e.Choice.Strategy != engine.KeepAll || p.Alert == nil || p.Alert.Action != "Go on" {
		t.Fatalf("the page asks for %s, with the alert %+v; want keeping everything, and to go on", e.Choice.Strategy, p.Alert)
	}
	if p.play(answer(e, 12)); p.Shown == nil || !p.Stale() {
		t.Errorf("shown %v, stale %t; want the picture, and that it is not the answer", p.Shown, p.Stale())
	}
}

// TestEarlierPictureStays checks that the picture of an earlier network stays, as an earlier one, until there is one of the
// network that does not fit.
func TestEarlierPictureStays(t *testing.T) {
	p := shown(t)
	if p.Earlier() {
		t.Fatal("the answer is said to be an earlier one; want that it is not")
	}
	p.play(PickPreset{ID: "resnet50-b64"})
	wait := func(what string) {
		t.Helper()
		if p.Shown == nil || !p.Earlier() {
			t.Errorf("%s: shown %v, an earlier one %t; want what was shown, and that it is an earlier one", what, p.Shown,
				p.Earlier())
		}
	}
	wait("while another network is read")
	p.play(opened(last[Open](t, p).ID, chain("other")))
	wait("while it is solved")
	p.play(SolveFailed{ID: last[Solve](t, p).ID,
		Failure: &proto.Failure{Kind: proto.Infeasible, Budget: engine.GiB, Smallest: 2 * engine.GiB}})
	wait("while the smallest budget is solved")
	if p.play(answer(last[Solve](t, p), 40)); p.Earlier() || p.OverBudget == nil {
		t.Errorf("at the end: an earlier one %t; want the picture of the smallest budget", p.Earlier())
	}
}
