package whatif

import (
	"context"
	"errors"
	"testing"
	"time"

	"memtide/engine"
	_ "memtide/engine/all"
)

// chain is a network of five equal stages; the last one is the loss.
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
	return engine.NewChainProblem(c, engine.Device{ToHost: 1_000_000_000, ToDev: 1_000_000_000}, engine.Whole, engine.NoLimit)
}

func method(t *testing.T, name string) Method {
	t.Helper()
	return Method{Strategy: engine.Lookup(name)}
}

// The answer is held against trying every budget.
func TestSmallestBudget(t *testing.T) {
	p := chain(t)
	top, err := keepAll(p)
	if err != nil {
		t.Fatal(err)
	}
	fastest := p.Chain.Chain.ForwardTime() + p.Chain.Chain.BackTime()
	for _, name := range []string{"rotor", "sequential", "offloadexact"} {
		m := method(t, name)
		for _, percent := range []time.Duration{100, 105, 110, 125, 200} {
			limit := fastest * percent / 100
			want := engine.Bytes(-1)
			for b := top; b >= 0; b-- {
				if r, err := Measure(p.WithBudget(b), m, nil); err == nil && r.StepTime <= limit {
					want = b
				}
			}
			got, err := SmallestBudget(p, m, limit, 1, nil)
			if err != nil {
				t.Fatalf("%s within %d %%: %v", name, percent, err)
			}
			if got.Budget != want {
				t.Errorf("%s within %d %% of %v: smallest budget %d, want %d", name, percent, fastest, got.Budget, want)
			}
		}
	}
}

func TestSmallestBudgetFails(t *testing.T) {
	p := chain(t)
	rotor := method(t, "rotor")
	if got, err := SmallestBudget(p, rotor, 1, 1, nil); !errors.Is(err, ErrTooSlow) {
		t.Errorf("a step of 1 ns: got %v, %v; want ErrTooSlow", got, err)
	}
	offline := *p
	offline.Device = engine.Device{}
	if got, err := SmallestBudget(&offline, method(t, "greedy"), time.Hour, 1, nil); !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("greedy without a link: got %v, %v; want ErrUnsupported", got, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got, err := SmallestBudget(p, rotor, time.Hour, 1, engine.NewPoll(ctx, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped before it began: got %v, %v; want the context's error", got, err)
	}
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
