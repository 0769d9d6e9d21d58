package passes

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"memtide/cmd/wasmopt/flow"
	"memtide/cmd/wasmopt/module"
)

// today is the version given to Run in tests of the passes. It lets them run, and show what fails, with a version
// of Go that is not yet in the list.
var today = verified[0]

// rewritten returns the program file after all passes that are not in skip. It fails if a pass was left out.
func rewritten(t *testing.T, file []byte, skip ...string) []byte {
	t.Helper()
	out, left, err := Run(file, Options{version: today, skip: skip})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range left {
		t.Errorf("the pass %s was left out: %s", s.Pass, s.Why)
	}
	return out
}

// others returns the names of all passes except those in but.
func others(but ...string) (names []string) {
	for _, p := range passes {
		if !slices.Contains(but, p.name) {
			names = append(names, p.name)
		}
	}
	return names
}

// TestVerified checks that the Go version that runs these tests is one of the verified ones.
func TestVerified(t *testing.T) {
	if !slices.Contains(verified, runtime.Version()) {
		t.Errorf("%s has not been verified, only %q; if all other tests here pass, see verified for what is to do",
			runtime.Version(), verified)
	}
}

// TestRun checks that a program with all passes applied writes what it writes when compiled for this machine. With
// MEMTIDE_LONG=1 it also compiles the program and the standard library without inlining.
func TestRun(t *testing.T) {
	// 320 calls give the function more than 256 places. They are not inlined: that takes the compiler half a minute.
	program := strings.Replace(control, "MANY", strings.Repeat("sum += step(sum)\n\t", 320), 1)
	want := goTool(t, writeProgram(t, program), nil, "run", ".")
	ways := []string{"-gcflags="}
	if os.Getenv("MEMTIDE_LONG") != "" {
		ways = append(ways, "-gcflags=all=-l")
	}
	for _, flags := range ways {
		got, err := runInNode(t, rewritten(t, build(t, program, flags)))
		if err != nil || got != want {
			t.Errorf("%s: the program (%v) writes\n%s\nwant\n%s", flags, err, got, want)
		}
	}
}

// TestJumpsKnowsFunctions checks that at least 90 % of the functions have the form for which jumps are written
// directly.
func TestJumpsKnowsFunctions(t *testing.T) {
	l, _ := layoutOf(t)
	known := slices.DeleteFunc(slices.Clone(l.functions), func(f *flow.Function) bool { return f == nil })
	if all := len(l.functions); len(known) < all*9/10 {
		t.Errorf("%d of %d functions have the form that is expected", len(known), all)
	}
}

// TestOnePass applies every pass alone. The program must still grow its stack, collect garbage, panic, recover
// and print a traceback.
func TestOnePass(t *testing.T) {
	file := build(t, traceback)
	for _, p := range passes {
		out := rewritten(t, file, others(p.name)...)
		text, err := runInNode(t, out)
		if err != nil || !strings.Contains(text, "main.deep(") || !strings.HasSuffix(text, "recovered") {
			t.Errorf("%s: the program: %v\n%s\nwant a traceback with main.deep and then what was recovered", p.name,
				err, text)
		}
		if bytes.Equal(out, file) {
			t.Errorf("%s: the program is as it was; want it rewritten", p.name)
		}
	}
}

// TestTraceback checks that a traceback without lines and arguments names only functions of main.
func TestTraceback(t *testing.T) {
	text, err := runInNode(t, rewritten(t, build(t, traceback)))
	if err != nil || !strings.Contains(text, "main.deep(") || !strings.HasSuffix(text, "recovered") {
		t.Errorf("the program: %v\n%s\nwant a traceback with main.deep and then what was recovered", err, text)
	}
	for _, gone := range []string{"main.go:", "main.deep(0x", "runtime/debug.Stack"} {
		if strings.Contains(text, gone) {
			t.Errorf("the traceback has %q, so nothing was dropped:\n%s", gone, text)
		}
	}
}

// TestLinesLeavesNothing checks that the tables by instruction contain only tables that a function names.
func TestLinesLeavesNothing(t *testing.T) {
	sections, err := module.Read(rewritten(t, build(t, traceback)))
	if err != nil {
		t.Fatal(err)
	}
	memory, err := module.InitialMemory(sections)
	if err != nil {
		t.Fatal(err)
	}
	m, err := findTables(memory)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[int]int{} // lengths of the tables by offset
	for i := range m.funcs {
		f := m.function(i)
		offsets := []int{m.word(f + funcStack)}
		for k := range m.word(f + funcPCData) {
			offsets = append(offsets, m.word(f+funcSize+4*k))
		}
		for _, off := range offsets {
			if off > 0 {
				tables[off] = m.values(m.pcs.at+off).end - m.pcs.at - off
			}
		}
	}
	named := 0
	for _, n := range tables {
		named += n
	}
	part := memory[m.pcs.at:m.pcs.end]
	if left := len(part) - bytes.Count(part, []byte{0}); named == 0 || left > named {
		t.Errorf("%d bytes of the tables are not zero, functions name tables of at most %d", left, named)
	}
}

// untouched fails unless the passes that rely on tables were left out with a reason that contains words, and the
// code and the initial memory of the program file are unchanged. It returns the program that Run wrote.
func untouched(t *testing.T, what string, file []byte, o Options, words string) []byte {
	t.Helper()
	out, left, err := Run(file, o)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return file
	}
	for _, p := range passes {
		if p.tables && !slices.ContainsFunc(left,
			func(l LeftOut) bool { return l.Pass == p.name && strings.Contains(l.Why, words) }) {
			t.Errorf("%s: left out are %q; want the pass %s with %q", what, left, p.name, words)
		}
	}
	code, memory := parts(t, file)
	code2, memory2 := parts(t, out)
	if !bytes.Equal(code, code2) || !bytes.Equal(memory, memory2) {
		t.Errorf("%s: the code (%v) or the memory (%v) has changed", what, !bytes.Equal(code, code2),
			!bytes.Equal(memory, memory2))
	}
	return out
}

func parts(t *testing.T, file []byte) (code, memory []byte) {
	t.Helper()
	sections, err := module.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if memory, err = module.InitialMemory(sections); err != nil {
		t.Fatal(err)
	}
	return sections[module.Find(sections, module.Code)].Body, memory
}

// TestUnknownVersion checks that a program of a version that has not been verified is left as it is, except for
// the layout of its data segments, and runs as before. The same holds for a program that states no version or two
// versions.
func TestUnknownVersion(t *testing.T) {
	file := build(t, traceback)
	version := []byte(runtime.Version())
	other := slices.Concat([]byte("go9"), version[3:])
	renamed := bytes.ReplaceAll(file, version, other)
	last := bytes.LastIndex(file, version)
	linker := slices.Concat(file[:last], other, file[last+len(version):])
	unsaid := bytes.Replace(file, []byte("processed-by"), []byte("processed_by"), 1)

	want, err := runInNode(t, renamed)
	if err != nil {
		t.Fatal(err)
	}
	out := untouched(t, "another version", renamed, Options{}, "the layout of "+string(other)+" has not been verified")
	if got, err := runInNode(t, out); err != nil || got != want {
		t.Errorf("the program of another version (%v) writes\n%s\nwant\n%s", err, got, want)
	}
	if len(out) == len(renamed) {
		t.Errorf("the program of another version has %d bytes as before; want its segments joined, which relies on no version", len(out))
	}
	untouched(t, "two versions", linker, Options{}, "no runtime that says so")
	untouched(t, "no version", unsaid, Options{}, "does not say which version of Go made it")
	untouched(t, "another version, given", file, Options{version: "go1.25.3"},
		"the layout of go1.25.3 has not been verified")
	l, _ := layoutOf(t)
	if sections, err := module.Read(file); err != nil {
		t.Error(err)
	} else if made, err := madeBy(sections, l.memory); err != nil || made != runtime.Version() {
		t.Errorf("the program is said to be made by %q (%v); want %s", made, err, runtime.Version())
	}
}

// TestInsertedWordIsLeftAlone checks that nothing is overwritten if moduledata has one word more.
func TestInsertedWordIsLeftAlone(t *testing.T) {
	l, tb := layoutOf(t)
	sections, err := module.Read(build(t, traceback))
	if err != nil {
		t.Fatal(err)
	}
	memory := inserted(l.memory, tb.module+8*modFuncData, tb.module+8*moduleWords, 0, 8)
	sections[module.Find(sections, module.Data)].Body = module.WriteMemory(memory, writtenGap)
	untouched(t, "a word before gofunc", module.Write(sections), Options{version: today}, "of moduledata (gofunc")
}

// TestPlain checks that a program stays the same, byte by byte, if all passes are skipped.
func TestPlain(t *testing.T) {
	file := build(t, traceback)
	out, left, err := Run(file, Options{skip: others()})
	if err != nil || !bytes.Equal(out, file) || len(left) > 0 {
		t.Errorf("without any pass %d bytes became %d (%v, %+v)", len(file), len(out), err, left)
	}
}

// TestRunOthers checks that a module without anything for the passes is returned unchanged, and that a file that
// is not a module is an error.
func TestRunOthers(t *testing.T) {
	empty := []byte("\x00asm\x01\x00\x00\x00")
	out, left, err := Run(empty, Options{})
	if err != nil || !bytes.Equal(out, empty) || len(left) != len(passes) {
		t.Errorf("an empty module became % x (%v, %+v); want it as it is, with every pass left out", out, err, left)
	}
	if _, _, err := Run([]byte("<html>"), Options{}); !errors.Is(err, module.ErrForm) {
		t.Errorf("a page: got %v, want %v", err, module.ErrForm)
	}
}
