package kineto

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/profiles"
)

// TestKinetoResNet reads a public trace of ResNet-50 (batch 32, 224 pixels, V100, six steps) of PyTorch 1.9's
// profiler. It compares the profile with sums of the trace's events that were computed by other means.
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
	t.Log(told(p))
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

// TestKinetoWild reads two public traces that are annotated, distributed or checkpointed, and compares them with
// what is known of them.
func TestKinetoWild(t *testing.T) {
	const folder = "../../../../shared/data/wild/"
	for _, c := range []struct {
		file          string
		stages        int // without the loss
		saved         float64
		back, again   time.Duration // 0 if unknown
		wordsOfStages string
	}{
		{"hta_two_phases.json.gz", 255, 3.03, 0, 0, fromOps},
		{"tracelens_resnet_act_checkpoint.json.gz", 13, 0, 3100 * time.Microsecond, 1360 * time.Microsecond,
			fromModules},
	} {
		data, err := os.ReadFile(folder + c.file)
		if os.IsNotExist(err) {
			t.Skip("the public traces are not at hand: " + folder)
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := profiles.Decode(c.file, profiles.Bytes(data), nil)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		text := told(p)
		if got := p.Chain.Len() - 1; got != c.stages || !strings.Contains(text, c.wordsOfStages) {
			t.Errorf("%s: %d stages, want %d of %s\n%s", c.file, got, c.stages, c.wordsOfStages, text)
		}
		near := func(what string, got, want float64) {
			if want > 0 && math.Abs(got-want) > 0.03*want {
				t.Errorf("%s: %s %v, want %v within 3 %%\n%s", c.file, what, got, want, text)
			}
		}
		near("GiB saved", float64(p.Totals().Saved)/float64(engine.GiB), c.saved)
		near("backward", float64(p.Chain.BackTime()), float64(c.back))
		if _, rest, ok := strings.Cut(text, "runs forwards again for "); ok != (c.again > 0) {
			t.Errorf("%s: recomputation is told: %v\n%s", c.file, ok, text)
		} else if ok {
			word, _, _ := strings.Cut(rest, " ")
			again, err := time.ParseDuration(word)
			if err != nil {
				t.Error(err)
			}
			near("recomputation", float64(again), float64(c.again))
		}
	}
}
