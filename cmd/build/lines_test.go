//go:build !js

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

// buildProgram compiles a program of one file for the browser.
func buildProgram(t *testing.T, text string, flags ...string) []byte {
	t.Helper()
	dir := writeProgram(t, text)
	file := filepath.Join(dir, "program.wasm")
	args := append(append([]string{"build", "-o", file}, flags...), ".")
	if _, err := run(dir, []string{"GOOS=js", "GOARCH=wasm", "GOFLAGS=-mod=mod"}, "go", args...); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// writeProgram writes a program of one file into a folder.
func writeProgram(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": text, "go.mod": "module program\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runProgram runs a program in Node and returns what it wrote.
func runProgram(t *testing.T, program []byte) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program.wasm")
	if err := os.WriteFile(file, program, 0o644); err != nil {
		t.Fatal(err)
	}
	goroot, err := run("", nil, "go", "env", "GOROOT")
	if err != nil {
		t.Fatal(err)
	}
	// One that was rewritten wrongly may go round for ever, and must not outlive this.
	ctx := t.Context()
	if end, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-10*time.Second))
		defer cancel()
	}
	out, err := exec.CommandContext(ctx, "node", "--stack-size=8192", filepath.Join(goroot, "lib", "wasm", "wasm_exec_node.js"), file).CombinedOutput()
	return string(out), err
}

// A program without lines runs, and a traceback names functions.
func TestDropLines(t *testing.T) {
	after, err := shrink(buildProgram(t, traceback))
	if err != nil {
		t.Fatal(err)
	}
	text, err := runProgram(t, after)
	if err != nil || !strings.Contains(text, "main.deep(") || !strings.HasSuffix(strings.TrimSpace(text), "recovered") {
		t.Errorf("the program: %v\n%s\nwant a traceback with main.deep and then what was recovered", err, text)
	}
	if strings.Contains(text, "main.go:") || strings.Contains(text, "main.deep(0x") {
		t.Errorf("the traceback names lines of main.go or arguments, so nothing was dropped (has another version of Go another table?):\n%s", text)
	}
}

// Of the tables by instruction nothing is left that no function names.
func TestDropLinesLeavesNothing(t *testing.T) {
	sections, err := readSections(buildProgram(t, traceback))
	if err != nil {
		t.Fatal(err)
	}
	memory, err := initialMemory(sections)
	if err != nil {
		t.Fatal(err)
	}
	if !dropTraces(memory) || !dropLines(memory) {
		t.Fatal("this version of Go has another table of functions; see lines.go and traces.go")
	}
	m := findModule(memory)
	tables := map[int]int{} // how long, by where they are
	for i := range m.funcs {
		f := m.function(i)
		offsets := []int{m.word(f + funcStack)}
		for k := range m.word(f + funcPCData) {
			offsets = append(offsets, m.word(f+funcSize+4*k))
		}
		for _, off := range offsets {
			if off > 0 {
				tables[off] = m.end(m.pcs+off) - m.pcs - off
			}
		}
	}
	named := 0
	for _, n := range tables {
		named += n
	}
	left := len(memory[m.pcs:m.pcsEnd]) - bytes.Count(memory[m.pcs:m.pcsEnd], []byte{0})
	if named == 0 || left > named {
		t.Errorf("%d bytes of the tables are not zero, functions name tables of at most %d", left, named)
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
