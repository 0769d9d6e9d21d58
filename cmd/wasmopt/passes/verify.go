package passes

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"memtide/cmd/wasmopt/flow"
)

// A verifier checks that the tables have the known layout, every byte from the head to the end and every word of
// moduledata that is used, by what they point to: each part ends where the next begins, each offset leads to the start
// of the right kind of data, repeated information agrees, and nothing is left over. An additional or a missing word
// anywhere contradicts some of this. It writes nothing.
type verifier struct {
	*tables
	functions []*flow.Function
	imported  int
	err       error // the first contradiction

	tablesAt map[int]values // by the offsets in records
	dataAt   map[int]int    // sizes of data, by the offsets in records
}

// expect records the first contradiction. It reports whether no contradiction is recorded yet.
func (v *verifier) expect(holds bool, format string, args ...any) bool {
	if v.err == nil && v.bad {
		v.err = fmt.Errorf("the tables of functions lead out of the memory")
	}
	if v.err == nil && !holds {
		v.err = fmt.Errorf(format, args...)
	}
	return v.err == nil
}

// verifyModule verifies the head and moduledata.
func (v *verifier) verifyModule() {
	mod := func(i, want int, what string) {
		v.expect(v.mod(i) == want, "word %d of moduledata (%s) is %#x, want %#x", i, what, v.mod(i), want)
	}
	slice := func(i, at, n int, what string) {
		mod(i, at, what)
		mod(i+1, n, what+", its length")
		mod(i+2, n, what+", its capacity")
	}
	v.expect(v.funcs > 0 && v.funcs == len(v.functions), "the tables are of %d functions, the program has %d",
		v.funcs, len(v.functions))
	v.expect(v.pc(headUnused) == 0, "word %d of the head is %#x, want 0", headUnused, v.pc(headUnused))

	// The parts in their order, each after the one before; the linker rounds their sizes up to
	// multiples of 8 (pcln.go, addGeneratedSym).
	at := v.head + 8*headWords
	for _, p := range []struct {
		what             string
		span             span
		head, word, size int
	}{
		{"names", v.names, headNames, modNames, 1},
		{"files of units", v.units, headUnits, modUnits, 4},
		{"names of files", v.files, headFiles, modFiles, 1},
		{"tables by instruction", v.pcs, headPCs, modPCs, 1},
		{"records of functions", v.records, headRecords, modRecords, 1},
	} {
		v.expect(v.head+v.pc(p.head) == at, "word %d of the head (%s) leads to %#x, want %#x", p.head, p.what,
			v.head+v.pc(p.head), at)
		slice(p.word, at, (p.span.end-p.span.at)/p.size, p.what)
		v.expect(p.span.end > p.span.at && (p.span.end-p.span.at)%recordAlign == 0, "the %s are %d bytes", p.what,
			p.span.end-p.span.at)
		v.within(p.span.at, p.span.end-p.span.at)
		at = p.span.end
	}
	mod(modHead, v.head, "the head")
	slice(modFuncTab, v.records.at, v.funcs+1, "the list of functions")
	v.expect(v.data.at == at,
		"word %d of moduledata (gofunc) is %#x, want what follows the records, which end at %#x", modFuncData,
		v.data.at, at)
	v.expect(v.data.end > v.data.at && v.buckets.end > v.buckets.at &&
		v.within(v.buckets.at, v.buckets.end-v.buckets.at),
		"words %d, %d and %d of moduledata (gofunc, findfunctab, epclntab) are %#x, %#x and %#x, want a rising order",
		modFuncData, modBuckets, modTablesEnd, v.data.at, v.data.end, v.buckets.end)

	first, last := flow.FirstNumber*placesOfEach, (flow.FirstNumber+v.funcs-1)*placesOfEach
	mod(modMinPC, first, "minpc")
	v.expect(v.mod(modMaxPC) > last && v.mod(modMaxPC) <= last+placesOfEach,
		"word %d of moduledata (maxpc) is %#x, want one in function %d", modMaxPC, v.mod(modMaxPC), v.funcs-1)
}

// verifyFunctions verifies the list of functions and their records.
func (v *verifier) verifyFunctions() {
	names, files := v.starts(v.names), v.starts(v.files)
	v.expect(len(files) == v.pc(headFileCount), "word %d of the head is %d, and there are %d names of files",
		headFileCount, v.pc(headFileCount), len(files))
	for at := v.units.at; at < v.units.end && v.err == nil; at += 4 {
		v.expect(v.word(at) == noFileOfUnit || files[v.word(at)],
			"a unit has a file named at %#x, where no name begins", v.word(at))
	}
	v.tablesAt, v.dataAt = map[int]values{}, map[int]int{}
	at := v.records.at + v.funcs*listEntry + 4
	returns := v.deferReturn()
	for i := 0; i < v.funcs && v.err == nil; i++ {
		at = v.records.at + (at-v.records.at+recordAlign-1)/recordAlign*recordAlign
		entry := v.records.at + i*listEntry
		v.expect(v.word(entry) == flow.FirstNumber+i, "function %d is listed as %#x, want %#x", i, v.word(entry),
			flow.FirstNumber+i)
		v.expect(v.function(i) == at, "the record of function %d is at %#x, want %#x, where the one before ends", i,
			v.function(i), at)
		v.expect(v.word(at+funcEntry) == flow.FirstNumber+i, "the record of function %d is of %#x, want %#x", i,
			v.word(at+funcEntry), flow.FirstNumber+i)
		v.expect(names[v.word(at+funcName)], "the name of function %d is at %#x, where no name begins", i,
			v.word(at+funcName))
		if !v.within(at, funcSize) {
			return
		}
		v.verifyRecord(i, at, returns)
		at += funcSize + 4*v.word(at+funcPCData) + 4*int(v.b[at+funcFuncData])
	}
	v.expect(v.word(v.records.at+v.funcs*listEntry) == flow.FirstNumber+v.funcs,
		"the list of functions ends with %#x, want %#x", v.word(v.records.at+v.funcs*listEntry),
		flow.FirstNumber+v.funcs)
	v.fills(at, v.records, "records of functions")
}

// fills checks that a part is used up to at, with only the rounding after that.
func (v *verifier) fills(at int, part span, what string) {
	v.expect(at <= part.end && at > part.end-recordAlign, "the %s end at %#x, want %#x", what, at, part.end)
	for ; at < part.end && v.err == nil; at++ {
		v.expect(v.b[at] == 0, "behind the %s, at %#x, is %d, want 0", what, at, v.b[at])
	}
}

// deferReturn returns the number, as in calls, of the function that runs deferred calls, at whose calls functions
// continue after panics. It returns -1 if the program does not have the function.
func (v *verifier) deferReturn() int64 {
	for i := range v.funcs {
		if f := v.function(i); v.within(f, funcSize) && v.name(v.word(f+funcName)) == deferReturn {
			return int64(v.imported + i)
		}
	}
	return -1
}

func (v *verifier) verifyRecord(i, f int, returns int64) {
	tables, data := v.word(f+funcPCData), int(v.b[f+funcFuncData])
	v.expect(tables <= pcKinds && data <= dataKinds, "function %d has %d tables and %d data, want at most %d and %d",
		i, tables, data, pcKinds, dataKinds)
	v.expect(v.b[f+funcID] <= lastFuncID && v.b[f+funcFlag] <= funcFlags && v.b[f+funcFlag+1] == 0,
		"function %d is of the kind %d %d %d", i, v.b[f+funcID], v.b[f+funcFlag], v.b[f+funcFlag+1])
	v.expect(v.word(f+funcStart) < 1<<31, "function %d begins at line %#x", i, v.word(f+funcStart))
	if !v.within(f+funcSize, 4*(tables+data)) || v.err != nil {
		return
	}

	// The tables of one function all cover the same places: those of its code, and at most one more.
	places := -1
	cover := func(at int, what string) (t values) {
		off := v.word(at)
		if off == 0 {
			return values{least: 0, most: -1}
		}
		var known bool
		if t, known = v.tablesAt[off]; !known {
			t = v.values(v.pcs.at + off)
			v.expect(t.end <= v.pcs.end, "the table at %#x ends behind the last", off)
			v.tablesAt[off] = t
		}
		if places < 0 {
			places = t.places
			if fn := v.functions[i]; fn != nil {
				v.expect(places == fn.Places() || places == fn.Places()+1,
					"the %s of function %d cover %d places, its code has %d", what, i, places, fn.Places())
			}
		}
		v.expect(t.places == places, "the %s of function %d cover %d places, want %d", what, i, t.places, places)
		return t
	}
	cover(f+funcStack, "sizes of the stack")
	files := cover(f+funcFile, "files")
	cover(f+funcLine, "lines")
	kinds := [pcKinds]values{}
	for k := range tables {
		kinds[k] = cover(f+funcSize+4*k, fmt.Sprintf("values of kind %d", k))
	}
	if unit := v.word(f + funcUnit); unit == noCompileUnit {
		v.expect(files.most < 0, "function %d has files and no unit", i)
	} else {
		v.expect(files.least >= 0 && 4*(unit+files.most) < v.units.end-v.units.at,
			"function %d has files %d to %d from %d on, want at most %d", i, files.least, files.most, unit,
			(v.units.end-v.units.at)/4)
	}
	if place := v.word(f + funcDeferReturn); place != 0 {
		fn := v.functions[i]
		v.expect(fn == nil || place < fn.Places() && fn.Calls(place, returns),
			"function %d goes on after panics at place %d, which does not call %s", i, place, deferReturn)
	}
	for k := range data {
		if off := v.word(f + funcSize + 4*(tables+k)); off != noData {
			v.verifyDatum(i, k, off, kinds, places)
		}
	}
}

// verifyPCs checks that the tables by instruction are those in the records, without anything
// between them, after a zero.
func (v *verifier) verifyPCs() {
	v.expect(v.b[v.pcs.at] == 0, "the tables by instruction begin with %d, want 0", v.b[v.pcs.at])
	at := v.pcs.at + 1
	for n := range len(v.tablesAt) {
		t, named := v.tablesAt[at-v.pcs.at]
		if !v.expect(named, "after %d of %d tables by instruction none that a function has begins at %#x", n,
			len(v.tablesAt), at-v.pcs.at) {
			return
		}
		at = t.end
	}
	v.fills(at, v.pcs, "tables by instruction")
}

// verifyData checks that data of functions do not overlap, with only zeros for alignment between them.
func (v *verifier) verifyData() {
	at := 0
	for _, off := range slices.Sorted(maps.Keys(v.dataAt)) {
		v.expect(off >= at && off < at+recordAlign, "data of functions are at %#x, those before end at %#x", off, at)
		for ; at < off && v.err == nil; at++ {
			v.expect(v.b[v.data.at+at] == 0, "between data of functions, at %#x, is %d", at, v.b[v.data.at+at])
		}
		at = off + v.dataAt[off]
	}
	v.fills(v.data.at+at, v.data, "data of functions")
}

// verifyBuckets checks that the search for a function starts at that function. There are 16
// buckets for each function; the last ones are incomplete.
func (v *verifier) verifyBuckets() {
	places := v.mod(modMaxPC) - v.mod(modMinPC)
	n, subs := (places+bucketPlaces-1)/bucketPlaces, (places+subPlaces-1)/subPlaces
	v.expect(v.buckets.end-v.buckets.at == 4*n+subs, "the table to search for functions has %d bytes, want %d",
		v.buckets.end-v.buckets.at, 4*n+subs)
	for i := 0; i < n && v.err == nil; i++ {
		at := v.buckets.at + i*bucketSize
		v.expect(v.word(at) == i*bucketPlaces/placesOfEach, "the search in bucket %d begins at function %d, want %d",
			i, v.word(at), i*bucketPlaces/placesOfEach)
		rest := v.b[at+4 : min(at+bucketSize, v.buckets.end)]
		v.expect(!slices.ContainsFunc(rest, func(b byte) bool { return b != 0 }),
			"the search in bucket %d goes on by % x, want zeros", i, rest)
	}
}

// verifyDatum checks the data of function i of a kind at an offset, by their form and by the
// function's tables by instruction, and records their size.
func (v *verifier) verifyDatum(i, kind, off int, tables [pcKinds]values, places int) {
	at := v.data.at + off
	size, ok := 0, false
	switch kind {
	case dataArgMaps, dataLocalMaps:
		n, bits := v.word(at), v.word(at+4) // the bit maps, more than their largest number in use, and their bits
		size, ok = 8+n*((bits+7)/8), n > tables[pcStackMap].most && n > 0 && n < 1<<16 && bits < 1<<24
	case dataObjects:
		n := v.long(at)
		size, ok = 8+n*objectSize, n > 0
	case dataInlined:
		n := tables[pcInlined].most + 1
		size, ok = n*inlinedSize, n > 0 && v.inlined(at, n, places)
	case dataDefers:
		size, ok = v.numbers(at, 2)
	case dataArgs:
		size, ok = v.arguments(at)
	case dataWrapped:
		size, ok = 4, v.word(at) >= flow.FirstNumber && v.word(at) < flow.FirstNumber+v.funcs
	}
	fits := at+size <= v.data.end
	v.expect(ok && fits, "function %d has data of kind %d at %#x, which have another form (%d bytes)", i, kind,
		off, size)
	v.dataAt[off] = max(v.dataAt[off], size)
}

// inlined reports whether there are n inlined calls at an address: the function's kind, three
// zeros, its name, the place of the call, and the first line.
func (v *verifier) inlined(at, n, places int) bool {
	for ; n > 0 && v.within(at, inlinedSize); n-- {
		call := v.b[at : at+inlinedSize]
		name, place := v.word(at+4), v.word(at+8)
		if call[0] > lastFuncID || call[1]|call[2]|call[3] != 0 || place >= places || v.word(at+12) >= 1<<31 ||
			name >= v.names.end-v.names.at || name > 0 && v.b[v.names.at+name-1] != 0 {
			return false
		}
		at += inlinedSize
	}
	return n == 0
}

// numbers returns the size of n numbers (LEB128).
func (v *verifier) numbers(at, n int) (size int, ok bool) {
	for ; n > 0 && v.within(at+size, 1); n-- {
		_, d := binary.Uvarint(v.b[at+size:])
		if d <= 0 {
			return size, false
		}
		size += d
	}
	return size, n == 0
}

// arguments returns the size of a description of arguments: pairs of a distance and a size,
// between marks, until the last mark.
func (v *tables) arguments(at int) (size int, ok bool) {
	depth := 0
	for v.within(at+size, 2) && depth >= 0 {
		op := v.b[at+size]
		size++
		switch op {
		case argsEnd:
			return size, depth == 0
		case argsStartAgg:
			depth++
		case argsEndAgg:
			depth--
		case argsDots, argsTooFar:
		default:
			if s := v.b[at+size]; s > 8 {
				return size, false
			}
			size++
		}
	}
	return size, false
}
