package offload

import (
	"fmt"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// everyAhead returns the result of bestAhead by trying all pairs.
func everyAhead(s *step) aheadFound {
	if s.peak() <= s.p.Budget {
		return aheadFound{tensors: 0, ahead: 1}
	}
	a := newAhead(s)
	found, best := aheadFound{tensors: -1, smallest: s.peak()}, time.Duration(never)
	for tensors := 1; tensors <= s.n; tensors++ {
		for ahead := 1; ahead <= s.n; ahead++ {
			d, room := a.plan(tensors, ahead).Makespan, a.room()
			found.smallest = min(found.smallest, room)
			if room <= s.p.Budget && d < best {
				found.tensors, found.ahead, best = tensors, ahead, d
			}
		}
	}
	return found
}

// TestAheadExhaustive compares the search for the two numbers of TFLMS with all pairs. It must find the same
// pair, or the same smallest budget if none fits.
func TestAheadExhaustive(t *testing.T) {
	fits, refused := 0, 0
	for seed := range uint64(4000) {
		for _, mode := range []engine.Transfers{engine.Whole, engine.Streamed} {
			shape := enginetest.Shape{MaxStages: 12, MaxSize: 6, MaxTime: 5}
			if seed%2 == 0 {
				shape = enginetest.Shape{MinStages: 3, MaxStages: 9, MaxSize: 40, MaxTime: 60}
			}
			p := randomProblem(seed, shape, mode)
			s := newStep(p)
			if seed%3 != 1 { // nearer to the memory for keeping everything; otherwise often nothing fits
				p = p.WithBudget(max(p.Budget, (p.Budget+2*s.peak())/3))
				s = newStep(p)
			}
			got, want := bestAhead(s, nil), everyAhead(s)
			if want.tensors > 0 {
				fits, want.smallest = fits+1, got.smallest // known only if none fits
			} else if want.tensors < 0 {
				refused++
			}
			if got != want {
				t.Fatalf("seed %d %v budget %d: got %+v, want %+v\n%s", seed, mode, p.Budget, got, want,
					enginetest.Dump(p.Chain.Chain))
			}
		}
	}
	t.Logf("%d fit, %d do not", fits, refused)
	if fits < 1000 || refused < 1000 {
		t.Errorf("%d fit and %d do not: the generator is off", fits, refused)
	}
}

// BenchmarkTFLMS measures the search on chains for which trying all pairs takes too long.
func BenchmarkTFLMS(b *testing.B) {
	for _, percent := range []engine.Bytes{25, 60, 90} {
		b.Run(fmt.Sprintf("L=1000/budget=%d", percent), func(b *testing.B) {
			p := longChain(1000, engine.Whole)
			p = p.WithBudget(newStep(p).peak() * percent / 100)
			for b.Loop() {
				bestAhead(newStep(p), nil)
			}
		})
	}
}
