package tidy

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// byTheClock lists the tests that may look at the clock, with the reason: folders end
// in a slash. It is a ledger: what needs no mention any more fails as well.
var byTheClock = map[string]string{
	"web/browsertest/":         "a browser has no other clock",
	"cmd/build/lines_test.go":  "ends another process a little before go test's own limit ends the test",
	"wasm/proto/place_test.go": "limits are written and read there, and nothing runs",
	"wasm/proto/proto_test.go": "limits are written and read there, and nothing runs",
}

// clockUses are the functions by which a test depends on how fast the machine is.
var clockUses = map[string][]string{
	"time":    {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"},
	"context": {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"},
}

// TestClock: tests hold on any machine, however slow and busy it is. They count work,
// as with engine.LimitCalls, wait for a state, or run in a bubble of testing/synctest.
// Functions that are used in bubbles alone may do what a bubble may. What measures time
// is a benchmark.
func TestClock(t *testing.T) {
	folders := map[string][]*file{}
	for _, f := range sources(t) {
		if f.test() {
			folders[f.dir()] = append(folders[f.dir()], f)
		}
	}
	needed := map[string]bool{}
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		for _, u := range clockUsesOf(folders[dir]) {
			excepted := u.path
			if byTheClock[excepted] == "" {
				excepted = dir + "/"
			}
			if needed[excepted] = true; byTheClock[excepted] == "" {
				t.Errorf("%s:%d: %s in %s depends on the clock: count work, wait for a state, or use testing/synctest", u.path, u.line, u.what, u.in)
			}
		}
	}
	for path := range byTheClock {
		if !needed[path] {
			t.Errorf("%s is listed as using the clock and does not: take it off the list", path)
		}
	}
}

// clockUse is one use of the clock.
type clockUse struct {
	path     string
	line     int
	what, in string // in the function
}

// clockUsesOf are the uses outside bubbles and benchmarks in the tests of a folder.
func clockUsesOf(files []*file) (uses []clockUse) {
	bubbled := bubbledFunctions(files)
	for _, f := range files {
		for _, fn := range functions(f) {
			if bubbled[fn.Name.Name] || strings.HasPrefix(fn.Name.Name, "Benchmark") {
				continue
			}
			var limits []clockUse
			bubbles := false
			visitOutside(fn.Body, func() { bubbles = true }, func(n ast.Node) {
				use := clockUse{f.path, f.fset.Position(n.Pos()).Line, "", fn.Name.Name}
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if pkg, ok := n.X.(*ast.Ident); ok && slices.Contains(clockUses[pkg.Name], n.Sel.Name) {
						use.what = pkg.Name + "." + n.Sel.Name
						uses = append(uses, use)
					}
				case *ast.CallExpr:
					if name := called(n); name == "NewPoll" && len(n.Args) == 2 && called(n.Args[1]) != "nil" {
						use.what = "a report of progress, which passes now and then,"
						uses = append(uses, use)
					}
				case *ast.KeyValueExpr:
					if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Limit" && mentions(n.Value, "time") {
						use.what = "a limit of time"
						limits = append(limits, use)
					}
				case *ast.AssignStmt:
					for i, left := range n.Lhs {
						if to, ok := left.(*ast.SelectorExpr); ok && to.Sel.Name == "Limit" && mentions(n.Rhs[min(i, len(n.Rhs)-1)], "time") {
							use.what = "a limit of time"
							limits = append(limits, use)
						}
					}
				}
			})
			if !bubbles { // otherwise what is asked for is asked in a bubble
				uses = append(uses, limits...)
			}
		}
	}
	return uses
}

// bubbledFunctions are the names of functions and methods that nothing but bubbles and
// each other use.
func bubbledFunctions(files []*file) map[string]bool {
	usedIn := map[string]map[string]bool{} // by name: the functions that use it outside bubbles; "" stands for a bubble
	for _, f := range files {
		for _, fn := range functions(f) {
			note := func(name, user string) {
				if usedIn[name] == nil {
					usedIn[name] = map[string]bool{}
				}
				usedIn[name][user] = true
			}
			inBubble := map[*ast.Ident]bool{}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && isBubble(call) {
					ast.Inspect(call, func(n ast.Node) bool {
						if id, ok := n.(*ast.Ident); ok {
							inBubble[id] = true
						}
						return true
					})
				}
				return true
			})
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && inBubble[id] {
					note(id.Name, "")
				} else if ok {
					note(id.Name, fn.Name.Name)
				}
				return true
			})
		}
	}
	bubbled := map[string]bool{"": true}
	for again := true; again; {
		again = false
		for name, users := range usedIn {
			if bubbled[name] {
				continue
			}
			all := true
			for user := range users {
				all = all && bubbled[user]
			}
			if all {
				bubbled[name], again = true, true
			}
		}
	}
	return bubbled
}

// functions are the functions and methods of a file that have a body.
func functions(f *file) (list []*ast.FuncDecl) {
	for _, d := range f.ast.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			list = append(list, fn)
		}
	}
	return list
}

// visitOutside visits all nodes but those of bubbles, and says where there is one.
func visitOutside(root ast.Node, bubble func(), visit func(ast.Node)) {
	ast.Inspect(root, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && isBubble(call) {
			bubble()
			return false
		}
		if n != nil {
			visit(n)
		}
		return true
	})
}

// isBubble tells whether a call is one of synctest.Test.
func isBubble(call *ast.CallExpr) bool {
	to, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || to.Sel.Name != "Test" {
		return false
	}
	pkg, ok := to.X.(*ast.Ident)
	return ok && pkg.Name == "synctest"
}

// called is the name of a function without its package, or of what is called.
func called(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.CallExpr:
		return called(e.Fun)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// mentions tells whether an expression uses a package.
func mentions(e ast.Expr, pkg string) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == pkg
		return !found
	})
	return found
}
