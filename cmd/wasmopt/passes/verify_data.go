package passes

import (
	"encoding/binary"
	"maps"
	"slices"

	"memtide/cmd/wasmopt/flow"
)

// verifyDatum verifies what function i has of a kind at an offset, by its form and by
// what the function's tables by instruction say of it, and notes its size.
func (v *verifier) verifyDatum(i, kind, off int, tables [pcKinds]values, places int) {
	at := v.data.at + off
	size, ok := 0, false
	switch kind {
	case dataArgMaps, dataLocalMaps:
		size, ok = v.stackMap(at, tables[pcStackMap].most)
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

// stackMap returns a map of pointers: how many bit maps, more than the largest number of
// one, and their bits.
func (v *verifier) stackMap(at, most int) (size int, ok bool) {
	n, bits := v.word(at), v.word(at+4)
	return 8 + n*((bits+7)/8), n > most && n > 0 && n < 1<<16 && bits < 1<<24
}

// inlined are n inlined calls: the function's kind, three zeros, its name, the place
// of the call, and the first line.
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

// numbers are n numbers (LEB128).
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

// arguments returns where arguments are and how large: pairs of a distance and a size,
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

func sortedKeys(m map[int]int) []int { return slices.Sorted(maps.Keys(m)) }
