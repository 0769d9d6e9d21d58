//go:build !js

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

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
func (s *site) scripts() error {
	goroot, err := run(s.root, nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	wasmExec, err := os.ReadFile(filepath.Join(goroot, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return fmt.Errorf("the script of the Go installation is not where it is expected: %w", err)
	}
	own, err := s.static(pageScripts)
	if err != nil {
		return err
	}
	page, err := small("page.js", joinScripts(append([][]byte{wasmExec}, own...)))
	if err != nil {
		return err
	}
	if s.Script, err = s.putHashed("page", ".js", page); err != nil {
		return err
	}
	workers, err := s.static([]string{"worker.js", "start.js"})
	if err != nil {
		return err
	}
	worker, err := small("worker.js", joinScripts([][]byte{wasmExec, workers[0]}))
	if err != nil {
		return err
	}
	if s.Worker, err = s.putHashed("worker", ".js", worker); err != nil {
		return err
	}
	start, err := small("start.js", workers[1])
	if err != nil {
		return err
	}
	s.Start = string(bytes.TrimSpace(start))
	sheets, err := s.static(styles)
	if err != nil {
		return err
	}
	sheets = append(sheets, []byte(display.CSS())) // of the prepared pictures
	style, err := small("style.css", bytes.Join(sheets, []byte("\n")))
	if err != nil {
		return err
	}
	if s.Style, err = s.putHashed("style", ".css", style); err != nil {
		return err
	}
	// Under a fixed name, because other sites name it.
	view, err := s.static([]string{"view.js"})
	if err != nil {
		return err
	}
	element, err := small("view.js", view[0])
	if err != nil {
		return err
	}
	if err := s.put("view.js", element); err != nil {
		return err
	}
	// The documentation looks like the page. It has no script that makes it light
	// before it is printed, so its dark colours are for screens alone.
	sheet, err := s.static([]string{"style.css", "docs.css"})
	if err != nil {
		return err
	}
	colours := strings.ReplaceAll(display.CSS(), "@media (prefers-color-scheme:dark)", "@media screen and (prefers-color-scheme:dark)")
	s.DocsStyle, err = s.putHashed("docs", ".css", bytes.Join(append(sheet, []byte(colours)), []byte("\n")))
	return err
}

func (s *site) static(names []string) ([][]byte, error) {
	var out [][]byte
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(s.root, "web", "static", name))
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// small is a script or a style sheet without what only people read.
func small(name string, text []byte) ([]byte, error) {
	loader := api.LoaderJS
	if filepath.Ext(name) == ".css" {
		loader = api.LoaderCSS
	}
	out := api.Transform(string(text), api.TransformOptions{Loader: loader, MinifyWhitespace: true, MinifySyntax: true, MinifyIdentifiers: true})
	if len(out.Errors) > 0 {
		return nil, fmt.Errorf("%s: %s", name, out.Errors[0].Text)
	}
	return out.Code, nil
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
