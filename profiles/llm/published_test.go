package llm

import (
	"math"
	"slices"
	"strings"
	"testing"

	"memtide/engine"
)

// TestPublished checks that every published run has a source and can be asked for. The model's errors are at most
// 6 %, and half of them within 3 %.
func TestPublished(t *testing.T) {
	var off []float64
	for i := range published {
		p := &published[i]
		m := Lookup(p.Model)
		if m == nil || p.Where == "" || !strings.HasPrefix(p.URL, "https://") {
			t.Errorf("%s, %q, %q; want a known model with its source", p.Model, p.Where, p.URL)
			continue
		}
		a, err := New(m, p.Args)
		if err != nil {
			t.Errorf("%s: %v", p.Where, err)
			continue
		}
		c, err := a.Nearest()
		if err != nil || c.Published != p || len(c.Differs) > 0 {
			t.Errorf("%s: nearest to itself is %+v (%v), differing in %q; want itself", p.Where, c.Published, err,
				c.Differs)
			continue
		}
		t.Logf("%-60s %.1f GiB published, %+.1f %%", p.Where, float64(p.Bytes)/float64(engine.GiB), c.Percent)
		off = append(off, math.Abs(c.Percent))
		if off[len(off)-1] > 6 {
			t.Errorf("%s: %+.1f %%; want at most 6", p.Where, c.Percent)
		}
	}
	slices.Sort(off)
	if len(off) == 0 || off[len(off)/2] > 3 {
		t.Errorf("errors of %.1f %%; want half of them within 3", off)
	}
}

// TestNearest checks that differences from the nearest published run are named: the model and options. The card
// and the memory assumed for CUDA do not count, since reserved memory does not depend on them.
func TestNearest(t *testing.T) {
	a, err := New(Lookup("llama3-8b"), engine.Args{"program": "torchtitan", "gpus": "8", "ckpt": "sac_op",
		"norm": "eager", "seq": "4096", "device": "h200-sxm-141gb", "context": "0"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.Nearest()
	if err != nil || c.Bytes != 53_246_857_052 || !slices.Equal(c.Differs, []string{"seq"}) {
		t.Errorf("nearest is %+v, differing in %q (%v); want torchtitan#822, in seq", c.Published, c.Differs, err)
	}
	a, _ = New(Lookup("llama3.1-405b"), engine.Args{"program": "torchtitan", "gpus": "512"})
	if c, err := a.Nearest(); err != nil || c.Differs[0] != "model" {
		t.Errorf("for another model: %q (%v); want that the model differs", c.Differs, err)
	}
}
