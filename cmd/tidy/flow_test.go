package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// flowing are the packages whose files use one another in one direction.
var flowing = []string{"wasm/proto", "wasm/serve", "web/chart", "web/choice", "web/display", "web/dom", "web/draw",
	"web/format", "web/known", "web/link", "web/lookup", "web/permalink",
	"web/jobs", "web/question", "web/state", "web/tell", "web/tradeoff", "web/view",
	"web/ui", "web/ui/address", "web/ui/answer", "web/ui/controls", "web/ui/export", "web/ui/input",
	"web/ui/plans", "web/ui/questions", "web/ui/snapshot", "web/ui/step", "web/ui/timeline"}

// In a package of many files each stands above those that it uses: no two need each
// other, straight or by way of others.
func TestFilesFlowOneWay(t *testing.T) {
	packages := map[string][]*file{}
	for _, f := range sources(t) {
		if !f.test() && slices.Contains(flowing, f.dir()) {
			packages[f.dir()] = append(packages[f.dir()], f)
		}
	}
	for _, dir := range flowing {
		if len(packages[dir]) < 2 {
			t.Errorf("%s has %d files; want a package of several", dir, len(packages[dir]))
		}
		if c := circle(uses(packages[dir])); c != "" {
			t.Errorf("%s: files need each other: %s; want each to use only those below it", dir, c)
		}
	}
}

func TestFilesFlowOneWaySees(t *testing.T) {
	for text, want := range map[string]string{
		"a->b b->c a->c":      "",
		"a->b b->a":           "a.go -> b.go (x) -> a.go (x)",
		"a->b b->c c->d d->b": "b.go -> c.go (x) -> d.go (x) -> b.go (x)",
	} {
		g := arrows{}
		for _, arrow := range strings.Fields(text) {
			from, to, _ := strings.Cut(arrow, "->")
			g.add(from+".go", to+".go", "x")
		}
		if got := circle(g); got != want {
			t.Errorf("%s: circle %q; want %q", text, got, want)
		}
	}
}

// arrows are the names that each file uses of each other file of its package.
type arrows map[string]map[string]string

func (g arrows) add(from, to, name string) {
	if g[from] == nil {
		g[from] = map[string]string{}
	}
	if old := g[from][to]; old == "" || name < old { // one will do
		g[from][to] = name
	}
}

// uses are the arrows among the files of a package. What is imported is not looked at:
// names of other packages stay unknown, and those of this one do not depend on them.
func uses(files []*file) arrows {
	g, fset := arrows{}, token.NewFileSet()
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	var parsed []*ast.File
	for _, f := range files {
		tree, err := parser.ParseFile(fset, f.path, f.src, 0)
		if err != nil {
			continue // said by sources
		}
		parsed = append(parsed, tree)
	}
	conf := types.Config{Importer: blank{}, Error: func(error) {}}
	pkg, _ := conf.Check(files[0].dir(), fset, parsed, info)
	for id, o := range info.Uses {
		v, variable := o.(*types.Var)
		if o.Pkg() != pkg || variable && !v.IsField() && o.Parent() != pkg.Scope() {
			continue
		}
		if from, to := fset.Position(id.Pos()).Filename, fset.Position(o.Pos()).Filename; from != to {
			g.add(path.Base(from), path.Base(to), o.Name())
		}
	}
	return g
}

// blank imports every package as an empty one.
type blank struct{}

func (blank) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

// circle is a way along arrows from a file back to itself, in words; empty if there is none.
func circle(g arrows) string {
	done := map[string]bool{}
	var way []string
	var from func(file string) string
	from = func(file string) string {
		if at := slices.Index(way, file); at >= 0 {
			out := way[at]
			for i := at + 1; i <= len(way); i++ {
				to := append(way, file)[i]
				out += fmt.Sprintf(" -> %s (%s)", to, g[way[i-1]][to])
			}
			return out
		}
		if done[file] {
			return ""
		}
		done[file], way = true, append(way, file)
		for _, to := range slices.Sorted(maps.Keys(g[file])) {
			if c := from(to); c != "" {
				return c
			}
		}
		way = way[:len(way)-1]
		return ""
	}
	for _, file := range slices.Sorted(maps.Keys(g)) {
		if c := from(file); c != "" {
			return c
		}
	}
	return ""
}
