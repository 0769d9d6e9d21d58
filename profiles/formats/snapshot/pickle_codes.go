package snapshot

import (
	"fmt"

	"memtide/profiles"
)

// pickleCode is what is known of an instruction.
type pickleCode struct {
	name    string
	read    bool // by this reader
	operand int  // bytes that follow, those that they count left out
	acts    bool // it names, makes or calls something: it could run code
}

// pickleCodes are the instructions of protocols 0 to 5, from Python's
// Lib/pickletools.py. Read is what public snapshots consist of, and what
// protocols 2 and 3 write in its place (BINPUT, LONG_BINPUT, EMPTY_TUPLE, TUPLE).
var pickleCodes = [256]pickleCode{
	'(': {name: "MARK", read: true}, '.': {name: "STOP", read: true},
	0x80: {name: "PROTO", read: true, operand: 1}, 0x95: {name: "FRAME", read: true, operand: 8},
	'}': {name: "EMPTY_DICT", read: true}, ']': {name: "EMPTY_LIST", read: true},
	0x94: {name: "MEMOIZE", read: true}, 'h': {name: "BINGET", read: true, operand: 1}, 'j': {name: "LONG_BINGET", read: true, operand: 4},
	'q': {name: "BINPUT", read: true, operand: 1}, 'r': {name: "LONG_BINPUT", read: true, operand: 4},
	0x8c: {name: "SHORT_BINUNICODE", read: true, operand: 1}, 'X': {name: "BINUNICODE", read: true, operand: 4},
	'J': {name: "BININT", read: true, operand: 4}, 'K': {name: "BININT1", read: true, operand: 1}, 'M': {name: "BININT2", read: true, operand: 2},
	0x8a: {name: "LONG1", read: true, operand: 1}, 'G': {name: "BINFLOAT", read: true, operand: 8},
	')': {name: "EMPTY_TUPLE", read: true}, 't': {name: "TUPLE", read: true},
	0x85: {name: "TUPLE1", read: true}, 0x86: {name: "TUPLE2", read: true}, 0x87: {name: "TUPLE3", read: true},
	0x88: {name: "NEWTRUE", read: true}, 0x89: {name: "NEWFALSE", read: true}, 'N': {name: "NONE", read: true},
	's': {name: "SETITEM", read: true}, 'u': {name: "SETITEMS", read: true},
	'a': {name: "APPEND", read: true}, 'e': {name: "APPENDS", read: true},

	'c': {name: "GLOBAL", acts: true}, 0x93: {name: "STACK_GLOBAL", acts: true}, 'R': {name: "REDUCE", acts: true},
	'b': {name: "BUILD", acts: true}, 'i': {name: "INST", acts: true}, 'o': {name: "OBJ", acts: true},
	0x81: {name: "NEWOBJ", acts: true}, 0x92: {name: "NEWOBJ_EX", acts: true},
	0x82: {name: "EXT1", acts: true}, 0x83: {name: "EXT2", acts: true}, 0x84: {name: "EXT4", acts: true},
	'P': {name: "PERSID", acts: true}, 'Q': {name: "BINPERSID", acts: true},

	'0': {name: "POP"}, '1': {name: "POP_MARK"}, '2': {name: "DUP"}, 'F': {name: "FLOAT"}, 'I': {name: "INT"}, 'L': {name: "LONG"},
	'S': {name: "STRING"}, 'T': {name: "BINSTRING"}, 'U': {name: "SHORT_BINSTRING"}, 'V': {name: "UNICODE"},
	'B': {name: "BINBYTES"}, 'C': {name: "SHORT_BINBYTES"}, 'd': {name: "DICT"}, 'l': {name: "LIST"},
	'g': {name: "GET"}, 'p': {name: "PUT"}, 0x8b: {name: "LONG4"}, 0x8d: {name: "BINUNICODE8"}, 0x8e: {name: "BINBYTES8"},
	0x8f: {name: "EMPTY_SET"}, 0x90: {name: "ADDITEMS"}, 0x91: {name: "FROZENSET"},
	0x96: {name: "BYTEARRAY8"}, 0x97: {name: "NEXT_BUFFER"}, 0x98: {name: "READONLY_BUFFER"},
}

const dumpAgain = "Write the snapshot again with torch.cuda.memory._dump_snapshot, which writes plain data."

// refuse ends at an instruction that is not read.
func (u *unpickler) refuse(op byte) {
	code := &pickleCodes[op]
	e := &profiles.FormatError{Format: "snapshot", Remedy: dumpAgain,
		Expected: "A memory snapshot consists of dictionaries, lists, texts and numbers."}
	switch {
	case code.acts:
		e.Found = fmt.Sprintf("Byte %d of the pickle is %s, which could run code", u.op, code.name)
		e.Expected += " Nothing of the file was executed."
		foreign(u.head, e)
	case code.name != "":
		e.Found = fmt.Sprintf("Byte %d of the pickle is %s, which memory snapshots do not use", u.op, code.name)
	default:
		e.Found = fmt.Sprintf("Byte %d of the pickle is 0x%02x, which is not an instruction", u.op, op)
		e.Remedy = "Copy or download the file again. " + dumpAgain
	}
	profiles.End(e)
}

// early ends a file that is cut off.
func (u *unpickler) early() {
	profiles.End(u.err)
	profiles.End(&profiles.FormatError{Format: "snapshot", Found: fmt.Sprintf("The pickle ends early, after %d bytes", max(u.total, u.base+u.hi)),
		Expected: "A complete memory snapshot is expected.", Remedy: "Copy or download the file again."})
}

// damaged ends a pickle that makes no sense at an instruction.
func (u *unpickler) damaged(why string) {
	profiles.End(&profiles.FormatError{Format: "snapshot", Found: fmt.Sprintf("The pickle makes no sense near byte %d: %s", u.op, why),
		Expected: "A memory snapshot as PyTorch writes it is expected.", Remedy: "Copy or download the file again. " + dumpAgain})
}
