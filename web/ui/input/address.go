package input

import (
	"strconv"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/state"
)

// addressCommand is what a command of the address view means; nil for others.
func (c Command) addressCommand(s *state.State) state.Message {
	switch c.Do {
	case "places":
		return state.TogglePlaces{}
	case "places-stop":
		return state.StopPlacing{}
	case "places-again":
		return state.PlaceAgain{}
	case "places-raise":
		return state.SetBudget{Bytes: Raise(s), Settled: true}
	case "alive":
		by, err := strconv.Atoi(c.Arg)
		if err != nil || by < 0 || by >= int(draw.NumAliveBy) {
			return nil
		}
		return state.SortAlive{By: draw.AliveBy(by)}
	case "alloc-arg":
		return c.addressField(s)
	case "alloc":
		if c.Settled {
			return state.SetAllocator{Name: c.Value}
		}
	}
	return nil
}

// addressField is a field that is typed into.
func (c Command) addressField(s *state.State) state.Message {
	if !c.Settled {
		return state.Type{Field: "alloc-arg:" + c.Arg, Text: c.Value}
	}
	a := alloc.Lookup(s.Allocator())
	if a == nil {
		return nil
	}
	if _, err := a.Parse(engine.Args{c.Arg: c.Value}); err != nil {
		return state.Refuse{Field: "alloc-arg:" + c.Arg, Text: err.Error()}
	}
	return state.SetAllocArg{Name: c.Arg, Value: c.Value}
}

// Raise is the budget that the allocator would need for this very schedule. A
// larger budget may bring another schedule, so it is an offer and no promise.
func Raise(s *state.State) engine.Bytes {
	if s.Memory != nil || s.Places == nil || s.Places.Placed == nil || s.Places.Placed.Needs == 0 {
		return 0
	}
	b := s.Places.Placed.Needs + s.Places.Placed.Resident
	if up, err := format.ParseBytes(format.BytesUp(b)); err == nil && up >= b {
		return up
	}
	return b
}
