package graphs

import (
	"testing"

	"memtide/engine"
)

// stepOf returns a step of operations of one nanosecond on values of the given sizes. The first value is on the
// device at the start.
func stepOf(sizes []engine.Bytes, ops ...engine.Op) *engine.Problem {
	g := &engine.Graph{Done: engine.NoValue}
	for _, size := range sizes {
		g.Values = append(g.Values, engine.Value{Size: size, PartOf: engine.NoValue})
	}
	g.Values[0].Initial = engine.OnDevice
	for _, op := range ops {
		op.Time = 1
		g.Ops = append(g.Ops, op)
	}
	return &engine.Problem{Graph: g, Budget: engine.NoLimit}
}

// TestWholeReadForward plans a step in which an output-only run makes a part of an output, and a forward
// operation reads the whole output. The plan of chen makes the whole output.
func TestWholeReadForward(t *testing.T) {
	type ids = []engine.ValueID
	p := stepOf([]engine.Bytes{1, 4, 2, 1, 9},
		engine.Op{In: ids{0}, Out: ids{1}, OutputOnly: ids{2}}, engine.Op{In: ids{1}, Out: ids{3}},
		engine.Op{In: ids{3}, Out: ids{4}},
		engine.Op{Pass: engine.Backward, In: ids{4, 2}})
	p.Graph.Values[2].PartOf = 1
	for _, name := range []string{"chen", "kusumoto", "mincut", "blocks"} {
		if sol, err := engine.Lookup(name).Solve(p, nil, nil); err != nil || sol.Makespan != 4 {
			t.Errorf("%s: got %+v, %v; want 4 runs", name, sol, err)
		}
	}
}

// TestSecondForward plans a step of two halves, each with six forward operations and their backward ones. The
// forward operations of the second half run again, too. Otherwise that half would need as much memory as with
// everything kept.
func TestSecondForward(t *testing.T) {
	type ids = []engine.ValueID
	const deep = 6
	sizes, ops := []engine.Bytes{1}, []engine.Op(nil)
	for half := range 2 {
		x, g := engine.ValueID(2*deep*half), engine.ValueID(2*deep*half+deep+1)
		for k := range engine.ValueID(deep) {
			in := x + k
			if k == 0 {
				in = 0
			}
			sizes = append(sizes, 8)
			ops = append(ops, engine.Op{In: ids{in}, Out: ids{x + k + 1}})
		}
		for k := range engine.ValueID(deep) {
			op := engine.Op{Pass: engine.Backward, In: ids{x + deep - k}, Out: ids{g + k}}
			if k > 0 {
				op.In = append(op.In, g+k-1)
			}
			sizes = append(sizes, 1)
			ops = append(ops, op)
		}
	}
	p := stepOf(sizes, ops...)
	whole, err := engine.Lookup("keepall").Solve(p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"chen", "graphsearch"} {
		sol, err := engine.Lookup(name).Solve(p.WithBudget(whole.Peak-8), nil, nil)
		if err != nil || sol.Makespan < 4*deep+2 {
			t.Errorf("%s, 8 bytes less than the %d of keeping everything: got %+v, %v; want an operation of each half run again", name, whole.Peak, sol, err)
		}
	}
}
