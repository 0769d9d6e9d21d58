package formattest

import (
	"testing"
	"time"

	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/engine/check"
	"memtide/engine/sim"
	"memtide/profiles"
)

// MustDecode reads a model that the test cannot do without.
func MustDecode(t *testing.T, name string, data []byte) *profiles.Profile {
	t.Helper()
	p, err := profiles.Decode(name, profiles.Bytes(data), nil)
	if err != nil {
		t.Fatalf("Decode(%s) = %v", name, err)
	}
	return p
}

// CompareWithChain holds the graph against the chain of the same operators.
func CompareWithChain(t *testing.T, p *profiles.Profile) {
	t.Helper()
	var forward, back time.Duration
	for _, o := range p.Graph.Ops {
		if o.Pass == engine.Forward {
			forward += o.Time
		} else {
			back += o.Time
		}
	}
	var weights engine.Bytes
	for _, v := range p.Graph.Values {
		if v.Kind == engine.KindWeight {
			weights += v.Size
		}
	}
	if c := p.Chain; forward != c.ForwardTime() || back != c.BackTime() || weights != c.Resident.Total() {
		t.Errorf("the graph takes %v and %v and has %d bytes of weights, the chain %v, %v and %d", forward, back,
			weights,
			c.ForwardTime(), c.BackTime(), c.Resident.Total())
	}
}

// SolveGraph plays what a strategy does with a problem, and has it checked.
func SolveGraph(t *testing.T, strategy string, p *engine.Problem) *sim.Trace {
	t.Helper()
	s := engine.Lookup(strategy)
	sol, err := s.Solve(p, nil, nil)
	if err != nil {
		t.Fatalf("%s in %d bytes: %v", strategy, p.Budget, err)
	}
	trace, err := sim.Play(p, sol.Schedule)
	if err != nil {
		t.Fatalf("%s in %d bytes: %v", strategy, p.Budget, err)
	}
	if err := check.Trace(p, sol.Schedule, trace); err != nil {
		t.Errorf("%s in %d bytes: %v", strategy, p.Budget, err)
	}
	if trace.Makespan != sol.Makespan || trace.Peak != sol.Peak {
		t.Errorf("%s in %d bytes claims %v and %d bytes, measured are %v and %d", strategy, p.Budget, sol.Makespan,
			sol.Peak, trace.Makespan, trace.Peak)
	}
	return trace
}
