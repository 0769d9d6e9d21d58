package preset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/llm/ask"
)

// A language model is the training step that memtide plan plays: its parameters, states,
// peak and times are those of plan for the same options. What plays it is package llm,
// which registers itself here, so that a program can list the models without playing them.

// stepSuffix tells the step of a model from the networks that older links name.
const stepSuffix = "-step"

// stepTokens is the length of sequences by default, as in package ask.
const stepTokens = 8192

// StepInput is what is asked of the player of a step.
type StepInput struct {
	Model     string
	Args      engine.Args // options of package ask
	Precision string      // of the activations
	Share     int         // of the peak that products reach, in per cent; 0: the card's
	Graph     bool        // the operations instead of the chain
}

// ErrElsewhere is the error of building a step in a program without its player.
var ErrElsewhere = errors.New("the steps of language models are played by another program")

var play func(StepInput) (*profiles.Profile, error)

// PlaySteps registers the player of steps.
func PlaySteps(player func(StepInput) (*profiles.Profile, error)) { play = player }

// stepPresets lists the known language models.
func stepPresets() (out []*Preset) {
	for i := range ask.Models {
		m := &ask.Models[i]
		p := &Preset{
			ID: m.ID + stepSuffix, Title: m.Title, Group: languageGroup, DefaultBatch: 1, DType: string(bf16),
			Optimizer: "AdamW",
			Doc:       "The training step that memtide plan plays: states, forward, loss, backward and the optimizer.",
			own:       Options{Tokens: stepTokens, Precision: string(bf16), Device: ask.Option("device").Default},
			sizes:     profiles.Analytic, model: m,
		}
		if n := m.Positions(); n > 0 {
			p.maxTokens, p.own.Tokens = n, min(n, stepTokens)
		}
		out = append(out, p)
	}
	return out
}

// Model returns the language model whose step the preset is; nil of other presets.
func (p *Preset) Model() *ask.Known { return p.model }

// Builds returns ErrElsewhere if this program cannot build the preset.
func (p *Preset) Builds() error {
	if p.model != nil && play == nil {
		return ErrElsewhere
	}
	return nil
}

// hand reports whether a preset was made by hand: it is no network.
func (p *Preset) hand() bool { return p.build == nil && p.model == nil }

// methods are the options of a step that memtide's methods choose instead.
var methods = []string{"ckpt", "every", "first", "group", "recompute", "budget", "graph", "stash", "offload"}

// stepPart reads a part that chooses an option of a step, "optimizer.adamw_8bit", into o.
func (p *Preset) stepPart(ref, part string, o *Options) (name string, err error) {
	name, value, _ := strings.Cut(part, ".")
	args := StepArgs(o.Step)
	if _, twice := args[name]; twice {
		return name, fmt.Errorf("preset %q: %s appears twice; name it once", ref, name)
	}
	args[name] = stepValue(name, value)
	if o.Step, err = StepText(args); err != nil {
		return name, fmt.Errorf("preset %q: %w", ref, err)
	}
	return name, nil
}

// StepArgs returns the options of package ask that a text in Options.Step chooses.
func StepArgs(text string) engine.Args {
	args := engine.Args{}
	for part := range strings.SplitSeq(text, "-") {
		if name, value, ok := strings.Cut(part, "."); ok {
			args[name] = stepValue(name, value)
		}
	}
	return args
}

// stepValue returns the value of an option as a part of a name says it, where - separates parts and
// _ stands for it; a few values have _ of their own.
func stepValue(name, text string) string {
	if o := ask.Option(name); o != nil && slices.Contains(o.Choices, text) {
		return text
	}
	return strings.ReplaceAll(text, "_", "-")
}

// StepText returns the text of Options.Step that chooses options of package ask. Equal choices
// have equal texts.
func StepText(args engine.Args) (string, error) {
	if _, err := ask.Parse(args); err != nil {
		return "", err
	}
	for name := range args {
		switch {
		case slices.Contains(methods, name):
			return "", fmt.Errorf("%s is no choice about a preset: a strategy chooses what is kept", name)
		case name == "batch" || name == "seq" || name == "device":
			return "", fmt.Errorf("%s is a part of its own: write -b1, -8192tok, -on-h100", name)
		}
	}
	var b strings.Builder
	args = ask.Plain(args)
	for _, o := range ask.Options {
		if v, ok := args[o.Name]; ok {
			b.WriteString("-" + o.Name + "." + strings.ReplaceAll(v, "-", "_"))
		}
	}
	return b.String(), nil
}

// trained says in words what trains, with which optimizer.
func trained(step string) string {
	args := StepArgs(step)
	words := ask.Words("optimizer", ask.Value(args, "optimizer"))
	if rank := ask.Value(args, "lora"); rank != "0" {
		return "LoRA, rank " + rank + ", " + words
	}
	if states, ok := args["states"]; ok {
		words += ", " + ask.Words("states", states)
	}
	return words
}

// saysItself are the options of a step whose values need no name before them.
var saysItself = []string{"program", "attention", "optimizer", "states", "ckpt", "shard", "schedule"}

// stepWords says the options of a step for its title.
func stepWords(step string) (words string) {
	args := StepArgs(step)
	for _, o := range ask.Options {
		v, ok := args[o.Name]
		switch {
		case !ok:
		case o.Name == "lora":
			words += ", LoRA, rank " + v
		case o.Name == "gpus":
			words += ", " + v + " cards"
		case slices.Contains(saysItself, o.Name):
			words += ", " + ask.Words(o.Name, v)
		default:
			words += ", " + strings.TrimSuffix(o.Title+" "+ask.Words(o.Name, v), " yes")
		}
	}
	return words
}

// step plays the step with these options, which are filled in.
func (p *Preset) step(o Options) (*profiles.Profile, error) {
	if err := p.Builds(); err != nil {
		return nil, err
	}
	args := StepArgs(o.Step)
	args["batch"], args["seq"], args["device"] = fmt.Sprint(o.Batch), fmt.Sprint(o.Tokens), o.Device
	out, err := play(StepInput{Model: p.model.ID, Args: args,
		Precision: o.Precision, Share: o.Efficiency, Graph: o.Graph})
	if err != nil {
		return nil, fmt.Errorf("preset %q: %w", Ref(p.ID, o.Batch), err)
	}
	out.Name, out.Batch, out.DType, out.Format = fmt.Sprintf("%s, batch %d", p.Title, o.Batch), o.Batch, o.Precision,
		"preset"
	if out.Chain != nil {
		out.Chain.Name, out.Chain.Batch = Ref(p.ID, o.Batch), o.Batch
	}
	return out, nil
}
