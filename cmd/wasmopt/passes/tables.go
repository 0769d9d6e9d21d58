package passes

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"memtide/cmd/wasmopt/flow"
)

// tables describes where a program keeps the data of its runtime about functions, as addresses
// in the initial memory. They come from runtime.moduledata (runtime/symtab.go) and the head of
// the tables (pcHeader), and are used only after verify.go has checked all of them.
type tables struct {
	view
	head, module int  // addresses of pcHeader and moduledata
	names        span // names of functions, each ended by a zero
	units        span // for each compilation unit, offsets of its files' names
	files        span // names of files, each ended by a zero
	pcs          span // tables by instruction (pc)
	records      span // the list of functions, and a record of each
	data         span // data of records: maps of pointers, inlined calls
	buckets      span // starts of the search for the function of an instruction
	funcs        int
}

// pcHead is the start of the head: abi.Go120PCLnTabMagic, two zeros, the smallest instruction (1
// byte) and the size of a pointer (8).
var pcHead = []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}

// Words of pcHeader.
const (
	headFuncs = 1 + iota
	headFileCount
	headUnused
	headNames
	headUnits
	headFiles
	headPCs
	headRecords
	headWords
)

// Words of runtime.moduledata. Slices have three: address, length, capacity.
const (
	modHead      = 0
	modNames     = 1
	modUnits     = 4
	modFiles     = 7
	modPCs       = 10
	modRecords   = 13
	modFuncTab   = 16
	modBuckets   = 19
	modMinPC     = 20
	modMaxPC     = 21
	modFuncData  = 40 // gofunc
	modTablesEnd = 41
	moduleWords  = 42      // number of the words above
	placesOfEach = 1 << 16 // the places of a function are numbered from a multiple of this
	bucketPlaces = 4096
	bucketSize   = 20 // bytes
	subPlaces    = 256
)

// Offsets in the list of functions and in their records (runtime/runtime2.go, _func).
const (
	listEntry       = 8
	funcEntry       = 0
	funcName        = 4
	funcDeferReturn = 12
	funcStack       = 16 // pcsp
	funcFile        = 20
	funcLine        = 24
	funcPCData      = 28 // number of tables
	funcUnit        = 32 // offset of the list of its files
	funcStart       = 36 // its first line
	funcID          = 40 // number among those that the runtime knows, one byte
	funcFlag        = 41 // one byte, and an unused one
	funcFuncData    = 43 // number of data, one byte
	funcSize        = 44
	noData          = 0xffffffff
)

// Tables by instruction and data of a function (internal/abi/symtab.go).
const (
	pcUnsafePoint = 0
	pcStackMap    = 1
	pcInlined     = 2
	pcLiveArgs    = 3
	pcKinds       = 5
	dataArgMaps   = 0
	dataLocalMaps = 1
	dataObjects   = 2
	dataInlined   = 3
	dataDefers    = 4
	dataArgs      = 5
	dataWrapped   = 7
	dataKinds     = 8
	inlinedSize   = 16 // bytes of a call, type inlinedCall
	lastFuncID    = 23 // abi.FuncIDWrapper
	funcFlags     = 7
	noCompileUnit = 0xffffffff
	noFileOfUnit  = 0xffffffff
	recordAlign   = 8
	objectSize    = 16   // bytes of a stack object, type stackObjectRecord
	argsEnd       = 0xff // abi.TraceArgsEndSeq
	argsStartAgg  = 0xfe
	argsEndAgg    = 0xfd
	argsDots      = 0xfc
	argsTooFar    = 0xfb
	deferReturn   = "runtime.deferreturn"
)

// mod returns word i of moduledata, pc word i of pcHeader.
func (t *tables) mod(i int) int { return t.long(t.module + 8*i) }
func (t *tables) pc(i int) int  { return t.long(t.head + 8*i) }

// function returns the address of the record of function i.
func (t *tables) function(i int) int {
	return t.records.at + t.word(t.records.at+i*listEntry+4)
}

// name returns the function name at an offset.
func (t *tables) name(off int) string { return t.text(t.names, off) }

// findTables finds the tables by their starts, which have to be unique: the head by its mark,
// and moduledata by its first two words, the addresses of the head and of the names.
func findTables(memory []byte) (*tables, error) {
	head := bytes.Index(memory, pcHead)
	if head < 0 || bytes.LastIndex(memory, pcHead) != head {
		return nil, fmt.Errorf("the head of the tables of functions (% x) stands in the memory %d times, want once",
			pcHead, bytes.Count(memory, pcHead))
	}
	t := &tables{view: view{b: memory}, head: head}
	begin := binary.LittleEndian.AppendUint64(nil, uint64(head))
	begin = binary.LittleEndian.AppendUint64(begin, uint64(head+t.pc(headNames)))
	t.module = bytes.Index(memory, begin)
	if t.module < 0 || bytes.LastIndex(memory, begin) != t.module {
		return nil, fmt.Errorf("the beginning of runtime.moduledata (% x) stands in the memory %d times, want once",
			begin, bytes.Count(memory, begin))
	}
	if !t.within(t.module, 8*moduleWords) {
		return nil, fmt.Errorf("runtime.moduledata at %d does not fit into a memory of %d", t.module, len(memory))
	}
	t.funcs = t.pc(headFuncs)
	slice := func(word, size int) span { return span{t.mod(word), t.mod(word) + size*t.mod(word+1)} }
	t.names, t.units, t.files = slice(modNames, 1), slice(modUnits, 4), slice(modFiles, 1)
	t.pcs, t.records = slice(modPCs, 1), slice(modRecords, 1)
	t.data = span{t.mod(modFuncData), t.mod(modBuckets)}
	t.buckets = span{t.mod(modBuckets), t.mod(modTablesEnd)}
	if t.bad {
		return nil, fmt.Errorf("an address in the tables of functions has more than 4 bytes")
	}
	return t, nil
}

// readTables finds the tables and verifies them against each other and against the functions of
// the program, which are nil if they have another form.
func readTables(memory []byte, functions []*flow.Function, imported int) (*tables, error) {
	t, err := findTables(memory)
	if err != nil {
		return nil, err
	}
	v := &verifier{tables: t, functions: functions, imported: imported}
	for _, verify := range []func(){v.verifyModule, v.verifyFunctions, v.verifyPCs, v.verifyData, v.verifyBuckets} {
		if verify(); !v.expect(true, "") {
			return nil, v.err
		}
	}
	return t, nil
}

// view reads and writes little-endian numbers in a memory. After an access outside of the memory
// bad is set, reads return zero, and writes do nothing.
type view struct {
	b   []byte
	bad bool
}

func (v *view) within(at, n int) bool {
	if at < 0 || n < 0 || at > len(v.b)-n {
		v.bad = true
	}
	return !v.bad
}

// word returns a number of 4 bytes.
func (v *view) word(at int) int {
	if !v.within(at, 4) {
		return 0
	}
	return int(binary.LittleEndian.Uint32(v.b[at:]))
}

// long returns an address or a length of 8 bytes, which has to be below 4 GiB.
func (v *view) long(at int) int {
	if v.word(at+4) != 0 {
		v.bad = true
	}
	return v.word(at)
}

func (v *view) setWord(at, n int) {
	if v.within(at, 4) {
		binary.LittleEndian.PutUint32(v.b[at:], uint32(n))
	}
}

func (v *view) clear(s span) {
	if v.within(s.at, s.end-s.at) {
		clear(v.b[s.at:s.end])
	}
}

// text returns the text at an offset of a span. A zero within the span ends the text.
func (v *view) text(s span, off int) string {
	if off < 0 || off >= s.end-s.at || !v.within(s.at+off, 1) {
		v.bad = true
		return ""
	}
	n := bytes.IndexByte(v.b[s.at+off:s.end], 0)
	if n < 0 {
		v.bad = true
		return ""
	}
	return string(v.b[s.at+off:][:n])
}

// span is the part of a memory from at to before end.
type span struct{ at, end int }

// starts returns the offsets at which the texts of a span begin, each ended by a zero. Empty
// texts do not count: the span ends with zeros.
func (v *view) starts(s span) map[int]bool {
	starts := map[int]bool{}
	for at := s.at; at < s.end && !v.bad; {
		n := len(v.text(s, at-s.at))
		if n > 0 {
			starts[at-s.at] = true
		}
		at += n + 1
	}
	return starts
}

// values describes a table by instruction (runtime/symtab.go, step): pairs of numbers (LEB128), a difference of a
// value, whose lowest bit is the sign, and a distance, until a difference of 0 that is not the first.
type values struct {
	end         int // address after the table
	least, most int // smallest and largest value; the runtime starts at -1
	places      int // number of places that it covers
}

func (v *view) values(at int) (t values) {
	value := -1
	t.least, t.most = 1<<31-1, -1
	for first := true; v.within(at, 1) && (first || v.b[at] != 0); first = false {
		diff, n := binary.Uvarint(v.b[at:])
		distance, d := binary.Uvarint(v.b[at+max(n, 0):])
		if n <= 0 || d <= 0 || diff > 1<<32-1 || distance > 1<<16 {
			v.bad = true
			return t
		}
		value += int(int32(-(diff & 1)) ^ int32(diff>>1))
		t.least, t.most = min(t.least, value), max(t.most, value)
		t.places += int(distance)
		at += n + d
	}
	t.end = at + 1
	return t
}
