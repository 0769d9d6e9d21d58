package link

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"slices"
	"strings"
)

// Files that the page writes carry the link to what they show, and open it when
// they are dropped on the page again:
//
//	SVG   <metadata id="memtide-link">ADDRESS</metadata>
//	PNG   a tEXt chunk with the keyword Memtide
//	JSON  {"memtide": {"link": "ADDRESS", ...}, ...}
//	HTML  <body data-link="FRAGMENT"> of the page in one file
//
// An address may be a fragment alone.

const (
	pngMagic   = "\x89PNG\r\n\x1a\n"
	pngKeyword = "Memtide"
	svgMark    = `id="memtide-link">`
	htmlMark   = ` data-link="`
	searched   = 1 << 20 // where the link has to end
)

// The characters that are escaped in attributes and texts. The table of all
// entities of HTML would be as large as the rest of the package.
var (
	escapes  = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")
	unescape = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#34;", `"`, "&#39;", "'")
)

// Head is how much of a large file In needs, in bytes.
const Head = searched

// In is the fragment that a file carries, by its content; ok is false if it
// carries none.
func In(file []byte) (fragment string, ok bool) {
	switch {
	case bytes.HasPrefix(file, []byte(pngMagic)):
		fragment = inPNG(file[len(pngMagic):])
	default:
		fragment = inText(file)
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
	start := bytes.TrimLeft(bytes.TrimPrefix(b[:min(len(b), searched)], []byte("\uFEFF")), " \t\r\n")
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
	}
	return ""
}

// inJSON reads the first member only: the rest may be long, or not be here.
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

// between is the escaped text behind a mark, up to an end.
func between(b []byte, mark string, end byte) string {
	_, rest, ok := bytes.Cut(b, []byte(mark))
	i := bytes.IndexByte(rest, end)
	if !ok || i < 0 {
		return ""
	}
	return strings.TrimSpace(unescape.Replace(string(rest[:i])))
}

// WithPNG is a PNG file that carries an address; anything else stays what it is.
func WithPNG(file []byte, address string) []byte {
	const header = len(pngMagic) + 25 // the chunk that has to be the first
	if len(file) < header || !bytes.HasPrefix(file, []byte(pngMagic)) {
		return file
	}
	data := []byte("tEXt" + pngKeyword + "\x00" + address)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)-4))
	chunk = append(chunk, data...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(data))
	return slices.Concat(file[:header], chunk, file[header:])
}

// WithHTML is the page in one file, opening with a fragment and knowing the address
// of the site that it is from; ok is false if it is not that page.
func WithHTML(page []byte, site, fragment string) (out []byte, ok bool) {
	const body = "<body data-state="
	before, after, ok := bytes.Cut(page, []byte(body))
	if !ok {
		return nil, false
	}
	return slices.Concat(before, []byte("<body"+htmlMark+escapes.Replace(fragment)+`" data-site="`+escapes.Replace(site)+`" data-state=`), after), true
}
