package passes

const searchEach = 64

// coarsenSearch has the search for the function of an instruction (runtime.findfunc)
// begin a little earlier, at every 64th function: it goes on from there through the
// list, and the table of where to begin is then hardly more than zeros. The last
// bucket, which is not whole, stays.
func (p *program) coarsenSearch() (string, error) {
	return "", p.edit(func(t *tables) {
		for i := range (t.mod(modMaxPC) - t.mod(modMinPC)) / bucketPlaces {
			at := t.buckets.at + i*bucketSize
			t.setWord(at, t.word(at)/searchEach*searchEach)
		}
	})
}
