package choice

import (
	"testing"

	"memtide/engine"
	"memtide/profiles/card"
)

// The default budget of a device is what it is likely to serve, and never a share of
// what does not fit; what fits keeps its own.
func TestFitted(t *testing.T) {
	const gib = engine.GiB
	for _, c := range []struct {
		device string
		all    engine.Bytes
		always bool
		want   Budget
	}{
		{"h100-sxm-80gb", 93 * gib, false, Budget{Bytes: 73 * gib}},
		{"h100-sxm-80gb", 75 * gib, false, Budget{Bytes: 73 * gib}}, // with the allocator it does not fit
		{"h100-sxm-80gb", 40 * gib, false, DefaultBudget},
		{"h100-sxm-80gb", 40*gib - 5, true, Budget{Bytes: 40 * gib}},
		{"v100-pcie-16gb", 93 * gib, false, Budget{Bytes: 13 * gib}},
		{"", 93 * gib, true, DefaultBudget},
	} {
		choice := Default()
		choice.Device = c.device
		if got := choice.Fitted(c.all, c.always).Budget; got != c.want {
			t.Errorf("%d bytes on %q, always %t: %v; want %v", c.all, c.device, c.always, got, c.want)
		}
	}
	for _, d := range card.All() {
		if b := Usable(d.Memory); Reserved(b) > d.Memory || Reserved(b+2*gib) <= d.Memory {
			t.Errorf("%s of %d bytes is said to serve %d, which takes %d; want whole GiB, as many as go", d.ID, d.Memory, b, Reserved(b))
		}
	}
}

// The example says all of itself: a link to it means the same when there is another
// example, and one that says nothing means what it always did.
func TestExample(t *testing.T) {
	said := Example().Diff(Default(), false)
	if said.Preset != ExamplePreset || said.Device != ExampleDevice || said.Strategy == "" || said.Budget.Bytes == 0 {
		t.Errorf("a link to the example says %+v; want network, device, strategy and budget", said)
	}
	if got, problems := said.Resolve(new(Said).Base()); !got.Equal(Example()) || len(problems) > 0 {
		t.Errorf("its link means %+v (%v); want %+v", got, problems, Example())
	}
}
