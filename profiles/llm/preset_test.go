package llm

import (
	"testing"

	"memtide/profiles/preset"
)

// TestPresetIsTheStep compares the preset that the page begins with to the step of the
// same model, which is written by other code from the same rules: what stays, what blocks
// and loss keep, and the peak of keeping everything are equal to the byte. The backward of
// a block takes a little more in the step, which makes gradients of weights beside those
// that are there.
func TestPresetIsTheStep(t *testing.T) {
	for _, ref := range []string{"llama3-8b-hf-on-h100-sxm-80gb-b1", "llama3-8b-hf-2048tok-on-h100-sxm-80gb-b3"} {
		p, batch, err := preset.Parse(ref)
		if err != nil {
			t.Fatal(err)
		}
		made, err := p.Profile(batch)
		if err != nil {
			t.Fatal(err)
		}
		step, err := Profile(Setup{Model: Lookup("llama3-8b"), Work: Work{Batch: int64(batch), Seq: int64(p.Options().Tokens)},
			Precision: Precision{Weight: 2, Grad: 2, Moments: 2}, Code: Code{Norm: "eager"},
			HeadLoss: HeadLoss{LogitsHeld: 2}}, CardOf("H100"))
		if err != nil {
			t.Fatal(err)
		}
		got, want := made.Chain, step.Chain
		if got.Resident != want.Resident || got.Len() != want.Len() {
			t.Fatalf("%s: %d stages beside %+v; the step has %d beside %+v", ref, got.Len(), got.Resident, want.Len(), want.Resident)
		}
		for i := range got.Stages {
			a, b := got.Stages[i], want.Stages[i]
			if a.Saved != b.Saved || a.Out != b.Out || a.Unsaved != b.Unsaved || a.Grad != b.Grad || a.BwdTemp > b.BwdTemp {
				t.Errorf("%s, stage %d: %+v; the step has %+v", ref, i, a, b)
			}
			if off := a.FwdTemp - b.FwdTemp; off > 4 || off < -4 {
				t.Errorf("%s, stage %d: temporaries of %d bytes in the forward; the step has %d", ref, i, a.FwdTemp, b.FwdTemp)
			}
		}
	}
}
