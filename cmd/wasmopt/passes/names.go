package passes

import (
	"slices"
	"strings"
)

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
