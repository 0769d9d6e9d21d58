//go:build !js

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"memtide/cmd/cli"
	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/engine/alloc"
)

// described writes descriptions into dir, as a file that the compiler reads with those
// of the page's program, and returns the list that it finds it by (go help build, -overlay).
func described(root, dir string) (list string) {
	text, list := filepath.Join(dir, "strategies_js.go"), filepath.Join(dir, "overlay.json")
	cli.Check(os.WriteFile(text, []byte(descriptions(root)), 0o644))
	read := filepath.Join(root, filepath.FromSlash(programs[0].pkg), filepath.Base(text))
	replace := map[string]map[string]string{"Replace": {read: text}}
	cli.Check(os.WriteFile(list, cli.Must(json.Marshal(replace)), 0o644))
	return list
}

// descriptions returns the strategies and allocators that the page's program does not
// link, as the text of a file of it: what forms, links and lists need of them is taken
// from the registries, so that nothing has to be said twice.
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

// packageOf returns the import path of the package that a function is in.
func packageOf(f any) string {
	name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	slash := strings.LastIndexByte(name, '/') + 1
	folder, inside := name[:slash], name[slash:]
	inside, _, _ = strings.Cut(inside, ".")
	return folder + inside
}
