package state

import (
	"reflect"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/known"
)

// TestExportSchedule checks that the dialog asks for a file of the schedule that is on screen, or says why there
// is no such file.
func TestExportSchedule(t *testing.T) {
	p := shown(t)
	p.play(ToggleShare{})
	if p.play(SaveFile{Kind: ScheduleFile}); len(p.effects) != 0 || !strings.Contains(p.Sharing.Note, "not verified") {
		t.Errorf("an unverified schedule: effects %s, note %q; want none, and why", names(p.effects), p.Sharing.Note)
	}
	p.Shown.Solved.Verdict.Verified = true
	p.Shown.Solved.Schedule = engine.Schedule{engine.Run(0)}
	p.play(SaveFile{Kind: ScheduleFile})
	e := last[Export](t, p)
	want := proto.Export{Setting: p.Network.Setting(p.Choice), Method: proto.Method{Strategy: "testremat"},
		Budget: p.Shown.Solved.Budget,
		Form:   proto.FormJSON, Schedule: p.Shown.Solved.Schedule}
	if e.Kind != ScheduleFile || !reflect.DeepEqual(e.Request, want) {
		t.Errorf("asked for %q, %+v; want %+v", e.Kind, e.Request, want)
	}
	if p.Sharing.Note != "Writing the file…" {
		t.Errorf("the note is %q", p.Sharing.Note)
	}
	p.Shown.Choice.Device = "a100-sxm-40gb"
	p.play(SaveFile{Kind: ScheduleFile})
	if d := last[Export](t, p).Request.Device; d.Name != "A100-SXM-40GB" || d.Memory < 39*engine.GiB ||
		d.ToHost != p.Choice.ToHost {
		t.Errorf("the device is %+v; want the A100 with the rates of the choice", d)
	}
	// A choice that has not been answered yet does not change the file.
	p.play(SetTransfers{Transfers: engine.Streamed}, SaveFile{Kind: ScheduleFile})
	if got := last[Export](t, p).Request; got.Transfers != engine.Whole {
		t.Errorf("asked for a schedule with %s transfers; want the one on screen, whole", got.Transfers)
	}
}

// TestRefusal checks which schedules are not written, and the reasons.
func TestRefusal(t *testing.T) {
	p := shown(t)
	p.Shown.Solved.Verdict.Verified = true
	for _, c := range []struct {
		name   string
		change func(*known.Picture)
		want   string // part of the reason; empty means that it is written
	}{
		{"as it is", func(*known.Picture) {}, ""},
		{"streamed", func(x *known.Picture) { x.Choice.Transfers = engine.Streamed }, ""},
		{"graph", func(x *known.Picture) { x.Network = &known.Network{Graph: x.Network.Graph} }, ""},
		{"unverified", func(x *known.Picture) { x.Solved = &proto.Solved{Trace: x.Solved.Trace} }, "not verified"},
		{"no trace", func(x *known.Picture) { x.Solved = &proto.Solved{} }, "no schedule"},
	} {
		x := *p.Shown
		c.change(&x)
		s := &State{Side: Side{Shown: &x}}
		if got := s.Refusal(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: refused with %q, want %q", c.name, got, c.want)
		}
	}
	if got := New().Refusal(); !strings.Contains(got, "no schedule") {
		t.Errorf("without a picture it is refused with %q", got)
	}
}
