package passes

import (
	"slices"
	"strings"
)

// dropInlined clears the lists of inlined calls and of arguments, which only tracebacks print,
// unless another function has other data at the same place.
func (p *program) dropInlined() error {
	return p.edit(func(t *tables) {
		kept, dropped := map[int]bool{}, map[int]int{} // by offset; the lengths of those to clear
		for i := range t.funcs {
			f := t.function(i)
			tables := t.word(f + funcPCData)
			for k := range int(t.b[f+funcFuncData]) {
				at := f + funcSize + 4*(tables+k)
				off := t.word(at)
				n := 0
				switch {
				case off == noData:
					continue
				case k == dataInlined:
					_, n = t.inlinedCalls(f)
					n *= inlinedSize
				case k == dataArgs:
					n, _ = t.arguments(t.data.at + off)
				default:
					kept[off] = true
					continue
				}
				dropped[off] = max(dropped[off], n)
				t.setWord(at, noData)
			}
		}
		for off, n := range dropped {
			if !kept[off] {
				t.clear(span{t.data.at + off, t.data.at + off + n})
			}
		}
	})
}

// inlinedCalls returns the offset and the length of the list of inlined calls of the function with record f, or 0, 0.
func (t *tables) inlinedCalls(f int) (off, n int) {
	tables := t.word(f + funcPCData)
	if tables <= pcInlined || !t.within(f, funcSize) || t.b[f+funcFuncData] <= dataInlined {
		return 0, 0
	}
	off = t.word(f + funcSize + 4*(tables+dataInlined))
	table := t.word(f + funcSize + 4*pcInlined)
	if off == noData || table == 0 {
		return 0, 0
	}
	return off, t.values(t.pcs.at+table).most + 1
}

// dropLines clears what only tracebacks and signals read, and WebAssembly has no signals: the
// tables from instructions to files and lines, to inlined calls, and to places where a signal
// may interrupt, and the names of files. A traceback still has the names of functions.
func (p *program) dropLines() error {
	return p.edit(func(t *tables) {
		kept := map[int]bool{}
		for i := range t.funcs {
			f := t.function(i)
			kept[t.word(f+funcStack)] = true
			for k := range t.word(f + funcPCData) {
				at := f + funcSize + 4*k
				if k == pcUnsafePoint || k == pcInlined || k == pcLiveArgs {
					t.clear(span{at, at + 4}) // offset 0 means that there is no table
				} else { // the runtime reads it: maps of pointers on the stack, kinds of bounds checks
					kept[t.word(at)] = true
				}
			}
			t.clear(span{f + funcFile, f + funcLine + 4})
			t.clear(span{f + funcUnit, f + funcStart + 4})
		}
		// Equal tables are stored once, even for different purposes.
		used := make([]bool, t.pcs.end-t.pcs.at)
		for off := range kept {
			for i := off; off > 0 && i < t.values(t.pcs.at+off).end-t.pcs.at; i++ {
				used[i] = true
			}
		}
		for i, u := range used {
			if !u {
				t.b[t.pcs.at+i] = 0
			}
		}
		t.clear(t.units)
		t.clear(t.files)
	})
}

// shareNames gives functions of libraries one name for each package, "strconv.?", writes the type parameters in other
// names as they are printed, "[...]", and clears the names that no function has any more. Functions of main and of
// Options.Keep keep their names, and so do those that the runtime knows by number or name.
//
// A name stays at its place or is cleared; no name becomes longer. Lists of inlined calls that
// have not been cleared keep the names in them.
func (p *program) shareNames() error {
	return p.edit(func(t *tables) {
		used := t.share(func(name string) bool {
			return strings.HasPrefix(name, "main.") ||
				slices.ContainsFunc(p.options.Keep, func(k string) bool { return strings.HasPrefix(name, k) }) ||
				name == "reflect.makeFuncStub" || name == "reflect.methodValueCall"
		})
		t.shorten(used)
	})
}

// share gives common names to the functions that need not keep theirs, and returns the offsets of the names in use.
func (t *tables) share(keeps func(name string) bool) (used map[int]bool) {
	used = map[int]bool{}
	var others []int
	for i := range t.funcs {
		f := t.function(i)
		if !t.within(f, funcSize) {
			return nil
		}
		calls, n := t.inlinedCalls(f)
		for k := range n {
			used[t.word(t.data.at+calls+k*inlinedSize+4)] = true
		}
		if off := t.word(f + funcName); t.b[f+funcID] != 0 || keeps(t.name(off)) {
			used[off] = true
		} else {
			others = append(others, f)
		}
	}
	shared := map[string]int{} // offset of the common name, by package
	for _, f := range others {
		off := t.word(f + funcName)
		name := t.name(off)
		pkg := PackageOf(name)
		at, ok := shared[pkg]
		if !ok && !used[off] && len(pkg)+len(".?") <= len(name) {
			at, ok = off, true
			shared[pkg] = off
			t.clear(span{t.names.at + off, t.names.at + off + len(name)})
			copy(t.b[t.names.at+off:], pkg+".?")
		}
		if ok {
			t.setWord(f+funcName, at)
		}
		used[t.word(f+funcName)] = true
	}
	return used
}

// PackageOf returns the part of a function's name before the first dot after the last slash, without
// type parameters: the import path of its package.
func PackageOf(name string) string {
	name, _, _ = strings.Cut(name, "[")
	base := strings.LastIndexByte(name, '/') + 1
	pkg, _, _ := strings.Cut(name[base:], ".")
	return name[:base] + pkg
}

// shorten writes names of generic functions as they are printed, "slices.Sort[...]", and clears
// the names that are not used.
func (t *tables) shorten(used map[int]bool) {
	for at := t.names.at; at < t.names.end && !t.bad; {
		name := t.text(t.names, at-t.names.at)
		end := at + len(name)
		if !used[at-t.names.at] {
			name = ""
		}
		if i, j := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']'); 0 <= i && i+len("[...]") <= j+1 {
			name = name[:i] + "[...]" + name[j+1:]
		}
		t.clear(span{at, end})
		copy(t.b[at:end], name)
		at = end + 1
	}
}
