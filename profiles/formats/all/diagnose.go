package all

import (
	"bytes"
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

// signature is how a kind of file begins, and what to do with it.
type signature struct{ prefix, what, remedy string }

const (
	recordHint  = "Record a profile of a training step: weights tell neither times nor activations."
	collectHint = "Save the profile as a memtide/1 file, for example with the collector."
	unpackHint  = "Unpack it, and open the profile that is in it."
	traceHint   = "Export the trace of torch.profiler instead: export_chrome_trace."
	memoryHint  = "Record a memory snapshot: torch.cuda.memory._record_memory_history(), and after the step torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")."
	againHint   = "Save it again as UTF-8 text."
)

// signatures are files that people have at hand and that are no profiles.
var signatures = []signature{
	{"\x89PNG\r\n", "a PNG image", collectHint},
	{"\xff\xd8\xff", "a JPEG image", collectHint},
	{"GIF8", "a GIF image", collectHint},
	{"RIFF", "a WebP image or another RIFF file", collectHint},
	{"BM", "a BMP image", collectHint},
	{"<svg", "an SVG image", collectHint},
	{"%PDF-", "a PDF document", collectHint},
	{"PK\x03\x04", "a zip archive (a PyTorch checkpoint, .npz or a spreadsheet)", "If a profile is in it, unpack it and open that. Of a spreadsheet, save the table as CSV."},
	{"7z\xbc\xaf", "a 7-Zip archive", unpackHint},
	{"version https://git-lfs", "a Git LFS pointer: the file itself is elsewhere", "Fetch the file with git lfs pull, or download it from the page of the repository."},
	{"\x89HDF\r\n", "an HDF5 file", recordHint},
	{"GGUF", "a GGUF file: weights", recordHint},
	{"\x93NUMPY", "a NumPy array", "Write the numbers as JSON or CSV, one row per layer with forward_s, backward_s and output_bytes."},
	{"SQLite format 3\x00", "an SQLite database (an Nsight Systems export?)", "Record the step with torch.profiler, and export_chrome_trace."},
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
}

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
			if strings.HasPrefix(s.what, "a zip") && bytes.Contains(head, []byte("data.pkl")) {
				return "This looks like a checkpoint of weights (torch.save)", recordHint
			}
			return "This looks like " + s.what, s.remedy
		}
	}
	if what, remedy, ok := looksLikePickle(head); ok {
		return what, remedy
	}
	switch {
	case !utf8.Valid(head[:validEnd(head)]) || bytes.IndexFunc(head, isBinary) >= 0:
		return looksLikeBinary(head)
	case text[0] == '{' || text[0] == '[':
		return looksLikeJSON(head)
	}
	return looksLikeText(head)
}

// isBinary says whether a character is in no text, not even in what a terminal shows.
func isBinary(c rune) bool { return c < ' ' && !strings.ContainsRune("\b\t\n\v\f\r\x1b", c) }

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
