package controls

import (
	"slices"
	"strconv"

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
	Options     []panel.Option
	said        bool // something else than the usual is chosen, or the sentence always names it
}

// offered are the options of a language model's step that can be chosen about its schedule,
// in the order of the sentence, with what stands before each. The others share the step
// among cards, or choose what is kept, which a plan does.
var offered = []struct{ name, before string }{
	{"lora", "train"}, {"optimizer", "with"}, {"states", "on"}, {"base", "frozen products"}, {"kbit", "the rest in fp32"}, {"dora", "DoRA"}, {"program", "in"}, {"accumulate", "in"}, {"loss", "loss"},
	{"logits", "logits in the backward"}, {"norm", "norm"}, {"autocast", "autocast"}, {"attention", "with"},
	{"compile", "torch.compile of the blocks"}, {"host", "optimizer in host memory"},
	{"kernel", "optimizer’s kernel"}, {"kernels", "kernels for linear attention"},
}

// amounts are the usual values of options that are numbers.
var amounts = map[string][]int{"lora": {0, 8, 16, 32, 64, 128}, "accumulate": {1, 2, 4, 8, 16, 32}}

// options returns those of the network that is open: what the sentence says, or what it could.
func options(s *state.State, said bool) (out []Word) {
	base, o := source(s).Variant()
	if base == nil {
		return nil
	}
	var all []Word
	if base.Model() != nil {
		args := preset.StepArgs(o.Step)
		for _, x := range offered {
			w := stepWord(args, x.name, x.before)
			if w.said || x.name != "kernels" && (x.name != "base" || ask.Value(args, "lora") != "0") && ask.Matters(args, x.name) { // few models have linear attention
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
			w.Before = joined(w.Before, len(out) == 0)
		}
		out = append(out, w)
	}
	return out
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
	case "in":
		return before
	}
	return word + " " + before
}

// stepWord returns an option of a language model's step.
func stepWord(args map[string]string, name, before string) Word {
	o, now := ask.Option(name), ask.Value(args, name)
	w := Word{Name: name, Label: format.Capital(o.Title), Before: before, said: now != o.Default || name == "optimizer" && ask.Value(args, "lora") == "0"}
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
	w = Word{Name: "optimizer", Label: "Optimizer", Before: "with", said: o.Optimizer != ""}
	w.Options = []panel.Option{{ID: "", Title: "no optimizer", Selected: o.Optimizer == ""}}
	for _, x := range profiles.Optimizers {
		w.Options = append(w.Options, panel.Option{ID: x.Name, Title: x.Title, Selected: x.Name == o.Optimizer})
	}
	return w, true
}
