package check_test

import (
	"testing"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/sim"
)

// TestReserve plays two fetches that queue for the link: with Reserve the second
// one holds its room while the first one moves. The trace of one way is refuted
// for the other.
func TestReserve(t *testing.T) {
	g := &engine.Graph{Done: engine.NoValue}
	for _, name := range []string{"x", "y"} {
		g.Values = append(g.Values, engine.Value{Name: name, Size: 4, Initial: engine.OnHost, PartOf: engine.NoValue})
	}
	g.Ops = []engine.Op{{Name: "f", Time: 2, In: []engine.ValueID{0}}, {Name: "g", Time: 2, In: []engine.ValueID{0, 1}}}
	program := func(reserve bool) engine.Schedule {
		s := engine.Schedule{engine.Fetch(0, 0), engine.Fetch(1, 0), engine.Run(0), engine.Run(1)}
		s[0].Reserve, s[1].Reserve = reserve, reserve
		return s
	}
	for _, transfers := range []engine.Transfers{engine.Whole, engine.Streamed} {
		p := &engine.Problem{Graph: g, Device: engine.Device{ToHost: 1e9, ToDev: 1e9}, Transfers: transfers, Budget: 8}
		for _, reserve := range []bool{false, true} {
			trace, err := sim.Play(p, program(reserve))
			if err != nil {
				t.Fatal(err)
			}
			if err := check.Trace(p, program(reserve), trace); err != nil {
				t.Errorf("%v transfers, reserve %v: %v", transfers, reserve, err)
			}
			if err := check.Trace(p, program(!reserve), trace); err == nil {
				t.Errorf("%v transfers: the trace of reserve %v passes for the other", transfers, reserve)
			}
		}
	}
}
