package tidy

import (
	"go/ast"
	"testing"
)

// TestEffects checks that every effect of the page's state is carried out: a case in web/jobs or web/app names
// it. The compiler cannot check that, since effects are an open set.
func TestEffects(t *testing.T) {
	declared, handled := map[string]string{}, map[string]bool{}
	for _, f := range sources(t) {
		if f.test() {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if f.dir() == "web/state" && n.Name.Name == "effect" && n.Recv != nil {
					if name, ok := n.Recv.List[0].Type.(*ast.Ident); ok {
						declared[name.Name] = f.path
					}
				}
			case *ast.CaseClause:
				if f.dir() != "web/jobs" && f.dir() != "web/app" {
					break
				}
				for _, e := range n.List {
					if x, ok := e.(*ast.SelectorExpr); ok {
						handled[x.Sel.Name] = true
					}
				}
			}
			return true
		})
	}
	if len(declared) < 10 {
		t.Fatalf("package state declares %d effects; want all of them", len(declared))
	}
	for name, path := range declared {
		if !handled[name] {
			t.Errorf("%s: nobody carries out the effect %s; want a case in web/jobs or web/app", path, name)
		}
	}
}
