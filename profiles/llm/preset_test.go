package llm

import (
	"testing"

	"memtide/profiles/preset"
)

// TestPresetIsTheStep compares the preset that the page begins with to the step of the
// same model, which is written by other code from the same rules: weights, moments, and what
// blocks and loss keep are equal to the byte. The preset has no optimizer, and its gradients
// are there from the beginning; in the step they appear in the backward, as its temporaries.
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
		if r := got.Resident; r.Weights != want.Resident.Weights || r.Optimizer != want.Resident.Optimizer || got.Len()+1 != want.Len() {
			t.Fatalf("%s: %d stages beside %+v; the step has %d beside %+v", ref, got.Len(), got.Resident, want.Len(), want.Resident)
		}
		for i := range got.Stages {
			a, b := got.Stages[i], want.Stages[i+1]
			if i == len(got.Stages)-1 { // the loss itself, 4 bytes
				b.Saved, b.Out, b.Grad = b.Saved+4, b.Out+4, b.Grad+4
			}
			if a.Saved != b.Saved || a.Out != b.Out || a.Unsaved != b.Unsaved || a.Grad != b.Grad {
				t.Errorf("%s, stage %d: %+v; the step has %+v", ref, i, a, b)
			}
			if i == len(got.Stages)-1 { // the step lets go of its input before that
				b.FwdTemp += want.Stages[i].Out
			}
			if off := a.FwdTemp - b.FwdTemp; off > 4 || off < -4 {
				t.Errorf("%s, stage %d: temporaries of %d bytes in the forward; the step has %d", ref, i, a.FwdTemp, b.FwdTemp)
			}
		}
	}
}
