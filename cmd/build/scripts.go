//go:build !js

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"memtide/cmd/cli"
	"memtide/web/display"
)

// pageScripts are the page's own scripts in the order in which they run, after
// Go's script. boot.js starts the program, so it is the last.
var (
	pageScripts = []string{"dom.js", "paint.js", "boot.js"}
	styles      = []string{"shell.css", "style.css"}
)

// scripts joins the page's scripts to one, the workers' to another, and the
// style sheets to a third.
func (s *site) scripts() {
	wasmExec, err := os.ReadFile(filepath.Join(goroot(), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		cli.Fail("the script of the Go installation is not where it is expected: %w", err)
	}
	page := slices.Concat([][]byte{wasmExec}, s.static(pageScripts...), s.extra)
	s.Script = s.putHashed("page", ".js", small("page.js", joinScripts(page)))
	s.PuzzleScript = s.putHashed("puzzle", ".js",
		small("puzzle.js", joinScripts([][]byte{wasmExec, s.static("puzzle.js")[0]})))
	workers := s.static("worker.js", "start.js")
	s.Worker = s.putHashed("worker", ".js", small("worker.js", joinScripts([][]byte{wasmExec, workers[0]})))
	s.Start = string(bytes.TrimSpace(small("start.js", workers[1])))
	sheets := append(s.static(styles...), []byte(display.CSS())) // of the prepared pictures
	s.Style = s.putHashed("style", ".css", small("style.css", bytes.Join(sheets, []byte("\n"))))
	// Under a fixed name, because other sites name it.
	s.put("view.js", small("view.js", s.static("view.js")[0]))
	// The documentation looks like the page. It has no script that makes it light
	// before it is printed, so its dark colours are for screens alone.
	colours := strings.ReplaceAll(display.CSS(), "@media (prefers-color-scheme:dark)",
		"@media screen and (prefers-color-scheme:dark)")
	sheets = append(s.static("style.css", "docs.css"), []byte(colours))
	s.DocsStyle = s.putHashed("docs", ".css", bytes.Join(sheets, []byte("\n")))
}

// static are files of web/static.
func (s *site) static(names ...string) (out [][]byte) {
	for _, name := range names {
		out = append(out, s.read("web", "static", name))
	}
	return out
}

// small returns a script or a style sheet without what only people read.
func small(name string, text []byte) []byte {
	loader := api.LoaderJS
	if filepath.Ext(name) == ".css" {
		loader = api.LoaderCSS
	}
	out := api.Transform(string(text), api.TransformOptions{Loader: loader, MinifyWhitespace: true,
		MinifySyntax: true, MinifyIdentifiers: true})
	if len(out.Errors) > 0 {
		cli.Fail("%s: %s", name, out.Errors[0].Text)
	}
	return out.Code
}

// joinScripts puts classic scripts into one, each in a block of its own: a
// "use strict" at the head of one does not reach the others, and constants do
// not collide.
func joinScripts(scripts [][]byte) []byte {
	var b bytes.Buffer
	for _, script := range scripts {
		b.WriteString("{\n")
		b.Write(bytes.TrimSpace(script))
		b.WriteString("\n}\n")
	}
	return b.Bytes()
}
