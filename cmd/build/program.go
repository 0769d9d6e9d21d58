//go:build !js

package main

import (
	"os"
	"path/filepath"
)

// components is the package whose *_gen.go files come from .vugu files.
const components = "web/ui"

// generate regenerates the components. The files are committed, so that the
// module builds without this step; that they are up to date is checked by
// comparing them before and after (make check).
func (s *site) generate() error {
	found, err := filepath.Glob(filepath.Join(s.root, components, "*.vugu"))
	if err != nil || len(found) == 0 {
		return err
	}
	goroot, err := run(s.root, nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	// vugugen calls gofmt.
	path := "PATH=" + filepath.Join(goroot, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	_, err = run(s.root, []string{path}, "go", "tool", "vugugen", "-skip-go-mod", "-skip-main", components)
	return err
}

// program compiles ./wasm: one binary for the page and its workers.
func (s *site) program() error {
	tmp, err := os.MkdirTemp("", "memtide-build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	file := filepath.Join(tmp, "app.wasm")
	// Without -buildvcs the name would change with every commit.
	_, err = run(s.root, []string{"GOOS=js", "GOARCH=wasm"}, "go", "build",
		"-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", file, "./wasm")
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	s.WasmSize = len(data)
	s.Wasm, err = s.putHashed("app", ".wasm", data)
	return err
}
