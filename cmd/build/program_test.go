//go:build !js

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestRewriteOfAnotherVersion checks that a program of a Go version that cmd/wasmopt does not know is still built
// and runs. The build then reports which passes it left out. For the Go version in use it reports nothing.
func TestRewriteOfAnotherVersion(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": "package main\n\nfunc main() { println(\"runs\") }\n",
		"go.mod": "module program\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "program.wasm")
	if _, err := run(dir, []string{"GOOS=js", "GOARCH=wasm", "GOFLAGS=-mod=mod"}, "go", "build", "-o", file,
		"."); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	version := []byte(runtime.Version())
	other := slices.Concat([]byte("go9"), version[3:])
	for _, c := range []struct {
		version []byte
		want    string
	}{
		{version, ""},
		{other, "app is larger and slower than it could be from the pass jumps of cmd/wasmopt on: the layout of " +
			string(other)},
	} {
		var said bytes.Buffer
		out := rewrite(&said, "app", bytes.ReplaceAll(program, version, c.version))
		if got := said.String(); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: the build says %q, want %q", c.version, got, c.want)
		}
		if err := os.WriteFile(file, out, 0o644); err != nil {
			t.Fatal(err)
		}
		goroot, err := run("", nil, "go", "env", "GOROOT")
		if err != nil {
			t.Fatal(err)
		}
		text, err := exec.CommandContext(t.Context(), "node",
			filepath.Join(goroot, "lib", "wasm", "wasm_exec_node.js"), file).CombinedOutput()
		if err != nil || strings.TrimSpace(string(text)) != "runs" {
			t.Errorf("%s: the program writes %q (%v), want %q", c.version, text, err, "runs")
		}
	}
}
