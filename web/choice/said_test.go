package choice

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"memtide/engine"
	_ "memtide/engine/all" // registers the strategies, whose names the tests use
	"memtide/engine/alloc"
	"memtide/profiles/card"
)

func randomChoice(r *rand.Rand) Choice {
	c := Default()
	c.Source.Preset = []string{"resnet101-b32", "vgg16-b64", "lemma3-b1"}[r.IntN(3)]
	if _, ok := c.Source.OfKind(false); !ok { // other presets have operators as a preset of their own
		c.Graph = r.IntN(4) == 0
	}
	if c.Budget = (Budget{Share: 1 + Share(r.Int64N(int64(maxShare)))}); r.IntN(2) == 0 {
		c.Budget = Budget{Bytes: 1 + engine.Bytes(r.Int64N(1<<35))}
	}
	devices := card.All()
	if c = c.On(&devices[r.IntN(len(devices))]); r.IntN(2) == 0 {
		c.ToDev, c.ToHost = 1+engine.Rate(r.Int64N(1e11)), 1+engine.Rate(r.Int64N(1e11))
		if r.IntN(2) == 0 {
			c.Device = ""
		}
	}
	c.Duplex, c.Transfers = engine.Duplex(r.IntN(2)), engine.Transfers(r.IntN(2))
	all := engine.Strategies()
	st := all[r.IntN(len(all))]
	c.Strategy = st.Name
	for _, p := range st.Params {
		if p.Choices != nil {
			c.Args = WithArg(st.Params, c.Args, p.Name, p.Choices[r.IntN(len(p.Choices))])
		}
	}
	if r.IntN(4) == 0 {
		c.Source.Preset, c.Graph = "gpt2-step-b1", false
		if r.IntN(2) == 0 {
			c = c.Under([]engine.Args{{"ckpt": "full"}, {"ckpt": "modules", "recompute": "mlp"}}[r.IntN(2)])
		}
	}
	return c
}

// TestDiff checks that the difference of two choices turns the first into the second, even after it was written
// and parsed.
func TestDiff(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		base, want := randomChoice(r), randomChoice(r)
		if allocators := alloc.Allocators(); r.IntN(2) == 0 {
			want.Alloc = allocators[r.IntN(len(allocators))].Name
		}
		said := want.Diff(base, r.IntN(4) == 0)
		var again Said
		FieldsOf(&said, false).Write(func(key, value string) {
			if known, err := FieldsOf(&again, false).Set(key, value); !known || err != nil {
				t.Fatalf("%s=%s is written and not read: %t, %v", key, value, known, err)
			}
		})
		got, problems := again.Resolve(base)
		if !got.Equal(want) || got.Alloc != want.Alloc || len(problems) > 0 {
			t.Fatalf("from %+v, by %+v: got %+v, %v; want %+v", base, again, got, problems, want)
		}
	}
}

// TestDiffOfEqual checks that the difference of equal choices is empty. With all set, it consists of the device,
// the budget and the strategy.
func TestDiffOfEqual(t *testing.T) {
	c := Default()
	said := c.Diff(c, false)
	FieldsOf(&said, false).Write(func(key, value string) { t.Errorf("it says %s=%s; want nothing", key, value) })
	said = c.Diff(c, true)
	var got []string
	FieldsOf(&said, false).Write(func(key, value string) { got = append(got, key+"="+value) })
	if want := []string{"dev=" + card.DefaultID, "m=14233MiB", "s=rotor"}; !slices.Equal(got, want) {
		t.Errorf("all of it says %q; want %q", got, want)
	}
}

// TestProblems checks that unknown values are reported and change nothing.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		said Said
		key  string
		want func(*Choice)
	}{
		{Said{Preset: "nope"}, "p", func(*Choice) {}},
		{Said{Device: "a100", Duplex: "full"}, "dev", func(c *Choice) { c.Duplex = engine.FullDuplex }},
		{Said{Strategy: "nope", Args: engine.Args{"x": "1"}, Transfers: "streamed"}, "s",
			func(c *Choice) { c.Transfers = engine.Streamed }},
		{Said{Strategy: "sequential", Args: engine.Args{"nope": "1"}}, "s.",
			func(c *Choice) { c.Strategy = "sequential" }},
		{Said{Policy: engine.Args{"ckpt": "full"}}, "policy.", func(*Choice) {}}, // of a network that is no step
		{Said{Preset: "gpt2-step-b1", Policy: engine.Args{"ckpt": "budget", "graph": "model"}}, "policy.",
			func(c *Choice) { c.Source.Preset = "gpt2-step-b1" }},
		{Said{Preset: "gpt2-step-b1", Policy: engine.Args{"ckpt": "half"}}, "policy.",
			func(c *Choice) { c.Source.Preset = "gpt2-step-b1" }},
		{Said{Alloc: "nope"}, "alloc", func(c *Choice) { c.Alloc = DefaultAllocator }},
		{Said{Alloc: "va", AllocArgs: engine.Args{"nope": "1"}}, "alloc.", func(c *Choice) { c.Alloc = "va" }},
		{Said{Alloc: Recorded, Budget: Budget{Bytes: 5}}, "", func(c *Choice) { c.Budget = Budget{Bytes: 5} }},
	} {
		want := Default()
		c.want(&want)
		got, problems := c.said.Resolve(Default())
		key := ""
		if len(problems) > 0 {
			key = problems[0].Key
		}
		if !got.Equal(want) || got.Alloc != want.Alloc || key != c.key || len(problems) > 1 {
			t.Errorf("%+v: got %+v, problems %v; want %+v and one with %q", c.said, got, problems, want, c.key)
		}
	}
}

// TestTake checks that Take replaces values together with those that depend on them, and keeps the rest.
func TestTake(t *testing.T) {
	old := Said{Preset: "vgg16-b32", Device: "a100-sxm-40gb", ToDev: 1e9, ToHost: 2e9, Duplex: "full",
		Transfers: "streamed",
		Strategy:  "sequential", Args: engine.Args{"segments": "4"}, Alloc: "va", AllocArgs: engine.Args{"chunk": "2"}}
	for _, c := range []struct {
		take Said
		want func(*Said)
	}{
		{Said{Preset: "resnet50-b8"}, func(*Said) {}},
		{Said{Device: "p100-pcie-16gb"},
			func(s *Said) { s.Device, s.ToDev, s.ToHost, s.Duplex = "p100-pcie-16gb", 0, 0, "" }},
		{Said{ToDev: 3e9}, func(s *Said) { s.ToDev, s.ToHost = 3e9, 0 }},
		{Said{ToHost: 3e9}, func(s *Said) { s.ToHost = 3e9 }},
		{Said{Strategy: "sequential"}, func(*Said) {}},
		{Said{Strategy: "greedy"}, func(s *Said) { s.Strategy, s.Args = "greedy", nil }},
		{Said{Args: engine.Args{"segments": "5"}}, func(s *Said) { s.Args = engine.Args{"segments": "5"} }},
		{Said{Alloc: "best-fit"}, func(s *Said) { s.Alloc, s.AllocArgs = "best-fit", nil }},
		{Said{Kind: "graph", Budget: Budget{Share: Percent}},
			func(s *Said) { s.Kind, s.Budget = "graph", Budget{Share: Percent} }},
	} {
		got, want := old, old
		got.Take(&c.take)
		c.want(&want)
		a, b := texts(&got), texts(&want)
		if !slices.Equal(a, b) {
			t.Errorf("%v takes %v: got %v, want %v", texts(&old), texts(&c.take), a, b)
		}
	}
	if old.Args["segments"] != "4" {
		t.Error("what is taken was written into the arguments of the old one")
	}
}

func texts(s *Said) (out []string) {
	Fields(s).Write(func(key, value string) { out = append(out, key+"="+value) })
	return out
}

// TestKindOfPreset checks that asking for a preset as operators or as layers selects a variant of the preset. The
// same holds for side B if its kind differs from that of A.
func TestKindOfPreset(t *testing.T) {
	for _, tc := range []struct{ preset, kind, want string }{
		{"resnet18-b8", "graph", "resnet18-graph-b8"},
		{"gpt2-medium-bf16-on-h100-sxm-80gb-b4", "graph", "gpt2-medium-bf16-graph-on-h100-sxm-80gb-b4"},
		{"resnet18-graph-b8", "graph", "resnet18-graph-b8"},
		{"resnet18-graph-b8", "chain", "resnet18-b8"},
		{"resnet18-b8", "", "resnet18-b8"},
	} {
		said := Said{Preset: tc.preset, Kind: tc.kind}
		a, problems := said.Resolve(said.Base())
		if len(problems) > 0 || a.Source.Preset != tc.want || a.Graph {
			t.Errorf("%s as %q: got %s, graph %v, %v; want %s", tc.preset, tc.kind, a.Source.Preset, a.Graph,
				problems, tc.want)
		}
		other := Said{Kind: "graph"}
		b, _ := other.Resolve(a)
		if _, o := b.Source.Variant(); !o.Graph || b.Graph {
			t.Errorf("B as a graph beside %s: got %s, graph %v", a.Source.Preset, b.Source.Preset, b.Graph)
		}
	}
	said := Said{Preset: "lemma3-b1", Kind: "graph"}
	if c, _ := said.Resolve(said.Base()); c.Source.Preset != "lemma3-b1" || !c.Graph {
		t.Errorf("what has no operators stays: got %+v", c.Source)
	}
}

// TestStepSaid checks that the order in which the arguments of a step are applied does not matter, even if they
// imply values of other arguments.
func TestStepSaid(t *testing.T) {
	for _, c := range []struct{ said, want engine.Args }{
		{engine.Args{"lora": "32", "swap-blocks": "30", "base": "fp8", "ckpt": "full", "offload": "yes",
			"height": "480", "width": "832", "batch": "2"},
			engine.Args{"lora": "32", "swap-blocks": "30", "base": "fp8", "ckpt": "full", "offload": "yes",
				"height": "480", "width": "832", "batch": "2"}},
		{engine.Args{"ckpt": "budget", "budget": "30", "compile": "yes", "batch": "2"},
			engine.Args{"ckpt": "budget", "budget": "30", "compile": "yes", "batch": "2"}},
		{engine.Args{"offload": "yes", "batch": "2"}, engine.Args{"offload": "yes", "ckpt": "full", "batch": "2"}},
		{engine.Args{"base": "nf4", "batch": "2"}, engine.Args{"base": "nf4", "lora": "16", "batch": "2"}},
		{engine.Args{"swap-blocks": "30"}, engine.Args{"swap-blocks": "30"}},
		{engine.Args{"device": "RTX 4090", "batch": "2"}, engine.Args{"device": "rtx-4090", "batch": "2"}},
		// Blocks are swapped only with adapters. The step without them is refused when it is computed, not here.
	} {
		for range 40 { // the order of a map varies
			got, p := (&Said{Step: "llama3-8b", StepArgs: c.said}).Resolve(Default())
			if p != nil || !maps.Equal(got.StepArgs, c.want) {
				t.Fatalf("%v: %v, problem %v; want %v", c.said, got.StepArgs, p, c.want)
			}
		}
	}
}

// TestPicturesSaid checks that the step of a model of pictures or videos has usual sides if the link has none, and that
// a link with tokens or with sides of its own keeps them.
func TestPicturesSaid(t *testing.T) {
	for _, c := range []struct {
		model      string
		said, want engine.Args
	}{
		{"sd-1.5", engine.Args{"batch": "2"}, engine.Args{"batch": "2", "height": "512", "width": "512"}},
		{"wan2.1-14b", nil, engine.Args{"frames": "81", "height": "480", "width": "832"}},
		{"wan2.1-14b", engine.Args{"height": "512", "width": "512"}, engine.Args{"height": "512", "width": "512"}},
		{"flux1-dev", engine.Args{"seq": "4096"}, engine.Args{"seq": "4096"}},
		{"llama3-8b", nil, engine.Args{}},
	} {
		got, p := (&Said{Step: c.model, StepArgs: c.said}).Resolve(Default())
		args := got.StepArgs
		if got.Source.Model != "" {
			args = got.Source.Options
		}
		if p != nil || !maps.Equal(args, c.want) {
			t.Errorf("%s %v: %v, problem %v; want %v", c.model, c.said, args, p, c.want)
		}
	}
}

// TestBadStepOption checks that an option of a step that makes no sense leaves the others.
func TestBadStepOption(t *testing.T) {
	got, p := (&Said{Step: "llama3-8b", StepArgs: engine.Args{"gpus": "8", "seq": "banana"}}).Resolve(Default())
	if len(p) != 1 || p[0].Key != "step." || !maps.Equal(got.StepArgs, engine.Args{"gpus": "8"}) {
		t.Errorf("eight cards and a bad length: %v with %v; want eight cards and one problem", got.StepArgs, p)
	}
}
