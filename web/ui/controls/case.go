// Package controls has the controls of the page: for the network and its options, the device, the
// plan and its budget, and the details of the model. It also has the panel about the network.
package controls

import (
	"cmp"
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
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/ui/input"
	"memtide/web/ui/panel"
)

// Case is the sentence that describes the case, whose words are controls.
type Case struct {
	S        *state.State
	Starting bool // the program is not running yet: the controls are disabled
}

// MaxBatch returns the largest batch size of the preset.
func (c *Case) MaxBatch() int {
	if p, _, err := preset.Parse(source(c.S).Preset); err == nil {
		return p.Largest()
	}
	return preset.MaxBatch
}

// Batch returns the batch size of the preset, or "" if it cannot be chosen.
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

// Accept lists the usual extensions of files that can be read.
func (c *Case) Accept() string { return strings.Join(profiles.Extensions(), ",") }

// Unit returns the unit of the batch, such as "images".
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

// Optimizer returns words about the optimizer of the preset. It is empty if the optimizer is not known, or if it is one
// of the options in the sentence.
func (c *Case) Optimizer() string {
	p, _, err := preset.Parse(source(c.S).Preset)
	if err != nil || p.Optimizer == "" || len(options(c.S, true)) > 0 {
		return ""
	}
	return "with " + p.Optimizer
}

// GPUs lists the cards. If no card is chosen, the first entry is a GPU with the chosen link.
func (c *Case) GPUs() (out []panel.Group) {
	chosen := c.S.Choice.GPU()
	if chosen == nil {
		return append([]panel.Group{{Title: "by its link",
			Options: []panel.Option{{ID: "", Title: "GPU of your own", Selected: true}}}}, panel.Cards("")...)
	}
	return panel.Cards(chosen.ID)
}

// Own returns the figures of the card, or the draft of them, or "" if the card is in the list.
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

// GPUTitle returns the tooltip of the list of cards.
func (c *Case) GPUTitle() string {
	text := "Sets the memory, the link to the host and, where they are computed, the times."
	if d := c.S.Choice.GPU(); d != nil {
		text += " " + d.Link + "; " + d.Source + "."
	}
	return text
}

// Images lists the sides of images: common ones, the preset's own, and the present one. It is nil for other networks.
func (c *Case) Images() []panel.Option {
	base, o := source(c.S).Variant()
	if base == nil || !base.Images() {
		return nil
	}
	return sizes(base, &o, &o.Image, []int{base.Options().Image, 224, 500, 1000}, "px")
}

// Tokens lists lengths of sequences, as Images does.
func (c *Case) Tokens() []panel.Option {
	base, o := source(c.S).Variant()
	if base == nil || !base.Sequences() {
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
	for _, x := range []panel.Option{{ID: "f32", Title: "fp32"}, {ID: "f16", Title: "fp16"},
		{ID: "bf16", Title: "bf16"}} {
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

// planDoc returns the first paragraph about the chosen strategy.
func planDoc(s *state.State) string {
	st := engine.Lookup(s.Choice.Strategy)
	switch {
	case st == nil:
		return ""
	case s.Choice.Policy != nil:
		return "A framework’s setting, which says what blocks keep, compute again and move."
	}
	doc, _, _ := strings.Cut(st.Doc, "\n\n")
	return strings.Join(strings.Fields(doc), " ")
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
	link := card.Lookup(c.S.Choice.Device)
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

// Words are options of the network as words of a sentence.
type Words struct {
	List     []Word
	Starting bool
}

// Word is an option of the network as a drop-down list.
type Word struct {
	Name, Label string
	Before      string // word before the list
	Note        string // what it changes; only in More
	Options     []panel.Option
	said        bool // the word is in the sentence: it is not the default, or always there
}

// offered are the options of a language model's step that can be combined with a plan, in the order of the sentence,
// with Word.Before and Word.Note. The other options choose what is kept, which the plan does, or are in spread.
var offered = []struct{ name, before, does string }{
	{"lora", "train", "LoRA: states of the adapters alone"}, {"optimizer", "with", "fewer bytes of states"},
	{"states", "on", "half the bytes of states"},
	{"base", "frozen products", "fewer bytes of weights"}, {"kbit", "the rest in fp32", "more bytes of weights"},
	{"dora", "DoRA", "scaled adapters: keep more, slower"},
	{"objective", "for", "a frozen copy of the model beside it"},
	{"program", "in", "what it does by itself"}, {"accumulate", "in", "less at a time, as much work"},
	{"loss", "loss", "in chunks or fused: fewer logits"},
	{"logits", "logits in the backward", "deleted: fewer logits"}, {"norm", "norm", "fused: keeps less, faster"},
	{"autocast", "autocast", "fp32 weights beside bf16 products"},
	{"attention", "with", "without a kernel scores are kept"},
	{"compile", "torch.compile of the blocks", "keeps less, faster"},
	{"host", "optimizer in host memory", "no states on the card, slower"},
	{"host-weights", "weights in host memory", "no weights on the card, slower"},
	{"kernel", "optimizer’s kernel", "fused: faster"}, {"kernels", "kernels for linear attention", "keep less, faster"},
}

// spread are the options that distribute a step over several cards, like offered.
var spread = []struct{ name, before, does string }{
	{"shard", "with", "which states are shared"}, {"tp", "with", "ranks that share each product"},
	{"cp", "with", "ranks that share each sequence"}, {"ep", "with", "ranks that share the experts"},
	{"imbalance", "per cent beyond a rank’s share of rows", "bounds what the busiest rank holds"},
	{"pp", "as", "each rank has some of the blocks"},
}

// amounts are the usual values of options that are numbers.
var amounts = map[string][]int{"batch": {1, 2, 4, 8, 16, 32}, "seq": {1024, 2048, 4096, 8192, 32768, 131072},
	"frames": {1, 17, 33, 49, 81, 121}, "height": {256, 480, 512, 720, 768, 1024, 1280},
	"width": {256, 480, 512, 720, 768, 832, 1024, 1280}, "lora": {0, 8, 16, 32, 64, 128},
	"accumulate": {1, 2, 4, 8, 16, 32},
	"gpus":       {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}, "tp": {1, 2, 4, 8}, "cp": {1, 2, 4, 8},
	"ep": {1, 2, 4, 8, 16, 32}, "imbalance": {0, 10, 25, 50, 100}, "pp": {1, 2, 4, 8, 16}}

// options returns the options of the open network: those in the sentence, or with said false the others.
func options(s *state.State, said bool) (out []Word) {
	base, o := source(s).Variant()
	config := s.Config() != ""
	if base == nil && !config {
		return nil
	}
	var all []Word
	if config || base.Model() != nil {
		args := preset.StepArgs(o.Step)
		if config {
			args = s.Network.Source.Options
			all = []Word{stepWord(args, "batch", "at")}
			if args["height"] == "" {
				all = append(all, stepWord(args, "seq", "of"))
			} else { // the tokens follow from the sides
				all = append(all, stepWord(args, "frames", "of"), stepWord(args, "height", "of"),
					stepWord(args, "width", "×"))
			}
		}
		for _, x := range offered {
			w := stepWord(args, x.name, x.before)
			w.Note = cmp.Or(gain(s, x.name), x.does)
			if w.said || x.name != "kernels" && (x.name != "base" || ask.Value(args, "lora") != "0") &&
				ask.Matters(args, x.name) { // few models have linear attention
				all = append(all, w)
			}
		}
	} else if w, ok := optimizerWord(base, o); ok {
		all = append(all, w)
	}
	for _, w := range all {
		if w.said != said {
			continue
		}
		if said {
			w.Note = ""
			w.Before = joined(w.Before, len(out) == 0 || amount[out[len(out)-1].Name])
		}
		out = append(out, w)
	}
	return out
}

// trains returns the options of the step of a language model that is open, or nil if the network is something else.
func trains(s *state.State) engine.Args {
	if s.Step != nil {
		return nil
	}
	return known.StepArgs(choice.Choice{Source: source(s)}, s.Network)
}

// cards returns the word with the number of cards, or nil if the network runs on one.
func cards(s *state.State) []Word {
	args := trains(s)
	if args == nil {
		return nil
	}
	return []Word{stepWord(args, "gpus", "on")}
}

// shares returns the options that distribute the step over its cards: those in the sentence, or with said false the
// others. It is nil for one card.
func shares(s *state.State, said bool) (out []Word) {
	args := trains(s)
	if args == nil || ask.Value(args, "gpus") == "1" {
		return nil
	}
	for _, x := range spread {
		w := stepWord(args, x.name, x.before)
		if w.said != said || !ask.Matters(args, x.name) || x.name == "ep" && !said && !s.Experts() {
			continue
		}
		if w.Note = x.does; said {
			w.Note = ""
		}
		out = append(out, w)
	}
	return out
}

// gain returns the effect of a change of an option, as it was found for the question what would help. It is empty if no
// change of the option was tried, or if it gains nothing.
func gain(s *state.State, option string) string {
	a := s.Answers()
	for _, l := range ask.Levers {
		for i := 0; a != nil && i < len(a.List); i++ {
			switch x := &a.List[i]; {
			case l.Option != option || x.Name != l.Name || x.StepTime <= 0:
			case a.Base <= 0:
				return l.Name + ": fits"
			case a.Gain(i) >= 0.005:
				return l.Name + ": " + strings.TrimPrefix(format.Percent(a.Gain(i)), "+") + " faster"
			}
		}
	}
	return ""
}

// joined returns before as it continues the sentence. first says that it is the first option.
func joined(before string, first bool) string {
	word := "and"
	if first {
		word = "with"
	}
	switch before {
	case "train", "with", "on":
		return word
	case "in", "at", "of", "×":
		return before
	}
	return word + " " + before
}

// amount are the options that say how much a step trains with.
var amount = map[string]bool{"batch": true, "seq": true, "frames": true, "height": true, "width": true}

// sharing are the units of options that distribute a step, with value 1 for none.
var sharing = map[string]string{"tp": "tensor rank", "cp": "sequence rank", "ep": "expert rank", "pp": "pipeline rank"}

// stepWord returns the word of an option of a language model's step.
func stepWord(args map[string]string, name, before string) Word {
	o, now := ask.Option(name), ask.Value(args, name)
	w := Word{Name: name, Label: format.Capital(o.Title), Before: before, said: now != o.Default || name == "shard" ||
		amount[name] && name != "frames" || name == "optimizer" && ask.Value(args, "lora") == "0"}
	values, unit := slices.Clone(o.Choices), "sequence"
	if frames := ask.Value(args, "frames"); args["height"] != "" && frames != "1" {
		unit = "video"
	} else if args["height"] != "" {
		unit = "picture"
	}
	if list, ok := amounts[name]; ok {
		n, _ := strconv.Atoi(now)
		for _, n := range slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(list), n)))) {
			values = append(values, strconv.Itoa(n))
		}
	}
	for _, v := range values {
		title := ask.WordsIn(args, name, v)
		switch {
		case name == "lora" && v == "0":
			title = "all weights"
		case name == "lora":
			title = "LoRA, rank " + v
		case name == "batch" && v == "1":
			title = "1 " + unit
		case name == "batch":
			title = v + " " + unit + "s"
		case name == "seq":
			n, _ := strconv.Atoi(v)
			title = format.Count(n) + " tokens"
		case name == "height" || name == "width":
			title = v + " px"
		case name == "frames":
			title = v + " frames"
		case name == "gpus" && v == "1":
			title = "one"
		case name == "gpus":
			title = v + " ×"
		case sharing[name] != "" && v == "1":
			title = "no " + sharing[name]
		case sharing[name] != "":
			title = v + " " + sharing[name] + "s"
		case name == "accumulate" && v == "1":
			title = "one micro batch"
		case name == "accumulate":
			title = v + " micro batches"
		}
		w.Options = append(w.Options, panel.Option{ID: v, Title: title, Selected: v == now})
	}
	return w
}

// optimizerWord returns the word of the optimizer of a network. ok is false if the preset has no such option.
func optimizerWord(base *preset.Preset, o preset.Options) (w Word, ok bool) {
	with := o
	with.Optimizer = profiles.Optimizers[0].Name
	if _, err := base.With(with); err != nil {
		return w, false
	}
	w = Word{Name: "optimizer", Label: "Optimizer", Before: "with", said: o.Optimizer != "",
		Note: "its states and its step"}
	w.Options = []panel.Option{{ID: "", Title: "no optimizer", Selected: o.Optimizer == ""}}
	for _, x := range profiles.Optimizers {
		w.Options = append(w.Options, panel.Option{ID: x.Name, Title: x.Title, Selected: x.Name == o.Optimizer})
	}
	return w, true
}
