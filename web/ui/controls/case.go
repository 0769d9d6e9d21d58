// Package controls is what a person asks with: the network and what is chosen about it, the
// device, the plan and its budget, the details of the model; and what is known about the
// network and where that comes from.
package controls

import (
	"slices"
	"strconv"
	"strings"

	"memtide/profiles"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/ui/panel"
)

// Case is what is asked about, as a sentence whose words are controls. Words that a
// source does not need are left out.
type Case struct {
	S        *state.State
	Starting bool
}

// MaxBatch returns the largest batch size of the preset.
func (c *Case) MaxBatch() int {
	if p, _, err := preset.Parse(source(c.S).Preset); err == nil {
		return p.Largest()
	}
	return preset.MaxBatch
}

// Batch returns the batch size of the preset, or the empty string if there is none to choose.
func (c *Case) Batch() string {
	src := source(c.S).Preset
	if d := c.S.Draft; d.Field == "batch" {
		return d.Text
	}
	if p, batch, err := preset.Parse(src); err == nil && p.Largest() > 1 {
		return strconv.Itoa(batch)
	}
	return ""
}

// Accept lists the usual endings of files that can be read.
func (c *Case) Accept() string { return strings.Join(profiles.Extensions(), ",") }

// Unit returns what the batch counts.
func (c *Case) Unit() string {
	word := "sample"
	if base, _ := source(c.S).Variant(); base != nil {
		word = base.Unit()
	}
	if c.Batch() == "1" {
		return word
	}
	return word + "s"
}

// Optimizer says whose states stay on the device; empty where the source does not tell, or
// a word of the sentence does.
func (c *Case) Optimizer() string {
	p, _, err := preset.Parse(source(c.S).Preset)
	if err != nil || p.Optimizer == "" || len(c.Said()) > 0 {
		return ""
	}
	return "with " + p.Optimizer
}

// Said returns the options of the network that the sentence names.
func (c *Case) Said() []Word { return options(c.S, true) }

// GPUs lists the cards, with one without memory first where no card is meant.
func (c *Case) GPUs() (out []panel.Group) {
	chosen := c.S.Choice.GPU()
	if chosen == nil {
		return append([]panel.Group{{Title: "by its link",
			Options: []panel.Option{{ID: "", Title: "GPU of your own", Selected: true}}}}, panel.Cards("")...)
	}
	return panel.Cards(chosen.ID)
}

// Own returns the figures of the card, where it is in no list.
func (c *Case) Own() string {
	id := ask.Value(c.S.Choice.StepArgs, "device")
	if c.S.Step == nil {
		d := c.S.Choice.GPU()
		if d == nil || c.S.Memory != nil {
			return ""
		}
		id = d.ID
	}
	if d := c.S.Draft; d.Field == "own-card" {
		return d.Text
	}
	return choice.OwnText(id)
}

// GPUTitle says what choosing a GPU sets, and where its numbers come from.
func (c *Case) GPUTitle() string {
	text := "Sets the memory, the link to the host and, where they are computed, the times."
	if d := c.S.Choice.GPU(); d != nil {
		text += " " + d.Link + "; " + d.Source + "."
	}
	return text
}

// What can be chosen about the preset that is open stands beside its name. A list is empty
// where there is nothing to choose.

// Images returns the sides of images that the papers measure with, the preset's own
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
	return sizes(o.Tokens, []int{base.Options().Tokens, 128, 512, 1024, 2048, 4096, 8192, 32768, 131072}, "tokens",
		func(n int) bool {
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
			out = append(out, panel.Option{ID: strconv.Itoa(n), Title: format.Count(n) + " " + unit,
				Selected: n == now})
		}
	}
	return out
}

// Precisions returns those of the activations.
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

// precisionName returns what people call a precision.
func precisionName(id string) string {
	if id == "bf16" {
		return id
	}
	return "fp" + id[1:]
}
