//go:build !js

package controls

import (
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/profiles/preset"
	"memtide/web/choice"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/input"
	"memtide/web/ui/pagetest"
	"memtide/web/ui/panel"
)

// TestPickerGroups checks that every preset is in the list once, under the heading of its group, and that the
// page contains the list only while it is open.
func TestPickerGroups(t *testing.T) {
	s := pagetest.First(t)
	if page := pagetest.HTML(t, &Picker{S: s}); strings.Contains(page, "picker-list") ||
		strings.Contains(page, `role="option"`) {
		t.Error("the page of a closed list contains its entries")
	}
	s.Update(state.TogglePicker{})
	c := Picker{S: s}
	count, steps, titles := 0, 0, map[string]bool{}
	for _, g := range c.Groups() {
		if titles[g.Title] {
			t.Errorf("the heading %q stands twice", g.Title)
		}
		titles[g.Title] = true
		if g.Title == wordsSteps {
			steps = len(g.Options)
			continue
		}
		for _, o := range g.Options {
			count++
			if p := preset.Lookup(o.ID); p == nil || p.Group != g.Title || !strings.HasPrefix(string(o.Text), p.Title) {
				t.Errorf("%+v stands under %q; want its title and group", o, g.Title)
			}
			if o.Active != (o.ID == "resnet101") {
				t.Errorf("%s: active is %t; want only the open network", o.ID, o.Active)
			}
		}
	}
	models := 0
	for _, p := range preset.Presets() {
		if p.Model() != nil {
			models++
		}
	}
	if count != len(preset.Presets())-models || models < steps {
		t.Errorf("%d presets beside %d models; want %d", count, models, len(preset.Presets())-models)
	}
	page := pagetest.HTML(t, &Picker{S: s})
	if got := strings.Count(page, `role="option"`); got != count+steps || steps < 10 {
		t.Errorf("the page has %d entries; want %d and 10 models and more, %d", got, count, steps)
	}
	for _, want := range []string{`aria-activedescendant="picker-resnet101"`, `id="picker-resnet101"`, "ResNet-1001",
		"everything needs 4.3 GiB at batch 32", `aria-expanded="true"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of an open list does not contain %q", want)
		}
	}
	pagetest.WellFormed(t, page)
}

// TestPickerQuery checks that a query narrows the list, and that a note says if nothing is found.
func TestPickerQuery(t *testing.T) {
	s := pagetest.First(t)
	s.Update(state.TogglePicker{})
	s.Update(state.FilterPresets{Text: "dense"})
	c := Picker{S: s}
	for _, g := range c.Groups() {
		for _, o := range g.Options {
			if !strings.Contains(o.ID, "densenet") {
				t.Errorf(`"dense" finds %s; want DenseNets`, o.ID)
			}
		}
	}
	if c.ActiveElement() != "picker-densenet121" || c.Needs() == "" || c.None() != "" {
		t.Errorf("active %q, size %q, note %q; want DenseNet-121 with its size and no note", c.ActiveElement(),
			c.Needs(), c.None())
	}
	s.Update(state.FilterPresets{Text: "zebra"})
	if c.Groups() != nil || c.None() == "" || c.ActiveElement() != "" || c.About() != "" {
		t.Errorf(`"zebra" finds %v, says %q; want nothing but a note`, c.Groups(), c.None())
	}
	pagetest.WellFormed(t, pagetest.HTML(t, &Picker{S: s}))
}

// TestPickerSizes checks that the list says how large every preset is.
func TestPickerSizes(t *testing.T) {
	s := pagetest.First(t)
	for _, p := range preset.Presets() {
		s.View.Picker.Active = p.ID
		if got := (&Picker{S: s}).Needs(); got == "" || strings.Contains(got, " 0 ") {
			t.Errorf("%s: %q; want its size", p.ID, got)
		}
	}
}

func TestPickerKeys(t *testing.T) {
	s := pagetest.First(t)
	s.Update(state.TogglePicker{})
	for _, c := range []struct {
		key  string
		want state.Message
	}{
		{"ArrowDown", state.StepPreset{By: 1}},
		{"ArrowUp", state.StepPreset{By: -1}},
		{"PageDown", state.StepPreset{By: input.PageStep}},
		{"PageUp", state.StepPreset{By: -input.PageStep}},
		{"Enter", state.PickNetwork{ID: "resnet101"}},
		{"Escape", state.TogglePicker{}},
		{"m", nil},
		{"Home", nil},
	} {
		if got := input.PickerKey(s, input.Key{Key: c.key}); got != c.want {
			t.Errorf("%s: message %#v; want %#v", c.key, got, c.want)
		}
	}
}

// titles returns the titles of the options of a list, the chosen one in brackets.
func titles(list []panel.Option) string {
	var out []string
	for _, o := range list {
		if o.Selected {
			o.Title = "[" + o.Title + "]"
		}
		out = append(out, o.Title)
	}
	return strings.Join(out, " ")
}

// TestVariants checks that the options beside the name are those that the preset is built for, and always include
// the one that a link names.
func TestVariants(t *testing.T) {
	for _, c := range []struct{ ref, images, tokens, precisions string }{ // on a card with bf16
		{"resnet101-b32", "[224 px] 500 px 1 000 px", "", "[fp32] fp16 bf16"},
		{"inception-v3-b32", "224 px [299 px] 500 px 1 000 px", "", "[fp32] fp16 bf16"},
		{"vgg16-300px-b8", "224 px [300 px] 500 px 1 000 px", "", "[fp32] fp16 bf16"},
		{"gpt2-medium-512tok-b4", "", "128 tokens [512 tokens] 1 024 tokens", "fp32 [fp16] bf16"},
		{"lemma3", "", "", ""},
		{"", "", "", ""},
	} {
		s := state.New()
		s.Choice.Source, s.Choice.Device = state.Source{Preset: c.ref, File: "mine.csv"}, "a100-80gb"
		h := Case{S: s}
		if got := titles(h.Images()); got != c.images {
			t.Errorf("%q: image sides %q; want %q", c.ref, got, c.images)
		}
		if got := titles(h.Tokens()); got != c.tokens {
			t.Errorf("%q: lengths %q; want %q", c.ref, got, c.tokens)
		}
		if got := titles(h.Precisions()); got != c.precisions {
			t.Errorf("%q: precisions %q; want %q", c.ref, got, c.precisions)
		}
	}
}

// TestNoBF16 checks that a network in bf16 on a card without it is in fp16, and that bf16 cannot be chosen there.
func TestNoBF16(t *testing.T) {
	for ref, want := range map[string]string{"llama2-7b-step": "fp32 [fp16]", "resnet101-b32": "[fp32] fp16",
		"resnet101-f16-b32": "fp32 [fp16]"} {
		s := state.New()
		s.Choice.Source, s.Choice.Device = state.Source{Preset: ref}, "t4"
		h := Case{S: s}
		if got := titles(h.Precisions()); got != want {
			t.Errorf("%s on a T4: precisions %q; want %q", ref, got, want)
		}
		if !strings.Contains(h.GPUTitle(), "no bf16") {
			t.Errorf("the card's tooltip is %q; want that it has no bf16", h.GPUTitle())
		}
	}
}

// TestWays checks that the second algorithm of convolutions and the separate operators can be chosen for presets
// that have them, never both, and that a line explains them.
func TestWays(t *testing.T) {
	for _, c := range []struct{ ref, algorithms, functions, note string }{
		{"vgg16-b64", "[convolutions m] convolutions m, p", "", ""},
		{"vgg16-mp-b64", "convolutions m [convolutions m, p]", "", "Convolutions: m needs"},
		{"vgg16-graph-b64", "", "[joined operators] separate operators", ""},
		{"resnet50-graph-separate-b32", "", "joined operators [separate operators]", "Each operator is"},
		{"resnet50-b32", "", "", ""},
		{"lemma3", "", "", ""},
		{"", "", "", ""},
	} {
		s := state.New()
		s.Choice.Source = state.Source{Preset: c.ref, File: "mine.csv"}
		h := Details{S: s}
		if got := titles(h.Algorithms()); got != c.algorithms {
			t.Errorf("%q: algorithms %q; want %q", c.ref, got, c.algorithms)
		}
		if got := titles(h.Functions()); got != c.functions {
			t.Errorf("%q: functions %q; want %q", c.ref, got, c.functions)
		}
		if got := (&Details{S: s}).VariantNote(); !strings.HasPrefix(got, c.note) || (got == "") != (c.note == "") {
			t.Errorf("%q: note %q; want %q", c.ref, got, c.note)
		}
	}
}

// TestDeviceNote checks that the controls say if the times and the link are those of different devices.
func TestDeviceNote(t *testing.T) {
	for _, c := range []struct {
		ref, device string
		slower      engine.Rate // than the link of the device
		want        string
	}{
		{"resnet50-b32", "v100-pcie-16gb", 0, ""},
		{"resnet50-b32", "v100-pcie-16gb", 1e9,
			"Times are for V100-PCIE-16GB; the link to the host is your own."},
		{"resnet50-on-a100-sxm-40gb-b32", "v100-pcie-16gb", 0,
			"Times are for A100-SXM-40GB; the link to the host is that of V100-PCIE-16GB."},
		{"resnet50-on-a100-sxm-40gb-b32", "", 0, "Times are for A100-SXM-40GB; the link to the host is your own."},
		{"lemma3", "v100-pcie-16gb", 0, ""},
	} {
		s := state.New()
		s.Choice = state.Choice{Source: state.Source{Preset: c.ref}}
		if d := card.Lookup(c.device); d != nil {
			s.Choice = s.Choice.On(d)
		}
		s.Choice.ToDev -= c.slower
		if got := (&More{S: s}).DeviceNote(); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s with the link of %q: %q; want %q", c.ref, c.device, got, c.want)
		}
	}
}

// TestGPUs checks that the GPU of the case is that of the link or, if the user has set the rates of the link,
// that of the times.
func TestGPUs(t *testing.T) {
	for _, c := range []struct{ ref, device, want string }{
		{"resnet50-b32", "v100-pcie-16gb", "V100-PCIE-16GB"},
		{"resnet50-on-a100-sxm-40gb-b32", "v100-pcie-16gb", "V100-PCIE-16GB"},
		{"resnet50-on-a100-sxm-40gb-b32", "", "A100-SXM-40GB"},
		{"lemma3", "", "GPU of your own"},
		{"", "gtx-970", "GTX 970"},
	} {
		s := state.New()
		s.Choice = state.Choice{Source: state.Source{Preset: c.ref, File: "mine.csv"}, Device: c.device}
		got := ""
		for _, g := range (&Case{S: s}).GPUs() {
			got += panel.Selected(g.Options)
		}
		if got != c.want {
			t.Errorf("%q with the link of %q: the GPU is %q; want %q", c.ref, c.device, got, c.want)
		}
	}
}

// TestVariantLinks checks that the options beside the name are in the link and can be read from it again.
func TestVariantLinks(t *testing.T) {
	for _, ref := range []string{"resnet50-500px-f16-on-a100-sxm-40gb-b64", "gpt2-medium-512tok-b2", "resnet50-graph-b32",
		"vgg16-mp-b64", "resnet50-graph-separate-b32", "fragmented-b1"} {
		c := choice.Default()
		c.Source.Preset = ref
		s := state.New()
		s.Choice = c
		l := permalink.Of(s, link.Link{})
		parsed, notes := link.Parse(l.String())
		if back, more := permalink.ChoiceOf(parsed); !back.Equal(c) || len(notes)+len(more) > 0 ||
			!strings.Contains(l.String(), "p="+ref) {
			t.Errorf("%s\n is read as %+v, notes %q\n want %+v", l.String(), back, append(notes, more...), c)
		}
	}
}
