package state

import (
	"strings"
	"testing"
	"time"

	"memtide/engine/alloc"
	"memtide/profiles/doctor"
	"memtide/wasm/proto"
	"memtide/web/lookup"
)

// told returns a page that has opened a recording of 10 events and asks about it.
func told(t *testing.T) *player {
	t.Helper()
	p := shown(t)
	p.play(PickFile{Name: "run.pickle", Bytes: []byte("pickle")})
	open := last[Open](t, p)
	if open.Request.Keep != open.ID || string(open.Request.Bytes) != "pickle" {
		t.Fatalf("asked for %+v; want the file kept under the number of the request", open.Request)
	}
	list := []alloc.Buffer{{Bytes: 4, Start: 0, End: 10}, {Bytes: 2, Start: 3, End: 6}}
	m := &proto.Memory{Name: "run", Told: true, Count: 2, Peak: 6,
		Buffers: &proto.Buffers{List: list, Tick: time.Microsecond},
		Recorded: &proto.Placed{Allocator: proto.Recorded,
			Moments: []proto.Moment{{At: 0, Used: 4, Reserved: 8}, {At: 3 * time.Microsecond, Used: 6, Reserved: 8}}}}
	p.play(Opened{ID: open.ID, Reply: &proto.Opened{Memory: m}})
	return p
}

func examinedReport(p *player, e Examine) {
	p.play(Examined{ID: e.ID, Reply: &proto.Examined{Report: &doctor.Report{Events: 10, Recorded: 10, PeakAt: 3,
		Alive: &doctor.Alive{At: 3, Flame: &doctor.Flame{Name: "all", Bytes: 6,
			Calls: []*doctor.Flame{{Name: "f", Category: doctor.Weights, Bytes: 4}, {Name: "g", Bytes: 2}}}}}}})
}

// examines returns the requests about the recording among the last effects.
func examines(p *player) (list []proto.Doctor) {
	for _, e := range p.effects {
		if e, ok := e.(Examine); ok {
			list = append(list, e.Request)
		}
	}
	return list
}

// TestDoctorAsks checks that the report is asked for first, and then one replay after the other. A chosen time
// comes before the next replay. Nothing is asked for twice or at the same time.
func TestDoctorAsks(t *testing.T) {
	p := told(t)
	e := last[Examine](t, p)
	if q := e.Request; q.Part != proto.PartReport || q.File.Keep == 0 || p.Alive() != nil {
		t.Fatalf("asked for %+v; want the report of the file that was opened", q)
	}
	if p.play(SetTheme{Theme: "dark"}); len(examines(p)) > 0 {
		t.Errorf("while it is examined: asked for %+v too", examines(p))
	}
	examinedReport(p, e)
	first := last[Examine](t, p)
	if first.Request.Part != proto.PartReplay || first.Request.Setting != 0 || p.Alive().At != 3 {
		t.Fatalf("after the report: asked for %+v; want the first replay", first.Request)
	}
	if p.play(SetPlayhead{At: 5 * time.Microsecond}); len(examines(p)) > 0 {
		t.Errorf("while it replays: asked for %+v too", examines(p))
	}
	p.play(Examined{ID: first.ID, Reply: &proto.Examined{Replay: &doctor.Replay{}, More: true}})
	moment := last[Examine](t, p)
	if q := moment.Request; q.Part != proto.PartAlive || q.At != 5 {
		t.Errorf("after a replay: asked for %+v; want event 5", q)
	}
	p.play(Examined{ID: moment.ID, Reply: &proto.Examined{Alive: &doctor.Alive{At: 5}}})
	if p.Alive().At != 5 {
		t.Errorf("told is event %d, want 5", p.Alive().At)
	}
	second := last[Examine](t, p)
	p.play(Examined{ID: second.ID, Reply: &proto.Examined{Replay: &doctor.Replay{},
		Advice: &doctor.Advice{Verdict: doctor.Nothing}}})
	if d := p.Doctor(); second.Request.Setting != 1 || len(d.Replays) != 2 || d.Advice == nil ||
		len(examines(p)) > 0 || p.Examining() != "" {
		t.Errorf("at the end: replays %+v, advice %v, asked for %+v; want two replays and nothing more", d.Replays,
			d.Advice, examines(p))
	}
	if p.play(SetPlayhead{At: 3 * time.Microsecond}); len(examines(p)) > 0 || p.Alive().At != 3 {
		t.Errorf("at the decisive moment: asked for %+v, told is event %d; want what the report says", examines(p),
			p.Alive().At)
	}
	if l := p.Memory.LevelAt(4); l.Used != 6 || l.Reserved != 8 || p.Memory.LevelAt(0).Used != 4 {
		t.Errorf("after event 4 %+v is used; want 6 of 8", l)
	}
}

// TestDoctorStops checks that replays can be stopped and resumed, and that opening another file cancels them.
func TestDoctorStops(t *testing.T) {
	p := told(t)
	examinedReport(p, last[Examine](t, p))
	e := last[Examine](t, p)
	p.play(StopReplays{})
	if got := last[Cancel](t, p); got.ID != e.ID || len(examines(p)) > 0 || p.Examining() != "" {
		t.Errorf("stopping gives %s; want that the replay is given up", names(p.effects))
	}
	if p.play(Examined{ID: e.ID, Reply: &proto.Examined{Replay: &doctor.Replay{}}}); len(p.Doctor().Replays) > 0 {
		t.Error("a late replay is shown")
	}
	p.play(StopReplays{Go: true})
	e = last[Examine](t, p)
	p.play(PickFile{Name: "other.pickle", Bytes: []byte("x")})
	if got := last[Cancel](t, p); got.ID != e.ID || len(examines(p)) > 0 {
		t.Errorf("opening another file gives %s; want that the replay is given up first", names(p.effects))
	}
	p.play(OpenFailed{ID: p.Opening.ID, Text: "no"})
	if got := examines(p); len(got) != 1 || got[0].Part != proto.PartReplay {
		t.Errorf("after it could not be read: asked for %+v; want the replay again", got)
	}
}

// TestDoctorFails checks that a part that fails is reported and not asked for again.
func TestDoctorFails(t *testing.T) {
	p := told(t)
	p.play(Examined{ID: last[Examine](t, p).ID, Failed: "no recording"})
	if p.Doctor().Failed != "no recording" || len(examines(p)) > 0 {
		t.Errorf("failed with %q, asked for %+v; want nothing more", p.Doctor().Failed, examines(p))
	}
	p = told(t)
	examinedReport(p, last[Examine](t, p))
	p.play(Examined{ID: last[Examine](t, p).ID, Failed: "no room"})
	if d := p.Doctor(); !d.Stopped || len(examines(p)) > 0 {
		t.Errorf("a replay failed: stopped %t, asked for %+v; want nothing more", d.Stopped, examines(p))
	}
	p.play(SetPlayhead{At: 5 * time.Microsecond})
	p.play(Examined{ID: last[Examine](t, p).ID, Failed: "no room"})
	if len(examines(p)) > 0 || p.Alive().At != 3 {
		t.Errorf("a moment failed: asked for %+v, told is event %d; want the decisive one", examines(p), p.Alive().At)
	}
}

// TestOpenDevice checks that another device of a file is read from the same file.
func TestOpenDevice(t *testing.T) {
	p := told(t)
	p.play(OpenDevice{Device: 1})
	e := last[Open](t, p)
	if q := e.Request; q.Device == nil || *q.Device != 1 || string(q.Bytes) != "pickle" || q.Keep != e.ID ||
		p.Memory == nil {
		t.Errorf("asked for %+v; want device 1 of the same file, under a new number", q)
	}
}

// TestFlameZoom checks that the flame graph starts at the first call with several callees, and zooms to a call
// and back. Dismiss zooms back before it does anything else.
func TestFlameZoom(t *testing.T) {
	p := told(t)
	if p.Flame() != nil {
		t.Error("there is a graph before there is a report")
	}
	examinedReport(p, last[Examine](t, p))
	p.View.Selected = lookup.Target{Kind: lookup.OnBuffer, Index: 1}
	for _, step := range []struct {
		m    Message
		zoom int
	}{{MarkCall{Down: 1}, 0}, {ZoomCall{1}, 1}, {ZoomCall{1}, 0}, {ZoomCall{2}, 2}, {Dismiss{}, 0}, {ZoomOut{}, 0},
		{ZoomCall{1}, 1}, {MarkCall{Down: -1}, 0}} {
		p.play(step.m)
		if got := p.Flame().Zoomed(); got != (lookup.Target{Kind: lookup.OnCall, Index: step.zoom}) ||
			p.View.Selected.Kind != lookup.OnBuffer {
			t.Errorf("after %T%+v: zoomed to %+v, want %d, and the buffer still selected", step.m, step.m, got,
				step.zoom)
		}
	}
	if p.play(Dismiss{}); p.View.Selected.Kind != lookup.Nothing {
		t.Error("Escape at the beginning of the graph does not deselect")
	}
}

// TestTwoRecordings checks that the first of two recordings is opened, and that an alert names the command that
// compares them.
func TestTwoRecordings(t *testing.T) {
	p := shown(t)
	p.play(PickFiles{A: PickFile{Name: "one.pickle", Bytes: []byte("one")},
		B: PickFile{Name: "two.pickle", Bytes: []byte("two")}})
	m := &proto.Memory{Name: "one", Told: true,
		Buffers: &proto.Buffers{List: []alloc.Buffer{{Bytes: 4, End: 10}}, Tick: time.Microsecond}}
	p.play(Opened{ID: last[Open](t, p).ID, Reply: &proto.Opened{Memory: m}})
	if p.Memory == nil || p.Memory.File != "one.pickle" || p.Alert == nil ||
		!strings.Contains(p.Alert.Text, "memtide doctor") {
		t.Errorf("open is %+v, the alert %+v; want one.pickle and that the command line compares", p.Memory, p.Alert)
	}
}
