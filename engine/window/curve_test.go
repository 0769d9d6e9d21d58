package window_test

import (
	"errors"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
	"memtide/engine/window"
)

// TestCurve: every point is what ByWindow gives for that size, the largest window
// that fits is that, and the search is no slower than any point.
func TestCurve(t *testing.T) {
	const seed = 51
	r := enginetest.Rand(seed)
	curves, slower, larger := 0, 0, 0
	for i := range 200 {
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 8, MaxSize: 40})
		p := engine.NewChainProblem(c, enginetest.Device(engine.Duplex(i%2)), engine.Whole, enginetest.RandomBudget(r, c))
		points, span, err := window.Curve(p, 9, nil)
		found, errFound := engine.Lookup("window").Solve(p, nil, nil)
		if (err == nil) != (errFound == nil) {
			t.Errorf("seed %d chain %d within %d: curve %v, search %v\n%s", seed, i, p.Budget, err, errFound, enginetest.Dump(c))
		}
		if err != nil {
			var least *engine.InfeasibleError
			if !errors.As(err, &least) || least.Smallest <= p.Budget {
				t.Errorf("seed %d chain %d within %d: got %v, want a refusal with the smallest budget", seed, i, p.Budget, err)
			}
			continue
		}
		curves++
		last := engine.Bytes(-1)
		for _, pt := range points {
			if pt.Window <= last {
				t.Errorf("seed %d chain %d: window %d follows %d", seed, i, pt.Window, last)
			}
			last = pt.Window
			sol, err := window.ByWindow(p, pt.Window)
			if pt.StepTime == 0 && pt.Peak == 0 {
				if err == nil || pt.Window <= span.Fits {
					t.Errorf("seed %d chain %d within %d: window %d of %+v does not fit; by itself: %v", seed, i, p.Budget, pt.Window, span, err)
				}
				continue
			}
			if err != nil || sol.Makespan != pt.StepTime || sol.Peak != pt.Peak {
				t.Errorf("seed %d chain %d within %d: %+v; by itself %v, %v", seed, i, p.Budget, pt, sol, err)
				continue
			}
			tr, err := sim.Play(p, sol.Schedule)
			if err != nil {
				t.Fatal(err)
			}
			var moved engine.Bytes
			for _, sp := range tr.Spans {
				if sp.Value != engine.NoValue {
					moved += p.Graph.Values[sp.Value].Size
				}
			}
			if moved != pt.Moved {
				t.Errorf("seed %d chain %d window %d: %d bytes moved, want %d", seed, i, pt.Window, pt.Moved, moved)
			}
			if found.Makespan > pt.StepTime {
				slower++
			}
		}
		if span.Fits < span.All {
			larger++
			if _, err := window.ByWindow(p, span.Fits+1); err == nil {
				t.Errorf("seed %d chain %d within %d: %d is called the largest window, and one more byte fits", seed, i, p.Budget, span.Fits)
			}
		}
	}
	if curves < 80 || larger < 20 {
		t.Errorf("seed %d: %d curves, %d of them with windows that do not fit: the generator is off", seed, curves, larger)
	}
	if slower > 0 {
		t.Errorf("seed %d: the search is slower than a point of the curve %d times", seed, slower)
	}
}

// TestStops: a walk stops at the first operation that cannot have its memory. Two
// functions of 4 bytes each: with 7 the second does not fit beside the first.
func TestStops(t *testing.T) {
	g := &engine.Graph{Done: engine.NoValue, Values: []engine.Value{
		{Name: "x", Size: 4, PartOf: engine.NoValue}, {Name: "y", Size: 4, PartOf: engine.NoValue}},
		Ops: []engine.Op{{Name: "f", Out: []engine.ValueID{0}}, {Name: "g", In: []engine.ValueID{0}, Out: []engine.ValueID{1}}}}
	for budget, want := range map[engine.Bytes]engine.OpID{3: 0, 4: 1, 7: 1, 8: engine.NoOp} {
		p := &engine.Problem{Graph: g, Device: enginetest.Device(engine.HalfDuplex), Budget: budget}
		for name, stops := range map[string]func() (engine.OpID, bool, error){
			"window": func() (engine.OpID, bool, error) { return window.WindowStops(p, 8) },
			"lms":    func() (engine.OpID, bool, error) { return window.LMSStops(p, 2, 1) },
		} {
			if op, ok, err := stops(); err != nil || op != want || ok != (want != engine.NoOp) {
				t.Errorf("%s in %d bytes: stops at %d (%v, %v), want %d", name, budget, op, ok, err, want)
			}
		}
	}
}
