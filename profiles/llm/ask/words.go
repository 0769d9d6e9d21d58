package ask

import (
	_ "embed" // words.txt
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles/card"
)

// spoken are the names of option values for people, an option and its value on each line. Below an empty line are those
// that programs choose for options that are left to them, if they differ between programs.
//
//go:embed words.txt
var spoken string

var words, usual = func() (first, second map[string]string) {
	values, programs, _ := strings.Cut(spoken, "\n\n")
	read := func(text string) map[string]string {
		out := map[string]string{}
		for line := range strings.Lines(text) {
			key, name, _ := strings.Cut(strings.TrimSpace(line), ": ")
			out[key] = name
		}
		return out
	}
	return read(values), read(programs)
}()

// Words returns the name of an option's value for people.
func Words(name, value string) string {
	if w, ok := words[name+" "+value]; ok {
		return w
	}
	if name == "device" {
		if d := card.Lookup(value); d != nil {
			return d.Name
		}
	}
	if value == Auto {
		return "as the program does"
	}
	return value
}

// Policy says what the blocks of a step keep, compute again or move: "norms computed again".
func Policy(args engine.Args) string {
	is := func(name, value string) bool { return Value(args, name) == value }
	text, of := Words("policy", Value(args, "ckpt")), " of "
	switch every, first := Value(args, "every"), Value(args, "first"); {
	case is("stash", "yes"):
		text = Option("stash").Title
	case is("ckpt", "none") && is("compile", "yes"):
		text = "what the compiler keeps"
	case is("ckpt", "budget") && is("budget", "50"):
		text = "half of what the compiler keeps"
	case is("ckpt", "budget"):
		text = Value(args, "budget") + " % of what the compiler keeps"
	case is("ckpt", "modules"):
		var modules []string
		for m := range strings.SplitSeq(Value(args, "recompute"), "+") {
			m, _, _ = strings.Cut(Words("recompute", m), " (")
			modules = append(modules, m)
		}
		text = strings.Join(modules, " and ") + " computed again"
	case !is("group", "1"):
		text = Value(args, "group") + " blocks in one checkpoint"
	default:
		if !is("ckpt", "full") {
			of = " in "
		}
		if first != "0" {
			text += of + "the first " + first + " blocks"
		}
		if w, known := words["every "+every]; known {
			text += of + w
		} else if every != "1" {
			text += of + "every " + every + "th block"
		}
	}
	if is("offload", "yes") {
		text += ", " + Option("offload").Title
	}
	if swap := Value(args, "swap-blocks"); swap != "0" && is("ckpt", "none") {
		text = "block swap of " + swap
	} else if swap != "0" {
		text += ", block swap of " + swap
	}
	if is("graph", "model") {
		text += ", the model as one graph"
	}
	return text
}

// WordsIn is like Words for an option of a step with args. For an option that is left to the program, WordsIn
// returns what that program chooses.
func WordsIn(args engine.Args, name, value string) string {
	if name == "states" && value == "fp32" && Value(args, "lora") != "0" {
		return "frozen weights in fp32"
	}
	if w := usual[name+" "+Program(args)]; value == Auto && w != "" {
		return w + ", as usual"
	}
	return Words(name, value)
}

// Setting returns the name and the value of the first option in a sentence about the command line, such as "-kernel
// foreach". The value of an option that is only switched on is "yes". Both are "" if the sentence names no option.
func Setting(text string) (name, value string) {
	words := strings.Fields(text)
	for i, w := range words {
		name, flag := strings.CutPrefix(strings.Trim(w, marks), "-")
		o := Option(name)
		switch {
		case !flag || o == nil:
		case i+1 < len(words) && slices.Contains(o.Choices, strings.Trim(words[i+1], marks)):
			return name, strings.Trim(words[i+1], marks)
		case slices.Contains(o.Choices, "yes"):
			return name, "yes"
		}
	}
	return "", ""
}

// marks are the punctuation marks around an option in a sentence.
const marks = "(.,;:)"

// onPage replaces advice that applies only to the command line by advice for the page.
var onPage = strings.NewReplacer("memtide help models lists them", "the first word of the sentence has a list",
	"for example -side 480x832", "for example a height of 480 and a width of 832",
	"Options of memtide plan choose otherwise, in", "The words of the sentence choose otherwise, or",
	"memtide plan plays", "memtide plays")

// InWords returns a sentence in which options of the command line are called as on the page: “pipeline parallel” 1, not
// -pp 1.
func InWords(text string) string {
	words := strings.Split(onPage.Replace(text), " ")
	var last *engine.Param
	for i, w := range words {
		core := strings.Trim(w, marks)
		name, flag := strings.CutPrefix(core, "-")
		to := core
		switch o := Option(name); {
		case flag && o != nil:
			last, to = o, "“"+o.Title+"”"
		case last != nil && slices.Contains(last.Choices, core):
			last, to = nil, Words(last.Name, core)
		default:
			last = nil
		}
		words[i] = strings.Replace(w, core, to, 1)
	}
	return strings.Join(words, " ")
}

// Title returns the title of a model. If model is the text of a config.json, that is a name for the file, after the
// family, such as "llama.config.json".
func Title(model string) string {
	if m := Lookup(model); m != nil {
		return m.Title
	}
	if IsConfig(model) {
		name := "config.json"
		for _, key := range []string{`"model_type"`, `"_class_name"`} {
			_, rest, _ := strings.Cut(model, key)
			if parts := strings.SplitN(rest, `"`, 3); len(parts) == 3 && strings.TrimSpace(parts[0]) == ":" {
				return parts[1] + "." + name
			}
		}
		return name
	}
	return strings.TrimSpace(model)
}
