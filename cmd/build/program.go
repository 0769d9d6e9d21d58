//go:build !js

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"memtide/cmd/cli"
	"memtide/cmd/wasmopt/passes"
	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/engine/alloc"
	"memtide/profiles"
	_ "memtide/profiles/formats/all"
)

// components is the folder of the packages whose *_gen.go files are generated from .vugu files.
const components = "web/ui"

// generate regenerates the components, and reports whether any has changed. The files are
// committed, so that the module builds without this step.
//
// The generator works on a copy, and each changed file is then renamed into place: two builds at
// a time do not see each other's incomplete components.
func (s *site) generate() (stale bool) {
	var folders []string // with .vugu files
	cli.Check(filepath.WalkDir(filepath.Join(s.root, components), func(path string, d fs.DirEntry, err error) error {
		if dir := filepath.Dir(path); err == nil && filepath.Ext(path) == ".vugu" && !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
		return err
	}))
	for _, dir := range folders {
		cli.Within(dir, func() { stale = s.generateIn(dir) || stale })
	}
	return stale
}

// generateIn is generate for one folder.
func (s *site) generateIn(dir string) (stale bool) {
	tmp := cli.Must(os.MkdirTemp("", "memtide-ui-"))
	defer os.RemoveAll(tmp)
	for _, e := range cli.Must(os.ReadDir(dir)) {
		if name := e.Name(); !strings.HasSuffix(name, generatedEnd) && !strings.HasSuffix(name, "_test.go") &&
			!e.IsDir() {
			cli.Check(os.WriteFile(filepath.Join(tmp, name), cli.Must(os.ReadFile(filepath.Join(dir, name))), 0o644))
		}
	}
	// vugugen calls gofmt.
	path := "PATH=" + filepath.Join(goroot(), "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	cli.Must(run(s.root, []string{path}, "go", "tool", "vugugen", "-skip-go-mod", "-skip-main", tmp))
	made := cli.Must(filepath.Glob(filepath.Join(tmp, "*"+generatedEnd)))
	if len(made) == 0 {
		cli.Fail("vugugen has made no components")
	}
	for _, file := range made {
		stale = replace(filepath.Join(dir, filepath.Base(file)), cli.Must(os.ReadFile(file))) || stale
	}
	return stale
}

const generatedEnd = "_gen.go"

// replace replaces the content of a file if it differs, and reports whether it did.
func replace(to string, content []byte) (changed bool) {
	if old, err := os.ReadFile(to); err == nil && bytes.Equal(old, content) {
		return false
	}
	next := fmt.Sprintf("%s.%d.tmp", to, os.Getpid())
	cli.Check(os.WriteFile(next, content, 0o644))
	cli.Check(os.Rename(next, to))
	return true
}

// goroot returns the directory of the Go installation.
func goroot() string { return cli.Must(run("", nil, "go", "env", "GOROOT")) }

// inlining makes the program 9 % smaller: functions are inlined only where that is worth the
// bytes: in code that computes, that reads and replays recordings, that draws many slices, and
// in the runtime. The last pattern that matches a package counts.
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

// program is one of the programs in the site.
type program struct{ name, pkg string }

// programs are ./wasm/page, one binary for the page and its workers; ./wasm/second, which most
// visits never load; and the program of puzzle.html.
var programs = [3]program{{"app", "./wasm/page"}, {"second", "./wasm/second"}, {"puzzle", "./wasm/puzzle"}}

func (s *site) program() {
	tmp := cli.Must(os.MkdirTemp("", "memtide-build-"))
	defer os.RemoveAll(tmp)
	list := described(s.root, tmp)
	var names [len(programs)]string
	for i, p := range programs {
		data := rewrite(os.Stderr, p.name, s.compile(p, filepath.Join(tmp, p.name+".wasm"), list))
		if i == 0 {
			s.WasmSize = len(data)
		}
		names[i] = s.putHashed(p.name, ".wasm", data)
	}
	s.Wasm, s.Second, s.Puzzle = names[0], names[1], names[2]
}

// compile compiles a program for the browser into file and returns its content.
func (s *site) compile(p program, file, overlay string) []byte {
	// The page reads one format itself, but its file picker offers all.
	endings := "-X memtide/profiles.linked=" + strings.Join(profiles.Extensions(), ",")
	args := []string{"build", "-trimpath", "-ldflags=-s -w " + endings, "-o", file, "-overlay=" + overlay,
		"-buildvcs=false"} // else the name would change with every commit
	args = append(append(args, inlining...), p.pkg)
	cli.Must(run(s.root, []string{"GOOS=js", "GOARCH=wasm"}, "go", args...))
	return cli.Must(os.ReadFile(file))
}

// rewrite makes a linked program smaller and faster (cmd/wasmopt). Functions of this module keep
// their names in tracebacks. It writes to w what could be better.
func rewrite(w io.Writer, name string, data []byte) []byte {
	data, left, err := passes.Run(data, passes.Options{Keep: []string{"memtide/"}})
	if err != nil {
		cli.Fail("%s: %w", name, err)
	}
	said := ""
	for _, l := range left {
		if l.Why != said {
			fmt.Fprintf(w, "build: %s is larger and slower than it could be from the pass %s of cmd/wasmopt on: %s\n",
				name, l.Pass, l.Why)
		}
		said = l.Why
	}
	return data
}

// described writes descriptions into dir, as an additional file of the page's program, and
// returns the overlay file for the compiler (go help build, -overlay).
func described(root, dir string) (list string) {
	text, list := filepath.Join(dir, "strategies_js.go"), filepath.Join(dir, "overlay.json")
	cli.Check(os.WriteFile(text, []byte(descriptions(root)), 0o644))
	read := filepath.Join(root, filepath.FromSlash(programs[0].pkg), filepath.Base(text))
	replace := map[string]map[string]string{"Replace": {read: text}}
	cli.Check(os.WriteFile(list, cli.Must(json.Marshal(replace)), 0o644))
	return list
}

// descriptions returns the strategies and allocators that the page's program does not link, as the text of a Go file of
// the program. Forms, links and lists thus get what they need of them from the registries.
func descriptions(root string) string {
	linked := strings.Fields(cli.Must(run(root, []string{"GOOS=js", "GOARCH=wasm"}, "go", "list", "-deps",
		programs[0].pkg)))
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n\t\"memtide/engine\"\n\t\"memtide/engine/alloc\"\n)\n\nfunc init() {\n")
	for _, s := range engine.Strategies() {
		if slices.Contains(linked, packageOf(s.Solver)) {
			continue
		}
		known, sweeps := *s, s.Sweeper != nil
		known.Solver, known.Sweeper = nil, nil
		fmt.Fprintf(&b, "\tengine.Describe(&%#v, %t)\n", known, sweeps)
	}
	for _, a := range alloc.Allocators() {
		if slices.Contains(linked, packageOf(a.Placer)) {
			continue
		}
		known := *a
		known.Placer = nil
		fmt.Fprintf(&b, "\talloc.Describe(&%#v)\n", known)
	}
	b.WriteString("}\n")
	return b.String()
}

// packageOf returns the import path of the package of a function.
func packageOf(f any) string {
	return passes.PackageOf(runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name())
}
