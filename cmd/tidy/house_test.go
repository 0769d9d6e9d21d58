package tidy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// housePackage matches a package in the picture of ARCHITECTURE.md.
var housePackage = regexp.MustCompile(`(?:^|  )((?:engine|profiles|wasm|web)(?:/[a-z]+)*)`)

// house returns the row of each package in the picture of ARCHITECTURE.md, counted from the top.
func house(text string) map[string]int {
	rows := map[string]int{}
	_, text, _ = strings.Cut(text, "## The house in one picture")
	text, _, _ = strings.Cut(text, "\nInside the engine")
	for i, line := range strings.Split(text, "\n") {
		if line, ok := strings.CutPrefix(line, "    "); ok {
			for _, m := range housePackage.FindAllStringSubmatch(line, -1) {
				rows[m[1]] = i
			}
		}
	}
	return rows
}

// rowOf returns the row of a package or of the nearest enclosing folder. It returns false if the picture has
// neither.
func rowOf(rows map[string]int, pkg string) (int, bool) {
	for ; pkg != "."; pkg = filepath.ToSlash(filepath.Dir(pkg)) {
		if row, ok := rows[pkg]; ok {
			return row, true
		}
	}
	return 0, false
}

// TestHouse checks the picture of ARCHITECTURE.md: each row imports only from rows below it.
func TestHouse(t *testing.T) {
	text, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := house(string(text))
	if len(rows) < 25 {
		t.Fatalf("the picture has %d packages; want the house", len(rows))
	}
	for _, f := range sources(t) {
		from, ok := rows[f.dir()]
		if !ok || f.test() {
			continue
		}
		for _, spec := range f.ast.Imports {
			path, own := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "memtide/")
			if to, known := rowOf(rows, path); own && known && to <= from {
				t.Errorf("%s imports %s, which stands in row %d of ARCHITECTURE.md; want it below row %d", f.path,
					path, to, from)
			}
		}
	}
	for pkg := range rows {
		if found, _ := filepath.Glob("../../" + pkg + "/*.go"); len(found) == 0 && pkg != "profiles/formats" {
			t.Errorf("the picture has %s, and there is no such package", pkg)
		}
	}
}

// TestHouseReads checks house and rowOf on a small picture.
func TestHouseReads(t *testing.T) {
	rows := house("x\n## The house in one picture\n\n    web/app   wasm/page   the page\n    web/ui                words\n    engine                all\n\nInside the engine")
	for pkg, below := range map[string]string{"web/app": "web/ui", "wasm/page": "web/ui", "web/ui": "engine/sim"} {
		from, ok := rowOf(rows, pkg)
		to, known := rowOf(rows, below)
		if !ok || !known || to <= from {
			t.Errorf("%s is in row %d (%v), %s in row %d (%v); want the second below", pkg, from, ok, below, to, known)
		}
	}
}
