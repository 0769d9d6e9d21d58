package llm

import (
	"slices"
	"strings"
	"testing"

	"memtide/engine"
)

// TestOptima checks the schedules that strategies find for the chain, which are listed with the policies. The
// optimum of whole blocks is as fast as the policy that checkpoints as few of them as fit. Moving values as well
// is no slower than that. With enough memory all of them take the time of the step that keeps everything.
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
	best, both, few, all := p.Policies[0], p.Policies[1], row("full checkpointing of as few blocks as fit"),
		row("nothing is computed again")
	if best.Method != "rotor" || both.Method != "pofo" || len(p.Curves) != 2 {
		t.Fatalf("%q and %q come first, %d curves; want rotor, pofo and 2", best.Method, both.Method, len(p.Curves))
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
	for _, c := range p.Curves {
		for i := 1; i < len(c.Spots); i++ {
			if c.Spots[i].Time > c.Spots[i-1].Time {
				t.Errorf("%s: %v with %d bytes, %v with %d", c.Method, c.Spots[i].Time, c.Spots[i].Reserved,
					c.Spots[i-1].Time, c.Spots[i-1].Reserved)
			}
		}
		last := c.Spots[len(c.Spots)-1]
		if off := last.Time - all.Estimate.Time; len(c.Spots) < 10 || off < 0 || off > all.Estimate.Time/1000 {
			t.Errorf("%s: %d spots, the last takes %v; want 10 and %v", c.Method, len(c.Spots), last.Time,
				all.Estimate.Time)
		}
	}
}

// TestOptimaOfPipeline checks that a plan of a pipeline, which has no chain, has neither methods nor curves.
func TestOptimaOfPipeline(t *testing.T) {
	p, err := asked(engine.Args{"gpus": "2", "pp": "2", "accumulate": "2", "seq": "1024"}).Plan(nil, func(*Answer) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Curves) > 0 || slices.ContainsFunc(p.Policies, func(c Change) bool { return c.Method != "" }) {
		t.Errorf("%d curves; want none", len(p.Curves))
	}
}
