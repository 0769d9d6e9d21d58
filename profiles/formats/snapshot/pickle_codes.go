package snapshot

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"memtide/profiles"
)

// pickleCode describes an instruction.
type pickleCode struct {
	name    string
	read    bool // this reader executes it
	operand int  // bytes of the operand, without the bytes that the operand counts
	acts    bool // it names, makes or calls something: it could run code
}

// The instructions that are read. Public snapshots consist of them; protocols 2 and 3 write
// opBinPut, opLongBinPut, opEmptyTuple and opTuple in place of others.
const (
	opMark            = '('
	opStop            = '.'
	opProto           = 0x80
	opFrame           = 0x95
	opEmptyDict       = '}'
	opEmptyList       = ']'
	opMemoize         = 0x94
	opBinGet          = 'h'
	opLongBinGet      = 'j'
	opBinPut          = 'q'
	opLongBinPut      = 'r'
	opShortBinUnicode = 0x8c
	opBinUnicode      = 'X'
	opBinInt          = 'J'
	opBinInt1         = 'K'
	opBinInt2         = 'M'
	opLong1           = 0x8a
	opBinFloat        = 'G'
	opEmptyTuple      = ')'
	opTuple           = 't'
	opTuple1          = 0x85
	opTuple2          = 0x86
	opTuple3          = 0x87
	opNewTrue         = 0x88
	opNewFalse        = 0x89
	opNone            = 'N'
	opSetItem         = 's'
	opSetItems        = 'u'
	opAppend          = 'a'
	opAppends         = 'e'
)

// pickleCodes lists the instructions of protocols 0 to 5, from Python's Lib/pickletools.py.
var pickleCodes = [256]pickleCode{
	opMark: {name: "MARK", read: true}, opStop: {name: "STOP", read: true},
	opProto: {name: "PROTO", read: true, operand: 1}, opFrame: {name: "FRAME", read: true, operand: 8},
	opEmptyDict: {name: "EMPTY_DICT", read: true}, opEmptyList: {name: "EMPTY_LIST", read: true},
	opMemoize: {name: "MEMOIZE", read: true}, opBinGet: {name: "BINGET", read: true, operand: 1},
	opLongBinGet: {name: "LONG_BINGET", read: true, operand: 4},
	opBinPut:     {name: "BINPUT", read: true, operand: 1}, opLongBinPut: {name: "LONG_BINPUT", read: true, operand: 4},
	opShortBinUnicode: {name: "SHORT_BINUNICODE", read: true, operand: 1},
	opBinUnicode:      {name: "BINUNICODE", read: true, operand: 4},
	opBinInt:          {name: "BININT", read: true, operand: 4}, opBinInt1: {name: "BININT1", read: true, operand: 1},
	opBinInt2: {name: "BININT2", read: true, operand: 2},
	opLong1:   {name: "LONG1", read: true, operand: 1}, opBinFloat: {name: "BINFLOAT", read: true, operand: 8},
	opEmptyTuple: {name: "EMPTY_TUPLE", read: true}, opTuple: {name: "TUPLE", read: true},
	opTuple1: {name: "TUPLE1", read: true}, opTuple2: {name: "TUPLE2", read: true},
	opTuple3:  {name: "TUPLE3", read: true},
	opNewTrue: {name: "NEWTRUE", read: true}, opNewFalse: {name: "NEWFALSE", read: true},
	opNone:    {name: "NONE", read: true},
	opSetItem: {name: "SETITEM", read: true}, opSetItems: {name: "SETITEMS", read: true},
	opAppend: {name: "APPEND", read: true}, opAppends: {name: "APPENDS", read: true},

	'c': {name: "GLOBAL", acts: true}, 0x93: {name: "STACK_GLOBAL", acts: true}, 'R': {name: "REDUCE", acts: true},
	'b': {name: "BUILD", acts: true}, 'i': {name: "INST", acts: true}, 'o': {name: "OBJ", acts: true},
	0x81: {name: "NEWOBJ", acts: true}, 0x92: {name: "NEWOBJ_EX", acts: true},
	0x82: {name: "EXT1", acts: true}, 0x83: {name: "EXT2", acts: true}, 0x84: {name: "EXT4", acts: true},
	'P': {name: "PERSID", acts: true}, 'Q': {name: "BINPERSID", acts: true},

	'0': {name: "POP"}, '1': {name: "POP_MARK"}, '2': {name: "DUP"}, 'F': {name: "FLOAT"}, 'I': {name: "INT"},
	'L': {name: "LONG"},
	'S': {name: "STRING"}, 'T': {name: "BINSTRING"}, 'U': {name: "SHORT_BINSTRING"}, 'V': {name: "UNICODE"},
	'B': {name: "BINBYTES"}, 'C': {name: "SHORT_BINBYTES"}, 'd': {name: "DICT"}, 'l': {name: "LIST"},
	'g': {name: "GET"}, 'p': {name: "PUT"}, 0x8b: {name: "LONG4"}, 0x8d: {name: "BINUNICODE8"},
	0x8e: {name: "BINBYTES8"},
	0x8f: {name: "EMPTY_SET"}, 0x90: {name: "ADDITEMS"}, 0x91: {name: "FROZENSET"},
	0x96: {name: "BYTEARRAY8"}, 0x97: {name: "NEXT_BUFFER"}, 0x98: {name: "READONLY_BUFFER"},
}

const dumpAgain = "Write the snapshot again with torch.cuda.memory._dump_snapshot, which writes plain data."

// refuse ends reading at an instruction that is not read.
func (u *unpickler) refuse(op byte) {
	code := &pickleCodes[op]
	e := &profiles.FormatError{Remedy: dumpAgain,
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

// early ends reading a file that is cut off.
func (u *unpickler) early() {
	profiles.End(u.err)
	profiles.End(&profiles.FormatError{
		Found:    fmt.Sprintf("The pickle ends early, after %d bytes", max(u.total, u.base+u.hi)),
		Expected: "A complete memory snapshot is expected.", Remedy: "Copy or download the file again."})
}

// damaged ends reading at an invalid instruction.
func (u *unpickler) damaged(why string) {
	profiles.End(&profiles.FormatError{Found: fmt.Sprintf("The pickle makes no sense near byte %d: %s", u.op, why),
		Expected: "A memory snapshot as PyTorch writes it is expected.",
		Remedy:   "Copy or download the file again. " + dumpAgain})
}

// foreign adds to e what kind of pickle this is if it is not a snapshot, as far as the texts at its start show it.
func foreign(data []byte, e *profiles.FormatError) {
	head := string(data[:min(len(data), profiles.HeadSize)])
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(head, w) })
	}
	// torch.save begins with this number before PyTorch 1.6.
	saved := bytes.HasPrefix(data, []byte("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."))
	what := ""
	switch {
	case saved || has("_rebuild_tensor", "_rebuild_parameter", "torch.storage"):
		what, e.Remedy = "This is a checkpoint of weights (torch.save), no profile",
			"Record a profile of a training step; weights do not tell times or activations."
	case has("device_traces", "segments"): // a snapshot, with more in it
	case has("forward", "fwd") && has("backward", "bwd"):
		what, e.Remedy = "This is a pickled profile",
			"Pickles of profiles are not read: write the numbers as JSON or CSV, one row per layer with forward_s, backward_s and output_bytes."
	case has("numpy"):
		what, e.Remedy = "This is a pickle of NumPy arrays", "Write the numbers as JSON or CSV."
	default:
		return
	}
	e.Found = what + ". " + e.Found
}
