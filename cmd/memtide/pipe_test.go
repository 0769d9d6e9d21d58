//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"memtide/cmd/cli"
)

// TestPipe checks that a named pipe is read as a stream, and that a command can be interrupted while it waits for
// a writer. Opening the pipe is what blocks then.
func TestPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "net.csv")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	net, err := os.ReadFile("testdata/net.csv")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = os.WriteFile(pipe, net, 0) }()
	if o := memtide(t, t.Context(), "solve", pipe); o.code != cli.OK || !strings.Contains(o.stdout, "step time") {
		t.Errorf("solve of a pipe: exit status %d, %q; want a schedule", o.code, o.stderr)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, []string{"solve", pipe}, nil, &stdout, &stderr); code != cli.No ||
		!strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("solve of a pipe that nobody writes, interrupted: exit status %d, %q; want %d and why", code,
			stderr.String(), cli.No)
	}
	// If a goroutine still waits for a writer, this opens the pipe for it and closes it at once.
	if f, err := os.OpenFile(pipe, os.O_RDWR, 0); err == nil {
		f.Close()
	}
}
