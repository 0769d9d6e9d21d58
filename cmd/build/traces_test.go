//go:build !js

package main

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// What is not a program's memory, or one of another layout, is left alone.
func TestDropTracesLeavesOthersAlone(t *testing.T) {
	head := append(bytes.Clone(pcHeader), make([]byte, 72)...)
	module := binary.LittleEndian.AppendUint64(make([]byte, 8), 8) // the head is at 8, and so are the names
	for name, memory := range map[string][]byte{
		"nothing":       make([]byte, 100),
		"a head":        append(make([]byte, 8), head...),
		"two heads":     append(bytes.Clone(head), head...),
		"another place": append(append(make([]byte, 8), head...), append(module, bytes.Repeat([]byte{1}, 8*moduleWords)...)...),
	} {
		got := bytes.Clone(memory)
		if dropTraces(got) || !bytes.Equal(got, memory) {
			t.Errorf("%s: % x became % x; want it left alone", name, memory, got)
		}
	}
}

// Names of generic functions are written as tracebacks print them, and those of
// no function are cleared; all stay where they are.
func TestShortenNames(t *testing.T) {
	const names = "\x00main.main\x00slices.Sort[go.shape.[]int,int].func1\x00inlined.Away\x00pkg.f[A]\x00"
	const want = "\x00main.main\x00slices.Sort[...].func1"
	m := &goModule{lineTable: &lineTable{b: []byte(names)}, namesEnd: len(names)}
	at := func(name string) int { return bytes.Index([]byte(names), []byte(name)) }
	m.shortenNames(map[int]bool{at("main"): true, at("slices"): true, at("pkg"): true})
	if m.bad || !bytes.HasPrefix(m.b, []byte(want)) {
		t.Errorf("%q became %q (bad: %v); want it to begin with %q", names, m.b, m.bad, want)
	}
	if i := at("inlined"); m.b[i] != 0 {
		t.Errorf("%q: the name of no function is still there: %q", names, m.b[i:])
	}
	if i := at("pkg"); string(m.b[i:i+8]) != "pkg.f[A]" {
		t.Errorf("%q: a name became longer than it was: %q", names, m.b[i:])
	}
}

// largest reads tables as the runtime does: up 2 for 1 instruction, down 3 for
// 300, up 9 for 1.
func TestLargest(t *testing.T) {
	for _, c := range []struct {
		table []byte
		want  int
	}{
		{[]byte{4, 1, 5, 0xac, 2, 18, 1, 0}, 7},
		{[]byte{0, 1, 0}, -1},
		{[]byte{2, 1, 0}, 0},
	} {
		m := &goModule{lineTable: &lineTable{b: c.table}}
		if got := m.largest(0); got != c.want || m.bad {
			t.Errorf("the table % x: got %d (bad: %v), want %d", c.table, got, m.bad, c.want)
		}
	}
}

// Functions of others share a name for each package; ours, and those that the
// runtime knows, keep theirs.
func TestShareNames(t *testing.T) {
	names := []string{"main.f", "runtime.gopanic", "encoding/json.a", "encoding/json.(*T).b", "memtide/web/ui.X", "strconv.quoteWith", "slices.Sort[go.shape.int]", "slices.Max[a/b.T]"}
	m := &goModule{lineTable: &lineTable{b: []byte{0}}, funcs: len(names)}
	for _, name := range names {
		m.b = append(append(m.b, name...), 0)
	}
	m.namesEnd = len(m.b)
	m.funcTab = len(m.b)
	m.b = append(m.b, make([]byte, len(names)*(funcTabEntry+funcSize))...)
	for i, name := range names {
		at := len(names)*funcTabEntry + i*funcSize
		m.setWord(m.funcTab+i*funcTabEntry+4, at)
		m.setWord(m.funcTab+at+funcName, bytes.Index(m.b, []byte(name)))
		if name == "runtime.gopanic" {
			m.b[m.funcTab+at+funcID] = 3
		}
	}
	m.shareNames()
	want := []string{"main.f", "runtime.gopanic", "encoding/json.?", "encoding/json.?", "memtide/web/ui.X", "strconv.?", "slices.?", "slices.?"}
	for i := range names {
		if got := m.name(m.word(m.function(i) + funcName)); got != want[i] || m.bad {
			t.Errorf("%s became %s (bad: %v); want %s", names[i], got, m.bad, want[i])
		}
	}
}
