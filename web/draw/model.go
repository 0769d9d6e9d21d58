package draw

import (
	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/tell"
)

// Model is a trace, arranged for drawing.
type Model struct{ *tell.Model }

// NewModel arranges a trace of p's graph for drawing. p and t must not change
// while the model is in use. It takes time and memory in proportion to the trace.
func NewModel(p *engine.Problem, t *sim.Trace) *Model {
	return &Model{tell.New(p, t)}
}
