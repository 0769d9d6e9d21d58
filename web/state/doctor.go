package state

import (
	"memtide/engine"
	"memtide/profiles/doctor"
	"memtide/wasm/proto"
	"memtide/web/draw"
	"memtide/web/lookup"
)

// Examine asks the second program about the recording that is open.
type Examine struct {
	ID      int
	Request proto.Doctor
}

func (Examine) effect() {}

// Doctor is what is known about the recording that is open.
type Doctor struct {
	Report  *doctor.Report // nil: it is on its way, or Failed says why there is none
	Failed  string         // the last thing that was asked for has no answer
	Replays []doctor.Replay
	Advice  *doctor.Advice // when all have been replayed
	Stopped bool           // no more replays are asked for
	Second  *Second        // what it is compared with; nil: nothing

	alive   *doctor.Alive // at the moment that was chosen last
	refused int           // the event that has no answer, and one more
	flame   *draw.Flame
	of      *doctor.Alive // what flame shows
	zoom    int           // the call that is as wide as the picture
	marked  int           // the call that the keyboard is at
}

// examining is a request under way: one at a time, because the second program has one worker.
type examining struct {
	id     int
	memory *Memory
	part   proto.Part
	at     int
}

// Doctor is what is known about the recording that is open; nil if none is.
func (s *State) Doctor() *Doctor {
	if s.Memory == nil {
		return nil
	}
	return s.Memory.doctor
}

// Examining is what is being asked about the recording; empty if nothing is.
func (s *State) Examining() proto.Part {
	if s.examining == nil {
		return ""
	}
	return s.examining.part
}

// followDoctor asks what is not known yet about the recording: the report first, then
// what is in use at the moment that was chosen, then replay by replay. It is called
// after every message. While a file is being opened nothing is asked: it reads.
func (s *State) followDoctor() []Effect {
	d, e := s.Doctor(), s.examining
	var out []Effect
	if e != nil && (e.memory != s.Memory || s.Opening != nil) {
		out = append(out, Cancel{e.id})
		s.examining, e = nil, nil
	}
	if d == nil || e != nil || s.Opening != nil || d.Failed != "" && d.Report == nil {
		return out
	}
	q := proto.Doctor{File: s.Memory.file}
	switch at := s.Moment(); {
	case d.Report == nil:
		q.Part = proto.PartReport
	case at != doctor.Decisive && at+1 != d.refused && (d.alive == nil || d.alive.At != at):
		q.Part, q.At = proto.PartAlive, at
	case d.Second.awaited() && !d.Second.ready: // a worker that was stopped has forgotten the first one: it reads it again
		d.Second.ready = true
		if q.Part, q.At = proto.PartAlive, at; at == doctor.Decisive {
			q.At = d.Report.Alive.At
		}
	case d.Second.awaited():
		q = proto.Doctor{File: d.Second.file, Part: proto.PartCompare, With: s.Memory.file.Keep}
	case !d.Stopped && d.Advice == nil:
		q.Part, q.Setting = proto.PartReplay, len(d.Replays)
	default:
		return out
	}
	s.examining = &examining{id: s.newID(), memory: s.Memory, part: q.Part, at: q.At}
	s.DOM++
	return append(out, Examine{ID: s.examining.id, Request: q})
}

// Moment is the event after which memory is told: that of the playhead, or
// doctor.Decisive.
func (s *State) Moment() int {
	m := s.Memory
	if m == nil || m.doctor == nil || m.doctor.Report == nil || s.View.Playhead <= 0 || s.View.Playhead > m.end {
		return doctor.Decisive
	}
	b := m.Data.Buffers
	at := min(int(s.View.Playhead/b.Tick)+b.Zero, m.doctor.Report.Events-1)
	if at == m.doctor.Report.Alive.At {
		return doctor.Decisive
	}
	return at
}

// Alive is what is in use at the chosen moment, or at the last one that was told; nil
// before anything was.
func (s *State) Alive() *doctor.Alive {
	switch d := s.Doctor(); {
	case d == nil || d.Report == nil:
		return nil
	case s.Moment() == doctor.Decisive || d.alive == nil:
		return d.Report.Alive
	default:
		return d.alive
	}
}

// LevelAt is how memory was used after an event of the recording that is open; the zero
// value if that is not known.
func (s *State) LevelAt(event int) (last proto.Moment) {
	m := s.Memory
	if m == nil || m.Data.Recorded == nil {
		return last
	}
	at := m.Data.Buffers.At(event)
	for _, x := range m.Data.Recorded.Moments {
		if x.At > at {
			break
		}
		last = x
	}
	return last
}

// Examined is an answer of the second program.
type Examined struct {
	ID    int
	Reply *proto.Examined
}

func (m Examined) apply(s *State) []Effect {
	d := s.examined(m.ID)
	if d == nil {
		return nil
	}
	s.touch()
	switch r := m.Reply; {
	case r.Report != nil:
		d.Report = r.Report
	case r.Alive != nil:
		d.alive = r.Alive
	case r.Comparison != nil && d.Second != nil:
		d.Second.Comparison = r.Comparison
	case r.Replay != nil:
		d.Replays, d.Advice = append(d.Replays, *r.Replay), r.Advice
		d.Stopped = !r.More && r.Advice == nil
	}
	return nil
}

// ExamineFailed is a request without an answer.
type ExamineFailed struct {
	ID   int
	Text string
}

func (m ExamineFailed) apply(s *State) []Effect {
	e := s.examining
	d := s.examined(m.ID)
	if d == nil {
		return nil
	}
	s.touch()
	if e.part == proto.PartCompare {
		if d.Second != nil {
			d.Second.Failed = m.Text
		}
		return nil
	}
	d.Failed = m.Text
	switch e.part { // none of them is asked for again
	case proto.PartAlive:
		d.refused = e.at + 1
	case proto.PartReplay:
		d.Stopped = true
	}
	return nil
}

// examined is the doctor that waits for an answer; nil if none does any more.
func (s *State) examined(id int) *Doctor {
	if s.examining == nil || s.examining.id != id {
		return nil
	}
	s.examining = nil
	return s.Doctor()
}

// StopReplays asks for no more replays, or goes on with them.
type StopReplays struct{ Go bool }

func (m StopReplays) apply(s *State) []Effect {
	s.DOM++
	d := s.Doctor()
	if d == nil || d.Stopped == !m.Go {
		return nil
	}
	d.Stopped, d.Failed = !m.Go, ""
	if e := s.examining; e != nil && e.part == proto.PartReplay && d.Stopped {
		s.examining = nil
		return []Effect{Cancel{e.id}}
	}
	return nil
}

// ShowBuffer selects a buffer of the recording in the pictures, at the decisive moment.
type ShowBuffer struct{ Buffer int }

func (m ShowBuffer) apply(s *State) []Effect {
	s.touch()
	if s.Memory == nil || m.Buffer < 0 || m.Buffer >= len(s.Memory.Data.Buffers.List) {
		return nil
	}
	t := lookup.Target{Kind: lookup.OnBuffer, Index: m.Buffer}
	if s.View.Selected == t { // again: it is let go of
		t = lookup.Target{}
	}
	s.View.Selected, s.View.Playhead = t, 0
	return []Effect{WriteURL{Replace}}
}

// OpenDevice shows another device of the recording that is open.
type OpenDevice struct{ Device int }

func (m OpenDevice) apply(s *State) []Effect {
	s.DOM++
	if s.Doctor() == nil {
		return nil
	}
	out := s.Side.cancelOpening()
	file := s.Memory.file
	file.Keep, file.Device = s.newID(), &m.Device
	s.Opening = &Opening{ID: file.Keep, Name: s.Memory.File, Choice: s.Choice, History: Replace, Title: s.View.Frame.Title, file: file}
	return append(out, Open{ID: file.Keep, Request: file})
}

// FlameModel is the flame graph of the chosen moment; nil if there is none.
func (s *State) FlameModel() *draw.Flame {
	a := s.Alive()
	if a == nil || a.Flame == nil {
		return nil
	}
	if d := s.Doctor(); d.of != a {
		d.flame, d.of = draw.NewFlame(flameCalls(a.Flame)), a
		d.zoom = d.flame.Start()
		d.marked = d.zoom
	}
	return s.Doctor().flame
}

// flameCalls are the calls of a graph, each after the one around it.
func flameCalls(root *doctor.Flame) (out []draw.FlameCall) {
	var add func(f *doctor.Flame, parent int)
	add = func(f *doctor.Flame, parent int) {
		at := len(out)
		out = append(out, draw.FlameCall{Name: f.Name, Bytes: f.Bytes, Use: UseOf(f.Category), Parent: parent})
		for _, c := range f.Calls {
			add(c, at)
		}
	}
	add(root, 0)
	return out
}

// UseOf is how pictures show a category.
func UseOf(c doctor.Category) draw.Use {
	for i, x := range doctor.Categories {
		if x == c {
			return draw.Use(i)
		}
	}
	return draw.UseUnknown
}

// FlameZoom is the call that is as wide as the graph.
func (s *State) FlameZoom() lookup.Target {
	return s.flameTarget(func(d *Doctor) int { return d.zoom })
}

// FlameMarked is the call that the keyboard is at.
func (s *State) FlameMarked() lookup.Target {
	return s.flameTarget(func(d *Doctor) int { return d.marked })
}

func (s *State) flameTarget(of func(*Doctor) int) lookup.Target {
	if s.FlameModel() == nil {
		return lookup.Target{}
	}
	return lookup.Target{Kind: lookup.OnCall, Index: of(s.Doctor())}
}

// ZoomCall makes a call as wide as the graph; the one that is so already goes back to
// the one around it.
type ZoomCall struct{ Call int }

func (m ZoomCall) apply(s *State) []Effect {
	x := s.FlameModel()
	if x == nil {
		return nil
	}
	d := s.Doctor()
	if m.Call == d.zoom {
		m.Call = x.Parent(d.zoom)
	}
	d.zoom, d.marked = m.Call, m.Call
	return s.touch()
}

// MarkCall moves the keyboard's place in the graph.
type MarkCall struct{ Right, Down int }

func (m MarkCall) apply(s *State) []Effect {
	x := s.FlameModel()
	if x == nil {
		return nil
	}
	d := s.Doctor()
	if d.marked == d.zoom && m.Down < 0 { // what is around it is not to be seen
		return ZoomOut{}.apply(s)
	}
	d.marked = x.Beside(d.marked, m.Right, m.Down)
	return s.touch()
}

// ZoomOut goes back to the call around the one that is as wide as the graph.
type ZoomOut struct{}

func (ZoomOut) apply(s *State) []Effect {
	if s.FlameModel() == nil {
		return nil
	}
	return ZoomCall{s.Doctor().zoom}.apply(s)
}

// flameOut goes back to the call around the one that is as wide as the graph, unless it
// is the one that the graph begins with.
func (s *State) flameOut() bool {
	x := s.FlameModel()
	if x == nil || s.Doctor().zoom == x.Start() || s.Doctor().zoom == 0 {
		return false
	}
	ZoomOut{}.apply(s)
	return true
}

// Unused is what of the reserved memory is not in use after an event.
func (s *State) Unused(event int) engine.Bytes {
	l := s.LevelAt(event)
	return max(l.Reserved-l.Used, 0)
}
