// Package hf reads a Hugging Face config.json. Package family reads the model, and package preset
// has its training step played.
package hf

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/formats/native"
	"memtide/profiles/jsonfile"
	"memtide/profiles/llm/ask"
	"memtide/profiles/llm/family"
	"memtide/profiles/parse"
	"memtide/profiles/preset"
)

func init() {
	profiles.Register(&profiles.Format{
		Name:       family.FormatName,
		Title:      "Hugging Face config.json",
		Doc:        "A transformer from its config.json: the step that memtide plan plays.",
		Extensions: []string{".json"},
		MaxSize:    maxConfig,
		Match:      matchHFConfig,
		Decode:     decodeHFConfig,
	})
}

// maxConfig is the largest file that is read, far above the longest list of labels in a config.
const maxConfig = 4 << 20

// Names for one size in the configs of different models.
var (
	hidden = []string{"hidden_size", "n_embd", "d_model"}
	layers = []string{"num_hidden_layers", "n_layer", "num_layers", "n_layers"}
)

// denoisers lists the ends of class names of transformers in diffusers, whose config.json has no model_type.
var denoisers = []string{"Transformer2DModel\"", "Transformer3DModel\"", "UNet2DConditionModel\""}

// matchHFConfig claims an object that has a model_type, the class of a transformer of diffusers,
// or the sizes of a transformer, and is neither a profile nor a trace.
func matchHFConfig(head []byte) bool {
	// Reading a head as JSON takes milliseconds in a browser; most other files do not even contain these words.
	contains := func(any ...string) bool {
		return slices.ContainsFunc(any, func(key string) bool { return bytes.Contains(head, []byte(key)) })
	}
	denoiser := contains("_class_name") && contains(denoisers...)
	if !contains("model_type") && !denoiser && !(contains(hidden...) && contains(layers...)) {
		return false
	}
	var keys []string
	for key := range jsonfile.Outer(head) {
		keys = append(keys, key)
	}
	has := func(any ...string) bool {
		return slices.ContainsFunc(any, func(key string) bool { return slices.Contains(keys, key) })
	}
	if has("traceEvents") || native.Claims(head) {
		return false
	}
	return has("model_type") || denoiser && has("_class_name") || has(hidden...) && has(layers...)
}

func decodeHFConfig(name string, data []byte, poll *engine.Poll) *profiles.Profile {
	profiles.End(poll.Err())
	m, err := family.Read(data)
	profiles.End(err)
	errs := parse.NewErrors(len(data))
	top := jsonfile.Open(family.Plain(data), errs)
	args, warnings := options(top, m)
	if text := top.Text("_name_or_path"); text != "" && !strings.Contains(text, "..") {
		name = profiles.Clip(strings.TrimSuffix(text[strings.LastIndex(text, "/")+1:], "/"))
	}
	errs.End()
	p, err := preset.Play(m.Config, args)
	if err != nil {
		errs.Fail(&profiles.FormatError{Found: "This step is not played: " + err.Error(),
			Expected: "A step that memtide plan plays is expected.",
			Remedy:   `Change the sizes, or the options in "memtide".`})
	}
	p.Name, p.Chain.Name, p.Device, p.Warnings = name, name, nil, append(warnings, m.Notes...)
	p.Step, p.Model = args, m.Config
	(&parse.StageReader{Errs: errs}).Finish(p.Chain, true)
	if p.Graph != nil {
		errs.CheckGraph(p.Graph)
	}
	p.Source.Tool = "Hugging Face config"
	p.Source.Notes = append([]string{fmt.Sprintf(`Chosen: %s of %s tokens. Options of memtide plan choose otherwise, in the file as "memtide": {"seq": %[2]s}.`,
		profiles.Count(p.Batch, "sequence"), ask.Value(args, "seq"))}, p.Source.Notes...)
	return p
}

// options returns the options of memtide plan in the "memtide" object of a file, and warnings about unknown keys. The
// length of sequences is at most that which the model has learned.
func options(top *jsonfile.Object, m *family.Reading) (engine.Args, []string) {
	o, args := top.Object("memtide"), engine.Args{}
	for i := range ask.Options {
		name := ask.Options[i].Name
		switch v := o.Value(name).(type) {
		case nil:
		case bool:
			args[name] = map[bool]string{true: "yes", false: "no"}[v]
		default:
			args[name] = strings.Trim(jsonfile.Text(v), `"`)
		}
	}
	o.NoteOthers()
	add := func(found, expected, remedy string) {
		top.Errs.Add(&profiles.FormatError{Found: found, Expected: expected, Remedy: remedy})
	}
	if _, err := ask.Parse(args); err != nil {
		add(err.Error(), "Options of memtide plan are expected.", `Correct "memtide" in the file.`)
	}
	seq, _ := strconv.ParseInt(ask.Value(args, "seq"), 10, 64)
	switch {
	case m.Longest == 0 || m.Longest >= seq:
	case args["seq"] == "":
		args["seq"] = strconv.FormatInt(m.Longest, 10)
	case m.Positions > 0:
		add(fmt.Sprintf("The sequence length is %d", seq),
			fmt.Sprintf("This network learns %d positions.", m.Longest),
			`Set "seq" in "memtide" to no more than that.`)
	}
	warnings := o.Known.Warning("in memtide")
	// Strategies choose what is kept, and there is no chain of a pipeline.
	if len(preset.Unplanned(args)) < len(ask.Plain(args)) {
		args = preset.Unplanned(args)
		warnings = append(warnings, "Options in memtide that leave nothing to plan were skipped; memtide plan has them.")
	}
	return args, warnings
}
