//go:build !js

package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
)

// components is the package whose *_gen.go files come from .vugu files.
const components = "web/ui"

// errStale says that the components have changed, and with them this command,
// which draws the first picture with them.
var errStale = errors.New("the components have been regenerated")

// generate regenerates the components. The files are committed, so that the
// module builds without this step. It returns errStale if any has changed.
func (s *site) generate() error {
	before, err := s.generated()
	if err != nil {
		return err
	}
	if err := s.vugugen(); err != nil {
		return err
	}
	after, err := s.generated()
	if err == nil && !maps.Equal(before, after) {
		err = errStale
	}
	return err
}

// generated is the content of the generated files by name.
func (s *site) generated() (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(s.root, components, "*_gen.go"))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		out[filepath.Base(file)] = string(b)
	}
	return out, nil
}

func (s *site) vugugen() error {
	goroot, err := run(s.root, nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	// vugugen calls gofmt.
	path := "PATH=" + filepath.Join(goroot, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	_, err = run(s.root, []string{path}, "go", "tool", "vugugen", "-skip-go-mod", "-skip-main", components)
	return err
}

// inlining makes the program 8 % smaller: functions are inlined only where that
// is worth the bytes, in what computes, in what draws many slices, and in the
// runtime. Of several patterns that match a package the last one rules.
var inlining = []string{
	"-gcflags=all=-l",
	"-gcflags=memtide/engine/remat=",
	"-gcflags=memtide/engine/offload=",
	"-gcflags=memtide/engine/combined=",
	"-gcflags=memtide/web/draw=",
	"-gcflags=runtime=",
	"-gcflags=internal/runtime/...=",
	"-gcflags=internal/bytealg=",
	"-gcflags=math/bits=",
}

// program compiles ./wasm, one binary for the page and its workers, and the
// reader of files, which is loaded when it is needed.
func (s *site) program() error {
	data, err := s.compile("./wasm", "-tags=lean")
	if err != nil {
		return err
	}
	s.WasmSize = len(data)
	if s.Wasm, err = s.putHashed("app", ".wasm", data); err != nil {
		return err
	}
	if data, err = s.compile("./wasm/reader"); err != nil {
		return err
	}
	s.Reader, err = s.putHashed("reader", ".wasm", data)
	return err
}

// compile makes a program for the browser.
func (s *site) compile(pkg string, flags ...string) ([]byte, error) {
	tmp, err := os.MkdirTemp("", "memtide-build-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	file := filepath.Join(tmp, "program.wasm")
	args := []string{"build", "-trimpath", "-ldflags=-s -w", "-o", file,
		"-buildvcs=false"} // otherwise the name would change with every commit
	args = append(append(append(args, inlining...), flags...), pkg)
	if _, err := run(s.root, []string{"GOOS=js", "GOARCH=wasm"}, "go", args...); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return joinSegments(data)
}
