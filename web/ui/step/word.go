package step

import (
	"memtide/engine"
	"memtide/profiles/llm/ask"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/ui/input"
	"memtide/web/ui/panel"
)

// Word is a control of a training step: one of its options, with the words of the
// sentence around it.
type Word struct {
	Name, Label   string
	Before, After string
	Value         string
	Min, Max      int
	Options       []panel.Option // nil of a number
	Groups        []panel.Group  // of a card, instead
}

// said are the options that stand in the sentence of the case, with the words before
// them and behind them, the last ones behind a 1; the others are assumptions.
var said = []struct{ name, before, after, one string }{
	{"batch", "at", "sequences", "sequence"}, {"seq", "of", "tokens", "token"}, {"frames", "of", "frames", "frame"},
	{"height", "of", "", ""}, {"width", "×", "", ""}, {"optimizer", "in bf16 with", "", ""},
	{"lora", "for adapters of rank", "", ""}, {"base", "beside products", "", ""}, {"states", "on", "", ""},
	{"ckpt", "and", "", ""},
	{"swap-blocks", "with", "swapped blocks", "swapped block"},
	{"program", "in", "", ""}, {"gpus", "on", "×", "×"}, {"device", "", "", ""}, {"shard", "with", "", ""},
	{"pp", "as", "pipeline ranks", ""}, {"schedule", "by", "", ""},
	{"accumulate", "with", "micro batches", "micro batch"},
}

// sentenceIf are options that stand in the sentence only where another one is not as usual.
var sentenceIf = map[string]string{"shard": "gpus", "pp": "pp", "schedule": "pp", "accumulate": "pp",
	"lora": "lora", "base": "base", "swap-blocks": "swap-blocks"}

// inSentence reports whether an option stands in the sentence.
func inSentence(args engine.Args, name string) bool {
	if name == "seq" || ask.Pictured(name) { // tokens are counted, or made of frames and their sides
		return (name == "seq") == (args["height"] == "")
	}
	for _, w := range said {
		if w.name == name {
			if other := sentenceIf[name]; other != "" && ask.Value(args, other) == ask.Option(other).Default {
				return false
			}
			switch name {
			case "shard": // else there are no cards to share with
				return ask.Value(args, "gpus") != ask.Value(args, "pp")
			case "states": // those of adapters follow from them
				return ask.Value(args, "lora") == "0"
			}
			return true
		}
	}
	return false
}

// Case is the part of the case's sentence that is about a training step.
type Case struct{ S *state.State }

// Words are its controls.
func (c *Case) Words() (out []Word) {
	for _, w := range said {
		s := stepWord(c.S, w.name)
		if s.Before, s.After = w.before, w.after; s.Value == "1" {
			s.After = w.one
		}
		if inSentence(c.S.Choice.StepArgs, w.name) {
			out = append(out, s)
		}
	}
	return out
}

// stepWord returns the control of an option.
func stepWord(s *state.State, name string) Word {
	o, args := ask.Option(name), s.Choice.StepArgs
	w := Word{Name: name, Label: format.Capital(o.Title), Value: ask.Value(args, name), Min: o.Min, Max: o.Max}
	if name == "device" {
		w.Groups = panel.Cards(w.Value)
		return w
	}
	for _, v := range o.Choices {
		w.Options = append(w.Options, panel.Option{ID: v, Title: ask.WordsIn(args, name, v), Selected: v == w.Value})
	}
	if d := s.Draft; d.Field == input.StepField(name) {
		w.Value = d.Text
	}
	return w
}

// Assumed returns the controls that do not stand in the sentence.
func (c *Page) Assumed() (out []Word) {
	for i := range ask.Options {
		switch name := ask.Options[i].Name; {
		case name == "seq", name == "states" && ask.Value(c.S.Choice.StepArgs, "lora") != "0", ask.Pictured(name) &&
			!ask.Pictures(c.S.Choice.Step): // it is not asked for beside a side, nor a side of words
		case !inSentence(c.S.Choice.StepArgs, name) && name != "shard" && ask.Matters(c.S.Choice.StepArgs, name):
			out = append(out, stepWord(c.S, name))
		}
	}
	return out
}
