package main

import (
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
