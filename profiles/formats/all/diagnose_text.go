package all

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"memtide/profiles"
)

// jsonKind is a kind of JSON that people have at hand: it has all of some keys.
type jsonKind struct {
	keys         []string
	what, remedy string
}

const modelHint = "Open the model's config.json, or record a profile of a training step."

// jsonKinds are the kinds; the first that fits counts.
var jsonKinds = []jsonKind{
	{[]string{"schema", "nodes"}, "This is an execution trace of PyTorch: its operators have neither times nor sizes of memory", traceHint},
	{[]string{"nodes", "callFrame"}, "This looks like a CPU profile of V8 (Chrome, Node.js)", traceHint},
	{[]string{"device_traces"}, "This looks like a memory snapshot written as JSON", "Write it with torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")."},
	{[]string{"traceEvents"}, "This looks like a Chrome trace (as torch.profiler writes)", collectHint},
	{[]string{"ph", "ts"}, "This looks like a Chrome trace (as torch.profiler writes)", collectHint},
	{[]string{"weight_map"}, "This looks like the index of a checkpoint: names of weights", modelHint},
	{[]string{"peft_type"}, "This looks like the config of an adapter (PEFT): it names only what it adds to a model", "Open the config.json of the model that it adapts, or record a profile of a training step."},
	{[]string{"_diffusers_version"}, "This looks like the config of a Diffusers model, which is no transformer alone", "Measure the network with the collector."},
	{[]string{"zero_optimization"}, "This looks like settings of DeepSpeed", modelHint},
	{[]string{"log_history"}, "This looks like the log of a Hugging Face Trainer", modelHint},
	{[]string{"hidden_size"}, "This looks like a Hugging Face config.json", configHint},
	{[]string{"num_hidden_layers"}, "This looks like a Hugging Face config.json", configHint},
	{[]string{"n_embd"}, "This looks like a Hugging Face config.json", configHint},
	{[]string{"added_tokens"}, "This looks like a tokenizer", modelHint},
	{[]string{"tokenizer_class"}, "This looks like settings of a tokenizer", modelHint},
	{[]string{"image_mean"}, "This looks like settings of a preprocessor of images", modelHint},
	{[]string{"feature_extractor_type"}, "This looks like settings of a preprocessor", modelHint},
	{[]string{"eos_token_id", "bos_token_id"}, "This looks like settings of text generation (generation_config.json)", modelHint},
	{[]string{"keras_version"}, "This looks like a Keras model", "Export the model as ONNX, or record a profile of a training step."},
	{[]string{"stages"}, `This looks like a profile without "format": "memtide/1"`, formatHint},
	{[]string{"forward_s"}, `This looks like a profile without "format": "memtide/1"`, formatHint},
	{[]string{"cells", "nbformat"}, "This looks like a Jupyter notebook", collectHint},
}

const (
	configHint = "Add its model_type and the number of its layers, or choose the preset of a transformer."
	formatHint = `Add "format": "memtide/1" to the outer object.`
)

func looksLikeJSON(head []byte) (what, remedy string) {
	trimmed := bytes.TrimSpace(head)
	if bytes.HasPrefix(trimmed, []byte("[[")) {
		return "This looks like a memory timeline (export_memory_timeline)", "Export the trace of torch.profiler instead: export_chrome_trace, with profile_memory=True."
	}
kinds:
	for _, k := range jsonKinds {
		for _, key := range k.keys {
			if !bytes.Contains(head, []byte(`"`+key+`"`)) {
				continue kinds
			}
		}
		return k.what, k.remedy
	}
	if first, rest, ok := bytes.Cut(trimmed, []byte("\n")); ok && json.Valid(first) && len(rest) > 0 && rest[0] == '{' {
		return "This is JSON line by line (a log?)", collectHint
	}
	return `This is JSON without "format": "memtide/1"`, `If it is a profile, add "format": "memtide/1" to the outer object.`
}

// textKind is a kind of text: a part that it has within its head.
type textKind struct{ part, what, remedy string }

const fullHint = "It tells how full the memory was, not what filled it. " + memoryHint

var textKinds = []textKind{
	{"NVIDIA-SMI", "This looks like what nvidia-smi prints", fullHint},
	{"memory.used", "This looks like a log of nvidia-smi", fullHint},
	{"utilization.gpu", "This looks like a log of nvidia-smi", fullHint},
	{"PyTorch CUDA memory summary", "This looks like what torch.cuda.memory_summary prints", fullHint},
	{"CUDA out of memory", "This looks like the message of a run that ran out of memory", memoryHint},
	{"Self CPU %", "This looks like the table of torch.profiler (key_averages)", traceHint},
}

func looksLikeText(head []byte) (what, remedy string) {
	for _, k := range textKinds {
		if bytes.Contains(head, []byte(k.part)) {
			return k.what, k.remedy
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(head)), "\n")
	first = strings.TrimSpace(first)
	switch {
	case strings.Contains(first, "forward_s") && strings.Contains(first, "|"):
		return fmt.Sprintf("This looks like a table whose first line is %q", profiles.Clip(first)), "Separate its columns by commas, semicolons or tabs."
	case strings.Count(first, ";") > 1 && isCount(first[strings.LastIndexByte(first, ' ')+1:]):
		return "This looks like stacks with their times (export_stacks)", traceHint
	case len(strings.Split(first, ",")) > 2:
		return fmt.Sprintf("This looks like a table whose first line is %q", profiles.Clip(first)),
			"Give it a header line with at least forward_s, backward_s and output_bytes, or with id, lower, upper and size."
	case isYAML(string(head)):
		return "This looks like YAML: settings of a run", "Settings tell neither times nor sizes. " + collectHint
	}
	return fmt.Sprintf("This is text that begins with %q", profiles.Clip(first)), collectHint
}

// isCount says whether a text is a number of microseconds.
func isCount(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// isYAML says whether the first lines of a text, three at most, are keys with values.
func isYAML(text string) bool {
	n := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line == "---" {
			continue
		}
		key, value, ok := strings.Cut(strings.TrimPrefix(line, "- "), ":")
		if !ok || key == "" || strings.ContainsAny(key, " \t(\"'/") || value != "" && value[0] != ' ' {
			return false
		}
		if n++; n == 3 {
			break
		}
	}
	return n > 1
}
