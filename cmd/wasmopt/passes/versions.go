package passes

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"memtide/cmd/wasmopt/module"
)

// Verified returns the versions of Go for whose programs all passes may run. The layout
// of the runtime's tables is seen in every single program, word by word (verify.go);
// what a program cannot show is what its runtime and its compiler do with them. To
// verify a version is to see, with that version in place (GOTOOLCHAIN=go1.27.0):
//
//   - go test ./cmd/wasmopt/... passes but for the test that asks for this list. It
//     rewrites programs that take hard ways (gotos into loops, recovered panics,
//     switched goroutines, grown stacks, collections) and compares what they write;
//   - who reads what the passes clear (runtime: funcname, funcline, pcdatavalue,
//     funcdata, findfunc; names compared in runtime/traceback.go and stkframe.go) is as
//     before: only tracebacks read it;
//   - where a function may be entered is as before (cmd/internal/obj/wasm/wasmobj.go
//     and cmd/compile/internal/wasm/ssa.go): at its beginning, after calls that can
//     switch, and at its call of runtime.deferreturn.
//
// Then add its name. Releases that only mend (go1.26.9) are versions of their own.
func Verified() []string { return []string{"go1.26.8", "go1.26.0"} }

// madeBy returns the version of Go that made a program. The linker names it in a section
// for that (producers), and the runtime in a text that one of its variables points to
// (runtime.buildVersion), which also tells experiments: both have to say the same.
func madeBy(sections []module.Section, memory []byte) (string, error) {
	version := producer(module.Named(sections, "producers"))
	if version == "" {
		return "", errors.New("the program does not say which version of Go made it (its section producers); -go says it")
	}
	for at := 0; ; at++ {
		i := bytes.Index(memory[at:], []byte(version))
		if i < 0 {
			return "", fmt.Errorf("the program says that %s linked it, and has no runtime that says so", version)
		}
		at += i
		header := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(at)),
			uint64(len(version)))
		if bytes.Contains(memory, header) {
			return version, nil
		}
	}
}

// producer returns the version of the compiler in a section of this name
// (github.com/WebAssembly/tool-conventions, ProducersSection.md), or "" if it is not Go's.
func producer(section []byte) (version string) {
	r := &module.Reader{B: section}
	text := func() string { return string(r.Take(int(r.Unsigned()))) }
	for range r.Unsigned() {
		field := text()
		for range r.Unsigned() {
			name, v := text(), text()
			if field == "processed-by" && name == "Go cmd/compile" {
				version = v
			}
			if r.Err != nil {
				return ""
			}
		}
		if r.Err != nil {
			return ""
		}
	}
	return version
}

// IsVerified reports whether all passes may run for programs of a version of Go.
func IsVerified(version string) bool { return slices.Contains(Verified(), version) }
