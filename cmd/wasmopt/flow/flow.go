package flow

import "slices"

// flow is how a function gets from segment to segment, in the order in which
// they are written.
type flow struct {
	entered []bool // through the table
	loopEnd []int  // behind the last segment of the loop that begins here; 0: none
}

// viaTable reports whether a jump cannot be a branch.
func (fl *flow) viaTable(from, to int) bool {
	return to <= from && fl.loopEnd[to] <= from
}

// endAtCalls ends segments at calls of functions that never return, like those
// that panic. The compiler lets them go on with whatever comes next.
func (f *Function) endAtCalls(returns func(function int64) bool) {
	for i := range f.segments {
		s := &f.segments[i]
		for k := callEnds - 1; k < len(s.code); k++ {
			if call := s.code[k-callEnds+1]; !s.code[k].unwinds || call.op != opCall || returns(call.n) {
				continue
			}
			// What it returns when the goroutine is switched is 1.
			s.code[k] = instruction{op: opReturn, raw: []byte{opReturn}, target: -1}
			if k == len(s.code)-1 && s.resumes {
				s.resumes, s.next = false, -1
			}
		}
	}
}

// jumps returns the segments that a segment may go on with.
func (f *Function) jumps(i int) (to []int) {
	for _, in := range f.segments[i].code {
		if in.target >= 0 {
			to = append(to, in.target)
		}
	}
	if next := f.segments[i].next; next >= 0 {
		to = append(to, next)
	}
	return to
}

// entries tells where a function may be entered through the table: at its
// beginning, after calls, and where it goes on after a panic.
func (f *Function) entries() []bool {
	entered := make([]bool, len(f.segments))
	entered[0] = true
	if f.afterPanic > 0 && f.afterPanic < len(f.table) {
		entered[f.table[f.afterPanic]] = true
	}
	for _, s := range f.segments {
		if s.resumes && s.next >= 0 {
			entered[s.next] = true
		}
	}
	return entered
}

// arrange puts the segments of a function in an order in which a loop is in one
// piece and begins where it is entered, and all other jumps lead ahead. A loop
// that is entered at several places, as after a call in it, needs the table.
func (f *Function) arrange() *flow {
	o := newOrder(f)
	for !o.all() {
	}
	old, position := f.segments, make([]int, len(f.segments))
	for i := range position {
		position[i] = -1
	}
	fl := &flow{make([]bool, len(o.out)), make([]int, len(o.out))}
	f.segments = make([]codeSegment, len(o.out))
	for i, was := range o.out {
		position[was] = i
		f.segments[i] = old[was]
		fl.entered[i] = o.entered[was]
		if n := o.loops[was]; n > 0 {
			fl.loopEnd[i] = i + n
		}
	}
	f.renumber(position)
	for i := range f.segments {
		f.segments[i].turn(i + 1)
	}
	return fl
}

// renumber changes the numbers of segments, -1 for those that nothing leads to.
func (f *Function) renumber(position []int) {
	for i := range f.segments {
		s := &f.segments[i]
		for k := range s.code {
			if to := s.code[k].target; to >= 0 {
				s.code[k].target = position[to]
			}
		}
		if s.next >= 0 {
			s.next = position[s.next]
		}
	}
	for place, j := range f.table {
		f.table[place] = position[j]
	}
}

// turn turns a condition around if the segment ends with a jump to the one that
// follows, and would otherwise have to jump elsewhere.
func (s *codeSegment) turn(follows int) {
	k := len(s.code) - jumpIfLength
	if k < 0 || s.code[k].op != opIf || s.code[k].target != follows || s.next < 0 || s.next == follows {
		return
	}
	s.code[k].target, s.next = s.next, follows
	if k > 0 && s.code[k-1].op == opEqz {
		s.code = slices.Delete(slices.Clone(s.code), k-1, k)
		return
	}
	s.code = slices.Insert(slices.Clone(s.code), k, instruction{op: opEqz, raw: []byte{opEqz}, target: -1})
}
