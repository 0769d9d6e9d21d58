package window_test

import (
	"errors"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/window"
)

// stop returns the operation at which a schedule does not fit, or NoOp if the error does not name it.
func stop(err error) engine.OpID {
	if e, ok := errors.AsType[*window.StopError](err); ok {
		return e.At
	}
	return engine.NoOp
}

// TestStops checks that a walk stops at the first operation that cannot have its memory. There are two functions
// of 4 bytes each: with 7 the second does not fit beside the first.
func TestStops(t *testing.T) {
	g := &engine.Graph{Done: engine.NoValue, Values: []engine.Value{
		{Name: "x", Size: 4, PartOf: engine.NoValue}, {Name: "y", Size: 4, PartOf: engine.NoValue}},
		Ops: []engine.Op{{Name: "f", Out: []engine.ValueID{0}},
			{Name: "g", In: []engine.ValueID{0}, Out: []engine.ValueID{1}}}}
	for budget, want := range map[engine.Bytes]engine.OpID{3: 0, 4: 1, 7: 1, 8: engine.NoOp} {
		p := &engine.Problem{Graph: g, Device: enginetest.Device(engine.HalfDuplex), Budget: budget}
		for name, solve := range map[string]func() (*engine.Solution, error){
			"window": func() (*engine.Solution, error) { return window.ByWindow(p, 8) },
			"lms":    func() (*engine.Solution, error) { return window.ByLMS(p, 2, 1) },
		} {
			sol, err := solve()
			if op := stop(err); op != want || (sol == nil) != (want != engine.NoOp) {
				t.Errorf("%s in %d bytes: stops at %d (%v, %v), want %d", name, budget, op, sol, err, want)
			}
		}
	}
}
