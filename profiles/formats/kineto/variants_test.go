package kineto

import (
	"fmt"
	"strings"
	"testing"

	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// TestVariants checks traces of different runs and devices. Each is read, with a note on what is special about
// it, or is refused with the one thing to record differently.
func TestVariants(t *testing.T) {
	full := toyTrace{modules: true, memory: true, shapes: true, marks: "ProfilerStep#", steps: 1}
	plain := full
	plain.modules = false
	inductor := strings.NewReplacer(`"aten::linear"`, `"CompiledFunction"`, `"linearBackward0"`,
		`"CompiledFunctionBackward"`, `linear_kernel`, `triton_poi_fused_addmm_0`)
	cpu := full
	cpu.noGPU = true
	whole := plain
	whole.fused = true
	rank := func(text string) string {
		return strings.Replace(text, `"traceEvents"`,
			`"distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8}, "traceEvents"`, 1)
	}
	const stages = "Conv2d_0 | Block_0 | Block_1 | Linear_0 | loss"
	for _, c := range []struct{ name, input, stages, told string }{
		{"partly compiled, with modules", inductor.Replace(full.String()), stages,
			"1 of 9 operators of the forward are graphs of torch.compile: what is within one is not told apart."},
		{"partly compiled, without", inductor.Replace(plain.String()),
			"conv2d 1 | conv2d 2 | add 1 | conv2d 3 | add 2 | CompiledFunction | loss", "are graphs of torch.compile"},
		{"one rank of several", rank(full.String()), stages, "This is rank 3 of 8 (counted from 0)."},
		{"CPU only", cpu.String(), stages, "ProfilerActivity.CUDA"},
		{"the batch", full.String(), stages,
			"The batch, 8, is inferred: the first dimension of the first operator's input."},
		{"wholly compiled", whole.String(), "", "Record some steps without torch.compile."},
	} {
		p, err := profiles.Decode("x.json", profiles.Bytes(c.input), nil)
		if c.stages == "" {
			formattest.CheckProblems(t, err)
			if err == nil || !strings.Contains(fmt.Sprint(profiles.Problems(err)[0].Remedy), c.told) {
				t.Errorf("%s: %v, want it refused: %s", c.name, err, c.told)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, text := toyStages(p), told(p); got != c.stages || !strings.Contains(text, c.told) {
			t.Errorf("%s: stages %s, want %s, and told that %s\n%s", c.name, got, c.stages, c.told, text)
		}
	}
}
