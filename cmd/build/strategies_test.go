//go:build !js

package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/alloc"
)

// TestDescriptions checks that every strategy is either linked into the page's program or described there, with
// everything that readers and links need to know of it.
func TestDescriptions(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	text := descriptions(root)
	if _, err := parser.ParseFile(token.NewFileSet(), "", text, 0); err != nil {
		t.Errorf("it is no Go: %v", err)
	}
	described := 0
	for _, s := range engine.Strategies() {
		at := strings.Index(text, fmt.Sprintf("engine.Describe(&engine.Strategy{Name:%q, Title:%q, Doc:%q", s.Name,
			s.Title, s.Doc))
		pkg := packageOf(s.Solver)
		if want := pkg == "memtide/engine/graphs" || s.Name == "offloadexact"; (at >= 0) != want {
			t.Errorf("%s of %s is described: %t; want %t", s.Name, pkg, at >= 0, want)
		}
		if at < 0 {
			continue
		}
		described++
		line, _, _ := strings.Cut(text[at:], "\n")
		for _, want := range []string{fmt.Sprintf("Mark:%d, Graphs:%t", s.Mark, s.Graphs),
			fmt.Sprintf(", %t)", s.Sweeper != nil), fmt.Sprintf("ID:%q", s.Cites[0].ID)} {
			if !strings.Contains(line, want) {
				t.Errorf("the description of %s lacks %s:\n%s", s.Name, want, line)
			}
		}
	}
	for _, a := range alloc.Allocators() {
		if want := fmt.Sprintf("alloc.Describe(&alloc.Allocator{Name:%q, Title:%q, Doc:%q", a.Name, a.Title,
			a.Doc); !strings.Contains(text, want) {
			t.Errorf("the allocator %s is not described; want %s", a.Name, want)
		}
	}
	if described == 0 || described != strings.Count(text, "engine.Describe(") {
		t.Errorf("%d strategies of the registry are described, %d in all; want the same, and some", described,
			strings.Count(text, "engine.Describe("))
	}
}
