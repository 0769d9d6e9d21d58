package ui

import (
	"fmt"
	"strconv"
	"time"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/web/draw"
	"memtide/web/lookup"
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
		return state.SetBudget{Bytes: raise(s), Settled: true}
	case "alive":
		by, err := strconv.Atoi(c.Arg)
		if err != nil || by < 0 || by >= int(draw.NumAliveBy) {
			return nil
		}
		return state.SortAlive{By: draw.AliveBy(by)}
	case "alloc-arg", "density":
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
	if c.Do == "density" {
		if !c.Settled {
			return state.Type{Field: c.Do, Text: c.Value}
		}
		n, err := strconv.Atoi(c.Value)
		if err != nil || n < 0 || n > 100 {
			return state.Refuse{Field: c.Do, Text: fmt.Sprintf("The share of values that are not zero is %q; 0 to 100 per cent are possible.", c.Value)}
		}
		return state.SetDensity{Percent: n}
	}
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

// TipOfPlaces says what is under the pointer in the pictures of addresses.
func TipOfPlaces(m *draw.Places, pic draw.Picture, target lookup.Target, at time.Duration) string {
	if s := m.Sentence(target); s != "" {
		return s
	}
	if pic == draw.AddressMap || at < 0 {
		return ""
	}
	return m.MapSentence(at)
}
