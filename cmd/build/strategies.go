//go:build !js

package main

import (
	"fmt"
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

// descriptions are the strategies and allocators that the page's program does not link,
// as a file of it, by its name: what forms, links and lists need of them is taken from
// the registries, so that nothing has to be said twice.
func descriptions(root string) map[string]string {
	linked := strings.Fields(cli.Must(run(root, []string{"GOOS=js", "GOARCH=wasm"}, "go", "list", "-deps", programs[0].pkg)))
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
	return map[string]string{filepath.Join(root, filepath.FromSlash(programs[0].pkg), "strategies_js.go"): b.String()}
}

// packageOf is the import path of the package that a function is in.
func packageOf(f any) string {
	name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	slash := strings.LastIndexByte(name, '/') + 1
	folder, inside := name[:slash], name[slash:]
	inside, _, _ = strings.Cut(inside, ".")
	return folder + inside
}
