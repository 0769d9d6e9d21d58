package state

import (
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/known"
)

// searching is the allocator that searches, and says when it was stopped what it
// has found. placeLimit is how long it may take; longLimit if a person asks for
// more.
const (
	searching  = "optimal"
	placeLimit = 5 * time.Second
	longLimit  = time.Minute
)

// Allocator returns the allocator of the address view, or the empty string if that is closed.
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

// followPlaces sees to it that the address view, if it is open, shows what the
// page shows. It is asked after every message.
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

// askPlaces asks for a placement.
func (s *State) askPlaces(of known.Placeable, limit time.Duration) []Effect {
	s.DOM++
	s.Placing = &Placing{ID: s.newID(), of: of}
	return []Effect{Place{ID: s.Placing.ID, Request: of.Request(s.Allocator(), s.Choice.AllocArgs, limit)}}
}

// PlacesNeed returns the budget that the allocator would need for this very schedule, or 0 if it
// needs no more. A larger budget may bring another schedule, so it is an offer and no
// promise.
func (s *State) PlacesNeed() engine.Bytes {
	if s.Memory != nil || s.Places == nil || s.Places.Placed == nil || s.Places.Placed.Needs == 0 {
		return 0
	}
	b := s.Places.Placed.Needs + s.Places.Placed.Resident
	if up, err := format.ParseBytes(format.BytesUp(b)); err == nil && up >= b {
		return up
	}
	return b
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
	name := s.Allocator()
	return s.chooseAllocator(name, choice.WithAllocArg(name, s.Choice.AllocArgs, m.Name, m.Value))
}

func (s *State) chooseAllocator(name string, args engine.Args) []Effect {
	s.Choice.Alloc, s.Choice.AllocArgs, s.Draft = name, args, Draft{}
	return s.looked()
}

// SortAlive sorts the table of what is there at the peak.
type SortAlive struct{ By draw.AliveBy }

func (m SortAlive) apply(s *State) []Effect {
	s.View.AliveBy = m.By
	return s.touchDOM()
}

// SetPlayhead chooses the moment that the map shows.
type SetPlayhead struct{ At time.Duration }

func (m SetPlayhead) apply(s *State) []Effect {
	s.View.Playhead = m.At
	return s.looked()
}

// StopPlacing gives a placement up.
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

// PlaceAgain asks for it with more time.
type PlaceAgain struct{}

func (PlaceAgain) apply(s *State) []Effect {
	if p := s.Places; p != nil && p.Failure != nil && s.Placing == nil {
		return s.askPlaces(p.Of, longLimit)
	}
	return s.touchDOM()
}

// PlaceProgressed is an allocator at work.
type PlaceProgressed struct {
	ID       int
	Progress proto.Progress
}

func (m PlaceProgressed) apply(s *State) []Effect {
	if p := s.Placing; p != nil && p.ID == m.ID {
		p.Progress = m.Progress
		s.DOM++
	}
	return nil
}

// Placed is a placement, or why there is none; if its deadline passed, both.
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

// PlacesModel returns the placement, arranged for drawing, or nil if there is none yet.
func (s *State) PlacesModel() *draw.Places { return s.Places.Model() }
