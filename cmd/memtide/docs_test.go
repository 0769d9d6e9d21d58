package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memtide/cmd/cli"
	"memtide/engine/bound"
	"memtide/profiles/preset"
)

// docsFile returns the text of a page of the documentation.
func docsFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// stands replaces the placeholder file names that the documents use by files in testdata.
var stands = strings.NewReplacer("net.json", "testdata/owndevice.json", "net.csv", "testdata/net.csv",
	"operators.json", "testdata/operators.json", "measured.csv", "testdata/measured.csv")

// TestDocsCommands runs every command line of the documentation except serve and those that TestExamples runs, and
// writes what they write into a temporary folder. Each must succeed.
func TestDocsCommands(t *testing.T) {
	var examples []string
	for _, c := range commands {
		examples = append(examples, c.examples...)
	}
	pages, err := fs.Glob(os.DirFS("../../docs"), "*.md")
	if err != nil {
		t.Fatal(err)
	}
	out, ran := t.TempDir(), 0
	for _, page := range pages {
		for line := range strings.Lines(docsFile(t, page)) {
			command, ok := strings.CutPrefix(line, "    memtide ")
			if !ok {
				continue
			}
			args := words(stands.Replace(strings.TrimSpace(command)))
			if ran++; args[0] == "serve" || slices.Contains(examples, strings.TrimSpace(line)) {
				continue
			}
			for i := range args[1:] {
				if args[i] == "-o" {
					args[i+1] = filepath.Join(out, args[i+1])
				}
			}
			if got := memtide(t, t.Context(), args...); got.code != cli.OK {
				t.Errorf("docs/%s: memtide %s\nexit status %d, want 0: %s", page, strings.TrimSpace(command),
					got.code, got.stderr)
			}
		}
	}
	if ran < 8 {
		t.Errorf("the documents show %d command lines; want the 8 and more that they had when this test was written", ran)
	}
}

// TestDocsBounds checks that docs/model.md explains the bounds that the page names, each with its source.
func TestDocsBounds(t *testing.T) {
	text := docsFile(t, "model.md")
	for _, name := range []string{bound.NameCompute, bound.NameLB, bound.NameRelax} {
		short, source, _ := strings.Cut(name, " (")
		_, line, found := strings.Cut(text, "\n- **"+short+"**")
		line, _, _ = strings.Cut(line, "\n")
		_, place, _ := strings.Cut(strings.TrimSuffix(source, ")"), ", ")
		place = strings.NewReplacer("Prop.", "Proposition", "Thm.", "Theorem").Replace(place)
		if !found || !strings.Contains(line, place) {
			t.Errorf("docs/model.md explains %q with %q; want a line about it that names %q", name, line, place)
		}
	}
}

// TestDocsCounterexamples checks that the documents give the numbers of stages that the presets of the
// counterexamples have.
func TestDocsCounterexamples(t *testing.T) {
	for _, c := range []struct{ page, id, says string }{
		{"paper-000.md", "lemma3", "On this network of %s stages, counting the loss"},
		{"paper-002.md", "nonpersistent", "The smallest example found has %s stages, counting the loss"},
	} {
		p, err := preset.Lookup(c.id).Profile(1)
		if err != nil {
			t.Fatal(err)
		}
		n := len(p.Chain.Stages)
		if want := fmt.Sprintf(c.says, map[int]string{3: "three", 4: "four",
			5: "five"}[n]); !strings.Contains(docsFile(t, c.page), want) {
			t.Errorf("docs/%s does not say %q; %s has %d stages", c.page, want, c.id, n)
		}
	}
}
