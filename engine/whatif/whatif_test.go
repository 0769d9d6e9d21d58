package whatif

import (
	"testing"

	"memtide/engine"
	_ "memtide/engine/all"
)

// chain returns a network of five equal stages and a loss.
func chain(t *testing.T) *engine.Problem {
	t.Helper()
	c := &engine.Chain{Input: 10}
	for range 5 {
		c.Stages = append(c.Stages, engine.Stage{Forward: 10, Back: 20, Out: 10, Saved: 30, Grad: 10})
	}
	c.Stages = append(c.Stages, engine.Stage{})
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	return engine.NewChainProblem(c, engine.Device{ToHost: 1_000_000_000, ToDev: 1_000_000_000}, engine.Whole,
		engine.NoLimit)
}

func method(t *testing.T, name string) Method {
	t.Helper()
	return Method{Strategy: engine.Lookup(name)}
}

func TestChanges(t *testing.T) {
	p := chain(t).WithBudget(100)
	others := []Method{method(t, "greedy"), method(t, "rotor")}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"greedy", []string{"1 GiB more", "twice the bandwidth", "both directions at once", "Optimal recomputation"}},
		{"rotor", []string{"1 GiB more", "Greedy offload"}},
	} {
		var got []string
		for _, change := range Changes(p, method(t, c.name), others) {
			got = append(got, change.Name)
		}
		if len(got) != len(c.want) {
			t.Errorf("changes for %s: got %q, want %q", c.name, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("change %d for %s: got %q, want %q", i, c.name, got[i], c.want[i])
			}
		}
	}
	twice := Changes(p, method(t, "greedy"), nil)[1].Problem
	if twice.Device.ToHost != 2*p.Device.ToHost || twice.Device.ToDev != 2*p.Device.ToDev || twice.Budget != p.Budget {
		t.Errorf("twice the bandwidth of %+v is %+v", p.Device, twice.Device)
	}
}
