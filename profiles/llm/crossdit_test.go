package llm

import "testing"

// TestScaledNorms checks how wide scaled norms are under autocast: LTX-Video's RMS norms as wide as the stream, which
// has 4 bytes a number if weights have, and PixArt's LayerNorms always 4. Each product that reads a wide one keeps a
// narrow copy of its own.
func TestScaledNorms(t *testing.T) {
	const tokens, width = 32, 64
	for _, roots := range []bool{true, false} {
		for _, weight := range []int64{2, 4} {
			m := &Model{Name: "small", Hidden: width, Layers: 1, Words: 1, Tied: true, Written: true,
				Ends: &Ends{Kind: EndDiffusion}, Latents: &Latents{Side: 16},
				Block: Block{Heads: 4, Keys: 4, Head: 16, Wide: 4 * width, Both: true,
					Dit: &Dit{Text: 8, Cross: true, Narrow: true, Roots: roots, Bare: !roots}}}
			s := Setup{Model: m, Work: Work{Batch: 1, Seq: tokens}}
			FindProgram("hf").Apply(&s)
			s.Weight, s.Grad, s.Autocast, s.CastsAll = weight, weight, true, true
			s = normal(t, s)
			want, found := weight, false
			if !roots {
				want = 4
			}
			for _, v := range newBlock(&s, 0, true, nil).values {
				if v.name == "n1.scaled" {
					found = int64(v.bytes) == tokens*width*want
				}
			}
			if !found {
				t.Errorf("roots %v, weights of %d bytes: the scaled norm has not %d bytes a number", roots, weight, want)
			}
		}
	}
}
