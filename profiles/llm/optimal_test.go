package llm

import (
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles/card"
)

// TestOptima checks the schedules that strategies find for the chain, which are listed with the policies. The
// optimum of whole blocks is as fast as the policy that checkpoints as few of them as fit. Moving values as well
// is no slower than that.
func TestOptima(t *testing.T) {
	a, err := New(Lookup("llama3-8b"), engine.Args{"gpus": "8", "ckpt": "sac_op"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Plan(nil, func(*Answer) {})
	if err != nil {
		t.Fatal(err)
	}
	row := func(title string) *Change {
		i := slices.IndexFunc(p.Policies, func(c Change) bool { return strings.HasPrefix(c.Names[0], title) })
		if i < 0 {
			t.Fatalf("no policy %q", title)
		}
		return &p.Policies[i]
	}
	best, both, few, all := p.Policies[0], p.Policies[1], row("full checkpointing of the first"),
		row("nothing is computed again")
	if best.Method != "rotor" || both.Method != "pofo" {
		t.Fatalf("%q and %q come first; want rotor and pofo", best.Method, both.Method)
	}
	if best.Estimate.Verdict != Fits || both.Estimate.Verdict != Fits {
		t.Errorf("%s and %s; want that they fit", best.Estimate.Verdict, both.Estimate.Verdict)
	}
	if most := few.Estimate.Time + few.Estimate.Time/100; best.Estimate.Time > most {
		t.Errorf("the optimum takes %v, as few blocks as fit %v", best.Estimate.Time, few.Estimate.Time)
	}
	if both.Estimate.Time > best.Estimate.Time || both.Estimate.Time < all.Estimate.Time {
		t.Errorf("moving too %v, computing again %v, keeping everything %v; want them in between", both.Estimate.Time,
			best.Estimate.Time, all.Estimate.Time)
	}
}

// TestLooseOptima checks that a plan that relies on expandable segments is listed beside one that fits in any case,
// has no more than card.Usable, and is faster.
func TestLooseOptima(t *testing.T) {
	a, err := New(Lookup("llama3-8b"), engine.Args{"program": "torchtune", "lora": "16", "loss": "compiled",
		"device": "rtx-4090"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Plan(nil, func(*Answer) {})
	if err != nil {
		t.Fatal(err)
	}
	sure, loose := p.Policies[1].Estimate, p.Policies[3].Estimate
	if sure.Verdict != Fits || loose.Verdict != Uncertain || p.Policies[3].Method != "pofo" {
		t.Errorf("%s, and by %s %s; want one that fits and one of pofo that is not sure", sure.Verdict,
			p.Policies[3].Method, loose.Verdict)
	}
	if most := card.Usable(loose.Capacity); loose.High != loose.Expandable || loose.High > card.Reserved(most) {
		t.Errorf("%d bytes reserved at worst, %d by expandable segments, for a budget of %d; want %d at most",
			loose.High, loose.Expandable, most, card.Reserved(most))
	} else if loose.Time >= sure.Time || loose.Allocated > most {
		t.Errorf("%v with %d bytes; want less than %v with %d at most", loose.Time, loose.Allocated, sure.Time, most)
	}
}

// TestOptimaOfPipeline checks that a plan of a pipeline, which has no chain, has no methods.
func TestOptimaOfPipeline(t *testing.T) {
	p, err := asked(engine.Args{"gpus": "2", "pp": "2", "accumulate": "2", "seq": "1024"}).Plan(nil, func(*Answer) {})
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(p.Policies, func(c Change) bool { return c.Method != "" }) {
		t.Errorf("policies %v; want none of a method", p.Policies)
	}
}
