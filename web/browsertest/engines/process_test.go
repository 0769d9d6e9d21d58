//go:build !js

package engines

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// process is a running program and the lines that it has written.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the program has ended

	mu    sync.Mutex
	lines []string
}

// launch starts a program in an environment whose home directory is home.
func launch(home string, extra []string, name string, args ...string) (*process, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_CACHE_HOME="+home+"/.cache",
		"XDG_DATA_HOME="+home+"/.local/share", "XDG_RUNTIME_DIR="+home, "NO_AT_BRIDGE=1")
	cmd.Env = append(cmd.Env, extra...)
	return begin(cmd)
}

func begin(cmd *exec.Cmd) (*process, error) {
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go p.read(r)
	go func() {
		_ = cmd.Wait()
		w.Close()
		close(p.done)
	}()
	return p, nil
}

func (p *process) read(r io.Reader) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		p.mu.Lock()
		p.lines = append(p.lines, s.Text())
		p.mu.Unlock()
	}
	_, _ = io.Copy(io.Discard, r) // a line that is too long must not stop the program
}

// says waits for a line that contains mark and returns the rest of that line.
func (p *process) says(ctx context.Context, mark string) (rest string, err error) {
	err = until(ctx, func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, line := range p.lines {
			if _, after, ok := strings.Cut(line, mark); ok {
				rest = strings.TrimSpace(after)
				return nil
			}
		}
		return fmt.Errorf("%s has not said %q, but:\n%s", p.cmd.Path, mark, strings.Join(p.lines, "\n"))
	})
	return rest, err
}

func (p *process) end() {
	_ = p.cmd.Process.Kill()
	<-p.done
}
