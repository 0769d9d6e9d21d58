package passes

import (
	"bytes"
	"strings"
	"testing"
)

// TestShorten checks that names of generic functions become what tracebacks print, and that names that belong to
// no function are cleared. Every name keeps its offset.
func TestShorten(t *testing.T) {
	const names = "\x00main.main\x00slices.Sort[go.shape.[]int,int].func1\x00inlined.Away\x00pkg.f[A]\x00"
	const want = "\x00main.main\x00slices.Sort[...].func1"
	m := &tables{view: view{b: []byte(names)}, names: span{0, len(names)}}
	at := func(name string) int { return bytes.Index([]byte(names), []byte(name)) }
	m.shorten(map[int]bool{at("main"): true, at("slices"): true, at("pkg"): true})
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

// TestValues checks that values reads tables as the runtime does, starting at -1. In the first table, the value
// rises by 2 for 1 instruction, falls by 3 for 300 and rises by 9 for 1.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		table []byte
		want  values
	}{
		{[]byte{4, 1, 5, 0xac, 2, 18, 1, 0}, values{end: 8, least: -2, most: 7, places: 302}},
		{[]byte{0, 1, 0}, values{end: 3, least: -1, most: -1, places: 1}},
		{[]byte{2, 1, 0}, values{end: 3, least: 0, most: 0, places: 1}},
	} {
		v := &view{b: c.table}
		if got := v.values(0); got != c.want || v.bad {
			t.Errorf("the table % x: got %+v (bad: %v), want %+v", c.table, got, v.bad, c.want)
		}
	}
}

// TestShare checks that the functions of a foreign package get one common name per package. The module's own
// functions and those that the runtime knows keep their names.
func TestShare(t *testing.T) {
	names := []string{"main.f", "runtime.gopanic", "encoding/json.a", "encoding/json.(*T).b", "memtide/web/ui.X",
		"strconv.quoteWith", "slices.Sort[go.shape.int]", "slices.Max[a/b.T]"}
	m := &tables{view: view{b: []byte{0}}, funcs: len(names)}
	for _, name := range names {
		m.b = append(append(m.b, name...), 0)
	}
	m.names.end = len(m.b)
	m.records.at = len(m.b)
	m.b = append(m.b, make([]byte, len(names)*(listEntry+funcSize))...)
	for i, name := range names {
		at := len(names)*listEntry + i*funcSize
		m.setWord(m.records.at+i*listEntry+4, at)
		m.setWord(m.records.at+at+funcName, bytes.Index(m.b, []byte(name)))
		if name == "runtime.gopanic" {
			m.b[m.records.at+at+funcID] = 3
		}
	}
	m.share(func(name string) bool {
		return strings.HasPrefix(name, "main.") || strings.HasPrefix(name, "memtide/")
	})
	want := []string{"main.f", "runtime.gopanic", "encoding/json.?", "encoding/json.?", "memtide/web/ui.X",
		"strconv.?", "slices.?", "slices.?"}
	for i := range names {
		if got := m.name(m.word(m.function(i) + funcName)); got != want[i] || m.bad {
			t.Errorf("%s became %s (bad: %v); want %s", names[i], got, m.bad, want[i])
		}
	}
}
