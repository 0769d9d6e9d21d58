package link

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"slices"
	"strings"
)

// Files that the page writes contain the link to what they show, and open it when they are dropped on the page:
//
//	SVG   <metadata id="memtide-link">ADDRESS</metadata>
//	PNG   a tEXt chunk with the keyword Memtide
//	JSON  {"memtide": {"link": "ADDRESS", ...}, ...}
//	HTML  <body data-link="FRAGMENT"> of the page in one file
//	.py   # memtide: ADDRESS, among the comments at the beginning of the file
//	CSV   # memtide: ADDRESS, in the last line, so that the first one is the head;
//	      commas are escaped, so that it is one cell
//
// An address may be only a fragment.

const (
	pngMagic   = "\x89PNG\r\n\x1a\n"
	pngKeyword = "Memtide"
	svgMark    = `id="memtide-link">`
	htmlMark   = ` data-link="`
	lineMark   = "# memtide: "
)

// escapes and unescape handle only the characters that need escaping in attributes and texts. The
// table of all entities of HTML would be as large as the rest of the package.
var (
	escapes  = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")
	unescape = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#34;", `"`, "&#39;", "'")
)

// Head and Tail are how many bytes of the two ends of a file InEnds searches.
const (
	Head = 1 << 20
	Tail = 1 << 17
)

// In returns the fragment of the link in a file; ok is false if it contains none.
func In(file []byte) (fragment string, ok bool) { return InEnds(file, file) }

// InEnds is In for a file of which only the beginning and the end are given.
func InEnds(head, tail []byte) (fragment string, ok bool) {
	if bytes.HasPrefix(head, []byte(pngMagic)) {
		fragment = inPNG(head[len(pngMagic):])
	} else if fragment = inText(head); fragment == "" {
		fragment = inLastLine(tail)
	}
	if i := strings.IndexByte(fragment, '#'); i >= 0 {
		fragment = fragment[i+1:]
	}
	return fragment, fragment != ""
}

func inPNG(b []byte) string {
	for len(b) >= 12 {
		n := uint64(binary.BigEndian.Uint32(b))
		if n > uint64(len(b)-12) {
			return ""
		}
		data := b[8 : 8+n]
		if value, ok := bytes.CutPrefix(data, []byte(pngKeyword+"\x00")); ok && string(b[4:8]) == "tEXt" {
			return string(value)
		}
		b = b[12+n:]
	}
	return ""
}

func inText(b []byte) string {
	start := bytes.TrimLeft(bytes.TrimPrefix(b[:min(len(b), Head)], []byte("\uFEFF")), " \t\r\n")
	if len(start) == 0 {
		return ""
	}
	head := start[:min(len(start), 4096)]
	switch {
	case start[0] == '{' && bytes.Contains(head, []byte(`"memtide"`)):
		return inJSON(start)
	case start[0] == '<' && bytes.Contains(head, []byte("<svg")):
		return between(start, svgMark, '<')
	case start[0] == '<' && bytes.Contains(start, []byte("<body")):
		_, body, _ := bytes.Cut(start, []byte("<body"))
		tag, _, _ := bytes.Cut(body, []byte(">"))
		return between(tag, htmlMark, '"')
	case start[0] == '#':
		return inComments(start)
	}
	return ""
}

// inComments returns the link in the comments at the beginning of a file.
func inComments(b []byte) string {
	for len(b) > 0 && b[0] == '#' {
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		if address, ok := bytes.CutPrefix(line, []byte(lineMark)); ok && whole {
			return string(bytes.TrimSpace(address))
		}
		b = rest
	}
	return ""
}

// inLastLine returns the link in the last line, which has to end with a newline. A spreadsheet
// that saved the table may have added commas or quotes to the line.
func inLastLine(b []byte) string {
	b, whole := bytes.CutSuffix(b[max(len(b)-Tail, 0):], []byte("\n"))
	b = bytes.TrimRight(b, ",; \t\r")
	line := bytes.Trim(b[bytes.LastIndexByte(b, '\n')+1:], `"`)
	if address, ok := bytes.CutPrefix(line, []byte(lineMark)); ok && whole {
		return string(bytes.TrimSpace(address))
	}
	return ""
}

// inJSON returns the link in the first member. The rest may be long, or missing.
func inJSON(b []byte) string {
	d := json.NewDecoder(bytes.NewReader(b))
	for _, want := range []json.Token{json.Delim('{'), "memtide"} {
		if got, err := d.Token(); err != nil || got != want {
			return ""
		}
	}
	var first struct{ Link string }
	if d.Decode(&first) != nil {
		return ""
	}
	return first.Link
}

// between returns the text between mark and end, unescaped.
func between(b []byte, mark string, end byte) string {
	_, rest, ok := bytes.Cut(b, []byte(mark))
	i := bytes.IndexByte(rest, end)
	if !ok || i < 0 {
		return ""
	}
	return strings.TrimSpace(unescape.Replace(string(rest[:i])))
}

// WithPNG returns a PNG file with an address added. It returns any other file unchanged.
func WithPNG(file []byte, address string) []byte {
	const header = len(pngMagic) + 25 // with the IHDR chunk, which has to be the first
	if len(file) < header || !bytes.HasPrefix(file, []byte(pngMagic)) {
		return file
	}
	data := []byte("tEXt" + pngKeyword + "\x00" + address)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)-4))
	chunk = append(chunk, data...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(data))
	return slices.Concat(file[:header], chunk, file[header:])
}

// WithJSON returns a JSON object with an address added as its first member. It returns any other file unchanged.
func WithJSON(file []byte, address string) []byte {
	rest, ok := bytes.CutPrefix(file, []byte("{"))
	var quoted bytes.Buffer
	e := json.NewEncoder(&quoted)
	e.SetEscapeHTML(false)
	if !ok || e.Encode(address) != nil {
		return file
	}
	sep := ",\n"
	if bytes.HasPrefix(bytes.TrimSpace(rest), []byte("}")) {
		sep = ""
	}
	return slices.Concat([]byte(`{"memtide":{"link":`), bytes.TrimSpace(quoted.Bytes()), []byte("}"+sep), rest)
}

// WithLastLine returns a CSV table with an address added as its last line.
func WithLastLine(table []byte, address string) []byte {
	return slices.Concat(table, []byte(lineMark+strings.ReplaceAll(address, ",", "%2C")+"\n"))
}

// WithHTML returns the page in one file with the fragment to open and the address of its site
// added; ok is false if the file is not that page.
func WithHTML(page []byte, site, fragment string) (out []byte, ok bool) {
	const body = "<body data-state="
	before, after, ok := bytes.Cut(page, []byte(body))
	if !ok {
		return nil, false
	}
	return slices.Concat(before,
		[]byte("<body"+htmlMark+escapes.Replace(fragment)+`" data-site="`+escapes.Replace(site)+`" data-state=`),
		after), true
}
