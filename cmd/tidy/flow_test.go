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

// flowing lists the packages in which no two files may use each other, directly or through other files.
var flowing = []string{"wasm/proto", "wasm/serve", "web/chart", "web/choice", "web/display", "web/dom", "web/draw",
	"web/format", "web/known", "web/link", "web/lookup", "web/permalink",
	"web/jobs", "web/question", "web/state", "web/tell", "web/tradeoff", "web/view",
	"web/ui", "web/ui/address", "web/ui/answer", "web/ui/controls", "web/ui/export", "web/ui/input",
	"web/ui/plans", "web/ui/questions", "web/ui/snapshot", "web/ui/step", "web/ui/timeline"}

// TestFilesFlowOneWay checks that the files of a package can be put in an order in which each uses only later ones.
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

// arrows maps each file to the files of its package that it uses, and each of these to a name that it uses from it.
type arrows map[string]map[string]string

func (g arrows) add(from, to, name string) {
	if g[from] == nil {
		g[from] = map[string]string{}
	}
	if old := g[from][to]; old == "" || name < old { // one name per pair of files is enough
		g[from][to] = name
	}
}

// uses returns the arrows among the files of a package. It does not load imports: names of other packages stay
// unresolved, and resolving the names of this package does not need them.
func uses(files []*file) arrows {
	g, fset := arrows{}, token.NewFileSet()
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	var parsed []*ast.File
	for _, f := range files {
		tree, err := parser.ParseFile(fset, f.path, f.src, 0)
		if err != nil {
			continue // sources reports the error
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

// blank is an importer that returns an empty package for every path.
type blank struct{}

func (blank) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

// circle returns a path along arrows from a file back to itself, in words. It is empty if there is no such path.
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
