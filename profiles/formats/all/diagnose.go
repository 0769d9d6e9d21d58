package all

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"memtide/profiles"
	"memtide/profiles/parse"
)

func init() { profiles.RegisterDiagnosis(diagnose) }

// diagnose returns the error for content that no format claims: what the content looks like, and
// the formats that are read.
func diagnose(head []byte) *profiles.FormatError {
	found, remedy := looksLike(head)
	var titles []string
	for _, f := range profiles.Formats() {
		titles = append(titles, f.Title)
	}
	return &profiles.FormatError{Found: found, Expected: "Read are: " + strings.Join(titles, "; ") + ".",
		Remedy: remedy}
}

// kind is a kind of file. mark is its first bytes, a part of its head, or keys in its head.
type kind struct{ mark, what, remedy string }

const (
	recordHint  = "Record a profile of a training step: weights tell neither times nor activations."
	collectHint = "Save the profile as a memtide/1 file, for example with the collector."
	unpackHint  = "Unpack it, and open the profile that is in it."
	traceHint   = "Export the trace of torch.profiler instead: export_chrome_trace."
	memoryHint  = "Record a memory snapshot: torch.cuda.memory._record_memory_history(), and after the step torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")."
	againHint   = "Save it again as UTF-8 text."
	oldPickle   = "a pickle of protocol 0 or 1, which is not read"
	pickleHint  = "Write it again with protocol 2 or higher; torch.cuda.memory._dump_snapshot does."
)

// signatures lists common files that are not profiles, by their first bytes.
var signatures = []kind{
	{"\x89PNG\r\n", "a PNG image", collectHint},
	{"\xff\xd8\xff", "a JPEG image", collectHint},
	{"GIF8", "a GIF image", collectHint},
	{"RIFF", "a WebP image or another RIFF file", collectHint},
	{"BM", "a BMP image", collectHint},
	{"<svg", "an SVG image", collectHint},
	{"%PDF-", "a PDF document", collectHint},
	{"PK\x03\x04", "a zip archive (a PyTorch checkpoint, .npz or a spreadsheet)",
		"If a profile is in it, unpack it and open that. Of a spreadsheet, save the table as CSV."},
	{"7z\xbc\xaf", "a 7-Zip archive", unpackHint},
	{"version https://git-lfs", "a Git LFS pointer: the file itself is elsewhere",
		"Fetch the file with git lfs pull, or download it from the page of the repository."},
	{"\x89HDF\r\n", "an HDF5 file", recordHint},
	{"GGUF", "a GGUF file: weights", recordHint},
	{"\x93NUMPY", "a NumPy array",
		"Write the numbers as JSON or CSV, one row per layer with forward_s, backward_s and output_bytes."},
	{"SQLite format 3\x00", "an SQLite database (an Nsight Systems export?)",
		"Record the step with torch.profiler, and export_chrome_trace."},
	{"\x7fELF", "a program", collectHint},
	{"\x00asm", "a WebAssembly module", collectHint},
	{"\x1f\x8b", "gzip data inside gzip data", unpackHint},
	{"\x28\xb5\x2f\xfd", "zstd data", unpackHint},
	{"\xfd7zXZ", "xz data", unpackHint},
	{"BZh", "bzip2 data", unpackHint},
	{"\xff\xfe", "UTF-16 text", againHint},
	{"\xfe\xff", "UTF-16 text", againHint},
	{"<!doctype html", "a web page", "Download the file itself: a page came in its place."},
	{"<html", "a web page", "Download the file itself: a page came in its place."},
	{"digraph", "a Graphviz graph", collectHint},
	{"import ", "a Python program", collectHint},
	{"from ", "a Python program", collectHint},
	{"(dp0\n", oldPickle, pickleHint}, // pickles of protocols 0 and 1 begin with their content
	{"(lp0\n", oldPickle, pickleHint},
	{"(dp1\n", oldPickle, pickleHint},
	{"(lp1\n", oldPickle, pickleHint},
	{"}q\x00", oldPickle, pickleHint},
	{"]q\x00", oldPickle, pickleHint},
	{"ccopy_reg\n", oldPickle, pickleHint},
	{"c__builtin__\n", oldPickle, pickleHint},
}

// looksLike returns what a file with this head is, and what to do with it.
func looksLike(head []byte) (what, remedy string) {
	trimmed := bytes.TrimSpace(head)
	text := strings.ToLower(string(trimmed[:min(len(trimmed), 64)]))
	if text == "" {
		return "The content is empty", "Choose a file that has content; the download may have failed."
	}
	for _, s := range signatures {
		isText := s.mark[0] < 0x7f // then case and leading space do not matter
		if bytes.HasPrefix(head, []byte(s.mark)) || isText && strings.HasPrefix(text, strings.ToLower(s.mark)) {
			if strings.HasPrefix(s.what, "a zip") && bytes.Contains(head, []byte("data.pkl")) {
				return "This looks like a checkpoint of weights (torch.save)", recordHint
			}
			return "This looks like " + s.what, s.remedy
		}
	}
	switch {
	case !utf8.Valid(head[:validEnd(head)]) || bytes.IndexFunc(head, isBinary) >= 0:
		return looksLikeBinary(head)
	case text[0] == '{' || text[0] == '[':
		return looksLikeJSON(head)
	}
	return looksLikeText(head)
}

// isBinary reports whether a character occurs in no text, not even in the output of a terminal.
func isBinary(c rune) bool { return c < ' ' && !strings.ContainsRune("\b\t\n\v\f\r\x1b", c) }

// validEnd returns the length of head without a rune that is cut off at its end.
func validEnd(head []byte) int {
	end := len(head)
	for i := 1; i < utf8.UTFMax && i <= len(head); i++ {
		if utf8.RuneStart(head[len(head)-i]) {
			if !utf8.FullRune(head[len(head)-i:]) {
				end = len(head) - i
			}
			break
		}
	}
	return end
}

// looksLikeBinary is looksLike for binary data.
func looksLikeBinary(head []byte) (what, remedy string) {
	has := func(text string, from, to int) bool {
		return len(head) > from && bytes.Contains(head[from:min(len(head), to)], []byte(text))
	}
	switch {
	case head[0] == 0x08 && has("onnx", 0, 256):
		return "This looks like an ONNX model without its graph", "Copy, download or export the model again."
	case len(head) > 9 && head[8] == '{' && has(`"data_offsets"`, 0, 4096):
		return "This looks like a safetensors file: weights", recordHint
	case has("brain.Event:", 12, 64):
		return "This looks like an event file of TensorBoard",
			"Open the trace that its profiler wrote beside it (.pt.trace.json), or record one."
	case has("TFL3", 4, 8):
		return "This looks like a TensorFlow Lite model",
			"Export the model as ONNX, or record a profile of a training step."
	case has("ustar", 257, 263):
		return "This looks like a tar archive", unpackHint
	case isWide(head):
		return "This looks like UTF-16 text", againHint
	case bytes.HasPrefix(head, []byte("\x0a\x04\x08")) && head[min(len(head)-1, 4)] == 0x10:
		return "This looks like a pprof profile", traceHint
	case isPackets(head):
		return "This looks like a Perfetto trace", "Export the trace of torch.profiler as JSON: export_chrome_trace."
	}
	return "This is binary data of an unknown kind", collectHint
}

// isWide reports whether head is Latin letters in UTF-16: every second byte is 0, and the others
// are not control bytes.
func isWide(head []byte) bool {
	head = head[:min(len(head), 512)&^1]
	zeros, odd := [2]int{}, [2]int{}
	for i, c := range head {
		switch {
		case c == 0:
			zeros[i%2]++
		case isBinary(rune(c)):
			odd[i%2]++
		}
	}
	is := func(zero, letter int) bool { return zeros[letter]+odd[letter] == 0 && 4*zeros[zero] >= len(head) }
	return len(head) >= 8 && (is(0, 1) || is(1, 0))
}

// isPackets reports whether the head is a list of at least three protocol buffers messages with
// field number 1.
func isPackets(head []byte) bool {
	n := 0
	for len(head) > 0 {
		if head[0] != 0x0a {
			return false
		}
		size, k := binary.Uvarint(head[1:])
		if k <= 0 || size == 0 {
			return false
		}
		if n++; size > uint64(len(head)-1-k) { // it continues after the head
			break
		}
		head = head[1+k+int(size):]
	}
	return n >= 3
}

const modelHint = "Open the model's config.json, or record a profile of a training step."

// jsonKinds lists common kinds of JSON, each by the keys that its head has. The first kind that
// matches counts.
var jsonKinds = []kind{
	{"schema nodes",
		"This is an execution trace of PyTorch: its operators have neither times nor sizes of memory", traceHint},
	{"nodes callFrame", "This looks like a CPU profile of V8 (Chrome, Node.js)", traceHint},
	{"device_traces", "This looks like a memory snapshot written as JSON",
		"Write it with torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")."},
	{"traceEvents", "This looks like a Chrome trace (as torch.profiler writes)", collectHint},
	{"ph ts", "This looks like a Chrome trace (as torch.profiler writes)", collectHint},
	{"weight_map", "This looks like the index of a checkpoint: names of weights", modelHint},
	{"peft_type", "This looks like the config of an adapter (PEFT): it names only what it adds to a model",
		"Open the config.json of the model that it adapts, or record a profile of a training step."},
	{"_diffusers_version", "This looks like the config of a Diffusers model, which is no transformer alone",
		"Measure the network with the collector."},
	{"zero_optimization", "This looks like settings of DeepSpeed", modelHint},
	{"log_history", "This looks like the log of a Hugging Face Trainer", modelHint},
	{"hidden_size", "This looks like a Hugging Face config.json", configHint},
	{"num_hidden_layers", "This looks like a Hugging Face config.json", configHint},
	{"n_embd", "This looks like a Hugging Face config.json", configHint},
	{"added_tokens", "This looks like a tokenizer", modelHint},
	{"tokenizer_class", "This looks like settings of a tokenizer", modelHint},
	{"image_mean", "This looks like settings of a preprocessor of images", modelHint},
	{"feature_extractor_type", "This looks like settings of a preprocessor", modelHint},
	{"eos_token_id bos_token_id", "This looks like settings of text generation (generation_config.json)",
		modelHint},
	{"keras_version", "This looks like a Keras model",
		"Export the model as ONNX, or record a profile of a training step."},
	{"stages", `This looks like a profile without "format": "memtide/1"`, formatHint},
	{"forward_s", `This looks like a profile without "format": "memtide/1"`, formatHint},
	{"cells nbformat", "This looks like a Jupyter notebook", collectHint},
}

const (
	configHint = "Add its model_type and the number of its layers, or choose the preset of a transformer."
	formatHint = `Add "format": "memtide/1" to the outer object.`
)

func looksLikeJSON(head []byte) (what, remedy string) {
	trimmed := bytes.TrimSpace(head)
	if bytes.HasPrefix(trimmed, []byte("[[")) {
		return "This looks like a memory timeline (export_memory_timeline)",
			"Export the trace of torch.profiler instead: export_chrome_trace, with profile_memory=True."
	}
	lacks := func(key string) bool { return !bytes.Contains(head, []byte(`"`+key+`"`)) }
	for _, k := range jsonKinds {
		if !slices.ContainsFunc(strings.Fields(k.mark), lacks) {
			return k.what, k.remedy
		}
	}
	if first, rest, ok := bytes.Cut(trimmed, []byte("\n")); ok && json.Valid(first) && len(rest) > 0 && rest[0] == '{' {
		return "This is JSON line by line (a log?)", collectHint
	}
	return `This is JSON without "format": "memtide/1"`,
		`If it is a profile, add "format": "memtide/1" to the outer object.`
}

const fullHint = "It tells how full the memory was, not what filled it. " + memoryHint

// textKinds lists common kinds of text, each by a part of its head.
var textKinds = []kind{
	{"NVIDIA-SMI", "This looks like what nvidia-smi prints", fullHint},
	{"memory.used", "This looks like a log of nvidia-smi", fullHint},
	{"utilization.gpu", "This looks like a log of nvidia-smi", fullHint},
	{"PyTorch CUDA memory summary", "This looks like what torch.cuda.memory_summary prints", fullHint},
	{"CUDA out of memory", "This looks like the message of a run that ran out of memory", memoryHint},
	{"Self CPU %", "This looks like the table of torch.profiler (key_averages)", traceHint},
}

func looksLikeText(head []byte) (what, remedy string) {
	for _, k := range textKinds {
		if bytes.Contains(head, []byte(k.mark)) {
			return k.what, k.remedy
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(head)), "\n")
	first = strings.TrimSpace(first)
	switch {
	case strings.Contains(first, "forward_s") && strings.Contains(first, "|"):
		return fmt.Sprintf("This looks like a table whose first line is %q", profiles.Clip(first)),
			"Separate its columns by commas, semicolons or tabs."
	case strings.Count(first, ";") > 1 && parse.AllDigits(first[strings.LastIndexByte(first, ' ')+1:]):
		return "This looks like stacks with their times (export_stacks)", traceHint
	case len(strings.Split(first, ",")) > 2:
		return fmt.Sprintf("This looks like a table whose first line is %q", profiles.Clip(first)),
			"Give it a header line with at least forward_s, backward_s and output_bytes, or with id, lower, upper and size."
	case isYAML(string(head)):
		return "This looks like YAML: settings of a run", "Settings tell neither times nor sizes. " + collectHint
	}
	return fmt.Sprintf("This is text that begins with %q", profiles.Clip(first)), collectHint
}

// isYAML reports whether the first lines of a text, at most three, are keys with values.
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
