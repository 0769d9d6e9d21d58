package llm

import (
	"testing"

	"memtide/engine"
)

// TestBudgetPeaks compares with pytorch#197838: 15 peaks of a model that is compiled as one graph under memory
// budgets, at three depths. The thread gives layers and tokens, and that a product is (2048, 256). It does not
// give the width of the feed-forward net, which is here by LLaMA's rule: two thirds of four times the width,
// rounded up to a multiple of 256 [llama/model.py] or of 16. Measured and predicted peaks fail to be monotonic in
// the same places: the least is at 15 %, 10 and 20 % need more, and 5 and 30 % still more.
func TestBudgetPeaks(t *testing.T) {
	published := map[int64][]float64{16: {288.1, 123.0, 80.5, 92.1, 115.9}, 24: {661.6, 292.3, 167.1, 197.5, 240.1},
		32: {1145.4, 508.2, 274.8, 325.2, 411.1}}
	budgets := []int64{5, 10, 15, 20, 30}
	for _, wide := range []int64{688, 768} {
		for layers, tokens := range map[int64]int64{16: 512, 24: 768, 32: 1024} {
			var got []engine.Bytes
			for _, budget := range budgets {
				got = append(got, onePass(t, layers, wide, tokens, budget))
			}
			for i := 1; i < len(budgets); i++ {
				if falls := published[layers][i] < published[layers][i-1]; (got[i] < got[i-1]) != falls {
					t.Errorf("%d layers of width %d: %d bytes at %d %%, %d at %d %%; published %v MB", layers, wide,
						got[i-1], budgets[i-1], got[i], budgets[i], published[layers])
				}
			}
			if got[1] < got[3] || got[0] < 2*got[2] {
				t.Errorf("%d layers of width %d: %d; want at 10 %% more than at 20 %%, and at 5 %% more than twice the least", layers, wide, got)
			}
		}
	}
}

// onePass returns the peak of the forward and backward of the blocks, compiled as one graph.
func onePass(t *testing.T, layers, wide, tokens, budget int64) engine.Bytes {
	t.Helper()
	m := &Model{Name: "thread", Layers: layers, Hidden: 256, Words: 1024,
		Block: Block{Heads: 4, Keys: 4, Head: 64, Wide: wide, Gated: true}}
	s := normal(t, Setup{Model: m, Work: Work{Batch: 2, Seq: tokens}, Precision: Precision{Compute: 4, Weight: 4},
		Code:          Code{Compiled: true},
		Checkpointing: Checkpointing{Checkpoint: "budget", Budget: budget, OneGraph: true}})
	b := newProgram(&s, s.end(true, true)).units[0].block
	l := &ledger{}
	x := l.take(b.values[0].bytes, Saved)
	y, k := b.forward(l, x)
	l.give(y)
	g := b.backward(l, x, l.take(b.values[b.output].bytes, Backwards), k, func(weight) {})
	l.give(g)
	l.give(x)
	if l.live != 0 {
		t.Errorf("%d layers at %d %%: %d bytes are left", layers, budget, l.live)
	}
	return l.peak
}

// TestOneGraph checks that a model that is compiled as one graph has all its gradients. If everything is kept,
// its forward holds hardly more than that of blocks that are compiled one by one.
func TestOneGraph(t *testing.T) {
	s := Setup{Model: Lookup("llama3.2-1b"), Work: Work{Seq: 1024}, Precision: Precision{Weight: 2},
		Code: Code{Compiled: true}, Checkpointing: Checkpointing{Checkpoint: "budget", Budget: 100},
		Stepping: Stepping{Optimizer: "none"}, HeadLoss: HeadLoss{Loss: "inplace"}}
	blocks := run(t, s)
	s.OneGraph = true
	one := run(t, s)
	if d := float64(one.Phases[Reduction])/float64(blocks.Phases[Reduction]) - 1; d > 0.01 || d < -0.01 {
		t.Errorf("%d bytes behind the backward, by blocks %d; want the same gradients", one.Phases[Reduction],
			blocks.Phases[Reduction])
	}
	if one.Phases[Forward] > blocks.Phases[Forward]*11/10 {
		t.Errorf("the forward holds %d bytes, by blocks %d", one.Phases[Forward], blocks.Phases[Forward])
	}
	s.Shard = 8
	if _, err := Run(s); err == nil {
		t.Error("weights that are gathered by blocks, compiled as one graph: want a refusal")
	}
}
