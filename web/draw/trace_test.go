package draw

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/lookup/tracetest"
)

const ms = time.Millisecond

func smallModel() *Index { return NewIndex(tracetest.Small()) }

func randomModel(n int, seed uint64) *Index { return NewIndex(tracetest.Random(n, seed)) }

func emptyModel() *Index { return NewIndex(tracetest.Empty()) }

func played(t *testing.T, p *engine.Problem, away bool) *Index {
	return NewIndex(tracetest.Played(t, p, away))
}

// TestOnlyBlocksHaveNumbers checks that a stage that is not a block has no number.
func TestOnlyBlocksHaveNumbers(t *testing.T) {
	m := smallModel()
	m.Names = []string{"the optimizer of all weights of a network"}
	for k := 2; k <= m.Count; k++ {
		m.Names = append(m.Names, fmt.Sprintf("block %d", 10+k))
	}
	var s Scene
	m.Draw(&s, Timeline, View{Width: 640})
	words := s.words()
	if slices.Contains(words, "1") ||
		!slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(w, "12") }) {
		t.Errorf("the timeline says %q; want the number 12 of a block, and no 1 of the optimizer", words)
	}
}

// manyLives returns a trace with n values that have random lifetimes, with samples of the memory that match them.
func manyLives(n int) (*engine.Problem, *sim.Trace) {
	r := rand.New(rand.NewPCG(3, 4))
	c := &engine.Chain{Input: 1, Stages: make([]engine.Stage, 50)}
	for i := range c.Stages {
		c.Stages[i] = engine.Stage{Forward: ms, Back: ms, Out: 1, Saved: engine.GiB}
	}
	p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, 80*engine.GiB)
	t := &sim.Trace{Makespan: time.Duration(n) * ms, Decisions: make([]sim.Decision, 50)}
	var used [sim.NumCategories]engine.Bytes
	ends := map[int][]int{}
	for i := range n {
		at := time.Duration(i) * ms
		t.Memory = append(t.Memory, sim.Sample{At: at, Used: used})
		for _, l := range ends[i] {
			used[sim.Activation] -= t.Lives[l].Bytes
		}
		life := 1 + r.IntN(60)
		if i%97 == 0 {
			life = n / 3
		}
		end := min(i+life, n)
		t.Lives = append(t.Lives, sim.Life{Value: p.Chain.Saved(1 + i%50), Op: engine.NoOp, Category: sim.Activation,
			Bytes: engine.Bytes(1 + r.IntN(1<<30)), Start: at, End: time.Duration(end) * ms, From: sim.NoSpan})
		used[sim.Activation] += t.Lives[i].Bytes
		ends[end] = append(ends[end], i)
		t.Memory = append(t.Memory, sim.Sample{At: at, Used: used})
		t.Peak = max(t.Peak, used[sim.Activation])
	}
	return p, t
}
