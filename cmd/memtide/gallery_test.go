package main

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"
)

var (
	figure = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	live   = regexp.MustCompile(`\n!\[[^\]]+\]\(\.\./#v=1&`)
	source = regexp.MustCompile(`\]\(https://github\.com/[^/]+/[^/]+/(issues|pull)/[0-9]+\)`)
)

// firstLine is a writer that keeps an answer up to the end of its first line and then calls stop: what plan
// computes after its verdict takes long.
type firstLine struct {
	bytes.Buffer
	stop context.CancelFunc
}

func (w *firstLine) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if bytes.ContainsRune(p, '\n') {
		w.stop()
	}
	return n, err
}

// said returns the answer of a command line of the gallery. For plan it is only the first line.
func said(t *testing.T, command string) string {
	t.Helper()
	args := words(command)
	if args[0] != "plan" {
		got := memtide(t, t.Context(), args...)
		if got.stdout == "" {
			t.Errorf("memtide %s: it answers nothing: %s", command, got.stderr)
		}
		return got.stdout
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, complaints := &firstLine{stop: stop}, &bytes.Buffer{}
	run(ctx, args, strings.NewReader(""), out, complaints)
	text, _, ok := strings.Cut(out.String(), "\n")
	if !ok {
		t.Errorf("memtide %s: it answers nothing: %s", command, complaints)
	}
	return text
}

// TestGallery checks that each of the twenty stories of the gallery has a source and a live view with a caption.
// The answers of a story's commands must contain every figure in its sentences.
func TestGallery(t *testing.T) {
	stories := strings.Split(docsFile(t, "gallery.md"), "\n## ")[1:]
	if len(stories) != 20 {
		t.Errorf("the gallery has %d stories; want 20", len(stories))
	}
	for _, story := range stories {
		title, _, _ := strings.Cut(story, "\n")
		sentences, commands, _ := strings.Cut(story, "```sh\n")
		if !source.MatchString(sentences) {
			t.Errorf("%s: no link to where it was asked", title)
		}
		if !live.MatchString(sentences) {
			t.Errorf("%s: no live view with a caption", title)
		}
		var answers strings.Builder
		for line := range strings.Lines(strings.TrimSuffix(strings.TrimSpace(commands), "```")) {
			command, ok := strings.CutPrefix(strings.TrimSpace(line), "memtide ")
			if !ok {
				t.Errorf("%s: %q is no command line", title, line)
				continue
			}
			answers.WriteString(said(t, command) + "\n")
		}
		figures := figure.FindAllStringSubmatch(sentences, -1)
		if len(figures) == 0 {
			t.Errorf("%s: no figure", title)
		}
		for _, m := range figures {
			if !strings.Contains(answers.String(), m[1]) {
				t.Errorf("%s: none of its commands says %q\n%s", title, m[1], answers.String())
			}
		}
	}
}
