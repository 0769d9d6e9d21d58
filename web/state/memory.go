package state

import (
	"time"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/profiles/doctor"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/draw"
	"memtide/web/known"
	"memtide/web/lookup"
)

const (
	searching  = "optimal"       // the allocator that searches; when stopped it returns the best so far
	placeLimit = 5 * time.Second // how long the search may take
	longLimit  = time.Minute     // likewise when a person asks for more time
)

// Allocator returns the allocator of the address view, or "" if the view is closed.
func (s *State) Allocator() string {
	switch {
	case s.Choice.Alloc == choice.Recorded && (s.Memory == nil || s.Memory.Data.Recorded == nil):
		return choice.DefaultAllocator
	case s.Choice.Alloc != "" || s.Memory == nil:
		return s.Choice.Alloc
	case s.Memory.Data.Recorded != nil:
		return proto.Recorded
	}
	return choice.DefaultAllocator
}

// followPlaces asks for the addresses of what the page shows, if the address view is open.
func (s *State) followPlaces() []Effect {
	name := s.Allocator()
	ready := s.Memory != nil || s.current() != nil && !(s.Shown.Partial && s.Solving != nil)
	if name == "" || !ready {
		if name == "" {
			s.Places = nil
		}
		return s.cancelPlacing()
	}
	want := known.Placeable{Picture: s.Shown, Memory: s.Memory, Method: choice.MethodKey(name, s.Choice.AllocArgs)}
	switch {
	case s.Placing != nil && s.Placing.of == want:
		return nil
	case s.Places != nil && s.Places.Of == want:
		return s.cancelPlacing()
	}
	out := s.cancelPlacing()
	if p := want.Places(name); p != nil {
		s.Places = p
		s.touch()
		return out
	}
	limit := time.Duration(0)
	if name == searching {
		limit = placeLimit
	}
	return append(out, s.askPlaces(want, limit)...)
}

func (s *State) cancelPlacing() []Effect {
	if s.Placing == nil {
		return nil
	}
	id := s.Placing.ID
	s.Placing = nil
	s.DOM++
	return []Effect{Cancel{id}}
}

func (s *State) askPlaces(of known.Placeable, limit time.Duration) []Effect {
	s.DOM++
	s.Placing = &Placing{ID: s.newID(), of: of}
	return []Effect{Place{ID: s.Placing.ID, Request: of.Request(s.Allocator(), s.Choice.AllocArgs, limit)}}
}

// PlacesNeed returns the budget with which the allocator would find room for the shown schedule, or 0 if it
// has found room. A larger budget may lead to another schedule, so this budget is no guarantee.
func (s *State) PlacesNeed() engine.Bytes {
	if s.Memory != nil || s.Places == nil || s.Places.Placed == nil || s.Places.Placed.Needs == 0 {
		return 0
	}
	return offer(s.Places.Placed.Needs + s.Places.Placed.Resident)
}

// TogglePlaces opens the address view or closes it.
type TogglePlaces struct{}

func (TogglePlaces) apply(s *State) []Effect {
	switch name := s.Allocator(); {
	case name == "":
		return s.chooseAllocator(choice.DefaultAllocator, s.Choice.AllocArgs)
	case s.Memory == nil:
		return s.chooseAllocator("", nil)
	default:
		return s.chooseAllocator(name, s.Choice.AllocArgs)
	}
}

// SetAllocator chooses an allocator, with its default arguments.
type SetAllocator struct{ Name string }

func (m SetAllocator) apply(s *State) []Effect { return s.chooseAllocator(m.Name, nil) }

// SetAllocArg sets an argument of the allocator.
type SetAllocArg struct{ Name, Value string }

func (m SetAllocArg) apply(s *State) []Effect {
	a := alloc.Lookup(s.Allocator())
	if a == nil {
		return nil
	}
	return s.chooseAllocator(a.Name, choice.WithArg(a.Params, s.Choice.AllocArgs, m.Name, m.Value))
}

func (s *State) chooseAllocator(name string, args engine.Args) []Effect {
	s.Choice.Alloc, s.Choice.AllocArgs, s.Draft = name, args, Draft{}
	return s.viewChanged()
}

// SortAlive sorts the table of the buffers that are alive at the peak.
type SortAlive struct{ By draw.AliveBy }

func (m SortAlive) apply(s *State) []Effect {
	s.View.AliveBy = m.By
	return s.touchDOM()
}

// SetPlayhead chooses the time that the map of addresses shows.
type SetPlayhead struct{ At time.Duration }

func (m SetPlayhead) apply(s *State) []Effect {
	s.View.Playhead = m.At
	return s.viewChanged()
}

// StopPlacing cancels the placement under way.
type StopPlacing struct{}

func (StopPlacing) apply(s *State) []Effect {
	p := s.Placing
	if p == nil {
		return s.touchDOM()
	}
	s.Places = &known.Places{Of: p.of, Failure: proto.Fail(proto.Deadline, "Given up before there was a placement.")}
	s.Paint++
	return s.cancelPlacing()
}

// PlaceAgain asks for the placement that failed again, with more time.
type PlaceAgain struct{}

func (PlaceAgain) apply(s *State) []Effect {
	if p := s.Places; p != nil && p.Failure != nil && s.Placing == nil {
		return s.askPlaces(p.Of, longLimit)
	}
	return s.touchDOM()
}

// Placed is the answer to Place: a placement or a failure. If the deadline passed, both may be set.
type Placed struct {
	ID      int
	Placed  *proto.Placed
	Failure *proto.Failure
}

func (m Placed) apply(s *State) []Effect {
	p := s.Placing
	if p == nil || p.ID != m.ID {
		return nil
	}
	s.Placing, s.Places = nil, &known.Places{Of: p.of, Placed: m.Placed, Failure: m.Failure}
	if m.Failure == nil {
		s.Places.Keep()
	}
	return s.touch()
}

// PlacesModel returns the placement, arranged for drawing, or nil if there is no placement yet.
func (s *State) PlacesModel() *draw.Places { return s.Places.Model() }

// Doctor returns what is known about the open recording, or nil if no recording is open.
func (s *State) Doctor() *known.Doctor {
	if s.Memory == nil {
		return nil
	}
	return s.Memory.Doctor
}

// Examining returns the part that is being asked about the recording, or "" if there is no request.
func (s *State) Examining() proto.Part {
	if s.examining == nil {
		return ""
	}
	return s.examining.part
}

// followDoctor asks for the next part that is not known about the recording: the report, then what is in
// use at the chosen time, then one replay after the other. It waits while a file is being opened.
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

// Moment returns the event after which memory is shown: the event at the playhead, or doctor.Decisive.
func (s *State) Moment() int { return s.Memory.Moment(s.View.Playhead) }

// Alive returns what is in use at the chosen time. While that is not known, it returns the previous answer,
// or nil if there is no answer.
func (s *State) Alive() *doctor.Alive { return s.Doctor().Alive(s.Moment()) }

// Flame returns the flame graph of the chosen time, or nil if there is no flame graph.
func (s *State) Flame() *known.Flame { return s.Doctor().Flame(s.Moment()) }

// Examined is the answer to Examine.
type Examined struct {
	ID     int
	Reply  *proto.Examined
	Failed string // why there is no reply; empty if there is one
}

func (m Examined) apply(s *State) []Effect {
	e, d := s.examining, s.Doctor()
	if e == nil || e.id != m.ID || d == nil {
		return nil
	}
	s.examining = nil
	if m.Failed != "" {
		d.Refuse(e.part, e.at, m.Failed)
	} else {
		d.Take(m.Reply)
	}
	return s.touch()
}

// StopReplays stops the replays. With Go it resumes them.
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

// ShowBuffer selects a buffer of the recording in the pictures, at the decisive time. If it is selected
// already, ShowBuffer deselects it.
type ShowBuffer struct{ Buffer int }

func (m ShowBuffer) apply(s *State) []Effect {
	s.touch()
	if s.Memory == nil || m.Buffer < 0 || m.Buffer >= len(s.Memory.Data.Buffers.List) {
		return nil
	}
	t := lookup.Target{Kind: lookup.OnBuffer, Index: m.Buffer}
	if s.View.Selected == t {
		t = lookup.Target{}
	}
	s.View.Selected, s.View.Playhead = t, 0
	return []Effect{WriteURL{Replace}}
}

// OpenDevice shows another device of the open recording.
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

// ZoomCall makes a call as wide as the flame graph. If it is already as wide, its caller becomes as wide.
type ZoomCall struct{ Call int }

func (m ZoomCall) apply(s *State) []Effect {
	f := s.Flame()
	if f == nil {
		return nil
	}
	f.Zoom(m.Call)
	return s.touch()
}

// MarkCall moves the keyboard's mark in the flame graph.
type MarkCall struct{ Right, Down int }

func (m MarkCall) apply(s *State) []Effect {
	f := s.Flame()
	if f == nil {
		return nil
	}
	f.Move(m.Right, m.Down)
	return s.touch()
}

// ZoomOut makes the caller of the call that is as wide as the flame graph as wide.
type ZoomOut struct{}

func (ZoomOut) apply(s *State) []Effect { return ZoomCall{s.Flame().Zoomed().Index}.apply(s) }
