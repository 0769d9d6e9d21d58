package engine

import (
	"slices"
	"strings"
	"testing"
)

// batchNorm returns a convolution, a normalisation and a ReLU, none of them in place, and a loss. No backward
// reads the output of the normalisation.
func batchNorm() *Chain {
	return &Chain{Input: 1, Stages: []Stage{
		{Name: "conv", Forward: 1, Back: 1, Out: 10, Saved: 10, Grad: 10},
		{Name: "bn", Forward: 1, Back: 1, Out: 10, Saved: 2, Grad: 10, Unsaved: true},
		{Name: "relu", Forward: 1, Back: 1, Out: 10, Saved: 10, Grad: 10},
		{Name: "loss"},
	}}
}

// TestExpandUnsaved checks that an unsaved output is a value of its own beside the saved activations. Both kinds
// of forward runs write it, and no backward reads it.
func TestExpandUnsaved(t *testing.T) {
	g := ExpandChain(batchNorm())
	if err := g.Validate(); err != nil {
		t.Fatal(err)
	}
	if got := g.Values[g.Act(2)].PartOf; got != NoValue {
		t.Errorf("a2 is within value %d; want within none", got)
	}
	for _, tc := range []struct {
		what      string
		got, want []ValueID
	}{
		{"F2 writes", g.Ops[g.Fwd(2)].Out, []ValueID{g.Saved(2), g.Act(2)}},
		{"F2 writes, lean,", g.Ops[g.Fwd(2)].OutputOnly, []ValueID{g.Act(2)}},
		{"F3 reads", g.Ops[g.Fwd(3)].In, []ValueID{g.Act(2)}},
		{"B3 reads", g.Ops[g.Bwd(3)].In, []ValueID{g.Grad(3), g.Saved(3)}},
		{"B2 reads", g.Ops[g.Bwd(2)].In, []ValueID{g.Grad(2), g.Saved(2), g.Act(1)}},
	} {
		if !slices.Equal(tc.got, tc.want) {
			t.Errorf("%s %v, want %v", tc.what, tc.got, tc.want)
		}
	}
}

// TestCompileUnsaved checks that a sequence that keeps everything frees a2 after F3, and that abar^2 cannot
// replace a2 as the input of a second F3.
func TestCompileUnsaved(t *testing.T) {
	g := ExpandChain(batchNorm())
	all := func(kind ChainOpKind, ks ...int) (seq []ChainOp) {
		for _, k := range ks {
			seq = append(seq, ChainOp{kind, k})
		}
		return seq
	}
	steps, _, err := g.CompileSequence(append(all(FAll, 1, 2, 3, 4), all(BStep, 4, 3, 2, 1)...))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, s := range steps {
		texts = append(texts, s.Describe(&g.Graph))
	}
	if got, want := strings.Join(texts[:5], ", "), "run F1, run F2, run F3, free a2, run F4"; got != want {
		t.Errorf("got %s; want %s", got, want)
	}
	_, _, err = g.CompileSequence(append(all(FAll, 1, 2), append(all(FNone, 3), all(FAll, 3)...)...))
	if err == nil || !strings.Contains(err.Error(), "Fall3: its input is not on the device") {
		t.Errorf("F3 from abar^2: got %v, want that its input is not there", err)
	}
}

// TestValidateUnsaved checks that the saved activations need not contain an unsaved output, and that the output
// of the last stage cannot be unsaved.
func TestValidateUnsaved(t *testing.T) {
	c := batchNorm()
	if err := c.Validate(); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	c.Stages[3].Unsaved = true
	if err := c.Validate(); err == nil ||
		!strings.Contains(err.Error(), "stage 4 (loss): the output of the last stage") {
		t.Errorf("got %v, want an error about the last stage", err)
	}
	c = batchNorm()
	c.Stages[1].Unsaved = false
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "stage 2 (bn): the saved set is 2 bytes") {
		t.Errorf("got %v, want an error about the saved set", err)
	}
}
