package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var trainerCommand = regexp.MustCompile("^`([^`]+)`$")

// TestTrainersQuestions checks that the answers in the table of trainers' questions are those of its commands.
func TestTrainersQuestions(t *testing.T) {
	_, table, _ := strings.Cut(docsFile(t, "language-models.md"), "### What trainers asked")
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 4 {
			continue
		}
		m := trainerCommand.FindStringSubmatch(strings.TrimSpace(cells[1]))
		if m == nil {
			continue
		}
		rows++
		command := "plan -model " + m[1]
		if !strings.Contains(command, "-ckpt") {
			command += " -ckpt full"
		}
		answer := said(t, command)
		figures := figure.FindAllStringSubmatch(cells[2], -1)
		if len(figures) == 0 {
			t.Errorf("%s: no figure", command)
		}
		for _, f := range figures {
			if !strings.Contains(answer, f[1]) {
				t.Errorf("memtide %s: it does not say %q:\n%s", command, f[1], answer)
			}
		}
	}
	if rows < 16 {
		t.Errorf("%d commands in the table; want 16 at least", rows)
	}
}

// TestPictureOfItsSize checks that a model of pictures is asked about one of its size, and about another if that is said.
func TestPictureOfItsSize(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	config := `{"model_type":"vit","hidden_size":192,"num_attention_heads":3,"num_hidden_layers":2,"image_size":224,"patch_size":14}`
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for flags, want := range map[string]string{"": "1 x 256 tokens", "-seq 1024": "1 x 1024 tokens"} {
		args := append(append([]string{"plan"}, strings.Fields(flags)...), file)
		if got := memtide(t, t.Context(), args...); !strings.Contains(got.stdout, want) {
			t.Errorf("plan %s of a picture of 224 x 224 in patches of 14: %.120s%s; want %q", flags, got.stdout, got.stderr, want)
		}
	}
}
