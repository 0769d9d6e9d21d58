package passes

import (
	"slices"
	"strings"
)

// dropInlined clears the lists of inlined calls and of arguments, which only
// tracebacks print, unless another function keeps something else at the same place.
func (p *program) dropInlined() (string, error) {
	return "", p.edit(func(t *tables) {
		kept, dropped := map[int]bool{}, map[int]int{} // offsets; to their lengths
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

// inlinedCalls returns where the list of inlined calls of a function is, by its record, and
// how many they are; none: 0.
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

// dropLines clears what only tracebacks and signals read, of which WebAssembly has
// none: the tables from instructions to files and lines, to inlined calls, and to
// places where a signal may interrupt, and the names of files. Nobody who visits the
// page reads them; a traceback still names its functions.
func (p *program) dropLines() (string, error) {
	return "", p.edit(func(t *tables) {
		kept := map[int]bool{}
		for i := range t.funcs {
			f := t.function(i)
			kept[t.word(f+funcStack)] = true
			for k := range t.word(f + funcPCData) {
				at := f + funcSize + 4*k
				if isRead(k) {
					kept[t.word(at)] = true
					continue
				}
				t.clear(span{at, at + 4}) // offset 0 means that there is no name
			}
			t.clear(span{f + funcFile, f + funcLine + 4})
			t.clear(span{f + funcUnit, f + funcStart + 4})
		}
		// Equal tables are stored once, whatever they are for.
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

// isRead tells which tables by instruction a program without signals reads when
// it writes no lines: where pointers are on the stack, and what a bounds check was.
func isRead(kind int) bool {
	return kind != pcUnsafePoint && kind != pcInlined && kind != pcLiveArgs
}

// shareNames gives functions of libraries one name for each package, "strconv.?",
// writes the type parameters in other names as they are printed, "[...]", and clears
// names that no function has any more. Functions of main and of Options.Keep keep
// their names, and those that the runtime knows by a number or a name.
//
// A name stays where it is or goes; none becomes longer. Lists of inlined calls name
// functions as well: those names stay, where the lists have not been cleared.
func (p *program) shareNames() (string, error) {
	return "", p.edit(func(t *tables) {
		used := t.share(func(name string) bool {
			return strings.HasPrefix(name, "main.") ||
				slices.ContainsFunc(p.options.Keep, func(k string) bool { return strings.HasPrefix(name, k) }) ||
				name == "reflect.makeFuncStub" || name == "reflect.methodValueCall"
		})
		t.shorten(used)
	})
}

// share gives the functions that do not keep theirs common names, and returns which
// names are in use.
func (t *tables) share(keeps func(name string) bool) (used map[int]bool) {
	used = t.inlinedNames()
	var others []int
	for i := range t.funcs {
		f := t.function(i)
		if !t.within(f, funcSize) {
			return nil
		}
		if off := t.word(f + funcName); t.b[f+funcID] != 0 || keeps(t.name(off)) {
			used[off] = true
		} else {
			others = append(others, f)
		}
	}
	shared := map[string]int{} // of a package
	for _, f := range others {
		off := t.word(f + funcName)
		name := t.name(off)
		pkg := packageOf(name)
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

// inlinedNames returns the names, by their offsets, in lists of inlined calls.
func (t *tables) inlinedNames() map[int]bool {
	names := map[int]bool{}
	for i := range t.funcs {
		f := t.function(i)
		off, n := t.inlinedCalls(f)
		for k := range n {
			names[t.word(t.data.at+off+k*inlinedSize+4)] = true
		}
	}
	return names
}

// packageOf returns what stands before the first dot after the last slash, type
// parameters aside.
func packageOf(name string) string {
	name, _, _ = strings.Cut(name, "[")
	base := strings.LastIndexByte(name, '/') + 1
	pkg, _, _ := strings.Cut(name[base:], ".")
	return name[:base] + pkg
}

// shorten writes names of generic functions as they are printed,
// "slices.Sort[...]", and clears those that no function has.
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
