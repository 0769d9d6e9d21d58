package tidy

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const root = "../.."

// file is a parsed Go file of the repository. Its path is relative to the root of the repository.
type file struct {
	path string
	src  []byte
	ast  *ast.File
	fset *token.FileSet
}

func (f *file) test() bool      { return strings.HasSuffix(f.path, "_test.go") }
func (f *file) generated() bool { return strings.HasSuffix(f.path, "_gen.go") }
func (f *file) js() bool {
	return strings.HasSuffix(f.path, "_js.go") || strings.HasSuffix(f.path, "_js_test.go")
}
func (f *file) dir() string { return filepath.ToSlash(filepath.Dir(f.path)) }

// parsed holds the Go files of the repository, once a test has parsed them.
var parsed struct {
	sync.Mutex
	files []*file
}

// sources returns every Go file of the repository, parsed. Tests must not change the trees.
func sources(t *testing.T) []*file {
	t.Helper()
	parsed.Lock()
	defer parsed.Unlock()
	if parsed.files != nil {
		return parsed.files
	}
	var out []*file
	walk(t, func(path string, src []byte) {
		if !strings.HasSuffix(path, ".go") {
			return
		}
		f := &file{path: path, src: src, fset: token.NewFileSet()}
		var err error
		if f.ast, err = parser.ParseFile(f.fset, path, src, parser.ParseComments); err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	})
	if len(out) < 50 {
		t.Fatalf("found only %d Go files below %s: the tests look in the wrong place", len(out), root)
	}
	parsed.files = out
	return out
}

// walk calls visit for each file of the repository, except for built and installed files.
func walk(t *testing.T, visit func(path string, src []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{".git", "dist", "bin", "node_modules"}, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if d.Name() == ".git" { // in a worktree .git is a file
			return nil
		}
		src, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(rel), src)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOnePackageComment(t *testing.T) {
	comments := map[string]int{}
	for _, f := range sources(t) {
		if f.test() {
			continue
		}
		comments[f.dir()] += 0
		if f.ast.Doc != nil {
			comments[f.dir()]++
			if want := "Package " + f.ast.Name.Name + " "; f.ast.Name.Name != "main" &&
				!strings.HasPrefix(f.ast.Doc.Text(), want) {
				t.Errorf("%s: the package comment begins %.40q, want %q", f.path, f.ast.Doc.Text(), want)
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(comments)) {
		if n := comments[dir]; n != 1 {
			t.Errorf("%s: %d package comments, want 1", dir, n)
		}
	}
}

// TestImports checks which packages may import which. The order of the rows in ARCHITECTURE.md is checked by
// TestHouse.
func TestImports(t *testing.T) {
	for _, f := range sources(t) {
		for _, spec := range f.ast.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			if why := forbidden(f, path); why != "" {
				t.Errorf("%s imports %s: %s", f.path, path, why)
			}
		}
	}
}

func forbidden(f *file, path string) string {
	top, _, _ := strings.Cut(f.path, "/")
	browser := path == "syscall/js" || strings.HasPrefix(path, "github.com/hack-pad/safejs")
	if browser && !(f.js() && (strings.HasPrefix(f.path, "wasm/") || strings.HasPrefix(f.path, "web/app/") ||
		strings.HasPrefix(f.path, "web/browsertest/"))) {
		return "only *_js.go under wasm/ and web/app/ know a browser"
	}
	if f.test() {
		return ""
	}
	own := strings.HasPrefix(path, "memtide/")
	switch {
	case top == "engine" && !own && strings.Contains(strings.Split(path, "/")[0], ".") &&
		!strings.HasPrefix(f.dir(), "engine/enginetest"): // which only tests import
		return "the engine is pure Go on the standard library"
	case top == "engine" && own && !strings.HasPrefix(path, "memtide/engine"):
		return "the engine knows nothing but itself"
	case top == "engine" && strings.HasPrefix(path, "memtide/engine/sim") && f.dir() == "engine":
		return "the words come before the simulator"
	case top == "profiles" && (strings.HasPrefix(path, "memtide/web") || strings.HasPrefix(path, "memtide/wasm")):
		return "profiles import the engine only"
	case f.dir() == "engine/sim" && path == "memtide/engine/check":
		return "the simulator and its checker share nothing"
	case slices.Contains([]string{"web/choice", "web/draw", "web/display", "web/lookup", "web/tell", "web/format",
		"web/link", "web/state", "web/chart", "web/question", "web/tradeoff", "web/known", "web/view",
		"web/permalink", "web/jobs"}, f.dir()) && strings.Contains(path, "vugu"):
		return "only web/ui and web/app know how pictures and state get to the screen"
	case path == "memtide/web/app" && f.dir() != "wasm/page":
		return "the page's program is for its main alone"
	case components(f) && (path == "memtide/web/jobs" || strings.HasPrefix(path, "memtide/wasm/pool") ||
		path == "memtide/wasm/serve" || path == "context"):
		return "components hold no jobs"
	case f.dir() == "web/jobs" && (strings.HasPrefix(path, "memtide/web/ui") || path == "memtide/web/format"):
		return "jobs hold no words"
	case slices.Contains([]string{"web/choice", "web/format", "web/link", "web/draw", "web/display", "web/lookup",
		"web/tell", "web/question"}, f.dir()) && pageOnly(path):
		return "what the command line needs too stands apart from the page"
	case top == "cmd" && !strings.HasPrefix(f.dir(), "cmd/build") && pageOnly(path):
		return "commands need no page"
	}
	return ""
}

// components reports whether f belongs to the components of web/ui. web/ui/pagetest, which makes states for their
// tests, does not.
func components(f *file) bool {
	return strings.HasPrefix(f.path, "web/ui/") && f.dir() != "web/ui/pagetest"
}

// pageOnly reports whether only the page needs the package path.
func pageOnly(path string) bool {
	return strings.HasPrefix(path, "memtide/web/ui/") ||
		slices.Contains([]string{"memtide/web/state", "memtide/web/view", "memtide/web/known", "memtide/web/tradeoff",
			"memtide/web/permalink", "memtide/web/jobs", "memtide/web/ui", "memtide/web/app", "memtide/web/dom"}, path)
}

func TestNames(t *testing.T) {
	for _, f := range sources(t) {
		switch name := strings.TrimSuffix(f.ast.Name.Name, "_test"); name {
		case "util", "utils", "common", "helpers", "types", "misc":
			t.Errorf("%s: package %s says nothing; name it after what it is about", f.path, name)
		}
	}
}

// long lists the functions that may be longer than the limit, with the reason. An entry that is no longer needed
// fails the test as well.
var long = map[string]string{}

func TestSizes(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range sources(t) {
		if f.generated() {
			continue
		}
		if n := bytes.Count(f.src, []byte("\n")); n > 500 {
			t.Errorf("%s has %d lines, want at most 500: it is two files", f.path, n)
		}
		if f.test() {
			continue
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			name := f.dir() + "." + fn.Name.Name
			lines := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1
			if lines > 70 {
				seen[name] = true
				if long[name] == "" {
					t.Errorf("%s: %s has %d lines, want at most 70", f.path, fn.Name.Name, lines)
				}
			}
		}
	}
	for name := range long {
		if !seen[name] {
			t.Errorf("%s is listed as long and is not: take it off the list", name)
		}
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, f := range sources(t) {
		if f.test() || f.generated() || f.ast.Name.Name == "main" {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !wellKnown[d.Name.Name] {
					t.Errorf("%s: %s has no comment", f.path, d.Name.Name)
				}
			case *ast.GenDecl:
				undocumentedSpecs(t, f, d)
			}
		}
	}
}

// wellKnown lists methods that need no comment, since their interface says what they do.
var wellKnown = map[string]bool{"Error": true, "String": true, "Len": true, "Less": true, "Swap": true, "Push": true,
	"Pop": true, "Unwrap": true}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}

func undocumentedSpecs(t *testing.T, f *file, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
				t.Errorf("%s: type %s has no comment", f.path, s.Name.Name)
			}
		case *ast.ValueSpec:
			if s.Names[0].IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
				t.Errorf("%s: %s has no comment", f.path, s.Names[0].Name)
			}
		}
	}
}

// TestWords checks that no file has paths of a machine or markers of unfinished work.
func TestWords(t *testing.T) {
	banned := map[string]string{
		"/work/":     "a path of one machine",
		"/root/":     "a path of one machine",
		"TO" + "DO":  "do it, or write it into an issue",
		"FIX" + "ME": "fix it, or write it into an issue",
	}
	walk(t, func(path string, src []byte) {
		if path == "cmd/tidy/tidy_test.go" || path == "package-lock.json" || strings.Contains(path, "testdata/") ||
			bytes.IndexByte(src, 0) >= 0 {
			return
		}
		for _, word := range slices.Sorted(maps.Keys(banned)) {
			if i := bytes.Index(src, []byte(word)); i >= 0 {
				t.Errorf("%s:%d: %q: %s", path, 1+bytes.Count(src[:i], []byte("\n")), word, banned[word])
			}
		}
	})
}
