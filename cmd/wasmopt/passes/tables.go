package passes

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"memtide/cmd/wasmopt/flow"
)

// tables are where a program keeps what its runtime knows of its functions: addresses
// in the initial memory. They are read from runtime.moduledata (runtime/symtab.go) and
// the head of the tables (pcHeader), and nothing of them is believed before all of it
// is verified (verify.go).
type tables struct {
	view
	head, module int  // where pcHeader and moduledata are
	names        span // of functions, each ended by a zero
	units        span // for each compilation unit, offsets of its files' names
	files        span // names of files, each ended by a zero
	pcs          span // tables by instruction
	records      span // the list of functions, and a record of each
	data         span // what records point to: maps of pointers, inlined calls
	buckets      span // where to begin to search for the function of an instruction
	funcs        int
}

// pcHead is how the head begins: abi.Go120PCLnTabMagic, two zeros, the smallest
// instruction (1 byte) and the size of a pointer (8).
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
	moduleWords  = 42      // those until here
	placesOfEach = 1 << 16 // functions have numbers of places that begin at a multiple of this
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
	funcPCData      = 28 // how many
	funcUnit        = 32 // where the lists of its files are
	funcStart       = 36 // its first line
	funcID          = 40 // which of those that the runtime knows, one byte
	funcFlag        = 41 // one byte, and one of no meaning
	funcFuncData    = 43 // how many, one byte
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
	dataLiveArgs  = 6
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

// mod is word i of moduledata, pc word i of pcHeader.
func (t *tables) mod(i int) int { return t.long(t.module + 8*i) }
func (t *tables) pc(i int) int  { return t.long(t.head + 8*i) }

// function returns where the record of function i is.
func (t *tables) function(i int) int {
	return t.records.at + t.word(t.records.at+i*listEntry+4)
}

// name returns the name of a function at an offset.
func (t *tables) name(off int) string { return t.text(t.names, off) }

// findTables looks for the tables. Where they are is found by their beginnings, which
// have to be the only ones: the head by its mark, moduledata by the two addresses that
// it begins with, that of the head and that of the names.
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

// readTables finds the tables and verifies them against each other and against the
// functions of the program, nil for those whose form is not known.
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
