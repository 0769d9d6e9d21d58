package offload

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// TestGaussianInterpolates checks that the process returns the known values at the points that were added, and
// its mean and a large deviation far from them.
func TestGaussianInterpolates(t *testing.T) {
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 0))
	g := gaussian{}
	f := func(p point) float64 { return 3 + p[0]*p[0] - 2*p[1]*p[2] }
	for k := range 30 {
		p := randomPoint(r)
		if k < firstPoints {
			p = firstPoint(k)
		}
		g.add(p, f(p))
	}
	for k, p := range g.at {
		mean, deviation := g.guess(p)
		if got := mean*g.scale + g.mean; math.Abs(got-g.value[k]) > 0.05 || deviation > 0.1 {
			t.Errorf("seed %d: at %v: got %.4f, deviation %.4f; want %.4f", seed, p, got, deviation, g.value[k])
		}
	}
	far := point{10, -3, -3, -3}
	if mean, deviation := g.guess(far); math.Abs(mean) > 1e-6 || math.Abs(deviation-1) > 1e-6 {
		t.Errorf("far away: mean %.4f, deviation %.4f; want 0 and 1", mean, deviation)
	}
}

// TestGaussianFindsMinimum checks that the best of 40 tries comes close to the minimum of a smooth function.
func TestGaussianFindsMinimum(t *testing.T) {
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 0))
		want := randomPoint(r)
		g := gaussian{}
		for k := range 40 {
			p := firstPoint(k)
			if k >= firstPoints {
				p = g.next(r)
			}
			var d float64
			for j := range p {
				d += (p[j] - want[j]) * (p[j] - want[j])
			}
			g.add(p, d)
		}
		if got := slices.Min(g.value); got > 0.01 {
			t.Errorf("seed %d: the best of 40 tries is %.4f from the minimum, want at most 0.01", seed, got)
		}
	}
}

// TestScoresByHand checks the scores of three values, the middle one of which is large.
//
// Times: F 2, 2, 2; B 3, 3, 3. x = 4, 6, 6, s3 = 1, gradients as large, allocated by the last
// backward. x_0 is absent from 2 to 12, x_1 from 4 to 9, and x_2 is never absent.
func TestScoresByHand(t *testing.T) {
	c := testChain()
	for k := range c.Stages {
		c.Stages[k].Forward, c.Stages[k].Back = 2, 3
	}
	p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Whole, 24)
	sc := newScores(newStep(p))
	for name, score := range map[string][2][]float64{
		"DOA":  {sc.absence, {12 - 2 - 8, 9 - 4 - 12, -12}},
		"AOA":  {sc.area, {2 * 4, -7.0 / 6, -2}},
		"WDOA": {sc.excess, {3 * 4, 0, 0}}, // B_2 needs 28, all others at most 24
	} {
		if !slices.Equal(score[0], score[1]) {
			t.Errorf("%s: got %v, want %v", name, score[0], score[1])
		}
	}
	// 4 bytes are missing in B_2, where only x_0 can be away. Offloading x_0 is enough, and all scores prefer it.
	for k := range firstPoints {
		if set, ok := sc.pick(firstPoint(k), nil); !ok || !slices.Equal(set, []bool{true, false, false}) {
			t.Errorf("weights %v: got %v, want x_0 alone", firstPoint(k), set)
		}
	}
}

// TestAutoSwapSeeds checks that a seed always gives the same schedule, and that more tries are no worse.
func TestAutoSwapSeeds(t *testing.T) {
	different := 0
	for seed := range uint64(40) {
		p := randomProblem(seed, enginetest.Shape{MinStages: 25, MaxStages: 40, MaxSize: 100, MaxTime: 100},
			engine.Whole)
		first, err := play(t, "autoswap", p, engine.Args{"evaluations": "6"})
		if err != nil {
			t.Fatal(err)
		}
		again, _ := play(t, "autoswap", p, engine.Args{"evaluations": "6"})
		more, _ := play(t, "autoswap", p, engine.Args{"evaluations": "30"})
		if !slices.Equal(first.Schedule, again.Schedule) || more.Makespan > first.Makespan {
			t.Errorf("seed %d: %d, again %d, with more tries %d", seed, first.Makespan, again.Makespan, more.Makespan)
		}
		if more.Makespan < first.Makespan {
			different++
		}
	}
	if different == 0 {
		t.Error("more tries never help: the optimisation does nothing")
	}
}
