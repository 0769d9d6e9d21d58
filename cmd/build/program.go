//go:build !js

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memtide/cmd/wasmopt/passes"
	"memtide/profiles"
	_ "memtide/profiles/formats/all"
)

// components is the folder of packages whose *_gen.go files come from .vugu files.
const components = "web/ui"

// componentFolders are the folders that have .vugu files, in order.
func componentFolders(root string) (out []string, err error) {
	err = filepath.WalkDir(filepath.Join(root, components), func(path string, d fs.DirEntry, err error) error {
		if dir := filepath.Dir(path); err == nil && filepath.Ext(path) == ".vugu" && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
		return err
	})
	return out, err
}

// errStale says that the components have changed, and with them this command,
// which draws the first picture with them.
var errStale = errors.New("the components have been regenerated")

// generate regenerates the components. The files are committed, so that the
// module builds without this step. It returns errStale if any has changed.
//
// The generator works on a copy, and files that changed are put in place one by
// one: two builds at a time do not see each other's half-written components.
func (s *site) generate() error {
	folders, err := componentFolders(s.root)
	if err != nil {
		return err
	}
	var stale error
	for _, dir := range folders {
		switch err := s.generateIn(dir); {
		case errors.Is(err, errStale):
			stale = err
		case err != nil:
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	return stale
}

// generateIn does so in one folder.
func (s *site) generateIn(dir string) error {
	tmp, err := os.MkdirTemp("", "memtide-ui-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
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
// is worth the bytes, in what computes, in what reads and replays recordings, in what
// draws many slices, and in the runtime. Of several patterns that match a package the last one rules.
var inlining = []string{
	"-gcflags=all=-l",
	"-gcflags=memtide/engine=",
	"-gcflags=memtide/engine/sim=",
	"-gcflags=memtide/engine/check=",
	"-gcflags=memtide/engine/bound=",
	"-gcflags=memtide/engine/remat=",
	"-gcflags=memtide/engine/offload=",
	"-gcflags=memtide/engine/combined=",
	"-gcflags=memtide/engine/caching=",
	"-gcflags=memtide/profiles/doctor=",
	"-gcflags=memtide/profiles/formats/snapshot=",
	"-gcflags=encoding/binary=",
	"-gcflags=memtide/web/draw=",
	"-gcflags=memtide/web/display=",
	"-gcflags=memtide/web/lookup=",
	"-gcflags=runtime=",
	"-gcflags=internal/runtime/...=",
	"-gcflags=internal/bytealg=",
	"-gcflags=math/bits=",
}

// program is one of those that are in the site.
type program struct{ name, pkg string }

// programs are ./wasm/page, one binary for the page and its workers, and what most
// visits never need, which is loaded when it is asked for.
var programs = [2]program{{"app", "./wasm/page"}, {"second", "./wasm/second"}}

// program compiles the programs.
func (s *site) program() error {
	tmp, err := os.MkdirTemp("", "memtide-build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	goroot, err := run(s.root, nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	parts, err := compactComponents(s.root)
	if err != nil {
		return err
	}
	described, err := descriptions(s.root)
	if err != nil {
		return err
	}
	maps.Copy(parts, described)
	list, leftOut, err := overlay(goroot, tmp, parts)
	if err != nil {
		return err
	}
	for _, err := range leftOut {
		s.say("the programs are larger than they could be: %v", err)
	}
	var names [len(programs)]string
	for i, p := range programs {
		data, err := s.compile(p, filepath.Join(tmp, p.name+".wasm"), list)
		if err != nil {
			return err
		}
		if i == 0 {
			s.WasmSize = len(data)
		}
		if names[i], err = s.putHashed(p.name, ".wasm", data); err != nil {
			return err
		}
	}
	s.Wasm, s.Second = names[0], names[1]
	return nil
}

// compile makes a program for the browser, in a file.
func (s *site) compile(p program, file, overlay string) ([]byte, error) {
	// The page reads one format itself, but its file picker offers all.
	endings := "-X memtide/profiles.linked=" + strings.Join(profiles.Extensions(), ",")
	args := []string{"build", "-trimpath", "-ldflags=-s -w " + endings, "-o", file, "-overlay=" + overlay,
		"-buildvcs=false"} // otherwise the name would change with every commit
	args = append(append(args, inlining...), p.pkg)
	if _, err := run(s.root, []string{"GOOS=js", "GOARCH=wasm"}, "go", args...); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return s.rewrite(p.name, data)
}

// rewrite makes a linked program smaller and faster (cmd/wasmopt). Functions of ours
// keep their names in tracebacks.
func (s *site) rewrite(name string, data []byte) ([]byte, error) {
	data, report, err := passes.Run(data, passes.Options{Keep: []string{"memtide/"}})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	said := ""
	for _, step := range report.LeftOut() {
		if step.LeftOut != said {
			s.say("%s is larger and slower than it could be from the pass %s of cmd/wasmopt on: %s", name, step.Pass, step.LeftOut)
		}
		said = step.LeftOut
	}
	return data, nil
}

// say tells whoever builds what is not as it could be.
func (s *site) say(format string, args ...any) {
	out := s.complaints
	if out == nil {
		out = os.Stderr
	}
	fmt.Fprintf(out, "build: "+format+"\n", args...)
}
