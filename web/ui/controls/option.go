package controls

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"memtide/profiles"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/ui/panel"
)

// Words are options of the network as words of the sentence.
type Words struct {
	List     []Word
	Starting bool
}

// Word is an option of the network with what stands before it.
type Word struct {
	Name, Label string
	Before      string
	Note        string // what it changes, where the sentence does not name it
	Options     []panel.Option
	said        bool // something else than the usual is chosen, or the sentence always names it
}

// offered are the options of a language model's step that can be chosen about its schedule,
// in the order of the sentence, with what stands before each and what it changes. The others share the step
// among cards, or choose what is kept, which a plan does.
var offered = []struct{ name, before, does string }{
	{"lora", "train", "LoRA: states of the adapters alone"}, {"optimizer", "with", "fewer bytes of states"},
	{"states", "on", "half the bytes of states"},
	{"base", "frozen products", "fewer bytes of weights"}, {"kbit", "the rest in fp32", "more bytes of weights"},
	{"dora", "DoRA", "scaled adapters: keep more, slower"},
	{"program", "in", "what it does by itself"}, {"accumulate", "in", "less at a time, as much work"},
	{"loss", "loss", "in chunks or fused: fewer logits"},
	{"logits", "logits in the backward", "deleted: fewer logits"}, {"norm", "norm", "fused: keeps less, faster"},
	{"autocast", "autocast", "fp32 weights beside bf16 products"},
	{"attention", "with", "without a kernel scores are kept"},
	{"compile", "torch.compile of the blocks", "keeps less, faster"},
	{"host", "optimizer in host memory", "no states on the card, slower"},
	{"kernel", "optimizer’s kernel", "fused: faster"}, {"kernels", "kernels for linear attention", "keep less, faster"},
}

// amounts are the usual values of options that are numbers.
var amounts = map[string][]int{"batch": {1, 2, 4, 8, 16, 32}, "seq": {1024, 2048, 4096, 8192, 32768, 131072},
	"lora": {0, 8, 16, 32, 64, 128}, "accumulate": {1, 2, 4, 8, 16, 32}}

// options returns those of the network that is open: what the sentence says, or what it could.
func options(s *state.State, said bool) (out []Word) {
	base, o := source(s).Variant()
	config := s.Config() != "" && s.Network.Step != nil
	if base == nil && !config {
		return nil
	}
	var all []Word
	if config || base.Model() != nil {
		args := preset.StepArgs(o.Step)
		if config {
			args = s.Network.Step
			all = []Word{stepWord(args, "batch", "at"), stepWord(args, "seq", "of")}
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
			w.Before = joined(w.Before, len(out) == 0 || config && w.Name == "optimizer")
		}
		out = append(out, w)
	}
	return out
}

// gain returns what a change of an option does, of those that were tried to find what would help; empty if
// none was, or does nothing.
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

// joined returns what stands before a word of the sentence.
func joined(before string, first bool) string {
	word := "and"
	if first {
		word = "with"
	}
	switch before {
	case "train", "with", "on":
		return word
	case "in", "at", "of":
		return before
	}
	return word + " " + before
}

// stepWord returns an option of a language model's step.
func stepWord(args map[string]string, name, before string) Word {
	o, now := ask.Option(name), ask.Value(args, name)
	w := Word{Name: name, Label: format.Capital(o.Title), Before: before, said: now != o.Default || name == "batch" ||
		name == "seq" || name == "optimizer" && ask.Value(args, "lora") == "0"}
	values := slices.Clone(o.Choices)
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
			title = "1 sequence"
		case name == "batch":
			title = v + " sequences"
		case name == "seq":
			n, _ := strconv.Atoi(v)
			title = format.Count(n) + " tokens"
		case name == "accumulate" && v == "1":
			title = "one micro batch"
		case name == "accumulate":
			title = v + " micro batches"
		}
		w.Options = append(w.Options, panel.Option{ID: v, Title: title, Selected: v == now})
	}
	return w
}

// optimizerWord returns the optimizer of a network that may have one; ok is false of others.
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
