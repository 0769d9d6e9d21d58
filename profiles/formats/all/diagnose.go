package all

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"memtide/profiles"
)

func init() { profiles.RegisterDiagnosis(diagnose) }

// diagnose says what content looks like where that can be told, and what is read.
func diagnose(head []byte) *profiles.FormatError {
	found, remedy := looksLike(head)
	var titles []string
	for _, f := range profiles.Formats() {
		titles = append(titles, f.Title)
	}
	return &profiles.FormatError{Found: found, Expected: "Read are: " + strings.Join(titles, "; ") + ".", Remedy: remedy}
}

// signature is how a kind of file begins.
type signature struct{ prefix, what string }

// signatures are files that people have at hand and that are no profiles.
var signatures = []signature{
	{"\x89PNG\r\n", "a PNG image"},
	{"\xff\xd8\xff", "a JPEG image"},
	{"GIF8", "a GIF image"},
	{"RIFF", "a WebP image or another RIFF file"},
	{"BM", "a BMP image"},
	{"<svg", "an SVG image"},
	{"%PDF-", "a PDF document"},
	{"PK\x03\x04", "a zip archive (a PyTorch checkpoint, .npz or a spreadsheet)"},
	{"version https://git-lfs", "a Git LFS pointer: the file itself is elsewhere"},
	{"\x89HDF\r\n", "an HDF5 file"},
	{"SQLite format 3\x00", "an SQLite database (an Nsight Systems export?)"},
	{"\x7fELF", "a program"},
	{"\x00asm", "a WebAssembly module"},
	{"\x1f\x8b", "gzip data inside gzip data"},
	{"\x28\xb5\x2f\xfd", "zstd data"},
	{"\xfd7zXZ", "xz data"},
	{"BZh", "bzip2 data"},
	{"\xff\xfe", "UTF-16 text"},
	{"\xfe\xff", "UTF-16 text"},
	{"<!doctype html", "a web page"},
	{"<html", "a web page"},
	{"digraph", "a Graphviz graph"},
	{"import ", "a Python program"},
	{"from ", "a Python program"},
}

const recordHint = "Record a profile of a training step: weights tell neither times nor activations."

const collectHint = "Save the profile as a memtide/1 file, for example with the collector."

// looksLike names what a head belongs to and says what to do with it.
func looksLike(head []byte) (what, remedy string) {
	trimmed := bytes.TrimSpace(head)
	text := strings.ToLower(string(trimmed[:min(len(trimmed), 64)]))
	if text == "" {
		return "The content is empty", "Choose a file that has content; the download may have failed."
	}
	for _, s := range signatures {
		isText := s.prefix[0] < 0x7f // then case and leading space do not matter
		if bytes.HasPrefix(head, []byte(s.prefix)) || isText && strings.HasPrefix(text, strings.ToLower(s.prefix)) {
			what = "This looks like " + s.what
			switch {
			case s.what == "UTF-16 text":
				return what, "Save it again as UTF-8 text."
			case strings.HasPrefix(s.what, "a Git LFS"):
				return what, "Fetch the file with git lfs pull, or download it from the page of the repository."
			case strings.HasPrefix(s.what, "a zip") && bytes.Contains(head, []byte("data.pkl")):
				return "This looks like a checkpoint of weights (torch.save)", recordHint
			}
			return what, collectHint
		}
	}
	switch {
	case head[0] == 0x08 && bytes.Contains(head[:min(len(head), 256)], []byte("onnx")):
		return "This looks like an ONNX model without its graph", "Copy, download or export the model again."
	case len(head) > 9 && head[8] == '{' && bytes.Contains(head[:min(len(head), 4096)], []byte(`"data_offsets"`)):
		return "This looks like a safetensors file: weights", recordHint
	case !utf8.Valid(head[:validEnd(head)]) || bytes.IndexByte(head, 0) >= 0:
		return "This is binary data of an unknown kind", collectHint
	case text[0] == '{' || text[0] == '[':
		return looksLikeJSON(head)
	}
	return looksLikeText(head)
}

// validEnd is where to cut a head so that no rune is split.
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

func looksLikeJSON(head []byte) (what, remedy string) {
	has := func(key string) bool { return bytes.Contains(head, []byte(`"`+key+`"`)) }
	switch {
	case has("schema") && has("nodes"):
		return "This is an execution trace of PyTorch: its operators have neither times nor sizes of memory", "Export the trace of torch.profiler instead: export_chrome_trace."
	case bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("[[")):
		return "This looks like a memory timeline (export_memory_timeline)", "Export the trace of torch.profiler instead: export_chrome_trace, with profile_memory=True."
	case has("traceEvents") || has("ph") && has("ts"):
		return "This looks like a Chrome trace (as torch.profiler writes)", collectHint
	case has("hidden_size") || has("num_hidden_layers") || has("n_embd"):
		return "This looks like a Hugging Face config.json", "Add its model_type and the number of its layers, or choose the preset of a transformer."
	case has("stages") || has("forward_s"):
		return `This looks like a profile without "format": "memtide/1"`, `Add "format": "memtide/1" to the outer object.`
	case has("cells") && has("nbformat"):
		return "This looks like a Jupyter notebook", collectHint
	}
	return `This is JSON without "format": "memtide/1"`, `If it is a profile, add "format": "memtide/1" to the outer object.`
}

func looksLikeText(head []byte) (what, remedy string) {
	first, _, _ := strings.Cut(strings.TrimSpace(string(head)), "\n")
	first = strings.TrimSpace(first)
	if len(strings.Split(first, ",")) > 2 {
		return fmt.Sprintf("This looks like a table whose first line is %q", profiles.Clip(first)),
			"Give it a header line with at least forward_s, backward_s and output_bytes, or with id, lower, upper and size."
	}
	return fmt.Sprintf("This is text that begins with %q", profiles.Clip(first)), collectHint
}
