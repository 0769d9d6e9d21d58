package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memtide/cmd/cli"
)

// TestMessagesArePlainText checks that messages send no control characters to the terminal. Those in arguments,
// file names and links are escaped.
func TestMessagesArePlainText(t *testing.T) {
	const evil = "\x1b]0;owned\a\x1b[2J\u202e\u009b31m"
	odd := filepath.Join(t.TempDir(), "a"+evil+".csv")
	if err := os.WriteFile(odd, []byte("nothing\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{evil}, {"help", evil}, {"help", "a", evil}, {"solve", evil}, {"solve", odd}, {"solve", "a", evil},
		{"solve", "-" + evil}, {"solve", "-budget", evil, "x"},
		{"solve", "-preset", evil}, {"solve", "-from", evil}, {"solve", "-from", "#v=1&p=" + evil},
		{"solve", "-from", "#v=1&p=lemma3&m=" + evil}, {"solve", "-preset", "lemma3-b1", "-strategy", evil},
		{"solve", "-preset", "lemma3-b1", "-device", evil}, {"solve", "-preset", "lemma3-b1", "-arg", evil},
		{"place", "-preset", "lemma3-b1", "-alloc", evil},
		{"sweep", "-preset", "lemma3-b1", "-arg", evil + "=1"}, {"serve", evil}, {"serve", "-dir", evil},
		{"link", "-base", "#" + evil, "x"}, {"svg", "-preset", "lemma3-b1", "-o", odd + "/x.svg"},
		{"batch", "-preset", evil},
	} {
		o := memtide(t, t.Context(), args...)
		if o.code == cli.OK && args[0] != "solve" {
			t.Errorf("%q: it worked; want an error that echoes", args)
		}
		for _, bad := range []string{"\x1b", "\a", "\u202e", "\u009b"} {
			if strings.Contains(o.stderr, bad) || strings.Contains(o.stdout, bad) {
				t.Errorf("%q: the message has %q in it: %q%q", args, bad, o.stderr, o.stdout)
			}
		}
	}
}

// TestInterruptEndsReading checks that Ctrl-C ends a command that waits for input that does not come.
func TestInterruptEndsReading(t *testing.T) {
	for _, c := range []struct{ command, names string }{{"solve -", "standard input"},
		{"sweep -json -", "standard input"}, {"link -", "standard input"},
		{"doctor -", "standard input"}, {"torch -", "standard input"}, {"plan -", "standard input"},
		{"score -", "standard input"}} {
		ctx, interrupt := context.WithCancel(t.Context())
		in := &waits{asked: make(chan bool), end: make(chan bool)}
		go func() { <-in.asked; interrupt() }()
		var stdout, stderr bytes.Buffer
		code := run(ctx, strings.Fields(c.command), in, &stdout, &stderr)
		close(in.end)
		if got := stderr.String(); code != cli.No || !strings.Contains(got, c.names) ||
			!strings.Contains(got, "interrupted") {
			t.Errorf("memtide %s, interrupted while it reads: exit status %d, %q; want %d and that reading was interrupted", c.command, code, got, cli.No)
		}
	}
}

// waits is an input that is never written. It closes asked at the first Read and then blocks until end is closed.
type waits struct{ asked, end chan bool }

func (w *waits) Read([]byte) (int, error) {
	close(w.asked)
	<-w.end
	return 0, io.EOF
}

// TestEndlessInput checks that commands that hold their input in memory refuse an endless one at the limit.
func TestEndlessInput(t *testing.T) {
	for _, command := range []string{"score -", "plan -", "torch -"} {
		var in endless
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(command), &in, &stdout, &stderr)
		if want := "standard input: it is larger than 128 MiB"; code != cli.Usage ||
			!strings.Contains(stderr.String(), want) || in > 129<<20 {
			t.Errorf("memtide %s, without an end: exit status %d, %q after %d bytes; want %d, %q", command, code,
				stderr.String(), in, cli.Usage, want)
		}
	}
}

// endless is an input of zeros without an end. Its value is the number of bytes read.
type endless int

func (n *endless) Read(p []byte) (int, error) {
	*n += endless(len(p))
	return len(p), nil
}
