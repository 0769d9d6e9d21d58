package graphs_test

import (
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/enginetest"
	"memtide/engine/graphs"
)

// TestJointBoundIsTrue checks that the bound is never above the optimum with recomputation and transfers, which
// the vectors contain, nor above the time of graphpofo on random graphs, and that it is sometimes above the sum
// of all times.
func TestJointBoundIsTrue(t *testing.T) {
	more, tight, can, compared := 0, 0, 0, 0
	hold := func(name string, p *engine.Problem, took time.Duration) {
		b := bound.Joint(p, false, nil)
		all, _ := bound.Of(p, engine.MayRecompute|engine.MayOffload)
		if compared++; b > took {
			t.Errorf("%s within %d: the bound is %d, and %d is possible\n%s", name, p.Budget, b, took,
				enginetest.DumpGraph(p.Graph))
		}
		if b > all {
			more++
		}
		if took > all {
			can++
		}
		if b == took && b > all {
			tight++
		}
	}
	for _, v := range graphs.Vectors("graph_joint_tiny") {
		if want, ok := v.ExpectInt("time"); ok {
			hold(v.ID, v.GraphProblem(), time.Duration(want))
		}
	}
	r := enginetest.Rand(8)
	for range 150 {
		p := randomProblem(r, 9)
		p.Device = enginetest.Device(engine.Duplex(r.IntN(2)))
		p.Device.ToHost, p.Device.ToDev = engine.Rate(1e9*(1+r.IntN(9))/4), engine.Rate(1e9*(1+r.IntN(9))/4)
		p.Transfers = []engine.Transfers{engine.Whole, engine.Streamed}[r.IntN(2)]
		if sol, err := engine.Lookup("graphpofo").Solve(p, nil, nil); err == nil {
			hold("random", p, sol.Makespan)
		}
	}
	t.Logf("more than all times in %d of %d, where %d can be; tight in %d", more, compared, can, tight)
	if more*8 < can {
		t.Errorf("more than the sum of all times in %d of the %d in which it can be; want an eighth", more, can)
	}
}
