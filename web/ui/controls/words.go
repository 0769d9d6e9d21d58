package controls

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/ui/input"
	"memtide/web/ui/panel"
)

// Words are options of the network as words of a sentence.
type Words struct {
	List     []Word
	Starting bool
}

// Word is an option of the network as a drop-down list, with a field for a number that the list does not have.
type Word struct {
	Do, Name  string // the command of the list, and its argument
	ID, Label string
	Before    string // word before the list
	Note      string // what it changes; only in More
	Options   []panel.Option
	Number    string // the number that is typed beside the list
	Unit      string // of that number
	Typed     bool   // another number than those of the list is being chosen
	said      bool   // the word is in the sentence: it is not the default, or always there
}

// offer is an option of a language model's step in the sentence, with Word.Before and Word.Note.
type offer struct{ name, before, does string }

// measured are the options that say how much a step trains with.
var measured = []offer{
	{"batch", "at", ""}, {"seq", "of", ""}, {"frames", "of", "a video"}, {"height", "of", ""}, {"width", "×", ""},
}

// trained are the options about what trains and how, in the order of the sentence.
var trained = []offer{
	{"lora", "train", "LoRA: states of the adapters alone"}, {"optimizer", "with", "fewer bytes of states"},
	{"states", "on", "half the bytes of states"},
	{"base", "frozen products", "fewer bytes of weights"}, {"kbit", "the rest in fp32", "more bytes of weights"},
	{"targets", "adapters on", "fewer: keep less"}, {"adapters", "adapters in", "their states, too"},
	{"adapter-dropout", "dropout of adapters", "keeps masks"},
	{"dora", "DoRA", "scaled adapters: keep more, slower"}, {"towers", "towers that train", "their states, too"},
	{"objective", "for", "a frozen copy of the model beside it"},
	{"rollout", "an engine for rollouts of", "what it keeps on each card"},
	{"program", "in", "what it does by itself"}, {"accumulate", "in", "less at a time, as much work"},
	{"loss", "loss", "in chunks or fused: fewer logits"},
	{"logits", "logits in the backward", "deleted: fewer logits"}, {"norm", "norm", "fused: keeps less, faster"},
	{"fused-gate", "fused gate", "keeps less, faster"},
	{"dropout", "dropout of the stream", "keeps its masks"},
	{"autocast", "autocast", "fp32 weights beside bf16 products"},
	{"no-autocast", "no autocast", "fp32 weights compute in fp32"},
	{"fp8", "products in 8 bits:", "faster; weights in 16 bits stay"},
	{"attention", "with", "without a kernel scores are kept"},
	{"compile", "torch.compile of the blocks", "keeps less, faster"},
	{"host", "optimizer in host memory", "no states on the card, slower"},
	{"host-part", "of it", "the rest stays on the card"},
	{"host-weights", "weights in host memory", "no weights on the card, slower"},
	{"nvme", "there on", "less host memory, slower"},
	{"step-in-backward", "optimizer steps in the backward", "gradients one by one"},
	{"kernel", "optimizer’s kernel", "fused: faster"}, {"kernels", "kernels for linear attention", "keep less, faster"},
	{ask.Context, "for CUDA and collectives", "an assumption about each card"},
}

// spread are the options that distribute a step over several cards.
var spread = []offer{
	{"shard", "with", "which states are shared"},
	{"non-reentrant", "checkpoints that are not reentrant", "FSDP1 holds less of frozen blocks"},
	{"tp", "with", "ranks that share each product"},
	{"cp", "with", "ranks that share each sequence"}, {"ep", "with", "ranks that share the experts"},
	{"imbalance", "per cent beyond a rank’s share of rows", "bounds what the busiest rank holds"},
	{"pp", "as", "each rank has some of the blocks"}, {"schedule", "in", "the order of its passes"},
	{"stages", "stages on a rank:", "parts of the blocks that a rank has"},
	{"lighter", "layers fewer on the last stage:", "it has the head, too"},
}

// policy are the options that say what blocks keep. A plan says that in their place.
var policy = []offer{
	{"ckpt", "with", ""}, {"recompute", "of", ""}, {"budget", "of", ""}, {"graph", "compiled as one graph:", ""},
	{"ranks", "on", ""}, {"every", "in", ""}, {"first", "of", ""}, {"group", "with", ""},
	{"offload", "block inputs in host memory", "nothing of a block stays"},
	{"stash", "all that blocks keep in host memory", "slower, where the link is"},
	{"swap-blocks", "block swap of", "weights wait in host memory"},
}

// amounts are usual values of options that are numbers.
var amounts = map[string][]int{"batch": {1, 2, 4, 8, 16, 32, 64, 128}, "seq": {1024, 2048, 4096, 8192, 32768, 131072},
	"frames": {1, 17, 33, 49, 81, 121}, "height": {256, 480, 512, 720, 768, 1024, 1280},
	"width": {256, 480, 512, 720, 768, 832, 1024, 1280}, "lora": {0, 8, 16, 32, 64, 128},
	"accumulate": {1, 2, 4, 8, 16, 32}, "rollout": {0, 8, 16, 32, 64}, "host-part": {25, 50, 75, 100},
	"nvme": {0, 3, 7}, "context": {512, 1024, 2048, 4096},
	"gpus": {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}, "tp": {1, 2, 4, 8}, "cp": {1, 2, 4, 8},
	"ep": {1, 2, 4, 8, 16, 32}, "imbalance": {0, 10, 25, 50, 100}, "pp": {1, 2, 4, 8, 16}, "stages": {1, 2, 3, 4},
	"lighter": {0, 1, 2}, "ranks": {0, 1, 2, 4}, "every": {1, 2, 3, 4}, "first": {0, 8, 16, 24}, "group": {1, 2, 4, 8},
	"budget": {0, 25, 50, 75, 100}, "swap-blocks": {0, 10, 20, 30}}

// numbers say the values of options that are numbers; none is the word for the default.
var numbers = map[string]struct{ none, other string }{"seq": {"", "%s tokens"}, "frames": {"1 frame", "%s frames"},
	"height": {"", "%s px"}, "width": {"", "%s px"}, "lora": {"all weights", "LoRA, rank %s"},
	"accumulate": {"one micro batch", "%s micro batches"}, "rollout": {"nothing", "%s GiB"},
	"host-part": {"all", "%s %%"}, "nvme": {"the host", "drives of %s GB/s"}, "context": {"", "%s MiB"},
	"gpus": {"one", "%s ×"}, "tp": {"no tensor rank", "%s tensor ranks"},
	"cp": {"no sequence rank", "%s sequence ranks"}, "ep": {"no expert rank", "%s expert ranks"},
	"pp":    {"no pipeline rank", "%s pipeline ranks"},
	"ranks": {"all ranks", "the first ranks: %s"}, "every": {"every block", "one block in %s"},
	"first": {"all blocks", "the first %s blocks"}, "group": {"one block a checkpoint", "%s blocks a checkpoint"},
	"budget": {"", "%s %%"}, "swap-blocks": {"no block", "%s blocks"}}

// words returns options of the open network, or of the open step: those in the sentence, or with said false the others.
func words(s *state.State, list []offer, said bool) (out []Word) {
	base, o := source(s).Variant()
	args := trains(s)
	var all []Word
	for _, x := range list {
		if args == nil && base != nil && x.name == "optimizer" {
			if w, ok := optimizerWord(base, o); ok {
				all = append(all, w)
			}
		}
		if args != nil && offers(s, args, x.name) {
			w := stepWord(s, args, x.name, x.before)
			w.Note = cmp.Or(gain(s, x.name), x.does)
			all = append(all, w)
		}
	}
	for _, w := range all {
		if w.said != said {
			continue
		}
		if said {
			w.Note = ""
			w.Before = joined(w.Before, len(out) == 0)
		}
		out = append(out, w)
	}
	return out
}

// offers reports whether the sentence about the step with args can have an option.
func offers(s *state.State, args engine.Args, name string) bool {
	model, alone := modelOf(s), s.Step != nil
	is := func(name, value string) bool { return ask.Value(args, name) == value }
	switch {
	case !ask.Matters(args, name):
		return false
	case ask.Pictured(name):
		return args["height"] != "" || ask.Pictures(model)
	case name == "seq":
		return args["height"] == ""
	case name == "base":
		return !is("lora", "0")
	case name == "states":
		return is("lora", "0") || !is(name, ask.Auto)
	case name == "towers", name == "kernels": // few models have any
		return ask.IsConfig(model) || !is(name, "no")
	case name == "shard": // each pipeline rank is one card: nothing is shared
		return ask.Value(args, "gpus") != ask.Value(args, "pp")
	case name == "ep":
		experts := s.Experts() || alone && s.Step.Shown != nil && s.Step.Shown.Experts
		return (experts || !is(name, "1")) && !is("gpus", "1")
	case name == "autocast", name == "no-autocast": // of Transformers' modules
		return is("program", "hf") || !is(name, ask.Option(name).Default)
	case name == "objective", name == "logits", name == "program":
		return !ask.Pictures(model)
	case slices.ContainsFunc(spread, func(x offer) bool { return x.name == name }):
		return !is("gpus", "1") && (name != "schedule" || !is("pp", "1"))
	case slices.ContainsFunc(policy, func(x offer) bool { return x.name == name }):
		return alone
	}
	return true
}

// modelOf returns the id or the config.json of the model whose step is open, or "" if something else is.
func modelOf(s *state.State) string {
	base, _ := source(s).Variant()
	switch {
	case s.Step != nil:
		return s.Choice.Step
	case base != nil && base.Model() != nil:
		return base.Model().ID
	}
	return s.Config()
}

// trains returns the options of the step of a language model that is open, or nil if something else is.
func trains(s *state.State) engine.Args {
	args := s.Choice.StepArgs
	if s.Step == nil {
		args = known.StepArgs(choice.Choice{Source: source(s)}, s.Network)
	} else if args == nil {
		args = engine.Args{}
	}
	return args
}

// cards returns the word with the number of cards, or nil if the network runs on one.
func cards(s *state.State) []Word {
	args := trains(s)
	if args == nil {
		return nil
	}
	return []Word{stepWord(s, args, "gpus", "on")}
}

// gain returns the effect of a change of an option, as it was found for the question what would help. It is empty if no
// change of the option was tried, or if it gains nothing.
func gain(s *state.State, option string) string {
	a := s.Answers()
	for _, l := range ask.Levers {
		for i := 0; a != nil && i < len(a.List); i++ {
			switch x := &a.List[i]; {
			case l.Option != option || x.Name != l.Name || x.StepTime <= 0:
			case a.Base <= 0 && s.OverBudget == nil && s.Exceeds() == nil:
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
	case "in", "at", "of", "×", "as", "by":
		return before
	}
	return word + " " + before
}

// inSentence reports whether an option is in the sentence.
func inSentence(args engine.Args, name string) bool {
	switch is := func(name, value string) bool { return ask.Value(args, name) == value }; name {
	case "batch", "seq", "shard", "ckpt":
		return true
	case "optimizer":
		return is("lora", "0") || !is(name, "adamw")
	case "accumulate", "schedule":
		return !is(name, ask.Option(name).Default) || !is("pp", "1")
	}
	return ask.Value(args, name) != ask.Option(name).Default
}

// stepWord returns the word of an option of a language model's step.
func stepWord(s *state.State, args engine.Args, name, before string) Word {
	o, now := ask.Option(name), ask.Value(args, name)
	w := Word{Do: "option", Name: name, ID: "option-" + name, Label: format.Capital(o.Title), Before: before,
		Typed: s.View.Typed == name, said: inSentence(args, name)}
	values := o.Choices
	if values == nil {
		n, _ := strconv.Atoi(now)
		most := o.Max
		if base, _ := source(s).Variant(); base != nil && name == "batch" {
			most = base.Largest()
		}
		if m := ask.Lookup(modelOf(s)); m != nil && m.Positions() > 0 && name == "seq" {
			most = m.Positions()
		}
		for _, v := range slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(amounts[name]), n)))) {
			if v <= most || v == n {
				values = append(values, strconv.Itoa(v))
			}
		}
		w.Unit = strings.TrimSpace(strings.NewReplacer("%s", "", "%%", "%").Replace(numbers[name].other))
		if w.Number = now; s.Draft.Field == input.NumberField {
			w.Number = s.Draft.Text
		}
	}
	for _, v := range values {
		o := panel.Option{ID: v, Title: valueWords(s, args, name, v), Selected: v == now && !w.Typed}
		w.Options = append(w.Options, o)
	}
	if o.Choices == nil {
		w.Options = append(w.Options, panel.Option{ID: input.OtherNumber, Title: "another number…", Selected: w.Typed})
	}
	return w
}

// valueWords returns the words for a value of an option.
func valueWords(s *state.State, args engine.Args, name, value string) string {
	n, err := strconv.Atoi(value)
	words, known := numbers[name]
	switch {
	case err != nil:
		return ask.WordsIn(args, name, value)
	case known && words.none != "" && value == ask.Option(name).Default:
		return words.none
	case known:
		return fmt.Sprintf(words.other, format.Count(n))
	case name != "batch":
		return format.Count(n)
	}
	unit := "sequence"
	switch base, _ := source(s).Variant(); {
	case base != nil && base.Model() == nil:
		unit = base.Unit()
	case args["height"] != "" && ask.Value(args, "frames") != "1":
		unit = "video"
	case args["height"] != "":
		unit = "picture"
	}
	if n != 1 {
		unit += "s"
	}
	return format.Count(n) + " " + unit
}

// optimizerWord returns the word of the optimizer of a network. ok is false if the preset has no such option.
func optimizerWord(base *preset.Preset, o preset.Options) (w Word, ok bool) {
	with := o
	with.Optimizer = profiles.Optimizers[0].Name
	if _, err := base.With(with); err != nil {
		return w, false
	}
	w = Word{Do: "option", Name: "optimizer", ID: "option-optimizer", Label: "Optimizer", Before: "with",
		said: o.Optimizer != "", Note: "its states and its step"}
	w.Options = []panel.Option{{ID: "", Title: "no optimizer", Selected: o.Optimizer == ""}}
	for _, x := range profiles.Optimizers {
		w.Options = append(w.Options, panel.Option{ID: x.Name, Title: x.Title, Selected: x.Name == o.Optimizer})
	}
	return w, true
}
