//go:build !js

package main

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// goModule is the part of runtime.moduledata (runtime/symtab.go) that says where
// the tables of a program are: addresses in its initial memory.
type goModule struct {
	*lineTable
	names, namesEnd int
	pcs, pcsEnd     int // tables by instruction
	funcTab, funcs  int // the list of functions, and how many they are
	recordsEnd      int // of what is known of each
	data            int // what functions point to: maps of pointers, inlined calls
	buckets         int // where to begin to search for the function of an instruction
	numBuckets      int
}

// Words of runtime.moduledata.
const (
	moduleNames      = 1
	modulePCs        = 10
	moduleRecords    = 13
	moduleFuncTab    = 16
	moduleBuckets    = 19
	moduleMinPC      = 20
	moduleMaxPC      = 21
	moduleData       = 40
	moduleWords      = 48
	headNames        = 32
	bucketSize       = 20 // bytes
	bucketPCs        = 4096
	noData           = 0xffffffff
	inlinedSize      = 16   // type inlinedCall
	argsEnd          = 0xff // abi.TraceArgsEndSeq
	argsMost         = 64   // bytes, more than abi.TraceArgsMaxLen
	bucketCoarseness = 64
)

// dropTraces clears what only tracebacks read, beyond lines: the lists of
// inlined calls and of arguments, the names of functions that are not ours, but
// for their packages, and the type parameters in names, which are not printed. It
// also has the search for the function of an instruction begin
// a little earlier, at every 64th function: that table is then hardly more than
// zeros. It reports false, and changes nothing, if the memory does not look as
// expected. It needs the tables that dropLines clears.
func dropTraces(memory []byte) bool {
	m := findModule(bytes.Clone(memory))
	if m == nil {
		return false
	}
	m.dropData()
	m.shortenNames(m.shareNames())
	for i := range m.numBuckets {
		at := m.buckets + i*bucketSize
		first := m.word(at)
		m.bad = m.bad || first >= m.funcs
		m.setWord(at, first/bucketCoarseness*bucketCoarseness)
	}
	if m.bad {
		return false
	}
	copy(memory, m.b)
	return true
}

// moduleAt is where runtime.moduledata is, found by the two addresses that it
// begins with: that of the head of the tables, and that of the names; -1 if there
// is none.
func moduleAt(memory []byte) int {
	t := &lineTable{b: memory}
	head := bytes.Index(memory, pcHeader)
	if head < 0 || bytes.LastIndex(memory, pcHeader) != head {
		return -1
	}
	names := head + t.long(head+headNames)
	begin := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(head)), uint64(names))
	at := bytes.Index(memory, begin)
	if at < 0 || !t.within(at, 8*moduleWords) {
		return -1
	}
	return at
}

// findModule reads the module data; nil if there is none, or if it does not agree
// with the head of the tables.
func findModule(memory []byte) *goModule {
	t := &lineTable{b: memory}
	at := moduleAt(memory)
	if at < 0 {
		return nil
	}
	head := t.long(at)
	names := head + t.long(head+headNames)
	field := func(i int) int { return t.long(at + 8*i) }
	m := &goModule{
		lineTable: t,
		names:     names, namesEnd: names + field(moduleNames+1),
		pcs: field(modulePCs), pcsEnd: field(modulePCs) + field(modulePCs+1),
		funcTab: field(moduleFuncTab), funcs: t.long(head + headFuncs),
		recordsEnd: field(moduleRecords) + field(moduleRecords+1),
		data:       field(moduleData),
		buckets:    field(moduleBuckets),
		numBuckets: (field(moduleMaxPC) - field(moduleMinPC)) / bucketPCs,
	}
	if t.bad || m.funcTab != head+t.long(head+headFuncTab) || m.pcs != head+t.long(head+headPCs) ||
		field(moduleFuncTab+1) != m.funcs+1 || m.pcsEnd > m.funcTab || m.recordsEnd > len(memory) || m.numBuckets < 0 || m.namesEnd > m.pcs {
		return nil
	}
	return m
}

// dropData clears the lists of inlined calls and of arguments, unless something
// else is stored at the same place.
func (m *goModule) dropData() {
	kept, dropped := map[int]bool{}, map[int]int{} // offsets; to their lengths
	for i := range m.funcs {
		f := m.function(i)
		tables := m.word(f + funcPCData)
		if !m.within(f, funcSize) || !m.within(f+funcSize, 4*tables) {
			return
		}
		for k := range int(m.b[f+funcFuncData]) {
			at := f + funcSize + 4*(tables+k)
			off := m.word(at)
			switch {
			case off == noData:
				continue
			case k == dataInlined && tables > pcInlined:
				n := m.largest(m.pcs+m.word(f+funcSize+4*pcInlined)) + 1
				dropped[off] = max(dropped[off], n*inlinedSize)
			case k == dataArgs && m.within(m.data+off, argsMost):
				dropped[off] = bytes.IndexByte(m.b[m.data+off:][:argsMost], argsEnd) + 1
			default:
				kept[off] = true
				continue
			}
			m.setWord(at, noData)
		}
	}
	for off, n := range dropped {
		if !kept[off] {
			m.clear(m.data+off, m.data+off+n)
		}
	}
}

// function is where function i is described (type _func).
func (m *goModule) function(i int) int {
	return m.funcTab + m.word(m.funcTab+i*funcTabEntry+4)
}

// named tells whether a function keeps its name: ours do, and those that the
// runtime knows by a number or a name.
func named(name string, id byte) bool {
	return id != 0 || strings.HasPrefix(name, "memtide/") || strings.HasPrefix(name, "main.") ||
		name == "reflect.makeFuncStub" || name == "reflect.methodValueCall"
}

// shareNames gives the other functions one name for each package, "strconv.?",
// and returns which names are in use.
func (m *goModule) shareNames() (used map[int]bool) {
	used = map[int]bool{}
	var others []int
	for i := range m.funcs {
		f := m.function(i)
		if !m.within(f, funcSize) {
			return nil
		}
		if off := m.word(f + funcName); named(m.name(off), m.b[f+funcID]) {
			used[off] = true
		} else {
			others = append(others, f)
		}
	}
	shared := map[string]int{} // of a package
	for _, f := range others {
		off := m.word(f + funcName)
		name := m.name(off)
		pkg := packageOf(name)
		at, ok := shared[pkg]
		if !ok && !used[off] && len(pkg)+len(".?") <= len(name) {
			at, ok = off, true
			shared[pkg] = off
			m.clear(m.names+off, m.names+off+len(name))
			copy(m.b[m.names+off:], pkg+".?")
		}
		if ok {
			m.setWord(f+funcName, at)
		}
		used[m.word(f+funcName)] = true
	}
	return used
}

// packageOf is what stands before the first dot after the last slash, type
// parameters aside.
func packageOf(name string) string {
	name, _, _ = strings.Cut(name, "[")
	base := strings.LastIndexByte(name, '/') + 1
	pkg, _, _ := strings.Cut(name[base:], ".")
	return name[:base] + pkg
}

// name is the name of a function at an offset.
func (m *goModule) name(off int) string {
	at := m.names + off
	if !m.within(at, 1) || at >= m.namesEnd {
		m.bad = true
		return ""
	}
	n := bytes.IndexByte(m.b[at:m.namesEnd], 0)
	return string(m.b[at : at+max(n, 0)])
}

// largest is the largest value of a table by instruction: differences, of which
// the sign is the lowest bit, in turn with distances (runtime/symtab.go, step).
func (m *goModule) largest(at int) int {
	most, value := -1, -1
	for first := true; m.within(at, 1) && (first || m.b[at] != 0); first = false {
		diff, n := binary.Uvarint(m.b[at:])
		_, d := binary.Uvarint(m.b[at+max(n, 0):])
		if n <= 0 || d <= 0 {
			m.bad = true
			return most
		}
		value += int(int32(-(diff & 1)) ^ int32(diff>>1))
		most = max(most, value)
		at += n + d
	}
	return most
}

// shortenNames writes names of generic functions as they are printed,
// "slices.Sort[...]", and clears those that no function has.
func (m *goModule) shortenNames(used map[int]bool) {
	for at := m.names; at < m.namesEnd && m.within(at, m.namesEnd-at); {
		n := bytes.IndexByte(m.b[at:m.namesEnd], 0)
		if n < 0 {
			m.bad = true
			return
		}
		name := string(m.b[at : at+n])
		if !used[at-m.names] {
			name = ""
		}
		if i, j := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']'); 0 <= i && i+len("[...]") <= j+1 {
			name = name[:i] + "[...]" + name[j+1:]
		}
		m.clear(at, at+n)
		copy(m.b[at:], name)
		at += n + 1
	}
}
