package controls

import (
	"slices"
	"strconv"

	"memtide/profiles/preset"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/ui/input"
	"memtide/web/ui/panel"
)

// What can be chosen about the preset that is open stands beside its name. A list
// is empty where there is nothing to choose.

// Images are the sides of images that the papers measure with, the preset's own
// and the one that the link names.
func (c *Case) Images() []panel.Option {
	base, o := source(c.S).Variant()
	if base == nil || !base.Images() {
		return nil
	}
	return sizes(o.Image, []int{base.Options().Image, 224, 500, 1000}, "px", func(n int) bool {
		with := o
		with.Image = n
		_, err := base.With(with)
		return err == nil
	})
}

// Tokens are lengths of sequences that the preset is built for.
func (c *Case) Tokens() []panel.Option {
	base, o := source(c.S).Variant()
	if base == nil || !base.Sequences() {
		return nil
	}
	return sizes(o.Tokens, []int{base.Options().Tokens, 128, 512, 1024, 2048, 4096, 8192, 32768, 131072}, "tokens", func(n int) bool {
		with := o
		with.Tokens = n
		_, err := base.With(with)
		return err == nil
	})
}

// sizes lists the possible ones of some sizes in order, and the present one.
func sizes(now int, usual []int, unit string, possible func(int) bool) (out []panel.Option) {
	list := append(usual, now)
	slices.Sort(list)
	for _, n := range slices.Compact(list) {
		if n == now || possible(n) {
			out = append(out, panel.Option{ID: strconv.Itoa(n), Title: format.Count(n) + " " + unit, Selected: n == now})
		}
	}
	return out
}

// Precisions are those of the activations.
func (c *Case) Precisions() (out []panel.Option) {
	base, o := source(c.S).Variant()
	if base == nil || !base.Operators() {
		return nil
	}
	for _, name := range []string{"f32", "f16", "bf16"} {
		out = append(out, panel.Option{ID: name, Title: precisionName(name), Selected: name == o.Precision})
	}
	return out
}

// precisionName is what people call a precision.
func precisionName(id string) string {
	if id == "bf16" {
		return id
	}
	return "fp" + id[1:]
}

// Algorithms are those of the convolutions, where the preset has a second one.
func (c *Details) Algorithms() []panel.Option {
	base, o := source(c.S).Variant()
	if base == nil || o.Graph {
		return nil
	}
	with := o
	with.Fast = true
	if _, err := base.With(with); err != nil {
		return nil
	}
	return []panel.Option{{ID: input.AlgorithmsOne, Title: "convolutions m", Selected: !o.Fast}, {ID: input.AlgorithmsBoth, Title: "convolutions m, p", Selected: o.Fast}}
}

// Functions are the ways to count operators, of graphs of them.
func (c *Details) Functions() []panel.Option {
	base, o := source(c.S).Variant()
	if base == nil || !o.Graph {
		return nil
	}
	return []panel.Option{{ID: input.FunctionsJoined, Title: "joined operators", Selected: !o.Separate}, {ID: input.FunctionsSeparate, Title: "separate operators", Selected: o.Separate}}
}

// What the two lists mean, in a line each.
const (
	AlgorithmsTitle = "Convolutions: m needs the least memory, p is faster with a workspace. vDNN and vDNN++ choose between them."
	FunctionsTitle  = "Operators: those that work in place belong to the one whose result they change, or each is a function by itself."
)

// VariantNote says what has been chosen about the network, in a line; empty if it
// is the usual.
func (c *Details) VariantNote() string {
	_, o := source(c.S).Variant()
	switch {
	case o.Fast:
		return AlgorithmsTitle
	case o.Separate:
		return "Each operator is a function by itself, also those that work in place on another's result."
	}
	return ""
}

// timedDevice is the device that the times of the open preset are for; nil if it
// has none.
func timedDevice(s *state.State) (*preset.Device, preset.Options) {
	base, o := source(s).Variant()
	if base == nil || !base.Operators() {
		return nil, o
	}
	return preset.LookupDevice(o.Device), o
}

// DeviceNote says when the times and the link to the host are those of different
// devices.
func (c *Details) DeviceNote() string {
	timed, _ := timedDevice(c.S)
	link := preset.LookupDevice(c.S.Choice.Device)
	switch {
	case timed == nil:
		return ""
	case link == nil:
		return "Times are for " + timed.Name + "; the link to the host is your own."
	case link.ID != timed.ID:
		return "Times are for " + timed.Name + "; the link to the host is that of " + link.Name + "."
	}
	return ""
}
