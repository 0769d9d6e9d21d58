package llm

import (
	"testing"

	"memtide/engine"
)

// TestPaged checks that moments of a paged optimizer are the host's and not the card's, with adapters, too, and that all
// else is as without paging. With an optimizer that steps in the backward gradients are no states.
func TestPaged(t *testing.T) {
	m := Lookup("llama2-7b")
	n := engine.Bytes(m.Params())
	for _, c := range []struct {
		args           engine.Args
		moments, other engine.Bytes // other states: weights, and gradients that wait for the step
	}{
		{engine.Args{"states": "bf16", "optimizer": "adamw-8bit"}, 2 * n, 4 * n},
		{engine.Args{"states": "bf16", "optimizer": "adamw"}, 4 * n, 4 * n},
		{engine.Args{"states": "bf16", "optimizer": "adamw", "step-in-backward": "yes"}, 4 * n, 2 * n},
		{engine.Args{"lora": "8", "targets": "qv", "optimizer": "adamw"}, 8 * 32 * 2 * 2 * 8 * 4096,
			2*n + 4*32*2*2*8*4096 + 4*32*2*2*8*4096},
	} {
		estimate := func(optimizer string) *Estimate {
			t.Helper()
			args := engine.Args{"optimizer": optimizer}
			for name, value := range c.args {
				if name != "optimizer" {
					args[name] = value
				}
			}
			a, err := New(m, args)
			if err != nil {
				t.Fatalf("%v: %v", args, err)
			}
			e, err := a.Estimate()
			if err != nil {
				t.Fatalf("%v: %v", args, err)
			}
			return e
		}
		on, paged := estimate(c.args["optimizer"]), estimate("paged-"+c.args["optimizer"])
		if on.Host != 0 || paged.Host != c.moments {
			t.Errorf("%v: %d bytes of the host, paged %d; want none and %d", c.args, on.Host, paged.Host, c.moments)
		}
		if on.States != c.other+c.moments || paged.States != c.other {
			t.Errorf("%v: states of %d bytes, paged %d; want %d and %d", c.args, on.States, paged.States,
				c.other+c.moments, c.other)
		}
		if on.Allocated < paged.Allocated || on.Allocated-paged.Allocated > c.moments {
			t.Errorf("%v: %d bytes, paged %d; want less, by at most the moments", c.args, on.Allocated, paged.Allocated)
		}
	}
}
