package all

import (
	"bytes"
	"cmp"
	_ "embed" // kinds.txt
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"memtide/profiles"
	"memtide/profiles/parse"
)

func init() { profiles.RegisterDiagnosis(diagnose) }

// diagnose returns the error for content that no format claims: what the content looks like, and
// the formats that are read of JSON, of text or of binary data, whichever it is.
func diagnose(head []byte) *profiles.FormatError {
	found, remedy := looksLike(head)
	sort, ends := "Text", []string{".csv", ".txt", ".log"}
	switch text := bytes.TrimSpace(head); {
	case isBinaryHead(head):
		sort, ends = "Binary", []string{".onnx", ".pickle", ".pt2"}
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		sort, ends = "JSON", []string{".json"}
	}
	var titles []string
	for _, f := range profiles.Formats() {
		if slices.ContainsFunc(ends, func(end string) bool { return slices.Contains(f.Extensions, end) }) {
			titles = append(titles, f.Title)
		}
	}
	return &profiles.FormatError{Found: found, Remedy: remedy,
		Expected: sort + " formats that can be read: " + strings.Join(titles, "; ") + "."}
}

// isBinaryHead reports whether head is binary data.
func isBinaryHead(head []byte) bool {
	return !utf8.Valid(head[:validEnd(head)]) || bytes.IndexFunc(head, isBinary) >= 0
}

// kind is a kind of file. mark is its first bytes, a part of its head, or keys in its head.
type kind struct{ mark, what, remedy string }

// kindTable lists what to do, by name, and below empty lines common files that are not profiles, a file on each line:
// its mark, what it is, and what to do, by name or in full. The first part has binary files and programs by their
// first bytes, the second JSON by keys in its head, and the third text by a part of its head. In each the first one
// that matches counts.
//
//go:embed kinds.txt
var kindTable string

var kinds = sync.OnceValue(func() (k struct {
	hints                  map[string]string
	signatures, json, text []kind
}) {
	parts := strings.Split(strings.TrimSpace(kindTable), "\n\n")
	k.hints = map[string]string{}
	for line := range strings.SplitSeq(parts[0], "\n") {
		name, text, _ := strings.Cut(line, " | ")
		k.hints[name] = text
	}
	read := func(part string) (out []kind) {
		for line := range strings.SplitSeq(part, "\n") {
			cells := strings.Split(line, " | ")
			if mark, err := strconv.Unquote(cells[0]); err == nil {
				cells[0] = mark
			}
			out = append(out, kind{cells[0], cells[1], cmp.Or(k.hints[cells[2]], cells[2])})
		}
		return out
	}
	k.signatures, k.json, k.text = read(parts[1]), read(parts[2]), read(parts[3])
	return k
})

// looksLike returns what a file with this head is, and what to do with it.
func looksLike(head []byte) (what, remedy string) {
	trimmed := bytes.TrimSpace(head)
	text := strings.ToLower(string(trimmed[:min(len(trimmed), 64)]))
	if text == "" {
		return "The content is empty", "Choose a file that has content; the download may have failed."
	}
	for _, s := range kinds().signatures {
		isText := s.mark[0] < 0x7f // then case and leading space do not matter
		if bytes.HasPrefix(head, []byte(s.mark)) || isText && strings.HasPrefix(text, strings.ToLower(s.mark)) {
			if strings.HasPrefix(s.what, "a zip") && bytes.Contains(head, []byte("data.pkl")) {
				return "This looks like a checkpoint of weights (torch.save)", hint("record")
			}
			return "This looks like " + s.what, s.remedy
		}
	}
	switch {
	case isBinaryHead(head):
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
		return "This looks like a safetensors file: weights", hint("record")
	case has("brain.Event:", 12, 64):
		return "This looks like an event file of TensorBoard",
			"Open the trace that its profiler wrote beside it (.pt.trace.json), or record one."
	case has("TFL3", 4, 8):
		return "This looks like a TensorFlow Lite model",
			"Export the model as ONNX, or record a profile of a training step."
	case has("ustar", 257, 263):
		return "This looks like a tar archive", hint("unpack")
	case isWide(head):
		return "This looks like UTF-16 text", hint("again")
	case bytes.HasPrefix(head, []byte("\x0a\x04\x08")) && head[min(len(head)-1, 4)] == 0x10:
		return "This looks like a pprof profile", hint("trace")
	case isPackets(head):
		return "This looks like a Perfetto trace", "Export the trace of torch.profiler as JSON: export_chrome_trace."
	}
	return "This is binary data of an unknown kind", hint("collect")
}

// isWide reports whether head is Latin letters in UTF-16: every second byte is 0, and the others are not control bytes.
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

// isPackets reports whether the head is a list of at least three protocol buffers messages with field number 1.
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

// hint returns what to do by its name in kindTable.
func hint(name string) string { return kinds().hints[name] }

func looksLikeJSON(head []byte) (what, remedy string) {
	trimmed := bytes.TrimSpace(head)
	if bytes.HasPrefix(trimmed, []byte("[[")) {
		return "This looks like a memory timeline (export_memory_timeline)",
			"Export the trace of torch.profiler instead: export_chrome_trace, with profile_memory=True."
	}
	lacks := func(key string) bool { return !bytes.Contains(head, []byte(`"`+key+`"`)) }
	for _, k := range kinds().json {
		if !slices.ContainsFunc(strings.Fields(k.mark), lacks) {
			return k.what, k.remedy
		}
	}
	if first, rest, ok := bytes.Cut(trimmed, []byte("\n")); ok && json.Valid(first) && len(rest) > 0 && rest[0] == '{' {
		return "This is JSON line by line (a log?)", hint("collect")
	}
	if len(head) < profiles.HeadSize && !json.Valid(trimmed) {
		return "This begins as JSON, but is damaged or ends too early", "Copy, download or write the file again."
	}
	return `This is JSON without "format": "memtide/1"`,
		`If it is a profile, add "format": "memtide/1" to the outer object.`
}

func looksLikeText(head []byte) (what, remedy string) {
	for _, k := range kinds().text {
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
		return "This looks like stacks with their times (export_stacks)", hint("trace")
	case max(strings.Count(first, ","), strings.Count(first, ";"), strings.Count(first, "\t")) > 1:
		return fmt.Sprintf("This looks like a table whose first line is %q", profiles.Clip(first)),
			"Give it a header line with at least forward_s, backward_s and output_bytes, or with id, lower, upper and size."
	case isYAML(string(head)):
		return "This looks like YAML: settings of a run", "Settings tell neither times nor sizes. " + hint("collect")
	}
	return fmt.Sprintf("This is text that begins with %q", profiles.Clip(first)), hint("collect")
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
