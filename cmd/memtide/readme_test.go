//go:build !js

package main

import (
	"os"
	"strings"
	"testing"
)

// The picture of the README is what the command in the README's source draws.
func TestReadmePicture(t *testing.T) {
	const file = "../../web/static/example.svg"
	got := memtide(t, t.Context(), "svg", "-preset", "resnet101-b32", "-budget", "40%", "-strategy", "pofo", "-width", "1000")
	if got.code != 0 {
		t.Fatal(got.stderr)
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.stdout), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got.stdout {
		t.Errorf("%s is out of date; go test ./cmd/memtide -update draws it anew: look at it then", file)
	}
}

// Every command line that the README shows is understood.
func TestReadmeCommands(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for line := range strings.Lines(string(readme)) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "go run ./cmd/memtide ")
		if !ok {
			continue
		}
		command, _, _ = strings.Cut(command, " > ")
		command, _, _ = strings.Cut(command, " #")
		args := words(strings.ReplaceAll(command, "net.csv", "testdata/net.csv"))
		if got := memtide(t, t.Context(), args...); got.code == 2 {
			t.Errorf("%s: %s", command, got.stderr)
		}
		ran++
	}
	if ran < 4 {
		t.Errorf("the README shows %d command lines; want the four that it showed when this test was written", ran)
	}
}
