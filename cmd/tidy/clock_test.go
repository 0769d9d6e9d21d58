package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// byTheClock lists the files that may use the clock in tests, with the reason. Names of folders end in a slash.
// An entry that is no longer needed fails the test as well.
var byTheClock = map[string]string{
	"web/browsertest/":                    "a browser has no other clock",
	"web/browsertest/engines/":            "ends a browser that hangs",
	"cmd/wasmopt/passes/programs_test.go": "ends another process a little before go test's own limit ends the test",
}

// clockUses lists the functions, by package, that make a test depend on the speed of the machine.
var clockUses = map[string][]string{
	"time":    {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"},
	"context": {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"},
}

// TestClock checks that tests do not depend on the speed or the load of the machine. Tests may count work, as
// with engine.LimitCalls, wait for a state, or run in a bubble of testing/synctest. Functions that are only
// called from bubbles may do what a bubble may. Measurements of time belong in benchmarks.
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

// TestClockSees checks clockUsesOf on examples.
func TestClockSees(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`func TestA(t *testing.T) { time.Sleep(1) }`, "time.Sleep in TestA"},
		{`func TestA(t *testing.T) { synctest.Test(t, func(t *testing.T) { time.Sleep(1) }) }`, ""},
		{`func TestA(t *testing.T) { synctest.Test(t, func(t *testing.T) { nap() }) }; func nap() { time.Sleep(1) }`, ""},
		{`func TestA(t *testing.T) { synctest.Test(t, func(t *testing.T) { nap() }); nap() }; func nap() { time.Sleep(1) }`, "time.Sleep in nap"},
		{`func TestA(t *testing.T) { synctest.Test(t, func(t *testing.T) { go s.run() }) }; func (s) run() { nap() }; func nap() { <-time.After(1) }`, ""},
		{`func TestA(t *testing.T) { nap() }; var nap = func() { time.Sleep(1) }`, "time.Sleep in a variable"},
		{`func BenchmarkA(b *testing.B) { _ = time.Now() }`, ""},
		{`func TestA(t *testing.T) { ctx, _ := context.WithTimeout(t.Context(), 1); _ = ctx }`,
			"context.WithTimeout in TestA"},
		{`func TestA(t *testing.T) { engine.NewPoll(ctx, nil); engine.NewPoll(ctx, told) }`,
			"a report of progress, which passes now and then, in TestA"},
		{`func TestA(t *testing.T) { ask(Question{Limit: time.Second}) }`, "a limit of time in TestA"},
		{`func TestA(t *testing.T) { q.Limit = 3 * time.Second; synctest.Test(t, func(t *testing.T) { ask(q) }) }`, ""},
		{`func TestA(t *testing.T) { q.Limit = 5; _ = 3 * time.Second }`, ""},
	} {
		f := &file{path: "x_test.go", fset: token.NewFileSet()}
		var err error
		if f.ast, err = parser.ParseFile(f.fset, f.path, "package x\n"+c.text, 0); err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		var got []string
		for _, u := range clockUsesOf([]*file{f}) {
			got = append(got, u.what+" in "+u.in)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

// clockUse is one use of the clock.
type clockUse struct {
	path     string
	line     int
	what, in string // what is used, and the function that uses it
}

// clockUsesOf returns the uses of the clock in the tests of a folder, except in bubbles and benchmarks.
func clockUsesOf(files []*file) (uses []clockUse) {
	bubbled := bubbledFunctions(files)
	for _, f := range files {
		for _, d := range declarations(f) {
			if bubbled[d.name] || strings.HasPrefix(d.name, "Benchmark") {
				continue
			}
			var limits []clockUse
			bubbles := false
			visitOutside(d.body, func() { bubbles = true }, func(n ast.Node) {
				what, limit := clockUseAt(n)
				use := clockUse{f.path, f.fset.Position(n.Pos()).Line, what, d.name}
				switch {
				case limit:
					limits = append(limits, use)
				case what != "":
					uses = append(uses, use)
				}
			})
			if !bubbles { // otherwise the limit applies to a question that is asked in a bubble
				uses = append(uses, limits...)
			}
		}
	}
	return uses
}

// clockUseAt returns which part of the clock the node n uses, or "" if it uses no part. limit reports whether the
// use is a time limit for work that is done elsewhere.
func clockUseAt(n ast.Node) (what string, limit bool) {
	const limitOfTime = "a limit of time"
	switch n := n.(type) {
	case *ast.SelectorExpr:
		if pkg, ok := n.X.(*ast.Ident); ok && slices.Contains(clockUses[pkg.Name], n.Sel.Name) {
			return pkg.Name + "." + n.Sel.Name, false
		}
	case *ast.CallExpr:
		if called(n) == "NewPoll" && len(n.Args) == 2 && called(n.Args[1]) != "nil" {
			return "a report of progress, which passes now and then,", false
		}
	case *ast.KeyValueExpr:
		if called(n.Key) == "Limit" && mentions(n.Value, "time") {
			return limitOfTime, true
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if called(left) == "Limit" && mentions(n.Rhs[min(i, len(n.Rhs)-1)], "time") {
				return limitOfTime, true
			}
		}
	}
	return "", false
}

// bubbledFunctions returns the names of the functions and methods that are only used in bubbles and by each other.
func bubbledFunctions(files []*file) map[string]bool {
	const bubble = "" // as the user of a name: a bubble
	usedIn := map[string]map[string]bool{}
	note := func(in ast.Node, user string) {
		ast.Inspect(in, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if usedIn[id.Name] == nil {
					usedIn[id.Name] = map[string]bool{}
				}
				usedIn[id.Name][user] = true
			}
			return true
		})
	}
	for _, f := range files {
		for _, d := range declarations(f) {
			visitOutside(d.body, func() {}, func(n ast.Node) {
				if id, ok := n.(*ast.Ident); ok {
					note(id, d.name)
				}
			})
			ast.Inspect(d.body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && isBubble(call) {
					note(call, bubble)
				}
				return true
			})
		}
	}
	bubbled := map[string]bool{bubble: true}
	for again := true; again; {
		again = false
		for name, users := range usedIn {
			outside := func(user string) bool { return !bubbled[user] }
			if !bubbled[name] && !slices.ContainsFunc(slices.Collect(maps.Keys(users)), outside) {
				bubbled[name], again = true, true
			}
		}
	}
	return bubbled
}

// declaration is a function, a method, or a declaration of variables.
type declaration struct {
	name string
	body ast.Node
}

func declarations(f *file) (list []declaration) {
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				list = append(list, declaration{d.Name.Name, d.Body})
			}
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				list = append(list, declaration{"a variable", d})
			}
		}
	}
	return list
}

// visitOutside visits all nodes below root except those in bubbles. It calls bubble for each bubble that it skips.
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

// isBubble reports whether call is a call of synctest.Test.
func isBubble(call *ast.CallExpr) bool {
	to, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || to.Sel.Name != "Test" {
		return false
	}
	pkg, ok := to.X.(*ast.Ident)
	return ok && pkg.Name == "synctest"
}

// called returns the name of the function or variable e, or of the function that e calls, without its package.
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

// mentions reports whether the expression e uses the package pkg.
func mentions(e ast.Expr, pkg string) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == pkg
		return !found
	})
	return found
}
