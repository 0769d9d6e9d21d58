package state

import (
	"testing"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/view"
)

func TestPickerSteps(t *testing.T) {
	s := New()
	s.Choice = chosen("resnet101-b32")
	s.Update(TogglePicker{})
	s.Update(FilterPresets{Text: "densenet"})
	all := s.View.Picker.Matches()
	for _, c := range []struct {
		by, want int
	}{{1, 1}, {-1, 0}, {-8, 0}, {8, len(all) - 1}, {1, len(all) - 1}} {
		s.Update(StepPreset{By: c.by})
		if got := s.View.Picker.Active; got != all[c.want].ID {
			t.Errorf("step %d: %s is active; want %s", c.by, got, all[c.want].ID)
		}
	}
	s.Update(FilterPresets{Text: "zebra"})
	s.Update(StepPreset{By: 1})
	if got := s.View.Picker.Active; got != "" {
		t.Errorf("%s is active in an empty list; want nothing", got)
	}
	s.Update(Dismiss{})
	if s.View.Picker != (view.Picker{}) {
		t.Errorf("after Escape the list is %+v; want it closed", s.View.Picker)
	}
}

// varied returns the message that changes the options of the open preset ref.
func varied(ref string, change func(*preset.Options)) Message {
	_, o := Source{Preset: ref}.Variant()
	change(&o)
	return SetVariant{o}
}

// TestVariantChoices checks that the reference of an opened preset contains its options. The link to the host
// follows the device of the times until the user chooses a link, and the budget stays with the network.
func TestVariantChoices(t *testing.T) {
	v100, a100, gtx := card.DefaultID, "a100-sxm-40gb", "gtx-970"
	set := choice.Budget{Bytes: 16 * engine.GiB}
	for _, c := range []struct {
		from, link string
		do         any // a Message, or a change of the options
		want, dev  string
		budget     choice.Budget
	}{
		{"resnet50-b8", v100, func(o *preset.Options) { o.Image = 500 }, "resnet50-500px-b8", v100, set},
		{"resnet50-500px-b8", v100, func(o *preset.Options) { o.Image = 224 }, "resnet50-b8", v100, set},
		{"resnet50-b8", v100, func(o *preset.Options) { o.Device = a100 }, "resnet50-on-a100-sxm-40gb-b8", a100, set},
		{"resnet50-on-a100-sxm-40gb-b8", a100, varied("resnet50-on-a100-sxm-40gb-b8", func(o *preset.Options) { o.Device = v100 }), "resnet50-b8", v100, set},
		{"resnet50-b8", gtx, func(o *preset.Options) { o.Device = a100 }, "resnet50-on-a100-sxm-40gb-b8", gtx, set},
		{"resnet50-b8", "", func(o *preset.Options) { o.Device = a100 }, "resnet50-on-a100-sxm-40gb-b8", "", set},
		{"resnet50-b8", v100, func(o *preset.Options) { o.Efficiency = 30 }, "resnet50-30pct-b8", v100, set},
		{"resnet50-30pct-b8", v100, func(o *preset.Options) { o.Efficiency = 0 }, "resnet50-b8", v100, set},
		{"resnet50-b8", v100, SetGPU{a100}, "resnet50-on-a100-sxm-40gb-b8", a100, set},
		{"resnet50-b8", gtx, SetGPU{a100}, "resnet50-on-a100-sxm-40gb-b8", a100, set}, // also changes the link
		{"vgg16-b64", v100, func(o *preset.Options) { o.Fast = true }, "vgg16-mp-b64", v100, set},
		{"vgg16-mp-f16-b64", v100, func(o *preset.Options) { o.Fast = false }, "vgg16-f16-b64", v100, set},
		{"resnet50-graph-b32", v100, func(o *preset.Options) { o.Separate = true }, "resnet50-graph-separate-b32", v100, set},
		{"resnet50-graph-separate-b32", v100, func(o *preset.Options) { o.Separate = false }, "resnet50-graph-b32", v100, set},
		{"resnet50-graph-separate-b32", v100, SetGraph{}, "resnet50-b32", v100, set},
		{"gpt2-medium-b4", v100, func(o *preset.Options) { o.Tokens = 512; o.Precision = "f32" },
			"gpt2-medium-512tok-f32-b4", v100, set},
		{"resnet50-f16-b8", v100, SetGraph{true}, "resnet50-f16-graph-b8", v100, set},
		{"resnet50-graph-b8", v100, SetGraph{false}, "resnet50-b8", v100, set},
		{"resnet50-500px-on-a100-sxm-40gb-b8", a100, PickNetwork{"vgg16"}, "vgg16-on-a100-sxm-40gb-b32", a100,
			choice.Default().On(card.Lookup(a100)).Budget},
		{"resnet50-on-a100-sxm-40gb-b8", gtx, PickNetwork{"vgg16"}, "vgg16-on-a100-sxm-40gb-b32", gtx,
			choice.Default().On(card.Lookup(gtx)).Budget},
		{"", v100, PickNetwork{"vgg16"}, "vgg16-b32", v100, choice.Default().Budget},
	} {
		s := New()
		s.Choice = chosen(c.from)
		s.Choice.Device, s.Choice.Budget = c.link, set
		do, ok := c.do.(Message)
		if !ok {
			do = varied(c.from, c.do.(func(*preset.Options)))
		}
		s.Update(do)
		if s.Opening == nil {
			t.Errorf("%s, %+v: nothing is opened", c.from, do)
			continue
		}
		o := s.Opening.Choice
		if o.Source.Preset != c.want || o.Device != c.dev || o.Budget != c.budget || s.Opening.History != Push {
			t.Errorf("%s, %+v:\n opens %s, link of %q, budget %+v, history %v\n want  %s, link of %q, budget %+v, one that Back undoes",
				c.from, do, o.Source.Preset, o.Device, o.Budget, s.Opening.History, c.want, c.dev, c.budget)
		}
		if d := card.Lookup(o.Device); d != nil && o.Device != c.link && o.ToDev != d.ToDev {
			t.Errorf("%s, %+v: the link has %d bytes/s; want that of %s", c.from, do, o.ToDev, o.Device)
		}
	}
}

// TestVariantRefused checks that, if a preset cannot be built with an option, an alert says so, and nothing else
// happens.
func TestVariantRefused(t *testing.T) {
	s := New()
	s.Choice = chosen("gpt2-medium-b4")
	s.Update(varied("gpt2-medium-b4", func(o *preset.Options) { o.Tokens = 4096 }))
	if s.Opening != nil || s.Alert == nil {
		t.Errorf("opening %+v, alert %+v; want only an alert", s.Opening, s.Alert)
	}
	s.Choice = Choice{Source: Source{File: "mine.csv"}}
	s.Alert = nil
	if out := s.Update(SetVariant{preset.Options{Image: 500}}); out != nil || s.Opening != nil || s.Alert != nil {
		t.Errorf("a file: effects %v, alert %+v; want nothing", out, s.Alert)
	}
}

// TestMemoryPresetStays checks that a preset of buffers stays the source of the page.
func TestMemoryPresetStays(t *testing.T) {
	s := New()
	s.Choice = chosen("resnet50-b8")
	s.Update(PickNetwork{"larger-pool"})
	m := Opened{ID: s.Opening.ID, Reply: &proto.Opened{Memory: &proto.Memory{Name: "A larger pool",
		Buffers: &proto.Buffers{}}}}
	s.Update(m)
	if s.Memory == nil || s.Choice.Source.Preset != "larger-pool-b1" {
		t.Errorf("memory %v, source %+v; want the buffers of larger-pool-b1", s.Memory, s.Choice.Source)
	}
}
