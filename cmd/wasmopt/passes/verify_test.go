package passes

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"memtide/cmd/wasmopt/flow"
	"memtide/cmd/wasmopt/module"
)

// layout holds what the runtime's tables are verified against: the initial memory and the functions.
type layout struct {
	memory    []byte
	functions []*flow.Function
	imported  int
}

// layoutOf returns the layout and the tables of a program that the present Go has just compiled.
func layoutOf(t *testing.T) (l layout, tables *tables) {
	t.Helper()
	sections, err := module.Read(build(t, traceback))
	if err != nil {
		t.Fatal(err)
	}
	if l.memory, err = module.InitialMemory(sections); err != nil {
		t.Fatal(err)
	}
	bodies, imported, err := module.Functions(sections)
	if err != nil {
		t.Fatal(err)
	}
	l.imported = imported
	for i, b := range bodies {
		l.functions = append(l.functions, flow.Parse(i, b))
	}
	if tables, err = l.read(); err != nil {
		t.Fatalf("the tables of today's Go are refused: %v", err)
	}
	return l, tables
}

func (l layout) read() (*tables, error) { return readTables(l.memory, l.functions, l.imported) }

// inserted returns a copy of memory in which the number n, of size bytes, is inserted at the address at. The
// bytes behind it move by size up to end, where the last ones are lost.
func inserted(memory []byte, at, end int, n uint64, size int) []byte {
	out := bytes.Clone(memory)
	copy(out[at+size:end], memory[at:end-size])
	copy(out[at:at+size], binary.LittleEndian.AppendUint64(nil, n)[:size])
	return out
}

// TestInsertedWord checks that the tables are refused if one more word is inserted anywhere in the head, or in
// moduledata before the last word that is read. The words tried are zero, the word at that place, the word before
// it, and addresses of tables.
func TestInsertedWord(t *testing.T) {
	l, tb := layoutOf(t)
	for _, part := range []struct {
		what      string
		at, words int
		last      int // last word that is not zero; inserting a zero behind it changes nothing
	}{
		{"moduledata", tb.module, moduleWords, modTablesEnd},
		{"the head", tb.head, headWords, headRecords},
	} {
		for k := range part.last + 1 {
			here := part.at + 8*k
			values := []uint64{0, uint64(tb.long(here)), uint64(tb.names.at), uint64(tb.data.at)}
			if k > 0 {
				values = append(values, uint64(tb.long(here-8)))
			}
			for _, n := range values {
				other := l
				other.memory = inserted(l.memory, here, part.at+8*part.words, n, 8)
				if bytes.Equal(other.memory, l.memory) {
					continue
				}
				if _, err := other.read(); err == nil {
					t.Errorf("%s with %#x before word %d is taken for one of Go's; want a refusal", part.what, n, k)
				}
			}
		}
	}
}

// relaid returns a layout in which every record has one more word before its word k, given by n. Everything
// behind is moved, and the addresses in moduledata are adjusted. With k of -1 nothing is inserted.
func relaid(l layout, tb *tables, k int, n func(record int) int) layout {
	list := bytes.Clone(l.memory[tb.records.at : tb.records.at+tb.funcs*listEntry+4])
	var records []byte
	for i := range tb.funcs {
		f := tb.function(i)
		size := funcSize + 4*tb.word(f+funcPCData) + 4*int(tb.b[f+funcFuncData])
		for (len(list)+len(records))%recordAlign != 0 {
			records = append(records, 0)
		}
		binary.LittleEndian.PutUint32(list[i*listEntry+4:], uint32(len(list)+len(records)))
		record := bytes.Clone(l.memory[f : f+size])
		if k >= 0 && 4*k <= size {
			record = slices.Insert(record, 4*k, binary.LittleEndian.AppendUint32(nil, uint32(n(f)))...)
		}
		records = append(records, record...)
	}
	part := append(list, records...)
	for len(part)%recordAlign != 0 {
		part = append(part, 0)
	}
	return replaced(l, tb, tb.records, part)
}

// replaced returns a layout in which the bytes of one part of the tables are replaced by with. All addresses
// behind the part are adjusted.
func replaced(l layout, tb *tables, part span, with []byte) layout {
	more := len(with) - (part.end - part.at)
	memory := slices.Concat(l.memory[:part.at], with, l.memory[part.end:])
	moved := func(address int) int {
		if address >= part.end {
			return address + more
		}
		return address
	}
	set := func(at, n int) { binary.LittleEndian.PutUint64(memory[at:], uint64(n)) }
	for i := range moduleWords {
		if at := tb.module + 8*i; tb.long(at) > tb.head {
			set(moved(at), moved(tb.long(at)))
		}
	}
	for _, w := range []int{modNames, modUnits, modFiles, modPCs, modRecords} {
		if tb.mod(w) == part.at {
			n := len(with)
			if w == modUnits {
				n /= 4
			}
			set(moved(tb.module+8*(w+1)), n)
			set(moved(tb.module+8*(w+2)), n)
		}
	}
	for i := headNames; i < headWords; i++ {
		set(tb.head+8*i, moved(tb.head+tb.pc(i))-tb.head)
	}
	l.memory = memory
	return l
}

// TestInsertedWordInRecords checks that a linker that wrote one more word into every record of a function would
// be noticed, even if everything else were consistent with it.
func TestInsertedWordInRecords(t *testing.T) {
	l, tb := layoutOf(t)
	if same := relaid(l, tb, -1, nil); !bytes.Equal(same.memory, l.memory) {
		t.Fatal("records that are written as they are make another memory; mend this test")
	}
	const words = funcSize/4 + pcKinds + dataKinds
	for k := range words {
		for what, n := range map[string]func(f int) int{
			"a zero":      func(int) int { return 0 },
			"no data":     func(int) int { return noData },
			"what is at":  func(f int) int { return tb.word(f + 4*k) },
			"what was at": func(f int) int { return tb.word(f + 4*max(k-1, 0)) },
		} {
			other := relaid(l, tb, k, n)
			if bytes.Equal(other.memory, l.memory) {
				continue // no record is that long
			}
			if _, err := other.read(); err == nil {
				t.Errorf("records with %s before word %d are taken for Go's; want a refusal", what, k)
			}
		}
	}
}

// TestInsertedTable checks that one more table between two others is noticed, even if every address is adjusted
// to it.
func TestInsertedTable(t *testing.T) {
	l, tb := layoutOf(t)
	for name, part := range map[string]span{"names": tb.names, "units": tb.units, "files": tb.files,
		"tables by instruction": tb.pcs, "records": tb.records, "data": tb.data, "buckets": tb.buckets} {
		before := span{part.at, part.at}
		if _, err := replaced(l, tb, before, make([]byte, 8)).read(); err == nil {
			t.Errorf("8 bytes before the %s are not noticed; want a refusal", name)
		}
	}
}

// onlyDatum returns the address of a word that refers to data that no other record refers to, or 0.
func (t *tables) onlyDatum() int {
	named := map[int][]int{}
	for i := range t.funcs {
		f := t.function(i)
		for k := range int(t.b[f+funcFuncData]) {
			at := f + funcSize + 4*(t.word(f+funcPCData)+k)
			named[t.word(at)] = append(named[t.word(at)], at)
		}
	}
	for _, off := range slices.Sorted(maps.Keys(named)) {
		if len(named[off]) == 1 {
			return named[off][0]
		}
	}
	return 0
}

// TestRefusedTables checks that a changed word in the tables is noticed, whatever the word means.
func TestRefusedTables(t *testing.T) {
	l, tb := layoutOf(t)
	f := tb.function(tb.funcs / 2)
	for _, c := range []struct {
		what  string
		at, n int
	}{
		{"how many functions there are", tb.head + 8*headFuncs, tb.funcs - 1},
		{"the place of a record", tb.records.at + 4, tb.word(tb.records.at+4) + 8},
		{"the number of a function", f + funcEntry, 1},
		{"a name's middle", f + funcName, tb.word(f+funcName) + 1},
		{"a table's middle", f + funcStack, tb.word(f+funcStack) + 1},
		{"more tables", f + funcPCData, tb.word(f+funcPCData) + 1},
		{"a place after panics without a call", f + funcDeferReturn, 1},
		{"a unit behind the last", f + funcUnit, (tb.units.end - tb.units.at) / 4},
		{"data behind the last", f + funcSize + 4*tb.word(f+funcPCData), tb.data.end - tb.data.at},
		{"a table that no function has", f + funcLine, 0},
		{"data that no function has", tb.onlyDatum(), noData},
		{"a bucket of another function", tb.buckets.at + 40*bucketSize, 7},
		{"a byte between data and buckets", tb.data.end - 4, 1 << 24},
	} {
		other := l
		other.memory = bytes.Clone(l.memory)
		binary.LittleEndian.PutUint32(other.memory[c.at:], uint32(c.n))
		if bytes.Equal(other.memory, l.memory) {
			t.Errorf("%s: nothing was changed; mend this test", c.what)
		} else if _, err := other.read(); err == nil {
			t.Errorf("%s (%d at %#x) is not noticed; want a refusal", c.what, c.n, c.at)
		}
	}
}

// TestCorruptTables writes random words into the tables. Either the tables are refused, or the passes change
// nothing outside of the tables.
func TestCorruptTables(t *testing.T) {
	const seed = 3
	l, tb := layoutOf(t)
	end := tb.mod(modTablesEnd)
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range 120 {
		parts := []span{{tb.module, tb.module + 8*moduleWords}, {tb.head, tb.names.at}, tb.records, tb.units, tb.pcs,
			tb.data, tb.buckets}
		part := parts[i%len(parts)]
		at := part.at + random.IntN((part.end-part.at)/4)*4
		n := []uint32{0, 1, noData, random.Uint32(), random.Uint32N(1 << 20), 1 << 31}[random.IntN(6)]
		other := l
		other.memory = bytes.Clone(l.memory)
		binary.LittleEndian.PutUint32(other.memory[at:], n)
		read, err := other.read()
		if err != nil {
			continue
		}
		p := &program{memory: other.memory, tables: read}
		for _, pass := range []func() error{p.dropInlined, p.shareNames, p.coarsenSearch, p.dropLines} {
			if err := pass(); err != nil {
				break
			}
		}
		if !bytes.Equal(p.memory[:tb.head], other.memory[:tb.head]) ||
			!bytes.Equal(p.memory[end:], other.memory[end:]) {
			t.Errorf("seed %d, case %d: with %#x at %#x the passes change what is outside of the tables, from %#x to %#x", seed, i, n, at, tb.head, end)
		}
	}
}

// TestFindTables checks that a memory that does not belong to a Go program is refused.
func TestFindTables(t *testing.T) {
	head := append(bytes.Clone(pcHead), make([]byte, 8*headWords)...)
	begin := binary.LittleEndian.AppendUint64(make([]byte, 8), 8) // both the head and the names are at 8
	for name, memory := range map[string][]byte{
		"nothing":   make([]byte, 100),
		"cut":       append(bytes.Clone(pcHead), 1, 2, 3),
		"nonsense":  append(bytes.Clone(pcHead), bytes.Repeat([]byte{0xff}, 200)...),
		"a head":    append(make([]byte, 8), head...),
		"two heads": append(bytes.Clone(head), head...),
		"another place": append(append(make([]byte, 8), head...),
			append(begin, bytes.Repeat([]byte{1}, 8*moduleWords)...)...),
		"moduledata cut": append(append(make([]byte, 8), head...),
			binary.LittleEndian.AppendUint64(begin[8:], 8)...),
		"two of moduledata": append(append(make([]byte, 8), head...),
			bytes.Repeat(binary.LittleEndian.AppendUint64(nil, 8), 100)...),
	} {
		if got, err := readTables(memory, nil, 0); err == nil {
			t.Errorf("%s: % x is taken for tables (%v); want a refusal", name, memory, fmt.Sprint(got.funcs))
		}
	}
}
