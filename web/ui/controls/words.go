package controls

import (
	"cmp"
	_ "embed" // words.txt
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
	Invalid   bool   // what is typed was refused
	said      bool   // the word is in the sentence: it is not the default, or always there
}

// offer is an option of a language model's step in the sentence, with Word.Before and Word.Note.
type offer struct {
	name, before, does string
	usual              []int  // values of a number
	none, other        string // the word for the default of a number, unless it is empty, and the words for others
}

// table has the offers. It says itself what its columns are.
//
//go:embed words.txt
var table string

// The offers in the order of the sentence: how much a step trains with, what trains and how, how several cards share
// it, what blocks keep, which a plan says in its place, and the cards.
var measured, trained, spread, policy, several = read(0), read(1), read(2), read(3), read(4)

// read returns the offers of a part of the table.
func read(part int) (out []offer) {
	for _, f := range ask.Rows(strings.Split(table, "\n\n")[part]) {
		f = append(f, make([]string, 6)...)
		o := offer{name: f[0], before: f[1], does: f[2], none: f[4], other: f[5]}
		for _, n := range strings.Fields(f[3]) {
			value, _ := strconv.Atoi(n)
			o.usual = append(o.usual, value)
		}
		out = append(out, o)
	}
	return out
}

// offered returns the offer of an option.
func offered(name string) offer {
	for _, list := range [][]offer{measured, trained, spread, policy, several} {
		if i := slices.IndexFunc(list, func(x offer) bool { return x.name == name }); i >= 0 {
			return list[i]
		}
	}
	return offer{}
}

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

// ofWords are options that mean nothing to models that make pictures.
var ofWords = []string{"objective", "logits", "program", "towers", "kernels", "prompt", "loss"}

// offers reports whether the sentence about the step with args can have an option.
func offers(s *state.State, args engine.Args, name string) bool {
	model, alone := modelOf(s), s.Step != nil
	is := func(name, value string) bool { return ask.Value(args, name) == value }
	switch {
	case !ask.Matters(args, name):
		return false
	case slices.Contains(ofWords, name) && ask.Pictures(model):
		return !is(name, ask.Option(name).Default)
	case name == "frames":
		return ask.Videos(model) || !is(name, "1")
	case ask.Pictured(name):
		return args["height"] != "" || ask.Pictures(model)
	case name == "seq":
		return args["height"] == ""
	case name == "references":
		return ask.Edits(model)
	case name == "base":
		return !is("lora", "0")
	case name == "states":
		return is("lora", "0") || !is(name, ask.Auto)
	case name == ask.Beside: // encoders and an autoencoder
		return ask.Pictures(model) || !is(name, "0")
	case name == "towers", name == "kernels": // few models have any
		return ask.Configured(model) || !is(name, "no")
	case name == "shard": // each pipeline rank is one card: nothing is shared
		return ask.Value(args, "gpus") != ask.Value(args, "pp")
	case name == "base-experts", name == "no-grouped":
		return ask.Experts(model) || !is(name, "no")
	case name == "split": // said by flags, in links and by Megatron's layouts
		return !is(name, ask.Option(name).Default)
	case strings.HasPrefix(name, "lighter") && !is("split", "even"): // in its place
		return false
	case name == "ep", name == "etp":
		return (ask.Experts(model) || !is(name, ask.Option(name).Default)) && !is("gpus", "1")
	case name == "autocast", name == "no-autocast": // of Transformers' modules
		return ask.Transformers(args) || !is(name, ask.Option(name).Default)
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
	case "in", "at", "of", "×", "as", "by", "for", "of rank", "of it", "beside", "there on":
		return before
	}
	return word + " " + before
}

// inSentence reports whether an option is in the sentence.
func inSentence(args engine.Args, name string) bool {
	switch is := func(name, value string) bool { return ask.Value(args, name) == value }; name {
	case "batch", "seq", "lora", "shard", "ckpt":
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
	if name == "batch" {
		w.Label = format.Capital(unit(s, args)) + "s at once"
	}
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
		for _, v := range slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(offered(name).usual), n)))) {
			if v <= most || v == n {
				values = append(values, strconv.Itoa(v))
			}
		}
		w.Unit = strings.TrimSpace(strings.NewReplacer("%s", "", "%%", "%").Replace(offered(name).other))
		if w.Number, w.Invalid = now, s.Invalid(input.NumberField); s.Draft.Field == input.NumberField {
			w.Number = s.Draft.Text
		}
	}
	if o.Choices != nil && !slices.Contains(values, now) { // several modules, or layers of stages
		values = append(slices.Clone(values), now)
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
	words := offered(name)
	switch {
	case err != nil:
		return ask.WordsIn(args, name, value)
	case words.none != "" && value == ask.Option(name).Default:
		return words.none
	case words.other != "":
		return fmt.Sprintf(words.other, format.Count(n))
	case name != "batch":
		return format.Count(n)
	}
	return format.CountOf(n, unit(s, args))
}

// unit returns the word for one of a batch.
func unit(s *state.State, args engine.Args) string {
	if base, _ := source(s).Variant(); base != nil && base.Model() == nil {
		return base.Unit()
	}
	return ask.Sample(args)
}

// optimizerWord returns the word of the optimizer of a network. ok is false if the preset has no such option. If
// none is chosen, the states by the preset's own rule are there and nothing steps them.
func optimizerWord(base *preset.Preset, o preset.Options) (w Word, ok bool) {
	with := o
	with.Optimizer = profiles.Optimizers[0].Name
	if _, err := base.With(with); err != nil {
		return w, false
	}
	w = Word{Do: "option", Name: "optimizer", ID: "option-optimizer", Label: "Optimizer", Before: "with",
		said: o.Optimizer != "", Note: "its states and its step"}
	states := cmp.Or(base.Optimizer, "SGD")
	w.Options = []panel.Option{{ID: "", Title: states + ", step not timed", Selected: o.Optimizer == ""}}
	for _, x := range profiles.Optimizers {
		w.Options = append(w.Options, panel.Option{ID: x.Name, Title: x.Title, Selected: x.Name == o.Optimizer})
	}
	return w, true
}
