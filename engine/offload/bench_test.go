package offload

import (
	"fmt"
	"testing"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/enginetest"
)

// lengths of ResNet-like chains, from ResNet-18's to ResNet-1001's.
var lengths = []int{39, 115, 339}

// longChain returns a chain with the sizes, times and link of a network on a GPU, and half of the memory that it
// needs.
func longChain(n int, mode engine.Transfers) *engine.Problem {
	c := enginetest.RandomChain(enginetest.Rand(uint64(n)),
		enginetest.Shape{MinStages: n, MaxStages: n, MaxSize: 64 * engine.MiB, MaxTime: 5_000_000})
	dev := engine.Device{ToHost: 12_500_000_000, ToDev: 13_100_000_000}
	p := engine.NewChainProblem(c, dev, mode, 0)
	s := newStep(p)
	return p.WithBudget(max(s.smallest(), s.peak()/2))
}

func BenchmarkGreedy(b *testing.B) {
	for _, n := range lengths {
		for _, mode := range []engine.Transfers{engine.Whole, engine.Streamed} {
			b.Run(fmt.Sprintf("L=%d/transfers=%v", n, mode), func(b *testing.B) {
				p := longChain(n, mode)
				for b.Loop() {
					if _, err := greedy.Solve(p, nil, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkNewPlan(b *testing.B) {
	for _, n := range lengths {
		b.Run(fmt.Sprintf("L=%d", n), func(b *testing.B) {
			p := longChain(n, engine.Whole)
			set := make([]bool, n)
			for i := range set {
				set[i] = true
			}
			for b.Loop() {
				if _, ok := NewOrdered(p, set); !ok {
					b.Fatal("no plan")
				}
			}
		})
	}
}

func BenchmarkRelax(b *testing.B) {
	for _, n := range lengths {
		b.Run(fmt.Sprintf("L=%d", n), func(b *testing.B) {
			p := longChain(n, engine.Whole)
			for b.Loop() {
				if _, ok := bound.Relax(p); !ok {
					b.Fatal("no bound")
				}
			}
		})
	}
}

// TestLongChains checks that claims are also exact at the sizes and rates of real networks, where transfers do
// not take whole nanoseconds.
func TestLongChains(t *testing.T) {
	for _, n := range lengths {
		for _, mode := range []engine.Transfers{engine.Whole, engine.Streamed} {
			p := longChain(n, mode)
			s := newStep(p)
			for _, percent := range []engine.Bytes{20, 40, 60, 80, 99} {
				solved(t, p.WithBudget(max(s.smallest(), s.peak()*percent/100)))
			}
			if t.Failed() {
				t.Fatalf("chain of %d stages, %v", n, mode)
			}
		}
	}
}

// BenchmarkExact solves thirty short chains on a half-duplex and on a full-duplex link.
func BenchmarkExact(b *testing.B) {
	for _, duplex := range []engine.Duplex{engine.HalfDuplex, engine.FullDuplex} {
		b.Run(fmt.Sprintf("duplex=%v", duplex), func(b *testing.B) {
			for b.Loop() {
				for seed := range uint64(30) {
					p := randomProblem(seed, enginetest.Shape{MinStages: 4, MaxStages: 8}, engine.Whole)
					p.Device.Duplex = duplex
					if _, err := offloadExact.Solve(p, nil, nil); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkOffloadSearch looks for the best set on long chains.
func BenchmarkOffloadSearch(b *testing.B) {
	for _, n := range lengths[:2] {
		b.Run(fmt.Sprintf("L=%d", n), func(b *testing.B) {
			p := longChain(n, engine.Whole)
			for b.Loop() {
				if _, err := Search.Solve(p, nil, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
