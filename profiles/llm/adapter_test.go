package llm

import (
	"encoding/json"
	"os"
	"testing"
)

// measuredAdapters are what profiles/torchtest/write_adapters.py measured.
func measuredAdapters(t *testing.T) (file struct {
	Batch, Seq, Hidden, Heads, Keys, Head, Wide, Rank int64
	Rows                                              []struct {
		Four     bool `json:"four_bits"`
		Dora     bool
		KBit     bool
		Kept     int64
		Adapters int64
	}
}) {
	t.Helper()
	text, err := os.ReadFile("testdata/adapters.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file
}

// A block of a Llama with adapters keeps what PyTorch keeps of the code of Transformers, PEFT and
// bitsandbytes.
func TestAdaptersKeep(t *testing.T) {
	file := measuredAdapters(t)
	m := &Model{Name: "small", Layers: 2, Hidden: file.Hidden, Words: 256, Block: Block{Heads: file.Heads, Keys: file.Keys, Head: file.Head, Wide: file.Wide, Gated: true}}
	for _, r := range file.Rows {
		s := Setup{Model: m, Work: Work{Batch: file.Batch, Seq: file.Seq}, LoRA: &LoRA{Rank: file.Rank, On: everyProduct, Dora: r.Dora}}
		FindProgram("hf").Apply(&s)
		s.Weight, s.Moments = 2, 0
		if r.Four {
			s.Base = BaseNF4
		}
		if r.KBit {
			s.Weight = 4
		}
		s = normal(t, s)
		b := newPlayed(newBlock(&s, 1, true, nil), &s, CheckpointNone)
		adapters := int64(0)
		for _, o := range b.ops {
			for _, w := range o.weights {
				if w.adapter {
					adapters += w.n
				}
			}
		}
		if got := int64(b.keeps()); got != r.Kept || adapters != r.Adapters {
			t.Errorf("4 bits %t, DoRA %t, k-bit %t: %d bytes are kept beside %d numbers of adapters, measured %d and %d", r.Four, r.Dora, r.KBit, got, adapters, r.Kept, r.Adapters)
		}
	}
}
