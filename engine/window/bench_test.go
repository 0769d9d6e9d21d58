package window_test

import (
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// BenchmarkSearch measures a search on a long chain at half of its memory.
func BenchmarkSearch(b *testing.B) {
	c := enginetest.RandomChain(enginetest.Rand(3),
		enginetest.Shape{MinStages: 340, MaxStages: 340, MaxSize: 1 << 28, MaxTime: 1e8})
	p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Whole, c.KeepAllPeak()/2)
	for _, name := range []string{"window", "lms"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := engine.Lookup(name).Solve(p, nil, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
