//go:build !js

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/cmd/cli"
)

// TestSources checks that a changed, new or removed source file of the page is noticed, and that other files are
// ignored.
func TestSources(t *testing.T) {
	root := t.TempDir()
	write := func(name string, at int64) {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, time.Unix(at, 0)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"engine/a.go", "profiles/b.go", "wasm/page/c.go", "web/ui/d.vugu",
		"web/static/e.css", "web/static/f.js", "index.html"} {
		write(name, 1)
	}
	s := &site{root: root}
	old := s.sources()
	for _, name := range []string{"web/ui/d_gen.go", "engine/a_test.go", "engine/testdata/x", "web/browsertest/y.go",
		"cmd/z.go"} {
		write(name, 2)
	}
	write("web/static/e.css", 2)
	write("web/new.go", 1)
	if err := os.Remove(filepath.Join(root, "engine", "a.go")); err != nil {
		t.Fatal(err)
	}
	got := differing(old, s.sources())
	want := []string{"engine/a.go", "web/new.go", "web/static/e.css"}
	for i := range got {
		rel, err := filepath.Rel(root, got[i])
		if err != nil {
			t.Fatal(err)
		}
		got[i] = filepath.ToSlash(rel)
	}
	if !slices.Equal(got, want) || len(old) != 7 {
		t.Errorf("of %d sources %q have changed, want %q of 7", len(old), got, want)
	}
}

// TestWatchBuildsOnlyWhatChanged checks that a changed style sheet gets into the page without compiling a program.
func TestWatchBuildsOnlyWhatChanged(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{site: &site{root: root, dir: t.TempDir(), First: "the picture", Wasm: "app.wasm"}}
	if err := cli.Try(func() { w.build([]string{filepath.Join(root, "web", "static", "style.css")}) }); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(w.site.dir, "index.html"))
	if err != nil || !strings.Contains(string(page), w.site.Style) || w.site.Wasm != "app.wasm" {
		t.Errorf("the page (%v) has the program %s and no style sheet %s:\n%s", err, w.site.Wasm, w.site.Style, page)
	}
	if _, err := os.Stat(filepath.Join(w.site.dir, builtAddress)); err != nil {
		t.Errorf("open pages are not told: %v", err)
	}
}

// TestWatchTells checks that only the page that watch builds has the script that polls for new builds, and that
// the content security policy already allows its requests.
func TestWatchTells(t *testing.T) {
	if want := "connect-src 'self';"; !strings.Contains(policy, want) {
		t.Errorf("the policy %q lacks %q, by which the page asks for changes", policy, want)
	}
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, extra := range [][][]byte{nil, {[]byte(reload)}} {
		s := &site{root: root, dir: t.TempDir(), extra: extra}
		if err := cli.Try(s.scripts); err != nil {
			t.Fatal(err)
		}
		script, err := os.ReadFile(filepath.Join(s.dir, s.Script))
		if got, want := strings.Contains(string(script), `fetch("`+builtAddress), extra != nil; err != nil || got != want {
			t.Errorf("with %d scripts more the page loads itself again: %t (%v), want %t", len(extra), got, err, want)
		}
	}
}
