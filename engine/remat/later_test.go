package remat

import (
	"os"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// bareChain draws a small chain, whose gradients have sizes that do not depend on the outputs, and a budget a
// little too small to keep everything.
func bareChain(seed uint64) (*engine.Chain, engine.Bytes) {
	r := enginetest.Rand(seed)
	size := func(most int) engine.Bytes { return engine.Bytes(max(0, r.IntN(most+2)-1)) }
	c := &engine.Chain{Input: size(2), InputGrad: size(2), LossGradAllocated: r.IntN(2) == 0}
	outs := r.IntN(3)
	for range 2 + r.IntN(3) {
		out := size(outs)
		c.Stages = append(c.Stages, engine.Stage{Forward: time.Duration(r.IntN(3)), Back: time.Duration(r.IntN(3)),
			Out: out, Saved: out + size(outs), Grad: size(3), FwdTemp: size(5), BwdTemp: size(2)})
	}
	return c, c.KeepAllPeak() - engine.Bytes(1+r.IntN(3))
}

// TestPersistentSet checks that no sequence that goes segment by segment is faster than rotor's, or fits where
// rotor finds none. If rotor claims so, the same must hold for all persistent sequences. Otherwise other
// persistent sequences can be faster.
func TestPersistentSet(t *testing.T) {
	cases := uint64(4000)
	if os.Getenv("MEMTIDE_LONG") != "" {
		cases = 400_000
	}
	all, fewer, faster := 0, 0, 0
	for seed := range cases {
		c, budget := bareChain(seed)
		sol, err := engine.Lookup("rotor").Solve(engine.NewChainProblem(c, engine.Device{}, engine.Whole, budget),
			nil, nil)
		if err == nil && sol.OptimalAmong != persistentSet(c) {
			t.Fatalf("seed %d: rotor is optimal within %q; want %q", seed, sol.OptimalAmong, persistentSet(c))
		}
		same := func(class Class) bool {
			want, fits := Best(c, budget, class)
			return fits == (err == nil) && (err != nil || sol.Makespan == want)
		}
		if !same(Segments) {
			t.Fatalf("seed %d budget %d\n%srotor: %+v, %v; another one that goes segment by segment is better", seed,
				budget, enginetest.Dump(c), sol, err)
		}
		better := !same(Persistent)
		switch {
		case persistentSet(c) != withinPersistent:
			if fewer++; better {
				faster++
			}
		case better:
			t.Fatalf("seed %d budget %d\n%srotor: %+v, %v; another persistent one is better", seed, budget,
				enginetest.Dump(c), sol, err)
		default:
			all++
		}
	}
	t.Logf("%d chains with claims about all persistent sequences, %d with others; in %d of these, others are better",
		all, fewer, faster)
	if all < int(cases)/10 || fewer < int(cases)/10 || faster < 1 {
		t.Errorf("%d claims about all persistent sequences, %d about fewer, %d of these with a better one; the generator is off", all, fewer, faster)
	}
}

// TestPersistentEarly checks a chain with a schedule that only fits because a stage is computed again before the
// first backward. The theorem has no such schedules.
func TestPersistentEarly(t *testing.T) {
	c := &engine.Chain{LossGradAllocated: true, Stages: []engine.Stage{
		{Out: 1, Saved: 1, Grad: 1, FwdTemp: 2}, {Back: 1, Grad: 1}, {Back: 1, Grad: 1}, {Grad: 1, FwdTemp: 3}}}
	if best, ok := Best(c, 3, Persistent); !ok || best != 2 {
		t.Errorf("all persistent sequences: got %d, %v; want 2", best, ok)
	}
	p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, 4)
	if sol, err := engine.Lookup("rotor").Solve(p, nil, nil); err != nil || sol.OptimalAmong != withinSegments {
		t.Errorf("rotor at 4: got %+v, %v; want a claim within %q", sol, err, withinSegments)
	}
}
