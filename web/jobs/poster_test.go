package jobs

import (
	"bytes"
	"strings"
	"testing"

	"memtide/wasm/serve"
)

// TestPosterOfStep checks that the poster of a training step shows whether the step fits, and the memory at the
// peak, at either width. The poster of a pipeline shows its ranks.
func TestPosterOfStep(t *testing.T) {
	for _, c := range []struct {
		fragment string
		want     []string
	}{
		{"v=1&step=llama3-8b&step.ckpt=full&step.gpus=8&step.seq=4096",
			[]string{"Llama 3 8B on 8 × H100", "It fits: ", "kept ", "without CUDA"}},
		{"v=1&step=llama3-8b&step.seq=4096", []string{"Llama 3 8B on H100", "It does not fit: ", "optimizer "}},
		{"v=1&step=llama3-8b&step.accumulate=8&step.gpus=4&step.pp=4&step.program=megatron&step.seq=4096",
			[]string{"Llama 3 8B on 4 × H100", "rank 3"}},
	} {
		for _, width := range []float64{360, 720} {
			var svg bytes.Buffer
			height, err := Poster(t.Context(), new(serve.Local), &svg, c.fragment, width)
			if err != nil || height < 150 {
				t.Fatalf("%s: %v, %v px high", c.fragment, err, height)
			}
			for _, words := range c.want {
				if !strings.Contains(svg.String(), words) {
					t.Errorf("%s, %v px: the picture does not say %q", c.fragment, width, words)
				}
			}
		}
	}
}
