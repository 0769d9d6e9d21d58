//go:build !js

package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"

	"memtide/cmd/cli"
)

// singleName is the page in one file: for mail, for an archive, for a machine
// without a network. The page saves a copy of it with a link baked in.
const singleName = "memtide.html"

// single is the page with everything in it. Scripts that the browser runs from
// the text are allowed by their hashes; the workers' script and the charts are
// text until boot.js makes blobs of them, and so is the program.
func (s *site) single() {
	read := func(name string) []byte { return cli.Must(os.ReadFile(filepath.Join(s.dir, name))) }
	style, script := read(s.Style), read(s.Script)
	icon := s.static("icon.svg")
	for name, text := range map[string][]byte{s.Script: script, s.Worker: read(s.Worker), s.Charts: read(s.Charts)} {
		if bytes.Contains(bytes.ToLower(text), []byte("</script")) || bytes.Contains(text, []byte("<!--")) {
			cli.Fail("%s contains the end of a script element or the start of a comment, so it cannot stand in a page", name)
		}
	}
	page := read("index.html")
	var b strings.Builder
	for _, cut := range []struct{ from, to, put string }{
		{`content="`, `"`, singlePolicy(style, script)},
		{`<link rel="icon"`, ">", `<link rel="icon" href="data:image/svg+xml;base64,` +
			base64.StdEncoding.EncodeToString(icon[0]) + `">`},
		{`<link rel="apple-touch-icon"`, ">", ""},
		{`<link rel="manifest"`, ">", ""},
		{`<script data-wasm`, "</script>", ""}, // there is nothing to load
		{`<link rel="stylesheet"`, ">", "<style>" + string(style) + "</style>"},
		{`<script defer`, "</script>", ""},
		{"</body>", "", inline("worker", read(s.Worker)) + inline("charts", read(s.Charts)) +
			inline("wasm", []byte(base64.StdEncoding.EncodeToString(squeezeGzip(read(s.Wasm))))) +
			inline("second", []byte(base64.StdEncoding.EncodeToString(squeezeGzip(read(s.Second))))) +
			fmt.Sprintf(`<script data-wasm="#wasm" data-second="#second" data-size="%d" data-worker="#worker" data-charts="#charts">%s</script>`+"\n</body>", s.WasmSize, script)},
	} {
		before, after, ok := bytes.Cut(page, []byte(cut.from))
		if ok && cut.to != "" {
			_, after, ok = bytes.Cut(after, []byte(cut.to))
		}
		if !ok {
			cli.Fail("index.html has no %s%s in the expected place", cut.from, cut.to)
		}
		b.Write(before)
		if cut.from == `content="` {
			b.WriteString(cut.from + html.EscapeString(cut.put) + cut.to)
		} else {
			b.WriteString(cut.put)
		}
		page = after
	}
	b.Write(page)
	s.put(singleName, []byte(b.String()))
}

// inline returns a text that boot.js finds by its id.
func inline(id string, text []byte) string {
	return fmt.Sprintf("<script type=\"text/plain\" id=%q>%s</script>\n", id, text)
}

// singlePolicy forbids every connection: the file needs none.
func singlePolicy(style, script []byte) string {
	return strings.Join([]string{
		"default-src 'none'",
		"script-src " + sourceHash(script) + " blob: 'wasm-unsafe-eval'",
		"style-src " + sourceHash(style),
		"style-src-attr 'unsafe-inline'",
		"img-src data: blob:",
		"worker-src blob:",
		"base-uri 'none'",
		"form-action 'none'",
	}, "; ")
}
