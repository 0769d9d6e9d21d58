//go:build !js

package main

import (
	"fmt"
	"slices"
)

// Go's compiler writes every function for WebAssembly as a list of segments
// behind a table. A jump stores the number of its target and goes back to the
// table, so that a goroutine can go on in the middle of a function
// (cmd/internal/obj/wasm/wasmobj.go). Engines make slow code of that, and the
// numbers are hard to compress. directJumps makes branches and loops of most
// jumps; the table stays for where functions go on after calls.

// Sections of a module.
const (
	sectionImport = 2
	sectionCode   = 10
)

// directJumps rewrites the functions of a module. A function that has another
// form than the compiler's is left as it is, and so are all if the module does
// not tell where functions go on after panics.
func directJumps(sections []section) error {
	afterPanics, err := placesAfterPanics(sections)
	code, imports := find(sections, sectionCode), find(sections, sectionImport)
	if err != nil || afterPanics == nil || code < 0 || imports < 0 {
		return err
	}
	imported, err := importedFunctions(sections[imports].body)
	if err != nil {
		return err
	}
	sections[code].body, err = rewriteFunctions(sections[code].body, imported, afterPanics)
	return err
}

// importedFunctions counts the functions that come before the module's own.
func importedFunctions(section []byte) (n int, err error) {
	r := &moduleReader{b: section}
	for range r.unsigned() {
		r.take(int(r.unsigned()))
		r.take(int(r.unsigned()))
		if kind := r.byte(); kind != 0 {
			return 0, fmt.Errorf("%w: an import of kind %d", errModule, kind)
		}
		r.unsigned()
		n++
	}
	return n, r.err
}

func rewriteFunctions(section []byte, imported int, afterPanics map[int]int) ([]byte, error) {
	r := &moduleReader{b: section}
	bodies := make([][]byte, r.unsigned())
	functions := make([]*function, len(bodies))
	for i := range bodies {
		if bodies[i] = r.take(int(r.unsigned())); r.err != nil {
			return nil, fmt.Errorf("%w: function %d of %d", r.err, i, len(bodies))
		}
		if functions[i] = parseFunction(i, bodies[i]); functions[i] != nil {
			functions[i].afterPanic = afterPanics[i]
		}
	}
	returns := func(i int64) bool {
		i -= int64(imported)
		return i < 0 || i >= int64(len(functions)) || functions[i] == nil || functions[i].returns
	}
	out := appendUnsigned(make([]byte, 0, len(section)), uint64(len(bodies)))
	for i, f := range functions {
		if f != nil {
			f.endAtCalls(returns)
			bodies[i] = f.write()
		}
		out = append(appendUnsigned(out, uint64(len(bodies[i]))), bodies[i]...)
	}
	return out, r.err
}

type labelKind int

const (
	labelOther   labelKind = iota
	labelSegment           // the end of a block, where a segment begins
	labelLoop              // the beginning of a loop, which a segment begins with
	labelTable             // the loop around the table
)

type label struct {
	kind    labelKind
	segment int
}

// functionWriter writes a function in the order of its flow.
type functionWriter struct {
	*function
	*flow
	out    []byte
	labels []label // around the place that is being written
	ahead  []bool  // segments that are branched to from before them
}

func (f *function) write() []byte {
	w := &functionWriter{function: f, flow: f.arrange()}
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

// The variable of a function's own number, in functions that make calls.
const ownNumber = 2

// locals writes the variables and sets the first ones: the stack pointer and,
// because a call pushes the number of its place, which is the function's plus a
// small one, the number of the function. That is a long constant once, not twice
// or more.
func (w *functionWriter) locals() {
	types := slices.Clone(w.variables)
	if w.pushes > 1 {
		types[0].n-- // what comes after the stack pointer
		types = slices.Insert(types, 0, variables{1, typeI32}, variables{1, typeI64})
	}
	w.out = appendUnsigned(w.out, uint64(len(types)))
	for _, v := range types {
		w.out = append(appendUnsigned(w.out, v.n), v.kind)
	}
	w.out = append(w.out, setStackPointer...)
	if w.pushes > 1 {
		w.out = append(appendSigned(append(w.out, opI64Const), w.number), opLocalSet, ownNumber)
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

// level writes the segments from lo to before hi, the loops among them as one
// piece each. Around all that is before a place that is branched to is a block.
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

// begins tells whether a loop begins at a segment in which we are not yet.
func (w *functionWriter) begins(i int) bool {
	return w.loopEnd[i] > 0 && !slices.Contains(w.labels, label{labelLoop, i})
}

// dispatch writes the table: where to go on at a place with a number. Numbers
// at which no function goes on have what the one before has.
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
	w.out = appendUnsigned(w.out, uint64(last))
	for _, d := range depths[:last+1] {
		w.out = appendUnsigned(w.out, uint64(d))
	}
}

// depth is how many labels are between here and one of them.
func (w *functionWriter) depth(l label) int {
	i := len(w.labels) - 1
	for w.labels[i] != l {
		i--
	}
	return len(w.labels) - 1 - i
}

// segment writes the instructions of a segment.
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
		w.out = append(appendSigned(w.out, in.n&placeBits), opI64Or)
		return
	case in.op >= opLocalGet && in.op <= opLocalTee && in.n >= ownNumber && w.pushes > 1:
		w.out = appendUnsigned(append(w.out, in.op), uint64(in.n)+1)
		return
	case in.op == opCall:
		// The linker writes numbers of functions with a sign.
		w.out = appendUnsigned(append(w.out, opCall), uint64(in.n))
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
		w.out = appendUnsigned(append(w.out, op), uint64(w.depth(l)))
		return
	}
	if op == opBrIf {
		w.open(opIf, label{})
	}
	w.out = appendSigned(append(w.out, opI32Const), int64(slices.Index(w.table, to)))
	w.out = append(w.out, opLocalSet, 0, opBr)
	w.out = appendUnsigned(w.out, uint64(w.depth(label{kind: labelTable})))
	if op == opBrIf {
		w.close()
	}
}
