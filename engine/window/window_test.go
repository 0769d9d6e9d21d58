package window_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
	"memtide/engine/window"
)

// randomGraph returns a step with weights, skip connections, updates in place, temporaries and values that
// nothing reads. Weights are on the host or on the device when it begins.
func randomGraph(r *rand.Rand) *engine.Graph {
	g := &engine.Graph{Done: engine.NoValue, Fixed: engine.Bytes(r.IntN(5))}
	add := func(kind engine.ValueKind, initial engine.Place) engine.ValueID {
		g.Values = append(g.Values, engine.Value{Name: string(rune('a' + len(g.Values))), Kind: kind,
			Size: engine.Bytes(r.IntN(10)), Initial: initial, PartOf: engine.NoValue})
		return engine.ValueID(len(g.Values) - 1)
	}
	for range 1 + r.IntN(3) {
		add(engine.KindWeight, engine.Place(1+r.IntN(3)))
	}
	for range 2 + r.IntN(8) {
		op := engine.Op{Name: "f", Time: time.Duration(r.IntN(12)), Temp: engine.Bytes(r.IntN(4))}
		for range r.IntN(4) {
			op.In = append(op.In, engine.ValueID(r.IntN(len(g.Values))))
		}
		if r.IntN(3) == 0 {
			op.Out = append(op.Out, engine.ValueID(r.IntN(len(g.Values)))) // made again, or updated in place
		}
		if r.IntN(5) > 0 {
			op.Out = append(op.Out, add(engine.KindActivation, 0))
		}
		g.Ops = append(g.Ops, op)
	}
	return g
}

// TestGraphs solves random graphs with all methods within budgets around the smallest. Claims equal the played
// values, and refusals name the smallest budget.
func TestGraphs(t *testing.T) {
	const seed = 41
	r := enginetest.Rand(seed)
	solved, refused := 0, 0
	for i := range 400 {
		g := randomGraph(r)
		bytes, threshold, ahead := engine.Bytes(r.IntN(30)), 1+r.IntN(4), r.IntN(4)
		methods := []struct {
			name  string
			solve func(*engine.Problem) (*engine.Solution, error)
		}{
			{"window", func(p *engine.Problem) (*engine.Solution, error) { return window.ByWindow(p, bytes) }},
			{"lms", func(p *engine.Problem) (*engine.Solution, error) { return window.ByLMS(p, threshold, ahead) }},
			{"window search", func(p *engine.Problem) (*engine.Solution,
				error) {
				return engine.Lookup("window").Solve(p, nil, nil)
			}},
			{"lms search", func(p *engine.Problem) (*engine.Solution,
				error) {
				return engine.Lookup("lms").Solve(p, nil, nil)
			}},
		}
		for _, m := range methods {
			p := &engine.Problem{Graph: g, Device: enginetest.Device(engine.Duplex(r.IntN(2))),
				Transfers: engine.Transfers(r.IntN(2))}
			var least *engine.InfeasibleError
			if _, err := m.solve(p); !errors.As(err, &least) {
				if err != nil {
					t.Errorf("seed %d graph %d: %s: %v", seed, i, m.name, err)
				}
				continue
			}
			refused++
			if _, err := m.solve(p.WithBudget(least.Smallest - 1)); !errors.As(err, &least) {
				t.Errorf("seed %d graph %d: %s: one byte less than the smallest budget %d: got %v", seed, i, m.name,
					least.Smallest, err)
			}
			for _, more := range []engine.Bytes{0, 1, engine.Bytes(r.IntN(20)), 1000} {
				q := p.WithBudget(least.Smallest + more)
				sol, err := m.solve(q)
				if err != nil {
					t.Errorf("seed %d graph %d: %s within %d: %v", seed, i, m.name, q.Budget, err)
					continue
				}
				solved++
				holds(t, q, sol, m.name, i)
			}
		}
		if t.Failed() {
			t.Fatalf("values %+v\noperations %+v", g.Values, g.Ops)
		}
	}
	if solved < 3000 || refused < 800 {
		t.Errorf("%d problems solved and %d refused: the generator is off", solved, refused)
	}
}

// holds plays a solution and compares it with its claims.
func holds(t *testing.T, p *engine.Problem, sol *engine.Solution, name string, i int) {
	t.Helper()
	trace, err := sim.Play(p, sol.Schedule)
	if err != nil {
		t.Errorf("graph %d: %s within %d: %v", i, name, p.Budget, err)
		return
	}
	if trace.Makespan != sol.Makespan || trace.Peak != sol.Peak || sol.Bound > sol.Makespan {
		t.Errorf("graph %d: %s within %d: claims %d ns (no less than %d) and %d bytes, plays %d and %d", i, name,
			p.Budget,
			sol.Makespan, sol.Bound, sol.Peak, trace.Makespan, trace.Peak)
	}
	if err := check.Trace(p, sol.Schedule, trace); err != nil {
		t.Errorf("graph %d: %s within %d: the check refutes the trace: %v", i, name, p.Budget, err)
	}
}

// TestSearchIsNoWorse compares the searches with every window, and with every pair of numbers, on small chains,
// where the searches try all of them that matter.
func TestSearchIsNoWorse(t *testing.T) {
	const seed = 42
	r := enginetest.Rand(seed)
	for i := range 60 {
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 4, MaxSize: 5})
		p := engine.NewChainProblem(c, enginetest.Device(engine.Duplex(i%2)), engine.Whole,
			enginetest.RandomBudget(r, c))
		best := func(name string, solve func(k int) (*engine.Solution, error), count int) {
			sol, err := engine.Lookup(name).Solve(p, nil, nil)
			for k := range count {
				one, errOne := solve(k)
				if errOne == nil && (err != nil || one.Makespan < sol.Makespan) {
					t.Errorf("seed %d chain %d within %d: %s finds %v, %v; number %d takes %v\n%s", seed, i, p.Budget,
						name, sol, err, k, one.Makespan, enginetest.Dump(c))
					return
				}
			}
		}
		best("window", func(k int) (*engine.Solution, error) { return window.ByWindow(p, engine.Bytes(k)) }, 60)
		n := len(p.Graph.Ops)
		best("lms", func(k int) (*engine.Solution, error) { return window.ByLMS(p, 1+k/n, 1+k%n) }, n*(n+1))
	}
}

// TestUnsupported checks that graphs that cannot run in their order are refused.
func TestUnsupported(t *testing.T) {
	value := func(name string, within engine.ValueID) engine.Value {
		return engine.Value{Name: name, Size: 1, PartOf: within}
	}
	for name, g := range map[string]*engine.Graph{
		"read before it is made": {Done: engine.NoValue, Values: []engine.Value{value("x", engine.NoValue)},
			Ops: []engine.Op{{Name: "f", In: []engine.ValueID{0}}, {Name: "g", Out: []engine.ValueID{0}}}},
		"made with its container": {Done: engine.NoValue,
			Values: []engine.Value{value("x", 1), value("all", engine.NoValue)},
			Ops:    []engine.Op{{Name: "f", Out: []engine.ValueID{0}}, {Name: "g", Out: []engine.ValueID{1}}}},
	} {
		p := &engine.Problem{Graph: g, Device: enginetest.Device(engine.HalfDuplex), Budget: 10}
		for _, strategy := range []string{"window", "lms"} {
			if _, err := engine.Lookup(strategy).Solve(p, nil, nil); !errors.Is(err, engine.ErrUnsupported) {
				t.Errorf("%s, %s: got %v, want %v", strategy, name, err, engine.ErrUnsupported)
			}
		}
	}
}

// TestNoLink checks that without a link the strategies keep everything if it fits, and return ErrNeedsLink
// otherwise.
func TestNoLink(t *testing.T) {
	c := enginetest.RandomChain(enginetest.Rand(2), enginetest.Shape{MinStages: 5, MaxSize: 40})
	p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, c.KeepAllPeak())
	for _, name := range []string{"window", "lms"} {
		if sol, err := engine.Lookup(name).Solve(p, nil, nil); err != nil ||
			sol.Makespan != c.ForwardTime()+c.BackTime() {
			t.Errorf("%s: got %v, %v; want a schedule that keeps everything", name, sol, err)
		}
		if _, err := engine.Lookup(name).Solve(p.WithBudget(p.Budget-1), nil, nil); err != engine.ErrNeedsLink {
			t.Errorf("%s, a byte short: got %v, want %v", name, err, engine.ErrNeedsLink)
		}
	}
}
