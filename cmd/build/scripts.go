//go:build !js

package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"

	"github.com/evanw/esbuild/pkg/api"

	"memtide/web/draw"
)

// pageScripts are the page's own scripts in the order in which they run, after
// Vugu's helper and Go's script. boot.js starts the program, so it is the last.
var (
	pageScripts = []string{"eval-shim.js", "paint.js", "boot.js"}
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
	helper, err := vuguHelper(s.root)
	if err != nil {
		return err
	}
	own, err := s.static(pageScripts)
	if err != nil {
		return err
	}
	page := joinScripts(append([][]byte{helper, wasmExec}, own...))
	if s.Script, err = s.putHashed("page", ".js", page); err != nil {
		return err
	}
	worker, err := s.static([]string{"worker.js"})
	if err != nil {
		return err
	}
	if s.Worker, err = s.putHashed("worker", ".js", joinScripts(append([][]byte{wasmExec}, worker...))); err != nil {
		return err
	}
	sheets, err := s.static(styles)
	if err != nil {
		return err
	}
	sheets = append(sheets, []byte(draw.CSS())) // of the prepared pictures
	s.Style, err = s.putHashed("style", ".css", bytes.Join(sheets, []byte("\n")))
	if err != nil {
		return err
	}
	// Under a fixed name, because other sites name it.
	view, err := s.static([]string{"view.js"})
	if err != nil {
		return err
	}
	small := api.Transform(string(view[0]), api.TransformOptions{MinifyWhitespace: true, MinifySyntax: true, MinifyIdentifiers: true})
	if len(small.Errors) > 0 {
		return fmt.Errorf("view.js: %s", small.Errors[0].Text)
	}
	if err := s.put("view.js", small.Code); err != nil {
		return err
	}
	// The documentation looks like the page.
	sheet, err := s.static([]string{"style.css", "docs.css"})
	if err != nil {
		return err
	}
	s.DocsStyle, err = s.putHashed("docs", ".css", bytes.Join(append(sheet, []byte(draw.CSS())), []byte("\n")))
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

// vuguHelper is the script that Vugu's renderer would evaluate: a string
// constant of its package domrender. A strict policy forbids evaluating, so the
// page loads it as a script (see web/static/eval-shim.js).
func vuguHelper(root string) ([]byte, error) {
	dir, err := run(root, nil, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/vugu/vugu")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "domrender", "renderer-js-script.go")
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		return nil, err
	}
	for _, decl := range parsed.Decls {
		g, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok || len(v.Values) != 1 || v.Names[0].Name != "jsHelperScript" {
				continue
			}
			lit, ok := v.Values[0].(*ast.BasicLit)
			if !ok {
				break
			}
			text, err := strconv.Unquote(lit.Value)
			return []byte(text), err
		}
	}
	return nil, fmt.Errorf("the string constant jsHelperScript is not in %s; this version of Vugu keeps it elsewhere: look for window.vuguRender in its package domrender", file)
}
