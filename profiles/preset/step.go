package preset

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/llm/ask"
)

// The preset of a language model is the training step that memtide plan plays: parameters, states,
// peak and times are those of plan for the same options. Package llm plays it,
// and registers itself here, so that a program can list the models without playing them.

// stepSuffix distinguishes the step of a model from the network of the same name in older links.
const stepSuffix = "-step"

// stepTokens is the default length of sequences, as in package ask.
const stepTokens = 8192

// StepInput is a step to be played.
type StepInput struct {
	Model     string
	Args      engine.Args // options of package ask
	Precision string      // type of the activations
	Share     int         // share of the peak that products reach, in per cent; 0: the card's
	Graph     bool        // return the operations instead of the chain
	Both      bool        // return both
}

// ErrElsewhere is the error of building a step in a program without its player.
var ErrElsewhere = errors.New("the steps of language models are played by another program")

var play func(StepInput) (*profiles.Profile, error)

// PlaySteps registers the player of steps.
func PlaySteps(player func(StepInput) (*profiles.Profile, error)) { play = player }

// Play plays a step that is not of a preset, as a chain and as operations. model may be the text of a config.json.
func Play(model string, args engine.Args) (*profiles.Profile, error) {
	if err := Plays(); err != nil {
		return nil, err
	}
	return play(StepInput{Model: model, Args: args, Precision: string(bf16), Both: true})
}

// stepPresets returns the steps of the known language models.
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

// Model returns the language model whose step the preset is, or nil for other presets.
func (p *Preset) Model() *ask.Known { return p.model }

// Builds returns ErrElsewhere if this program cannot build the preset, else nil.
func (p *Preset) Builds() error {
	if p.model == nil {
		return nil
	}
	return Plays()
}

// Plays returns ErrElsewhere if this program cannot play steps, else nil.
func Plays() error {
	if play == nil {
		return ErrElsewhere
	}
	return nil
}

// hand reports whether the preset is made by hand instead of a network.
func (p *Preset) hand() bool { return p.build == nil && p.model == nil }

// methods are the options of a step that a preset must not choose, since memtide's strategies choose them.
var methods = []string{"ckpt", "every", "first", "group", "recompute", "budget", "graph", "stash", "offload",
	"swap-blocks"}

// stepPart reads a part that chooses an option of a step, such as "optimizer.adamw_8bit", into o. It returns the
// name of the option.
func (p *Preset) stepPart(ref, part string, o *Options) (name string, err error) {
	args := StepArgs(o.Step)
	for option, value := range StepArgs(part) {
		if name = option; args[name] != "" {
			return name, fmt.Errorf("preset %q: %s appears twice; name it once", ref, name)
		}
		args[name] = value
	}
	if o.Step, err = StepText(args); err != nil {
		return name, fmt.Errorf("preset %q: %w", ref, err)
	}
	return name, nil
}

// StepArgs returns the options of package ask that a value of Options.Step chooses. It has _ for -, which separates
// parts.
func StepArgs(text string) engine.Args {
	args := engine.Args{}
	for part := range strings.SplitSeq(text, "-") {
		if name, value, ok := strings.Cut(part, "."); ok {
			name = strings.ReplaceAll(name, "_", "-")
			// A few values contain _ themselves.
			if o := ask.Option(name); o == nil || !slices.Contains(o.Choices, value) {
				value = strings.ReplaceAll(value, "_", "-")
			}
			args[name] = value
		}
	}
	return args
}

// StepText returns the value of Options.Step that chooses options of package ask. Equal options have equal texts.
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
			b.WriteString("-" + strings.ReplaceAll(o.Name+"."+v, "-", "_"))
		}
	}
	return b.String(), nil
}

// unplanned are the other options of a step whose values but the default no strategy can plan.
var unplanned = []string{"pp"}

// Unplanned returns a copy of args without the options with which no strategy can plan a step.
func Unplanned(args engine.Args) engine.Args {
	out := ask.Plain(args)
	maps.DeleteFunc(out, func(name, _ string) bool {
		return slices.Contains(methods, name) || slices.Contains(unplanned, name)
	})
	return out
}

// Split returns the options of a step that a strategy can plan, and the policy: those that say what its blocks keep,
// or nil if they keep everything. ok is false if there are others, or if all blocks are compiled as one graph, which is
// no chain of blocks.
func Split(args engine.Args) (rest, policy engine.Args, ok bool) {
	rest, policy = Unplanned(args), ask.Plain(args)
	all := len(policy)
	maps.DeleteFunc(policy, func(name, _ string) bool { return !slices.Contains(methods, name) })
	ok = len(rest)+len(policy) == all && ask.Value(args, "graph") != "model"
	if len(policy) == 0 {
		policy = nil
	}
	return rest, policy, ok
}

// StepRef returns the reference to the step of a model with options of package ask, of which Split returned rest. ok
// is false if the step has no preset.
func StepRef(model string, rest engine.Args) (ref string, ok bool) {
	p := Lookup(model + stepSuffix)
	if p == nil {
		return "", false
	}
	args := engine.Args{}
	maps.Copy(args, rest)
	o := p.Options()
	for name, to := range map[string]*int{"batch": &o.Batch, "seq": &o.Tokens} {
		n, err := strconv.Atoi(ask.Value(args, name))
		if err != nil {
			return "", false
		}
		*to = n
		delete(args, name)
	}
	o.Device = ask.Value(args, "device")
	delete(args, "device")
	text, err := StepText(args)
	if o.Step = text; err != nil {
		return "", false
	}
	v, err := p.With(o)
	if err != nil || o.Batch > v.Largest() {
		return "", false
	}
	return Ref(v.ID, o.Batch), true
}

// trained returns in words what trains, and with which optimizer.
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

// saysItself are the options of a step whose values are clear without the option's name.
var saysItself = []string{"program", "attention", "optimizer", "states", "ckpt", "shard", "schedule"}

// stepWords returns the options of a step for its title.
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

// step plays the step with options that are filled in.
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
