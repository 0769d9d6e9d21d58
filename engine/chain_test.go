package engine

import (
	"errors"
	"strings"
	"testing"
)

// small returns a chain of two stages and a loss, with all numbers different.
func small() *Chain {
	return &Chain{Name: "small", Input: 3, InputGrad: 1, Resident: Resident{Weights: 100},
		Stages: []Stage{
			{Name: "one", Forward: 5, Back: 7, Out: 4, Saved: 9, Grad: 4, FwdTemp: 2, BwdTemp: 1},
			{Name: "two", Forward: 6, Back: 8, Out: 2, Saved: 2, Grad: 2, BwdTemp: 20},
			{Name: "loss"},
		}}
}

func TestKeepAllPeak(t *testing.T) {
	// B2 holds a0=3, abar1=9, abar2=2, d2=2, and adds d1=4 and 20 temporaries.
	if got, want := small().KeepAllPeak(), Bytes(100+3+9+2+2+4+20); got != want {
		t.Errorf("got %d, want %d", got, want)
	}
	// If the backward of the last stage allocates the gradient of the loss, the gradient counts only there. If it
	// is held from the start, it always counts.
	c := &Chain{Input: 1, Stages: []Stage{{Out: 5, Saved: 5, Grad: 4, FwdTemp: 2}}}
	if got := c.KeepAllPeak(); got != 1+4+5+2 {
		t.Errorf("held seed: got %d, want 12", got)
	}
	if c.LossGradAllocated = true; c.KeepAllPeak() != 1+5+4 {
		t.Errorf("born seed: got %d, want 10", c.KeepAllPeak())
	}
}

func TestValidateChain(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*Chain)
		want   string
	}{
		{"", func(*Chain) {}, ""},
		{"empty", func(c *Chain) { c.Stages = nil }, "no stages"},
		{"long", func(c *Chain) { c.Stages = make([]Stage, MaxStages+1) }, "at most 20000"},
		{"input", func(c *Chain) { c.Input = -1 }, "input is -1"},
		{"resident", func(c *Chain) { c.Resident.Pinned = -1 }, "resident"},
		{"time", func(c *Chain) { c.Stages[1].Back = -1 }, "stage 2 (two)"},
		{"size", func(c *Chain) { c.Stages[0].FwdTemp = -1 }, "stage 1 (one)"},
		{"saved", func(c *Chain) { c.Stages[0].Saved = 3 }, "contains the output"},
		{"huge", func(c *Chain) { c.Stages[0].FwdTemp = 1 << 62; c.Stages[1].FwdTemp = 1 << 62 },
			"8 EiB, the largest is the forward workspace of stage 1 (one) with 4 EiB; at most 64 PiB"},
	} {
		c := small()
		tc.change(c)
		err := c.Validate()
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
	}
}

func TestExpandChain(t *testing.T) {
	g := ExpandChain(small())
	if err := g.Validate(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for k := 0; k <= 3; k++ {
		for _, id := range []ValueID{g.Act(k), g.Grad(k)} {
			v := &g.Values[id]
			if v.Stage != k || seen[v.Name] {
				t.Errorf("k=%d: value %s has stage %d", k, v.Name, v.Stage)
			}
			seen[v.Name] = true
		}
		if k > 0 && g.Values[g.Act(k)].PartOf != g.Saved(k) {
			t.Errorf("a%d is within %d, want s%d", k, g.Values[g.Act(k)].PartOf, k)
		}
	}
	if len(seen)+3 != len(g.Values) {
		t.Errorf("%d values, want 8 outputs and gradients and 3 saved sets", len(g.Values))
	}
	for k := 1; k <= 3; k++ {
		if f, b := g.Ops[g.Fwd(k)], g.Ops[g.Bwd(k)]; f.Stage != k || b.Stage != k || f.Pass != Forward ||
			b.Pass != Backward {
			t.Errorf("stage %d: got %+v and %+v", k, f, b)
		}
	}
	if g.Fixed != 100 || g.Done != g.Grad(0) {
		t.Errorf("fixed %d, done %d; want 100, %d", g.Fixed, g.Done, g.Grad(0))
	}
	born := small()
	born.LossGradAllocated = true
	b := ExpandChain(born)
	if b.Values[b.Grad(3)].Initial != 0 || len(b.Ops[b.Bwd(3)].Out) != 2 {
		t.Error("a born seed is written by the last backward and is nowhere before")
	}
}

// TestCompileSequence checks Table 1 of Beaumont et al. (arXiv:1911.13214): which values each operation needs on
// the device, and which must not be there yet.
func TestCompileSequence(t *testing.T) {
	op := func(k ChainOpKind, s int) ChainOp { return ChainOp{k, s} }
	full := []ChainOp{op(FAll, 1), op(FAll, 2), op(FAll, 3), op(BStep, 3), op(BStep, 2), op(BStep, 1)}
	for _, tc := range []struct {
		name  string
		seq   []ChainOp
		index int
		why   string
	}{
		{"store all", full, -1, ""},
		{"F_none from a saved set", []ChainOp{op(FAll, 1), op(FNone, 2)}, 1, "input"},
		{"F_ck from a saved set", []ChainOp{op(FAll, 1), op(FCk, 2)}, 2, "ends at delta^3"},
		{"input dropped", []ChainOp{op(FNone, 1), op(FCk, 1)}, 1, "input"},
		{"again", []ChainOp{op(FCk, 1), op(FCk, 1)}, 1, "output is on the device"},
		{"saved again", []ChainOp{op(FAll, 1), op(FAll, 1)}, 1, "saved set is on the device"},
		{"wrong gradient", []ChainOp{op(FAll, 1), op(BStep, 1)}, 1, "delta^3"},
		{"backward without saved set", []ChainOp{op(FCk, 1), op(FCk, 2), op(FCk, 3), op(BStep, 3)}, 3, "saved set"},
		{"no such stage", []ChainOp{op(FAll, 4)}, 0, "does not exist"},
		{"too short", full[:5], 5, "before delta^0"},
	} {
		_, owner, err := ExpandChain(small()).CompileSequence(tc.seq)
		var bad *SequenceError
		if tc.index < 0 {
			if err != nil || owner[len(owner)-1] != len(tc.seq)-1 {
				t.Errorf("%s: got %v, owners %v", tc.name, err, owner)
			}
			continue
		}
		if !errors.As(err, &bad) || bad.Index != tc.index || !strings.Contains(bad.Why, tc.why) {
			t.Errorf("%s: got %v, want operation %d: %s", tc.name, err, tc.index, tc.why)
		}
	}
}
