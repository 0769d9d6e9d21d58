// Package controls has the controls of the page: for the network and its options, the device, the
// plan and its budget, and the details of the model. It also has the panel about the network.
package controls

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/ui/input"
	"memtide/web/ui/panel"
)

// Case is the sentence that describes the case, whose words are controls.
type Case struct {
	S        *state.State
	Starting bool // the program is not running yet: the controls are disabled
}

// Accept lists the usual extensions of files that can be read.
func (c *Case) Accept() string { return strings.Join(profiles.Extensions(), ",") }

// Optimizer returns words about the optimizer of the preset. It is empty if the optimizer is not known, or if it is one
// of the options in the sentence.
func (c *Case) Optimizer() string {
	p, _, err := preset.Parse(source(c.S).Preset)
	if err != nil || p.Optimizer == "" || len(words(c.S, trained, true)) > 0 {
		return ""
	}
	return "with " + p.Optimizer
}

// card returns the chosen card, or nil if only a link is chosen.
func (c *Case) card() *card.Card {
	if c.S.Step != nil {
		return card.Lookup(ask.Value(c.S.Choice.StepArgs, "device"))
	}
	return c.S.Choice.GPU()
}

// GPUs lists the cards. If no card is chosen, the first entry is a GPU with the chosen link.
func (c *Case) GPUs() (out []panel.Group) {
	chosen := c.card()
	if chosen == nil {
		return append([]panel.Group{{Title: "by its link",
			Options: []panel.Option{{ID: "", Title: "GPU of your own", Selected: true}}}}, panel.Cards("")...)
	}
	return panel.Cards(chosen.ID)
}

// Own returns the figures of the card, or the draft of them, or "" if the card is in the list.
func (c *Case) Own() string {
	d := c.card()
	switch draft := c.S.Draft; {
	case d == nil || c.S.Memory != nil:
		return ""
	case draft.Field == "own-card":
		return draft.Text
	}
	return choice.OwnText(d.ID)
}

// GPUTitle returns the tooltip of the list of cards.
func (c *Case) GPUTitle() string {
	text := "Sets the memory, the link to the host and, where they are computed, the times."
	if d := c.card(); d != nil {
		text += " " + d.Link + "; " + d.Source + "."
		if !d.BF16() {
			text += " It has no bf16; fp16 needs loss scaling."
		}
	}
	return text
}

// Measures returns the words that say how much is trained with, and how precisely.
func (c *Case) Measures() []Word {
	out := append(c.forms(true), words(c.S, measured, true)...)
	base, o := source(c.S).Variant()
	if base != nil && base.Model() == nil && base.Largest() > 1 {
		out = append(out, stepWord(c.S, engine.Args{"batch": strconv.Itoa(o.Batch)}, "batch", "at"))
	}
	variant := func(name, label, before string, options []panel.Option) {
		if options != nil {
			out = append(out, Word{Do: "variant", Name: name, ID: name, Label: label, Before: before, Options: options})
		}
	}
	variant("image", "Side of the images", "of", c.Images())
	variant("tokens", "Length of the sequences", "of", c.Tokens())
	variant("precision", "Precision of the activations", "in", c.Precisions())
	return out
}

// forms returns the word that says whether the network is taken as blocks or as operations, if it is known in both
// ways. It is in the sentence for operations, otherwise among the others.
func (c *Case) forms(said bool) []Word {
	base, o := c.S.Choice.Source.Variant()
	graph := c.S.Choice.Graph || o.Graph
	both := base != nil && base.Operators() || c.S.Network != nil && c.S.Network.TwoWays()
	if c.S.Step != nil || !both || graph != said {
		return nil
	}
	w := Word{Do: "kind", Name: "kind", ID: "kind", Label: "Blocks or operations", Before: "as",
		Options: two(graph, "chain", "a chain of blocks", "graph", "a graph of operations")}
	if !said {
		w.Note = "operations: with branches, for some plans alone"
	}
	return []Word{w}
}

// two returns a list of two options, each an ID and a title.
func two(second bool, id, title, id2, title2 string) []panel.Option {
	return []panel.Option{{ID: id, Title: title, Selected: !second}, {ID: id2, Title: title2, Selected: second}}
}

// Images lists the sides of images: common ones, the preset's own, and the present one. It is nil for other networks.
func (c *Case) Images() []panel.Option {
	base, o := source(c.S).Variant()
	if base == nil || !base.Images() {
		return nil
	}
	return sizes(base, &o, &o.Image, []int{base.Options().Image, 224, 500, 1000}, "px")
}

// Tokens lists lengths of sequences, as Images does. It is nil for language models, whose words say it.
func (c *Case) Tokens() []panel.Option {
	base, o := source(c.S).Variant()
	if base == nil || !base.Sequences() || base.Model() != nil {
		return nil
	}
	return sizes(base, &o, &o.Tokens,
		[]int{base.Options().Tokens, 128, 512, 1024, 2048, 4096, 8192, 32768, 131072}, "tokens")
}

// sizes lists in order the usual values of *size, a field of o, with which the preset can be built, and its present
// value. It changes *size.
func sizes(base *preset.Preset, o *preset.Options, size *int, usual []int, unit string) (out []panel.Option) {
	now := *size
	list := append(usual, now)
	slices.Sort(list)
	for _, n := range slices.Compact(list) {
		*size = n
		if _, err := base.With(*o); err == nil || n == now {
			out = append(out, panel.Option{ID: strconv.Itoa(n), Title: format.Count(n) + " " + unit,
				Selected: n == now})
		}
	}
	return out
}

// Precisions lists the precisions of the activations.
func (c *Case) Precisions() (out []panel.Option) {
	base, o := source(c.S).Variant()
	if base == nil || !base.Operators() {
		return nil
	}
	bits := []panel.Option{{ID: "f32", Title: "fp32"}, {ID: "f16", Title: "fp16"}, {ID: "bf16", Title: "bf16"}}
	if d := c.card(); d != nil && !d.BF16() { // it computes in fp16 then
		bits = bits[:2]
		if o.Precision == "bf16" {
			bits[1].ID = o.Precision
		}
	}
	for _, x := range bits {
		x.Selected = x.ID == o.Precision
		out = append(out, x)
	}
	return out
}

// Planned reports whether the case is about schedules of a network, and not a training step or a memory file.
func (c *Case) Planned() bool { return c.S.Step == nil && c.S.Memory == nil }

// By reports whether the sentence names the plan, see state.Sentence.
func (c *Case) By() bool { return c.Planned() && c.S.Sentence().Plan }

// Limited reports whether the sentence names the budget, see state.Sentence.
func (c *Case) Limited() bool { return c.Planned() && c.S.Sentence().Budget }

// PlanWord is the word that names the plan.
type PlanWord Case

// Policies lists the policies of frameworks, and the chosen one if it is another. Their IDs are those of the
// command strategy.
func (c *PlanWord) Policies() []panel.Group {
	g, chosen := panel.Group{Title: "Policies of frameworks"}, c.S.Choice.Policy == nil
	for _, p := range c.S.Policies() {
		g.Options = append(g.Options, panel.Option{ID: input.PolicyID + strconv.Itoa(p.Index),
			Title: format.Capital(p.Names[0]), Selected: p.Chosen})
		chosen = chosen || p.Chosen
	}
	if !chosen {
		g.Options = append(g.Options, panel.Option{ID: input.PolicyID, Title: c.S.Choice.PlanName(), Selected: true})
	}
	if len(g.Options) == 0 {
		return nil
	}
	return []panel.Group{g}
}

// planDoc returns the summary of the chosen strategy.
func planDoc(s *state.State) string {
	st := engine.Lookup(s.Choice.Strategy)
	switch {
	case st == nil:
		return ""
	case s.Choice.Policy != nil:
		return "A framework’s setting, which says what blocks keep, compute again and move."
	}
	return st.Doc
}

// Limit is the word that names the budget.
type Limit Case

// Closed reports whether the budget cannot be set, because no network is open.
func (c *Limit) Closed() bool { return c.S.Network == nil }

// Text returns the budget, or the draft of it.
func (c *Limit) Text() string {
	if d := c.S.Draft; d.Field == "budget-text" {
		return d.Text
	}
	if c.Closed() {
		return ""
	}
	return format.Bytes(c.S.Budget())
}

// Note compares the budget with keeping everything.
func (c *Limit) Note() string {
	if c.Closed() || c.Starting {
		return "starting…"
	}
	all := c.S.Network.Totals.KeepAllPeak
	if c.S.Budget() >= all {
		return fmt.Sprintf("enough to keep everything (%s)", format.Bytes(all))
	}
	return fmt.Sprintf("%s of the %s that keep everything", format.Share(float64(c.S.Budget())/float64(all)),
		format.Bytes(all))
}

// More has the words that can be added to the sentence of Case.
type More Case

// Words returns the options of a step that are not in the sentence.
func (c *More) Words() []Word {
	return slices.Concat(words(c.S, spread, false), words(c.S, measured, false), words(c.S, trained, false),
		words(c.S, policy, false), (*Case)(c).forms(false))
}

// BandwidthText returns the bandwidth of the link to the host, or the draft of it.
func (c *More) BandwidthText() string {
	if c.S.Draft.Field == "bandwidth-text" {
		return c.S.Draft.Text
	}
	return format.Rate(c.S.Choice.ToDev)
}

// DeviceNote says whether the times and the link to the host are those of different devices. It is empty if they are
// not.
func (c *More) DeviceNote() string {
	timed, _ := timedDevice(c.S)
	switch {
	case timed == nil:
		return ""
	case !c.S.Choice.Linked():
		return "Times are for " + timed.Name + "; the link to the host is your own."
	case c.S.Choice.Device != timed.ID:
		return "Times are for " + timed.Name + "; the link to the host is that of " +
			card.Lookup(c.S.Choice.Device).Name + "."
	}
	return ""
}
