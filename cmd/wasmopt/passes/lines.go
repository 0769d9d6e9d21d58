package passes

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
				t.clear(span{at, at + 4}) // offset 0 is none
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
