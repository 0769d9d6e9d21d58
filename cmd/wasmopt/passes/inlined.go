package passes

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
