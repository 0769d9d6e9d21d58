//go:build !js

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"memtide/profiles"
	_ "memtide/profiles/formats/all"
)

// components is the package whose *_gen.go files come from .vugu files.
const components = "web/ui"

// errStale says that the components have changed, and with them this command,
// which draws the first picture with them.
var errStale = errors.New("the components have been regenerated")

// generate regenerates the components. The files are committed, so that the
// module builds without this step. It returns errStale if any has changed.
//
// The generator works on a copy, and files that changed are put in place one by
// one: two builds at a time do not see each other's half-written components.
func (s *site) generate() error {
	tmp, err := os.MkdirTemp("", "memtide-ui-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(s.root, components)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); !strings.HasSuffix(name, generatedEnd) && !strings.HasSuffix(name, "_test.go") && !e.IsDir() {
			if err := copyFile(filepath.Join(tmp, name), filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	if err := s.vugugen(tmp); err != nil {
		return err
	}
	made, err := filepath.Glob(filepath.Join(tmp, "*"+generatedEnd))
	if err != nil {
		return err
	}
	if len(made) == 0 {
		return errors.New("vugugen has made no components")
	}
	var stale error
	for _, file := range made {
		changed, err := replace(filepath.Join(dir, filepath.Base(file)), file)
		if err != nil {
			return err
		}
		if changed {
			stale = errStale
		}
	}
	return stale
}

const generatedEnd = "_gen.go"

func copyFile(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}

// replace puts a file in the place of another if their contents differ.
func replace(to, from string) (changed bool, err error) {
	b, err := os.ReadFile(from)
	if err != nil {
		return false, err
	}
	if old, err := os.ReadFile(to); err == nil && bytes.Equal(old, b) {
		return false, nil
	}
	next := fmt.Sprintf("%s.%d.tmp", to, os.Getpid())
	if err := os.WriteFile(next, b, 0o644); err != nil {
		return false, err
	}
	return true, os.Rename(next, to)
}

func (s *site) vugugen(dir string) error {
	goroot, err := run(s.root, nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	// vugugen calls gofmt.
	path := "PATH=" + filepath.Join(goroot, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	_, err = run(s.root, []string{path}, "go", "tool", "vugugen", "-skip-go-mod", "-skip-main", dir)
	return err
}

// inlining makes the program 9 % smaller: functions are inlined only where that
// is worth the bytes, in what computes, in what draws many slices, and in the
// runtime. Of several patterns that match a package the last one rules.
var inlining = []string{
	"-gcflags=all=-l",
	"-gcflags=memtide/engine=",
	"-gcflags=memtide/engine/sim=",
	"-gcflags=memtide/engine/check=",
	"-gcflags=memtide/engine/bound=",
	"-gcflags=memtide/engine/remat=",
	"-gcflags=memtide/engine/offload=",
	"-gcflags=memtide/engine/combined=",
	"-gcflags=memtide/web/draw=",
	"-gcflags=runtime=",
	"-gcflags=internal/runtime/...=",
	"-gcflags=internal/bytealg=",
	"-gcflags=math/bits=",
}

// programs are ./wasm/page, one binary for the page and its workers, and the reader of
// files, which is loaded when it is needed.
var programs = [2]string{"./wasm/page", "./wasm/reader"}

// program compiles the programs.
func (s *site) program() error {
	data, err := s.compile(programs[0])
	if err != nil {
		return err
	}
	s.WasmSize = len(data)
	if s.Wasm, err = s.putHashed("app", ".wasm", data); err != nil {
		return err
	}
	if data, err = s.compile(programs[1]); err != nil {
		return err
	}
	s.Reader, err = s.putHashed("reader", ".wasm", data)
	return err
}

// compile makes a program for the browser. Where Go is another version, whose
// library does not take other files in the places of its own, it is made without.
func (s *site) compile(pkg string) ([]byte, error) {
	tmp, err := os.MkdirTemp("", "memtide-build-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	file := filepath.Join(tmp, "program.wasm")
	goroot, err := run(s.root, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	parts, err := compactComponents(s.root)
	if err != nil {
		return nil, err
	}
	list, err := overlay(goroot, tmp, parts)
	if err == nil {
		err = s.compileTo(file, pkg, "-overlay="+list)
	}
	if err != nil {
		if plain := s.compileTo(file, pkg); plain != nil {
			return nil, plain
		}
		fmt.Fprintf(os.Stderr, "build: %s is larger than it could be: %v\n", pkg, err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return shrink(data)
}

func (s *site) compileTo(file, pkg string, flags ...string) error {
	// The page reads one format itself, but its file picker offers all.
	endings := "-X memtide/profiles.linked=" + strings.Join(profiles.Extensions(), ",")
	args := []string{"build", "-trimpath", "-ldflags=-s -w " + endings, "-o", file,
		"-buildvcs=false"} // otherwise the name would change with every commit
	args = append(append(append(args, inlining...), flags...), pkg)
	_, err := run(s.root, []string{"GOOS=js", "GOARCH=wasm"}, "go", args...)
	return err
}
