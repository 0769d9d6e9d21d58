package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// converts lists the only places in the engine and the profiles that convert floating-point numbers to integers.
// Each of them checks the range itself.
var converts = []string{
	"engine/units.go: int64(f)",                    // Int64
	"profiles/formats/onnx/reshape.go: int64(n)",   // refuses numbers that are too large beforehand
	"profiles/jsonfile/stream.go: int64(f * 1000)", // refuses numbers that are too large beforehand
}

// TestFloatsBecomeIntegersInOneWay checks that floating-point numbers are converted by engine.Int64, which gives
// the same result everywhere. In Go, converting a number that no integer holds depends on the machine: amd64 and
// WebAssembly differ, so the answers in the browser would differ from the native ones.
func TestFloatsBecomeIntegersInOneWay(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks the engine")
	}
	packages := map[string][]*file{}
	for _, f := range sources(t) {
		if d := f.dir(); !f.test() && !f.js() &&
			(d == "engine" || strings.HasPrefix(d, "engine/") || d == "profiles" ||
				strings.HasPrefix(d, "profiles/")) &&
			!bytes.Contains(f.src, []byte("//go:build lean")) {
			packages[d] = append(packages[d], f)
		}
	}
	exports := exportData(t)
	var found []string
	for dir, files := range packages {
		fset := token.NewFileSet()
		imports := importer.ForCompiler(fset, "gc",
			func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
		found = append(found, conversions(t, dir, files, fset, imports)...)
	}
	slices.Sort(found)
	if !slices.Equal(found, converts) {
		t.Errorf("floating-point numbers become integers at\n%s\nwant\n%s\nUse engine.Int64",
			strings.Join(found, "\n"), strings.Join(converts, "\n"))
	}
}

// exportData returns the files in the build cache with the types of all packages that the engine and the formats
// use, by import path.
func exportData(t *testing.T) map[string]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./engine/...",
		"./profiles/...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			exports[path] = name
		}
	}
	return exports
}

// conversions returns the conversions from floating-point numbers to integers in one package, each as "file:
// expression".
func conversions(t *testing.T, dir string, files []*file, fset *token.FileSet,
	imports types.Importer) (found []string) {
	t.Helper()
	parsed := make([]*ast.File, len(files))
	for i, f := range files {
		var err error
		if parsed[i], err = parser.ParseFile(fset, f.path, f.src, 0); err != nil {
			t.Fatal(err)
		}
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: imports}
	if _, err := conf.Check("memtide/"+dir, fset, parsed, info); err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	for i, f := range parsed {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 || !info.Types[call.Fun].IsType() {
				return true
			}
			from, to := info.Types[call.Args[0]], info.Types[call.Fun]
			if from.Value == nil && may(from.Type, types.IsFloat) && may(to.Type, types.IsInteger) {
				found = append(found, fmt.Sprintf("%s: %s", files[i].path, types.ExprString(call)))
			}
			return true
		})
	}
	return found
}

// may reports whether t, or a type in the constraint of the type parameter t, is of the given kind.
func may(t types.Type, kind types.BasicInfo) bool {
	if p, ok := t.(*types.TypeParam); ok {
		t = p.Constraint().Underlying()
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&kind != 0
	case *types.Interface:
		for i := range u.NumEmbeddeds() {
			if may(u.EmbeddedType(i), kind) {
				return true
			}
		}
	}
	if u, ok := t.(*types.Union); ok {
		for i := range u.Len() {
			if may(u.Term(i).Type(), kind) {
				return true
			}
		}
	}
	return false
}
