package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"memtide/engine/enginetest/golden"
	"memtide/web/choice"
)

// TestReadmePicture checks that the picture of the README is what svg draws for the example.
func TestReadmePicture(t *testing.T) {
	const file = "../../web/static/example.svg"
	got := memtide(t, t.Context(), "svg", "-preset", choice.ExamplePreset, "-device", choice.ExampleDevice,
		"-strategy", "pofo", "-width", "1000")
	if got.code != 0 {
		t.Fatal(got.stderr)
	}
	golden.File(t, file, got.stdout)
}

// TestReadmeCommands checks that every command line in the README succeeds.
func TestReadmeCommands(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for line := range strings.Lines(string(readme)) {
		command, ok := strings.CutPrefix(line, "    memtide ")
		if !ok {
			continue
		}
		command, _, _ = strings.Cut(strings.TrimSpace(command), " > ")
		args := words(command)
		if got := memtide(t, t.Context(), args...); got.code != 0 {
			t.Errorf("%s: exit status %d, want 0: %s", command, got.code, got.stderr)
		}
		ran++
	}
	if ran < 4 {
		t.Errorf("the README shows %d command lines; want the four that it showed when this test was written", ran)
	}
}

// TestDocumentPaths checks that every file that the documents name or link to exists.
func TestDocumentPaths(t *testing.T) {
	paths := regexp.MustCompile("\\]\\(([^)#:]+)[)#]|`((?:cmd|engine|profiles|wasm|web)/[a-z0-9_./-]*)`")
	found := 0
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range paths.FindAllStringSubmatch(string(text), -1) {
			found++
			if _, err := os.Stat("../../" + m[1] + m[2]); err != nil {
				t.Errorf("%s names %s, which is not there", name, m[1]+m[2])
			}
		}
	}
	if found < 30 {
		t.Errorf("%d paths in the documents; want the 30 and more that they named when this test was written", found)
	}
}
