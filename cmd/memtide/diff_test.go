package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memtide/cmd/cli"
)

// TestDiff makes a storage larger by 1 MiB that an operator of the module 2 makes and autograd keeps. The
// difference must report the larger peak and name the module. With -most it is an error.
func TestDiff(t *testing.T) {
	before := filepath.Join("testdata", "operators.json")
	text, err := os.ReadFile(before)
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	storages, made := file["storages"].([]any), -1
	for _, keep := range file["keeps"].([]any) {
		k := keep.([]any)
		if call, ok := k[1].(float64); ok && file["calls"].([]any)[int(call)].(map[string]any)["path"] == "2" {
			made = int(k[0].(float64))
		}
	}
	if made < 0 {
		t.Fatal("autograd keeps nothing in the module 2 of the file; want a storage")
	}
	storages[made] = storages[made].(float64) + 1<<20
	changed, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	after := filepath.Join(t.TempDir(), "after.json")
	if err := os.WriteFile(after, changed, 0o644); err != nil {
		t.Fatal(err)
	}
	got := memtide(t, t.Context(), "diff", before, after)
	if first, _, _ := strings.Cut(got.stdout, "\n"); got.code != cli.OK ||
		!strings.HasPrefix(first, "peak +1 MiB, from ") || !strings.Contains(got.stdout, "  +1 MiB\t") {
		t.Errorf("exit status %d:\n%s%s\nwant a peak that is 1 MiB higher, and a module that makes it", got.code,
			got.stdout, got.stderr)
	}
	if back := memtide(t, t.Context(), "diff", after, before); back.code != cli.OK ||
		!strings.HasPrefix(back.stdout, "peak −1 MiB") {
		t.Errorf("exit status %d: %s%s\nwant a peak that is 1 MiB lower", back.code, back.stdout, back.stderr)
	}
	if got := memtide(t, t.Context(), "diff", "-most", "512KiB", before, after); got.code != cli.No ||
		!strings.Contains(got.stderr, "grown by 1 MiB, more than 512 KiB") {
		t.Errorf("exit status %d, %q; want %d and that it has grown by more", got.code, got.stderr, cli.No)
	}
}

// TestHelpJSON checks that help -json lists every command with its flags.
func TestHelpJSON(t *testing.T) {
	got := memtide(t, t.Context(), "help", "-json")
	var said struct {
		Commands []struct {
			Name, Summary string
			Examples      []string
			Flags         []struct{ Name, Doc string }
		}
	}
	if err := json.Unmarshal([]byte(got.stdout), &said); err != nil || len(said.Commands) != len(commands) {
		t.Fatalf("%v: %d commands; want %d", err, len(said.Commands), len(commands))
	}
	for _, c := range said.Commands {
		if c.Summary == "" || len(c.Examples) == 0 {
			t.Errorf("%s has no summary or no example", c.Name)
		}
		if help := memtide(t, t.Context(), "help", c.Name).stdout; help == "" {
			t.Errorf("there is no help about %s", c.Name)
		} else {
			for _, f := range c.Flags {
				if !strings.Contains(help, "  -"+f.Name) || f.Doc == "" {
					t.Errorf("help %s does not name -%s, or it has no words", c.Name, f.Name)
				}
			}
		}
	}
}
