//go:build !js

package main

import (
	"bytes"
	"encoding/binary"
)

// Go programs carry tables from instructions to source files and lines, to
// inlined calls and to places where a signal may interrupt. Only tracebacks and
// signals read them, and WebAssembly has no signals. Nobody who visits the page
// reads them: without, the program is 14 % smaller after compression, and a
// traceback still names its functions. The layout is that of runtime/symtab.go
// (type pcHeader) and runtime/runtime2.go (type _func) of Go 1.20 to 1.26.

// pcHeader is how the table begins: abi.Go120PCLnTabMagic, two zeros, the
// smallest instruction (1 byte) and the size of a pointer (8).
var pcHeader = []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}

// Offsets of fields in pcHeader and _func.
const (
	headFuncs    = 8
	headCUs      = 40
	headPCs      = 56
	headFuncTab  = 64
	headSize     = 72
	funcName     = 4
	funcStack    = 16 // pcsp
	funcFile     = 20
	funcLine     = 24
	funcPCData   = 28 // how many
	funcUnit     = 32 // where the lists of its files are
	funcStart    = 36 // its first line
	funcID       = 40 // which of those that the runtime knows, one byte
	funcFuncData = 43 // how many, one byte
	funcSize     = 44
	funcTabEntry = 8
)

// Tables by instruction and data of a function (internal/abi/symtab.go).
const (
	pcUnsafePoint = 0
	pcInlined     = 2
	pcLiveArgs    = 3
	dataInlined   = 3
	dataArgs      = 5
)

// read tells which tables by instruction a program without signals reads when
// it writes no lines: where pointers are on the stack, and what a bounds check was.
func read(pcTable int) bool {
	return pcTable != pcUnsafePoint && pcTable != pcInlined && pcTable != pcLiveArgs
}

// dropLines clears the tables of files and lines in the initial memory of a
// program. It reports false, and changes nothing, if the memory does not look
// as expected: another version of Go is no reason not to build.
func dropLines(memory []byte) bool {
	at := bytes.Index(memory, pcHeader)
	if at < 0 || bytes.LastIndex(memory, pcHeader) != at {
		return false
	}
	t := &lineTable{b: bytes.Clone(memory[at:])}
	funcs := t.long(headFuncs)
	cus, pcs, tab := t.long(headCUs), t.long(headPCs), t.long(headFuncTab)
	if cus < headSize || pcs < cus || tab < pcs || tab > len(t.b) {
		return false
	}
	kept := map[int]bool{}
	for i := range funcs {
		f := tab + t.word(tab+i*funcTabEntry+4)
		kept[t.word(f+funcStack)] = true
		for k := range t.word(f + funcPCData) {
			i := f + funcSize + 4*k
			if read(k) {
				kept[t.word(i)] = true
				continue
			}
			t.clear(i, i+4) // offset 0 is none
		}
		t.clear(f+funcFile, f+funcLine+4)
		t.clear(f+funcUnit, f+funcStart+4)
	}
	// Equal tables are stored once, whatever they are for.
	used := make([]bool, tab-pcs)
	for off := range kept {
		for i, end := pcs+off, t.end(pcs+off); off > 0 && i < min(end, tab); i++ {
			used[i-pcs] = true
		}
	}
	// What no function reads any more, gaps included.
	for i, u := range used {
		if !u {
			t.b[pcs+i] = 0
		}
	}
	t.clear(cus, pcs) // the names of files, and the lists of them
	if t.bad {
		return false
	}
	copy(memory[at:], t.b)
	return true
}

// lineTable reads a table; bad is set once something lies outside of it.
type lineTable struct {
	b   []byte
	bad bool
}

func (t *lineTable) within(i, n int) bool {
	if i < 0 || n < 0 || i > len(t.b)-n {
		t.bad = true
	}
	return !t.bad
}

func (t *lineTable) word(i int) int {
	if !t.within(i, 4) {
		return 0
	}
	return int(binary.LittleEndian.Uint32(t.b[i:]))
}

// long is a number of 8 bytes; a table has less than 2 GiB.
func (t *lineTable) long(i int) int {
	if !t.within(i, 8) || t.word(i+4) != 0 {
		t.bad = true
		return 0
	}
	return t.word(i)
}

func (t *lineTable) setWord(i, n int) {
	if t.within(i, 4) {
		binary.LittleEndian.PutUint32(t.b[i:], uint32(n))
	}
}

func (t *lineTable) clear(from, to int) {
	if t.within(from, to-from) {
		clear(t.b[from:to])
	}
}

// end is where the table of values by instruction at i ends: pairs of numbers
// (LEB128), a value difference and a distance, until a difference of 0 that is
// not the first.
func (t *lineTable) end(i int) int {
	for first := true; t.within(i, 1); first = false {
		if t.b[i] == 0 && !first {
			return i + 1
		}
		for range 2 {
			for t.within(i, 1) && t.b[i] >= 0x80 {
				i++
			}
			i++
		}
	}
	return i
}
