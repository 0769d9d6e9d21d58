//go:build !js

package main

import (
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"memtide/cmd/cli"
	"memtide/wasm/serve"
	"memtide/web/jobs"
	"memtide/web/link"
)

var attribute = regexp.MustCompile(`\s(href|src|srcset|link|id)="([^"]*)"`)

// attributes returns the values of the attributes called name in page, unescaped as a browser reads them.
func attributes(page, name string) (out []string) {
	for _, m := range attribute.FindAllStringSubmatch(page, -1) {
		if m[1] == name {
			out = append(out, html.UnescapeString(m[2]))
		}
	}
	return out
}

// TestDocs builds the documentation and follows every link in it: to a page, to a heading, or to the explorer.
// Links to the explorer must parse and must have the form in which the explorer writes them.
func TestDocs(t *testing.T) {
	s := &site{root: "../..", dir: t.TempDir(), DocsStyle: "docs.css"}
	if err := cli.Try(s.docs); err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, a := range s.written {
		b, err := os.ReadFile(filepath.Join(s.dir, a.name))
		if err != nil {
			t.Fatal(err)
		}
		pages[filepath.Base(a.name)] = string(b)
	}
	views := 0
	for name, page := range pages {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		for _, to := range slices.Concat(attributes(page, "href"), attributes(page, "src"),
			attributes(page, "srcset")) {
			checkReference(t, name, to, pages)
		}
		views += len(attributes(page, "link"))
	}
	if views == 0 {
		t.Error("no page of the documentation has a live view; expected at least that of the index")
	}
}

// checkReference reports an error if the link to, found in page, leads nowhere. pages are the texts of all pages
// by name.
func checkReference(t *testing.T, page, to string, pages map[string]string) {
	t.Helper()
	to, anchor, _ := strings.Cut(to, "#")
	switch {
	case strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "mailto:"):
	case to == "../" && anchor != "":
		l, notes := link.Parse(anchor)
		if len(notes) > 0 {
			t.Errorf("%s links to ../#%s, which the page does not understand: %s", page, anchor,
				strings.Join(notes, " "))
		} else if got := l.String(); got != anchor {
			t.Errorf("%s: link\n  got  %s\n  want %s, as the page writes it", page, anchor, got)
		} else if _, err := jobs.Poster(t.Context(), new(serve.Local), io.Discard, anchor, posterWidth); err != nil {
			t.Errorf("%s links to ../#%s, which shows nothing: %v", page, anchor, err)
		}
	case to == "../" || to == "../puzzle.html" || to == "../docs.css" || to == "../icon.svg" || to == "../view.js":
	default:
		if to == "./" {
			to = "index.html"
		}
		target, ok := pages[to]
		if to == "" {
			target, ok = pages[page], true
		}
		switch {
		case !ok:
			t.Errorf("%s links to %q, which is not there", page, to)
		case anchor != "" && !strings.Contains(target, `id="`+anchor+`"`):
			t.Errorf("%s links to the heading %q of %s, which is not there", page, anchor, to)
		}
	}
}

// TestDocsSayWhatIsWrong checks the error messages that writers of documents get for mistakes.
func TestDocsSayWhatIsWrong(t *testing.T) {
	index := "# Index\n\n[A](a.md)\n"
	for _, c := range []struct{ name, file, text, want string }{
		{"no heading", "a.md", "Text.\n", "does not begin with a heading"},
		{"not listed", "b.md", "# B\n", "not in the list"},
		{"no such page", "a.md", "# A\n\n[gone](gone.md)\n", "gone.md"},
		{"bad view", "a.md", "# A\n\n![x](../#v=1&p=nothing)\n", "nothing"},
		{"view without description", "a.md", "# A\n\n![](../#v=1&p=lemma3)\n", "no description"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			docs := filepath.Join(root, "docs")
			shell, err := os.ReadFile("../../docs/page.html")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(docs, 0o755); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{"page.html": string(shell), docsIndex: index, "a.md": "# A\n",
				c.file: c.text} {
				if err := os.WriteFile(filepath.Join(docs, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			s := &site{root: root, dir: t.TempDir()}
			if err := cli.Try(s.docs); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("docs with %s:\n%s\ngot error %v, want one with %q", c.file, c.text, err, c.want)
			}
		})
	}
}
