// Package flow gives functions that Go's compiler wrote for WebAssembly direct jumps.
//
// The compiler writes every function as a list of segments behind a table. A jump, even in the innermost loop, stores
// the number of its target and goes back to the table, so that a goroutine can continue in the middle of a function
// (cmd/internal/obj/wasm/wasmobj.go). Engines make slow code of this, and the numbers are hard to compress. This
// package parses a function ([Parse]), finds loops as strongly connected parts (flow.go), and writes forward jumps as
// branches out of blocks, and loops with one entry as loops (write.go). The table remains for places where a function
// continues after a call, and for loops with calls in them. Nothing else changes: the numbers of places are those of
// the linker, so stack maps and tracebacks are still right.
//
// It relies on the form: the same frame around the segments, the same instructions that store a number and branch, the
// same ones around a call in which a goroutine can be switched. A function with anything else in it is refused and
// stays unchanged. One property does not show in the form, and has to be verified for a version of Go: a function may
// be entered at its start, after such calls, and at the one place after a panic that the runtime's table names.
package flow

import (
	"bytes"
	"slices"

	"memtide/cmd/wasmopt/module"
)

// Instructions of WebAssembly (core specification, section 5.4).
const (
	opUnreachable = 0x00
	opBlock       = 0x02
	opLoop        = 0x03
	opIf          = 0x04
	opEnd         = module.OpEnd
	opBr          = 0x0c
	opBrIf        = 0x0d
	opBrTable     = 0x0e
	opReturn      = 0x0f
	opCall        = 0x10
	opLocalGet    = 0x20
	opLocalSet    = 0x21
	opLocalTee    = 0x22
	opI32Const    = module.OpI32Const
	opI64Const    = 0x42
	opEqz         = 0x45 // i32.eqz
	opI64Or       = 0x84
	blockEmpty    = 0x40
	typeI32       = 0x7f
	typeI64       = 0x7e
)

// placeBits are the bits of a place's number that distinguish it from others in its function;
// the higher bits are the function's number.
const placeBits = 1<<16 - 1

// Number of instructions of a jump (a constant, its assignment and a branch), and of a conditional jump.
const (
	jumpLength   = 3
	jumpIfLength = jumpLength + 2
)

// Function is a function in the form that Go's compiler writes.
type Function struct {
	variables  []variables // the stack pointer is the first
	table      []int       // segment of each place
	segments   []codeSegment
	number     int64
	afterPanic int  // place where it continues after a panic; 0 if it does not
	pushes     int  // number of constants that are places of the function
	returns    bool // false if it only ends in calls that do not return
}

// variables describes n local variables of one type.
type variables struct {
	n    uint64
	kind byte
}

// codeSegment is the code between two places where a function can be entered or jumped to.
type codeSegment struct {
	code    []instruction
	next    int  // the segment that follows its end; -1 if no segment does
	resumes bool // it ends with a call, and next can be entered
}

type instruction struct {
	op      byte
	raw     []byte
	n       int64 // label, constant, variable or function
	target  int   // target of the jump that starts here; -1 if none starts here
	unwinds bool  // it leaves the function if the goroutine is switched
	pushes  bool  // its constant is the number of a place in the function
}

// setStackPointer reads the global stack pointer (global.get 0, local.set 1).
var setStackPointer = []byte{0x23, 0, opLocalSet, 1}

// callEnds is the number of instructions at the end of a call: the call itself, reading and
// setting the stack pointer, and the branch if it unwinds.
const callEnds = 4

// FirstNumber is the number of a module's first own function (cmd/link/internal/wasm/asm.go).
const FirstNumber = 0x1000

// Parse parses function i of a module's own, and returns nil if it has another form. It shares the body.
func Parse(i int, body []byte) *Function {
	r := &module.Reader{B: body}
	p := &functionParser{Function: &Function{number: (FirstNumber + int64(i)) * (placeBits + 1)}, r: r}
	for range r.Unsigned() {
		p.variables = append(p.variables, variables{r.Unsigned(), r.Byte()})
	}
	if !bytes.HasPrefix(body[r.I:], setStackPointer) {
		return nil
	}
	r.I += len(setStackPointer)
	if !p.around() || !p.all() {
		return nil
	}
	return p.Function
}

// Places returns the number of places in a function.
func (f *Function) Places() int { return len(f.table) }

// Calls reports whether the segment of a place calls a function. The function is numbered as in calls.
func (f *Function) Calls(place int, function int64) bool {
	return slices.ContainsFunc(f.segments[f.table[place]].code, func(in instruction) bool {
		return in.op == opCall && in.n == function
	})
}

// functionParser parses a function. Around its segments there are a block for leaving the
// function (unwind) and a loop around the table, if needed.
type functionParser struct {
	*Function
	r            *module.Reader
	unwind, loop bool
	end          int // end of the last segment
	depth        int // depth of blocks within the segment
}

// around parses what is before the first segment and after the last one.
func (p *functionParser) around() bool {
	before, blocks := p.blocks(), 0
	if p.loop = bytes.HasPrefix(p.r.B[p.r.I:], []byte{opLoop, blockEmpty}); p.loop {
		p.r.I += 2
		blocks, p.unwind = p.blocks(), before == 1
	}
	if p.loop && before > 1 || !bytes.HasPrefix(p.r.B[p.r.I:], []byte{opLocalGet, 0, opBrTable}) {
		return false
	}
	p.r.I += 3
	n := 0
	for range p.r.Unsigned() + 1 {
		j := int(p.r.Unsigned())
		p.table, n = append(p.table, j), max(n, j+1)
	}
	if !p.loop {
		blocks, p.unwind = n, before == n+1
	}
	if p.r.Byte() != opEnd || p.r.Err != nil || blocks != n || !p.loop && before-n > 1 {
		return false
	}
	p.segments = make([]codeSegment, n)
	var tail []byte
	if p.loop {
		tail = append(tail, opEnd)
	}
	tail = append(tail, opUnreachable, opEnd)
	if p.unwind {
		tail = append(tail, opI32Const, 1, opEnd)
	}
	p.end = len(p.r.B) - len(tail)
	return p.end >= p.r.I && bytes.HasSuffix(p.r.B, tail)
}

func (p *functionParser) blocks() (n int) {
	for ; bytes.HasPrefix(p.r.B[p.r.I:], []byte{opBlock, blockEmpty}); p.r.I += 2 {
		n++
	}
	return n
}

// all parses the segments.
func (p *functionParser) all() bool {
	for i := range p.segments {
		s := &p.segments[i]
		p.depth, s.next = 0, i+1
		closed := false
		for !closed && p.r.I < p.end {
			in, ok := readInstruction(p.r)
			if closed = in.op == opEnd && p.depth == 0; closed {
				break
			}
			// A call in which the goroutine can be switched ends a segment.
			if !ok || s.resumes || !p.meaning(i, &in) {
				return false
			}
			s.code = append(s.code, in)
		}
		if last := i == len(p.segments)-1; closed == last || p.depth > 0 {
			return false
		}
		if n := len(s.code); i == len(p.segments)-1 || n > 0 && ends(s.code[n-1].op) {
			s.next = -1
		}
	}
	return p.r.I == p.end
}

// ends reports whether no instruction follows this one.
func ends(op byte) bool { return op == opBr || op == opReturn || op == opUnreachable }

// meaning determines the purpose of an instruction of segment i, and reports whether it fits the form.
func (p *functionParser) meaning(i int, in *instruction) bool {
	switch in.op {
	case opBlock, opLoop, opIf:
		p.depth++
	case opEnd:
		p.depth--
	case opReturn:
		p.returns = true
	case opBrTable:
		return false
	case opBr, opBrIf:
		return p.branch(i, in)
	case opI64Const:
		if in.pushes = in.n&^placeBits == p.number; in.pushes {
			p.pushes++
		}
	}
	return true
}

// branch determines the target of a branch of segment i.
func (p *functionParser) branch(i int, in *instruction) bool {
	s := &p.segments[i]
	table := len(p.segments) - 1 - i + p.depth // the label of the loop around the table
	unwind := table
	if p.loop {
		unwind++
	}
	switch {
	case in.n < int64(p.depth):
		return true
	case p.loop && in.n == int64(table) && in.op == opBr:
		return p.jump(s)
	case p.unwind && in.n == int64(unwind) && in.op == opBrIf:
		in.unwinds = true
		s.resumes = s.resumes || p.depth == 0
		return true
	}
	return false
}

// jump sets the target of the jump at the current end of a segment.
func (p *functionParser) jump(s *codeSegment) bool {
	n := len(s.code)
	if n < 2 || s.code[n-1].op != opLocalSet || s.code[n-1].n != 0 || s.code[n-2].op != opI32Const {
		return false
	}
	place := s.code[n-2].n
	if place < 0 || place >= int64(len(p.table)) {
		return false
	}
	first := n - 2
	if n > 2 && s.code[n-3].op == opIf && p.r.I < p.end && p.r.B[p.r.I] == opEnd {
		first = n - 3
	}
	s.code[first].target = p.table[place]
	return true
}

// readInstruction reads an instruction. ok is false if Go's compiler does not write it.
func readInstruction(r *module.Reader) (in instruction, ok bool) {
	start := r.I
	in.op, in.target = r.Byte(), -1
	switch op := in.op; {
	case op >= opBlock && op <= opIf:
		r.Byte()
	case op == opBr, op == opBrIf, op == opCall, op >= opLocalGet && op <= 0x24: // and of global variables
		in.n = int64(r.Unsigned())
	case op == opBrTable:
		for range r.Unsigned() + 1 {
			r.Unsigned()
		}
	case op == 0x11, op >= 0x28 && op <= 0x3e: // call_indirect, loads and stores
		r.Unsigned()
		r.Unsigned()
	case op == 0x3f, op == 0x40: // memory.size, memory.grow
		r.Byte()
	case op == opI32Const, op == opI64Const:
		in.n = r.Signed()
	case op == 0x43: // f32.const
		r.Take(4)
	case op == 0x44: // f64.const
		r.Take(8)
	case op == 0xfc:
		switch sub := r.Unsigned(); {
		case sub <= 7: // saturating conversions
		case sub == 10: // memory.copy
			r.Take(2)
		case sub == 11: // memory.fill
			r.Byte()
		default:
			return in, false
		}
	case op == opUnreachable, op == 0x01, op == opEnd, op == opReturn, op == 0x1a, op == 0x1b: // and nop, drop, select
	case op >= opEqz && op <= 0xc4: // comparisons, arithmetic, conversions
	default:
		return in, false
	}
	in.raw = r.B[start:r.I]
	return in, r.Err == nil
}
