package llm

import (
	"testing"

	"memtide/profiles"
)

// TestFormula checks figure 1 of arXiv:2205.05198 by its equations, worked out by hand. 22B has s 2048, b 4, h
// 6144, 64 heads and 48 layers over t = 8: sbh (10 + 3 + 5*64*2048/6144/8) = 26 1/3 sbh a layer.
func TestFormula(t *testing.T) {
	f := Formula{S: 2048, B: 4, H: 6144, Layers: 48, Heads: 64, Tensor: 8, Stages: 1, Interleave: 1, Mode: "none"}
	if got := f.bytes(); got < 63619203071 || got > 63619203073 {
		t.Errorf("22B keeps %.0f bytes, want 63619203072", got)
	}
	// 530B: 105 layers over 35 stages of 3 chunks: 105 (1 + 34/105) = 139 layers at 21 sbh.
	big := Formula{S: 2048, B: 1, H: 20480, Layers: 105, Heads: 128, Tensor: 8, Stages: 35, Interleave: 3, Mode: "none"}
	if got, want := big.bytes(), float64(2048*20480*21*139); got < want-1 || got > want+1 {
		t.Errorf("530B keeps %.0f bytes, want %.0f", got, want)
	}
	for mode, want := range map[string]float64{"seq": 100 * (34.0/8 + 40.0/3) / (79.0 / 3),
		"seqsel": 100 * 4.25 / (79.0 / 3), "sel": 100 * 13 / (79.0 / 3), "full": 100 * 2 / (79.0 / 3), "none": 100} {
		f.Mode = mode
		if got := f.percent(); got < want-0.001 || got > want+0.001 {
			t.Errorf("%s: got %.3f %% of none, want %.3f", mode, got, want)
		}
	}
	for _, bad := range []Formula{{}, {S: 1, B: 1, H: 1, Layers: 1, Heads: 1, Tensor: 1, Stages: 1, Mode: "half"}} {
		if got, err := profiles.Try(bad.bytes); err == nil {
			t.Errorf("%+v: got %g, want a refusal", bad, got)
		}
	}
}

// TestFusedChunk checks the chunks of Liger's fused loss. They have as many tokens as make the logits as large as
// the input, rounded up to a power of two. With 4,096 tokens of 4,096 numbers and 128,256 words that is 4096/32.
func TestFusedChunk(t *testing.T) {
	for _, c := range []struct{ tokens, h, words, want int64 }{{4096, 4096, 128256, 128}, {5000, 4096, 128256, 256},
		{16384, 4096, 32000, 2048}, {3, 4096, 128256, 1}, {8, 8, 8, 8}} {
		if got := fusedChunk(c.tokens, c.h, c.words); got != c.want {
			t.Errorf("%d tokens of %d numbers, %d words: chunks of %d, want %d", c.tokens, c.h, c.words, got, c.want)
		}
	}
}
