package family_test

import (
	"testing"

	"memtide/engine"
	_ "memtide/engine/all" // registers keeping everything
	"memtide/profiles/llm"
	"memtide/profiles/llm/family"
	"memtide/profiles/preset"
)

// TestDiffusionAsChain checks that the step of a diffusion transformer is a chain of blocks, also with blocks swapped and
// checkpointed: everything kept that is left has the peak and the time of the step as it is played. Of a U-Net under a
// checkpoint it has a little more, because a stage that frees a skip is told as one that keeps nothing.
func TestDiffusionAsChain(t *testing.T) {
	for _, c := range []struct {
		model string
		args  engine.Args
		more  float64 // per cent
	}{
		{"flux1-dev", engine.Args{"lora": "16", "height": "1024", "device": "rtx-4090"}, 0},
		{"flux1-dev", engine.Args{"lora": "16", "height": "1024", "device": "rtx-4090", "swap-blocks": "20", "ckpt": "full"}, 0},
		{"wan2.1-14b", engine.Args{"lora": "32", "height": "480", "width": "832", "frames": "33", "swap-blocks": "30",
			"device": "rtx-4090", "base": "fp8", "ckpt": "full", "offload": "yes"}, 0},
		{"sdxl-base-1.0", engine.Args{"lora": "16", "height": "1024", "ckpt": "full"}, 1},
		{"sd-1.5", engine.Args{"height": "512"}, 0},
	} {
		a, err := llm.New(family.Lookup(c.model), c.args)
		if err != nil {
			t.Fatal(err)
		}
		want, err := a.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		p, err := preset.Play(c.model, c.args)
		if err != nil {
			t.Errorf("%s %v: %v", c.model, c.args, err)
			continue
		}
		problem := engine.NewChainProblem(p.Chain, *p.Device, engine.Whole, engine.NoLimit)
		if err := problem.Validate(); err != nil {
			t.Errorf("%s %v: %v", c.model, c.args, err)
		}
		got, err := engine.Lookup(engine.KeepAll).Solve(problem, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		off := 100 * (float64(got.Peak)/float64(want.Allocated) - 1)
		if off < 0 || off > c.more || (got.Makespan-want.Time).Abs() > want.Time/1000 {
			t.Errorf("%s %v: %d bytes in %v as a chain, %d in %v as it is played (%+.2f %%)", c.model, c.args, got.Peak,
				got.Makespan, want.Allocated, want.Time, off)
		}
	}
}
