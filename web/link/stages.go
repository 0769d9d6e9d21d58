package link

import (
	"memtide/engine"
	"memtide/web/choice"
)

// What a body holds of every stage, and of some. A field of engine.Stage is here or
// among the names and kinds; a test fails for any other.

// columns lists the numbers of every stage, as pointers so that one list serves
// both directions.
func columns(s *engine.Stage) [7]*int64 {
	return [7]*int64{(*int64)(&s.Forward), (*int64)(&s.Back), (*int64)(&s.Out), (*int64)(&s.Saved),
		(*int64)(&s.Grad), (*int64)(&s.FwdTemp), (*int64)(&s.BwdTemp)}
}

// extra is what only some stages have. Behind the columns stand those that any
// stage of the profile has: the number of the extra, a column of 0 and 1 that says
// which stages have it, and its numbers for these. A profile with any has the
// layout blobVersion, all others plainVersion, as links had before there were any.
type extra struct {
	number  uint64 // for ever
	has     func(s *engine.Stage) bool
	give    func(s *engine.Stage)
	numbers func(s *engine.Stage) []*int64 // of a stage that has it; nil: there are none
}

// extras are in the order of their numbers.
var extras = [...]extra{
	{number: 1,
		has:  func(s *engine.Stage) bool { return s.Fast != nil },
		give: func(s *engine.Stage) { s.Fast = new(engine.Algorithm) },
		numbers: func(s *engine.Stage) []*int64 {
			f := s.Fast
			return []*int64{(*int64)(&f.Forward), (*int64)(&f.Back), (*int64)(&f.FwdTemp), (*int64)(&f.BwdTemp)}
		}},
	{number: 2,
		has:  func(s *engine.Stage) bool { return s.Unsaved },
		give: func(s *engine.Stage) { s.Unsaved = true }},
}

// extra writes what some stages have; false if none has it.
func (w *writer) extra(x *extra, stages []engine.Stage) bool {
	which := make([]int64, len(stages))
	var table [][]int64
	some := false
	for i := range stages {
		if !x.has(&stages[i]) {
			continue
		}
		which[i], some = 1, true
		if x.numbers == nil {
			continue
		}
		for col, v := range x.numbers(&stages[i]) {
			if col == len(table) {
				table = append(table, nil)
			}
			table[col] = append(table[col], *v)
		}
	}
	if !some {
		return false
	}
	w.uint(x.number)
	w.column(nil, which)
	for col := range table {
		w.column(table[:col], table[col])
	}
	return true
}

// extra reads what some stages have.
func (r *bodyReader) extra(stages []engine.Stage) {
	number := r.uint()
	for i := range extras {
		if extras[i].number == number {
			r.give(&extras[i], stages)
			return
		}
	}
	if !r.bad {
		r.bad, r.b = true, nil
		r.err = choice.Sentence("This link needs a newer version of this page: its stages have something that this one does not know. Reload the page.")
	}
}

func (r *bodyReader) give(x *extra, stages []engine.Stage) {
	var numbers [][]*int64 // of the stages that have it
	for i, yes := range r.column(nil, len(stages)) {
		if r.bad || yes == 0 {
			continue
		}
		s := &stages[i]
		if yes != 1 || x.has(s) { // no writer writes that, nor an extra twice
			r.bad, r.b = true, nil
			return
		}
		x.give(s)
		if x.numbers != nil {
			numbers = append(numbers, x.numbers(s))
		}
	}
	if len(numbers) == 0 {
		return
	}
	var table [][]int64
	for col := range numbers[0] {
		table = append(table, r.column(table, len(numbers)))
		for i, v := range table[col] {
			*numbers[i][col] = v
		}
	}
}
