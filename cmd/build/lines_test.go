//go:build !js

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// traceback grows its stack, collects garbage, recovers, and prints where it is.
const traceback = `package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type node struct{ next *node; pad [100]byte }

func deep(n int, list *node) int {
	if n == 0 {
		runtime.GC()
		fmt.Print(string(debug.Stack()))
		panic("recovered")
	}
	return deep(n-1, &node{next: list}) + 1
}

func main() {
	done := make(chan int)
	go func() {
		defer func() { fmt.Println(recover()); close(done) }()
		deep(5000, nil)
	}()
	<-done
}
`

// A program without lines runs, and a traceback names functions.
func TestDropLines(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": traceback, "go.mod": "module traceback\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "program.wasm")
	if _, err := run(dir, []string{"GOOS=js", "GOARCH=wasm", "GOFLAGS=-mod=mod"}, "go", "build", "-o", file, "."); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	after, err := joinSegments(before)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, after, 0o644); err != nil {
		t.Fatal(err)
	}
	goroot, err := run("", nil, "go", "env", "GOROOT")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("node", "--stack-size=8192", filepath.Join(goroot, "lib", "wasm", "wasm_exec_node.js"), file).CombinedOutput()
	text := string(out)
	if err != nil || !strings.Contains(text, "main.deep(") || !strings.HasSuffix(strings.TrimSpace(text), "recovered") {
		t.Errorf("the program: %v\n%s\nwant a traceback with main.deep and then what was recovered", err, text)
	}
	if strings.Contains(text, "main.go:") || strings.Contains(text, "main.deep(0x") {
		t.Errorf("the traceback names lines of main.go or arguments, so nothing was dropped (has another version of Go another table?):\n%s", text)
	}
}

// What is not the expected table is left alone.
func TestDropLinesLeavesOthersAlone(t *testing.T) {
	for name, memory := range map[string][]byte{
		"nothing":   make([]byte, 100),
		"cut":       append(bytes.Clone(pcHeader), 1, 2, 3),
		"nonsense":  append(bytes.Clone(pcHeader), bytes.Repeat([]byte{0xff}, 200)...),
		"two heads": bytes.Repeat(pcHeader, 20),
	} {
		got := bytes.Clone(memory)
		if dropLines(got) || !bytes.Equal(got, memory) {
			t.Errorf("%s: % x became % x; want it left alone", name, memory, got)
		}
	}
}
