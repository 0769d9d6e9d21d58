//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// TestMain runs a command that ignores its context if TestMainEnds asks for it by MEMTIDE_DEAF.
func TestMain(m *testing.M) {
	if os.Getenv("MEMTIDE_DEAF") != "" {
		Main(func(_ context.Context, _ []string, _ io.Reader, stdout, _ io.Writer) int {
			_, _ = io.WriteString(stdout, "at work\n")
			select {}
		})
	}
	os.Exit(m.Run())
}

// TestMainEnds checks that either signal ends a command that never checks its context. The exit status is that of
// a command that was stopped early.
func TestMainEnds(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "MEMTIDE_DEAF=1")
		var said bytes.Buffer
		c.Stderr = &said
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Process.Kill() })
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "at work\n" {
			t.Fatalf("the command says %q, %v; want that it is at work", line, err)
		}
		if err := c.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		if code := c.ProcessState.ExitCode(); code != No || said.String() != "interrupted\n" {
			t.Errorf("after %v: exit status %d, %q; want %d and that it was interrupted", signal, code,
				said.String(), No)
		}
	}
}
