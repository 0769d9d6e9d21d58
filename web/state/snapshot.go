package state

import (
	"memtide/profiles/doctor"
	"memtide/wasm/proto"
	"memtide/web/known"
	"memtide/web/lookup"
)

// Doctor returns what is known about the recording that is open, or nil if none is.
func (s *State) Doctor() *known.Doctor {
	if s.Memory == nil {
		return nil
	}
	return s.Memory.Doctor
}

// Examining returns what is being asked about the recording; empty if nothing is.
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
	if d == nil || e != nil || s.Opening != nil {
		return out
	}
	q, ok := d.Next(s.Moment())
	if !ok {
		return out
	}
	s.examining = &examining{id: s.newID(), memory: s.Memory, part: q.Part, at: q.At}
	s.DOM++
	return append(out, Examine{ID: s.examining.id, Request: q})
}

// Moment returns the event after which memory is told: that of the playhead, or
// doctor.Decisive.
func (s *State) Moment() int { return s.Memory.Moment(s.View.Playhead) }

// Alive returns what is in use at the chosen moment, or at the last one that was told; nil
// before anything was.
func (s *State) Alive() *doctor.Alive { return s.Doctor().Alive(s.Moment()) }

// Flame returns the flame graph of the chosen moment, or nil if there is none.
func (s *State) Flame() *known.Flame { return s.Doctor().Flame(s.Moment()) }

// Examined is an answer of the second program.
type Examined struct {
	ID    int
	Reply *proto.Examined
}

func (m Examined) apply(s *State) []Effect {
	d, _ := s.examined(m.ID)
	if d == nil {
		return nil
	}
	d.Take(m.Reply)
	return s.touch()
}

// ExamineFailed is a request without an answer.
type ExamineFailed struct {
	ID   int
	Text string
}

func (m ExamineFailed) apply(s *State) []Effect {
	d, e := s.examined(m.ID)
	if d == nil {
		return nil
	}
	d.Refuse(e.part, e.at, m.Text)
	return s.touch()
}

// examined returns the doctor that waits for an answer, with what was asked, or nil if none
// does any more.
func (s *State) examined(id int) (*known.Doctor, *examining) {
	e := s.examining
	if e == nil || e.id != id {
		return nil, nil
	}
	s.examining = nil
	return s.Doctor(), e
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
	d := s.Doctor()
	if d == nil {
		return nil
	}
	out := s.Side.cancelOpening()
	file := d.File
	file.Keep, file.Device = s.newID(), &m.Device
	s.Opening = &Opening{ID: file.Keep, Name: s.Memory.File, Choice: s.Choice, History: Replace,
		Title: s.View.Frame.Title, file: file}
	return append(out, Open{ID: file.Keep, Request: file})
}

// ZoomCall makes a call of the flame graph as wide as it; the one that is so already
// goes back to the one around it.
type ZoomCall struct{ Call int }

func (m ZoomCall) apply(s *State) []Effect {
	f := s.Flame()
	if f == nil {
		return nil
	}
	f.Zoom(m.Call)
	return s.touch()
}

// MarkCall moves the keyboard's place in the graph.
type MarkCall struct{ Right, Down int }

func (m MarkCall) apply(s *State) []Effect {
	f := s.Flame()
	if f == nil {
		return nil
	}
	f.Move(m.Right, m.Down)
	return s.touch()
}

// ZoomOut goes back to the call around the one that is as wide as the graph.
type ZoomOut struct{}

func (ZoomOut) apply(s *State) []Effect { return ZoomCall{s.Flame().Zoomed().Index}.apply(s) }
