package tell

import (
	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/lookup"
)

// Model is an indexed trace that can say what is in it.
type Model struct{ *lookup.Model }

// New arranges a trace of p's graph, see lookup.New.
func New(p *engine.Problem, t *sim.Trace) *Model {
	return &Model{lookup.New(p, t)}
}

// Said is a sentence of an explanation, with the colour of what it is about. Name is
// the name in it that matters, empty if there is none.
type Said struct {
	Role                display.Role
	Before, Name, After string
}

// String returns the sentence.
func (s Said) String() string { return s.Before + s.Name + s.After }
