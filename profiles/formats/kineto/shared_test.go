package kineto

import (
	"math"
	"os"
	"testing"
	"time"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// TestKinetoResNet reads a public trace of ResNet-50 (batch 32, 224 pixels, V100,
// six steps) of PyTorch 1.9's profiler and compares with what its events add up
// to by other means.
func TestKinetoResNet(t *testing.T) {
	const file = "../../../../shared/data/kineto/resnet50_b32_v100.pt.trace.json.gz"
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		t.Skip("the public trace is not at hand: " + file)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := profiles.Decode("trace.json.gz", profiles.Bytes(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(formattest.Dump(p))
	c := p.Chain
	within := func(what string, got, want, share float64) {
		if math.Abs(got-want) > share*want {
			t.Errorf("%s is %v, want %v within %v", what, got, want, share)
		}
	}
	if c.Len() != 21 {
		t.Errorf("%d stages, want 21 with the loss", c.Len())
	}
	ms := float64(time.Millisecond)
	within("forward", float64(c.ForwardTime()), 32.7*ms, 0.01)
	within("backward", float64(c.BackTime()), 64.5*ms, 0.01)
	activations := c.KeepAllPeak() - c.Resident.Total()
	within("peak of keeping everything", float64(activations), 2662*float64(engine.MiB), 0.02)
	within("weights", float64(c.Resident.Weights), 102228128, 0.001) // 25,557,032 parameters
	if p.Batch != 32 || p.DType != "f32" || c.Input != 32*3*224*224*4 {
		t.Errorf("batch %d, dtype %q, input %d; want 32, f32, %d", p.Batch, p.DType, c.Input, 32*3*224*224*4)
	}
}
