package state

import (
	"reflect"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/known"
)

// The dialog asks for a file of the schedule that is on screen, or says why there
// is none.
func TestExportSchedule(t *testing.T) {
	p := shown(t)
	p.play(ToggleShare{})
	if p.play(SaveFile{Kind: "schedule.py"}); len(p.effects) != 0 || !strings.Contains(p.Sharing.Note, "not verified") {
		t.Errorf("an unverified schedule: effects %s, note %q; want none, and why", names(p.effects), p.Sharing.Note)
	}
	p.Shown.Solved.Verdict.Verified = true
	p.Shown.Solved.Schedule = engine.Schedule{engine.Run(0)}
	p.play(SaveFile{Kind: "schedule.json"})
	e := last[Export](t, p)
	want := proto.Export{Setting: p.Network.Setting(p.Choice), Method: proto.Method{Strategy: "testremat"}, Budget: p.Shown.Solved.Budget,
		Form: proto.FormJSON, Schedule: p.Shown.Solved.Schedule}
	if e.Kind != "schedule.json" || !reflect.DeepEqual(e.Request, want) {
		t.Errorf("asked for %q, %+v; want %+v", e.Kind, e.Request, want)
	}
	if p.Sharing.Note != "Writing the file…" {
		t.Errorf("the note is %q", p.Sharing.Note)
	}
	p.Shown.Choice.Device = "a100-sxm-40gb"
	p.play(SaveFile{Kind: "schedule.json"})
	if d := last[Export](t, p).Request.Device; d.Name != "A100-SXM-40GB" || d.Memory < 39*engine.GiB || d.ToHost != p.Choice.ToHost {
		t.Errorf("the device is %+v; want the A100 with the rates of the choice", d)
	}
	// A choice that is not answered yet does not change what is written.
	p.play(SetTransfers{Transfers: engine.Streamed}, SaveFile{Kind: "schedule.py"})
	if got := last[Export](t, p).Request; got.Transfers != engine.Whole || got.Form != proto.FormPython {
		t.Errorf("asked for %s with %s transfers; want python of the schedule on screen, whole", got.Form, got.Transfers)
	}
}

// Which schedules are no programs, and that JSON takes them.
func TestRefusal(t *testing.T) {
	p := shown(t)
	p.Shown.Solved.Verdict.Verified = true
	for _, c := range []struct {
		name       string
		change     func(*known.Picture)
		want       string // part of the reason; empty: it is written
		alsoOfJSON bool
	}{
		{"as it is", func(*known.Picture) {}, "", false},
		{"streamed", func(x *known.Picture) { x.Choice.Transfers = engine.Streamed }, "choose whole transfers", false},
		{"graph", func(x *known.Picture) { x.Network = &known.Network{Graph: x.Network.Graph} }, "graph of operations", false},
		{"unverified", func(x *known.Picture) { x.Solved = &proto.Solved{Trace: x.Solved.Trace} }, "not verified", true},
		{"no trace", func(x *known.Picture) { x.Solved = &proto.Solved{} }, "no schedule", true},
	} {
		x := *p.Shown
		c.change(&x)
		s := &State{Side: Side{Shown: &x}}
		if got := s.Refusal("schedule.py"); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: Python is refused with %q, want %q", c.name, got, c.want)
		}
		if got := s.Refusal("schedule.json"); (got != "") != c.alsoOfJSON {
			t.Errorf("%s: JSON is refused with %q; want a refusal: %t", c.name, got, c.alsoOfJSON)
		}
		if got := s.Refusal("svg"); got != "" {
			t.Errorf("%s: a picture is refused with %q", c.name, got)
		}
	}
	if got := New().Refusal("schedule.json"); !strings.Contains(got, "no schedule") {
		t.Errorf("without a picture JSON is refused with %q", got)
	}
}
