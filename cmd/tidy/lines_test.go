package tidy

import (
	"bytes"
	"path"
	"strings"
	"testing"
)

// mostLines is how many lines of Go the programs may have: what is added beyond is paid for by what becomes
// superfluous.
const mostLines = 120_000

// TestLines: the programs have at most mostLines lines, without tests, generated code, and packages that
// only tests import.
func TestLines(t *testing.T) {
	lines, imports := map[string]int{}, map[string][]string{}
	var todo []string
	for _, f := range sources(t) {
		if f.test() {
			continue
		}
		dir := f.dir()
		if !f.generated() {
			lines[dir] += bytes.Count(f.src, []byte("\n"))
		}
		if f.ast.Name.Name == "main" && !strings.Contains(dir, "enginetest") { // it records answers for tests
			todo = append(todo, dir)
		}
		for _, i := range f.ast.Imports {
			if of, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), "memtide/"); ours {
				imports[dir] = append(imports[dir], path.Clean(of))
			}
		}
	}
	sum, seen := 0, map[string]bool{}
	for len(todo) > 0 {
		dir := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !seen[dir] {
			seen[dir] = true
			sum += lines[dir]
			todo = append(todo, imports[dir]...)
		}
	}
	for dir, n := range lines {
		if !seen[dir] {
			t.Logf("only tests import %s, %d lines", dir, n)
		}
	}
	if t.Logf("the programs have %d lines", sum); sum > mostLines {
		t.Errorf("the programs have %d lines, want at most %d", sum, mostLines)
	}
}
