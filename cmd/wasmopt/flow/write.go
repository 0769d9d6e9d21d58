package flow

import (
	"encoding/binary"
	"slices"

	"memtide/cmd/wasmopt/module"
)

// Direct replaces the bodies of a module's own functions by bodies with direct jumps. Functions
// that are nil, because they have another form, keep theirs. afterPanic has the place where each
// function continues after a panic; 0 if it does not.
func Direct(bodies [][]byte, functions []*Function, imported int, afterPanic []int) {
	returns := func(i int64) bool {
		i -= int64(imported)
		return i < 0 || i >= int64(len(functions)) || functions[i] == nil || functions[i].returns
	}
	for i, f := range functions {
		if f != nil {
			f.afterPanic = afterPanic[i]
			f.endAtCalls(returns)
			bodies[i] = f.write()
		}
	}
}

type labelKind int

const (
	labelOther   labelKind = iota
	labelSegment           // the end of a block, where a segment starts
	labelLoop              // the start of a loop and of its first segment
	labelTable             // the loop around the table
)

type label struct {
	kind    labelKind
	segment int
}

// functionWriter writes a function in the order of its flow.
type functionWriter struct {
	*Function
	*flow
	out    []byte
	labels []label // labels around the current position
	ahead  []bool  // an earlier segment branches to the segment
}

func (f *Function) write() []byte {
	w := &functionWriter{Function: f, flow: f.arrange()}
	w.ahead = make([]bool, len(f.segments))
	table, back := false, false
	for i := range f.segments {
		table = table || i > 0 && w.entered[i]
		for _, j := range f.jumps(i) {
			w.ahead[j] = w.ahead[j] || j > i
			back = back || w.viaTable(i, j)
		}
	}
	w.locals()
	if back {
		w.open(opLoop, label{kind: labelTable})
	}
	if table = table || back; table {
		for j := range w.ahead {
			w.ahead[j] = w.ahead[j] || w.entered[j]
		}
	}
	w.level(0, len(f.segments), table)
	if back {
		w.close()
	}
	return append(w.out, opUnreachable, opEnd)
}

// ownNumber is the variable for a function's own number, in functions that make calls.
const ownNumber = 2

// locals writes the variables and sets the first ones: the stack pointer and the number of the
// function. A call pushes the number of its place, which is the function's number plus a small
// one: the variable replaces repeated long constants.
func (w *functionWriter) locals() {
	types := slices.Clone(w.variables)
	if w.pushes > 1 {
		types[0].n-- // without the stack pointer
		types = slices.Insert(types, 0, variables{1, typeI32}, variables{1, typeI64})
	}
	w.out = binary.AppendUvarint(w.out, uint64(len(types)))
	for _, v := range types {
		w.out = append(binary.AppendUvarint(w.out, v.n), v.kind)
	}
	w.out = append(w.out, setStackPointer...)
	if w.pushes > 1 {
		w.out = append(module.AppendSigned(append(w.out, opI64Const), w.number), opLocalSet, ownNumber)
	}
}

func (w *functionWriter) open(op byte, l label) {
	w.out = append(w.out, op, blockEmpty)
	w.labels = append(w.labels, l)
}

func (w *functionWriter) close() {
	w.out = append(w.out, opEnd)
	w.labels = w.labels[:len(w.labels)-1]
}

// level writes the segments from lo to before hi, and each loop among them as a unit. Everything
// before the target of a branch is in a block.
func (w *functionWriter) level(lo, hi int, table bool) {
	after := func(i int) int {
		if w.begins(i) {
			return w.loopEnd[i]
		}
		return i + 1
	}
	var starts []int
	for i := lo; i < hi; i = after(i) {
		starts = append(starts, i)
	}
	block := func(i int) bool { return w.ahead[i] && (i > lo || table) }
	for _, i := range slices.Backward(starts) {
		if block(i) {
			w.open(opBlock, label{labelSegment, i})
		}
	}
	if table {
		w.dispatch()
	}
	for _, i := range starts {
		if block(i) {
			w.close()
		}
		if !w.begins(i) {
			w.segment(i)
			continue
		}
		w.open(opLoop, label{labelLoop, i})
		w.level(i, w.loopEnd[i], false)
		w.close()
	}
}

// begins reports whether a loop starts at a segment and is not being written already.
func (w *functionWriter) begins(i int) bool {
	return w.loopEnd[i] > 0 && !slices.Contains(w.labels, label{labelLoop, i})
}

// dispatch writes the table: the target of each place's number. A number at which the function
// is not entered gets the target before it.
func (w *functionWriter) dispatch() {
	depth, last := 0, 0
	depths := make([]int, len(w.table))
	for number, j := range w.table {
		if j >= 0 && w.entered[j] {
			depth, last = w.depth(label{labelSegment, j}), number
		}
		depths[number] = depth
	}
	w.out = append(w.out, opLocalGet, 0, opBrTable)
	w.out = binary.AppendUvarint(w.out, uint64(last))
	for _, d := range depths[:last+1] {
		w.out = binary.AppendUvarint(w.out, uint64(d))
	}
}

// depth returns the number of labels within a label.
func (w *functionWriter) depth(l label) int {
	i := len(w.labels) - 1
	for w.labels[i] != l {
		i--
	}
	return len(w.labels) - 1 - i
}

func (w *functionWriter) segment(i int) {
	s := &w.segments[i]
	for k := 0; k < len(s.code); k++ {
		in := s.code[k]
		switch {
		case in.op == opIf && in.target >= 0:
			w.jump(i, in.target, opBrIf)
			k += jumpIfLength - 1
		case in.target >= 0:
			w.jump(i, in.target, opBr)
			k += jumpLength - 1
		default:
			w.instruction(in)
		}
	}
	if s.next >= 0 && s.next != i+1 {
		w.jump(i, s.next, opBr)
	}
}

func (w *functionWriter) instruction(in instruction) {
	switch {
	case in.unwinds:
		// if the goroutine is switched, return 1
		w.out = append(w.out, opIf, blockEmpty, opI32Const, 1, opReturn, opEnd)
		return
	case in.pushes && w.pushes > 1:
		w.out = append(w.out, opLocalGet, ownNumber, opI64Const)
		w.out = append(module.AppendSigned(w.out, in.n&placeBits), opI64Or)
		return
	case in.op >= opLocalGet && in.op <= opLocalTee && in.n >= ownNumber && w.pushes > 1:
		w.out = binary.AppendUvarint(append(w.out, in.op), uint64(in.n)+1)
		return
	case in.op == opCall:
		// The linker writes numbers of functions with a sign.
		w.out = binary.AppendUvarint(append(w.out, opCall), uint64(in.n))
		return
	case in.op == opBlock, in.op == opLoop, in.op == opIf:
		w.labels = append(w.labels, label{})
	case in.op == opEnd:
		w.labels = w.labels[:len(w.labels)-1]
	}
	w.out = append(w.out, in.raw...)
}

// jump writes a jump from one segment to another.
func (w *functionWriter) jump(from, to int, op byte) {
	if !w.viaTable(from, to) {
		l := label{labelSegment, to}
		if to <= from {
			l.kind = labelLoop
		}
		w.out = binary.AppendUvarint(append(w.out, op), uint64(w.depth(l)))
		return
	}
	if op == opBrIf {
		w.open(opIf, label{})
	}
	w.out = module.AppendSigned(append(w.out, opI32Const), int64(slices.Index(w.table, to)))
	w.out = append(w.out, opLocalSet, 0, opBr)
	w.out = binary.AppendUvarint(w.out, uint64(w.depth(label{kind: labelTable})))
	if op == opBrIf {
		w.close()
	}
}
