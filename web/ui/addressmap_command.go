package ui

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/wasm/proto"
	"memtide/web/draw"
	"memtide/web/link"
	"memtide/web/state"
)

// takeAllocator sets the allocator of a link and its arguments, as far as they
// are known.
func takeAllocator(c *state.Choice, l link.Link) []string {
	if l.Alloc == "" || l.Alloc == proto.Recorded {
		return nil
	}
	a := alloc.Lookup(l.Alloc)
	if a == nil {
		c.Alloc = state.DefaultAllocator
		return []string{"The link names the allocator " + l.Alloc + ", which is not known here."}
	}
	c.Alloc = a.Name
	if _, err := a.Parse(l.AllocArgs); err != nil {
		return []string{"The link's arguments are not used: " + err.Error() + "."}
	}
	c.AllocArgs = state.AllocArgs(a.Name, l.AllocArgs)
	return nil
}

// place asks a pool for a placement.
func place(ctx context.Context, pool proto.Pool, e state.Place, onProgress func(*proto.Reply)) state.Message {
	r, err := pool.Do(ctx, &proto.Request{Op: proto.OpPlace, Place: &e.Request}, onProgress)
	if ctx.Err() != nil {
		return nil
	}
	if err == nil {
		return state.Placed{ID: e.ID, Placed: r.Placed}
	}
	var f *proto.Failure
	if !errors.As(err, &f) {
		f = proto.Fail(proto.Crash, "%v", err)
	}
	m := state.PlaceFailed{ID: e.ID, Failure: f}
	if r != nil {
		m.Best = r.Placed
	}
	return m
}

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

// tipOfPlaces says what is under the pointer in the pictures of addresses.
func tipOfPlaces(m *draw.Places, pic draw.Picture, target draw.Target, at time.Duration) string {
	if s := m.Sentence(target); s != "" {
		return s
	}
	if pic == draw.AddressMap || at < 0 {
		return ""
	}
	return m.MapSentence(at)
}
