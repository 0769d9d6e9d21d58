package controls

import (
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/web/state"
)

// source returns what is open, or being opened before anything is; of a training step only its
// name.
func source(s *state.State) state.Source {
	if s.Step != nil {
		return state.Source{File: ask.Title(s.Choice.Step)}
	}
	if s.Network == nil && s.Memory == nil && s.Opening != nil {
		return s.Opening.Choice.Source
	}
	return s.Choice.Source
}

// timedDevice returns the device that the times of the open preset are for, or nil if it
// has none.
func timedDevice(s *state.State) (*card.Card, preset.Options) {
	base, o := source(s).Variant()
	if base == nil || !base.Operators() {
		return nil, o
	}
	return card.Lookup(o.Device), o
}
