package snapshot

import (
	"encoding/binary"
	"fmt"
	"io"

	"memtide/engine"
	"memtide/profiles"
)

// A pickle is a program for a stack machine that builds Python objects. Its
// dangerous half names functions and calls them; the half that is read here
// knows only dictionaries, lists, tuples, texts and numbers. Everything else is
// refused by name before it does anything (opcodes: Python's Lib/pickletools.py).
//
// Nothing generic is built: a dictionary keeps the few fields that memory
// snapshots have, tuples keep nothing, equal texts are kept once. The file is read a
// part at a time.

// pval is a value of a pickle: its kind in the low bits, and a number, a place
// among the texts or an index above them.
type pval uint64

// The kinds of values.
const (
	pvOther pval = iota // None, floating-point numbers, tuples, large integers
	pvInt
	pvText
	pvDict
	pvList
	pvTrue
	pvStack // of a list of frames, see stacks
	pvBits  = 3
)

const pvMask = 1<<pvBits - 1

func (v pval) kind() pval { return v & pvMask }
func (v pval) index() int { return int(v >> pvBits) }
func (v pval) int() int64 { return int64(v) >> pvBits }

func indexed(kind pval, i int) pval { return pval(i)<<pvBits | kind }

func textAt(at, length int) pval { return (pval(length)<<32|pval(at))<<pvBits | pvText }

// Bounds of the machine. Snapshots nest about 6 deep, and Python writes at most
// 1000 items at a time.
const (
	mostMarks = 100
	mostStack = 1 << 20
	mostRoom  = 768 << 20 // bytes of everything that is built
)

// pickleRoom is what may be built of a pickle of so many bytes: a small one never
// takes much. Frames, which are small, take twice their bytes.
func pickleRoom(size int) int { return min(64<<20+3*size, mostRoom) }

// itemRoom is about what an item of a list takes.
const itemRoom = 10

// plist is a list; once its stack is known, the frames in it are forgotten.
type plist struct {
	items []pval
	stack pval // pvOther while it is not known
}

// unpickler is the machine.
type unpickler struct {
	input
	op      int // place of the instruction
	stack   []pval
	marks   []int // lengths of the stack
	memo    chunks[pval]
	lists   chunks[plist]
	dicts   chunks[record]
	texts   texts
	built   int // bytes of everything that is built
	most    int // what that may be; 0: what the input allows
	stacks  stacks
	streams []int64
	conf    pval // text of the allocator's settings
	poll    *engine.Poll
}

// newUnpickler reads a pickle of total bytes; 0 if that is not known.
func newUnpickler(r io.Reader, total int, poll *engine.Poll) *unpickler {
	u := &unpickler{input: input{r: r, total: total}, poll: poll}
	u.texts.known = map[string]pval{}
	u.stacks.init()
	return u
}

// chunks is a long list that grows without being copied.
type chunks[T any] struct {
	parts [][]T
	n     int
}

const chunkSize = 4096

func (c *chunks[T]) add(v T) int {
	if c.n%chunkSize == 0 {
		c.parts = append(c.parts, make([]T, 0, chunkSize))
	}
	last := &c.parts[c.n/chunkSize]
	*last = append(*last, v)
	c.n++
	return c.n - 1
}

func (c *chunks[T]) at(i int) *T { return &c.parts[i/chunkSize][i%chunkSize] }

// run executes the pickle and returns the value that it stops with.
func (u *unpickler) run() (pval, error) {
	for steps := 0; ; steps++ {
		if steps&1023 == 0 {
			if err := u.poll.Err(); err != nil {
				return 0, err
			}
			u.poll.Report(engine.Progress{Done: u.place(), Total: max(u.total, u.place())})
		}
		head := u.peek(1 + mostOperand)
		if u.op = u.place(); len(head) == 0 {
			return 0, u.early()
		}
		op := head[0]
		code := &pickleCodes[op]
		if !code.read {
			return 0, u.refuse(op)
		}
		if 1+code.operand > len(head) {
			return 0, u.early()
		}
		var operand uint64
		for i := code.operand; i > 0; i-- {
			operand = operand<<8 | uint64(head[i])
		}
		u.lo += 1 + code.operand
		if op == '.' {
			if len(u.stack) == 0 || len(u.marks) > 0 {
				return 0, u.damaged("it stops without a value")
			}
			return u.stack[len(u.stack)-1], nil
		}
		if err := u.step(op, operand); err != nil {
			return 0, err
		}
	}
}

// step executes one instruction.
func (u *unpickler) step(op byte, operand uint64) error {
	switch op {
	case 0x80, 0x95: // PROTO, FRAME
		return u.header(op, operand)
	case '(': // MARK
		if len(u.marks) == mostMarks {
			return u.damaged(fmt.Sprintf("lists and dictionaries are nested deeper than %d", mostMarks))
		}
		u.marks = append(u.marks, len(u.stack))
	case 'N', 0x89, 'G', ')': // NONE, NEWFALSE, BINFLOAT, EMPTY_TUPLE
		return u.push(pvOther)
	case 0x88: // NEWTRUE
		return u.push(pvTrue)
	case 'J': // BININT
		return u.push(pval(int64(int32(operand)))<<pvBits | pvInt)
	case 'K', 'M': // BININT1, BININT2
		return u.push(indexed(pvInt, int(operand)))
	case 0x8a: // LONG1
		return u.long(int(operand))
	case 0x8c, 'X': // SHORT_BINUNICODE, BINUNICODE
		return u.readText(operand)
	case '}', ']': // EMPTY_DICT, EMPTY_LIST
		return u.container(op)
	case 0x94, 'q', 'r', 'h', 'j': // MEMOIZE, BINPUT, LONG_BINPUT, BINGET, LONG_BINGET
		return u.remember(op, operand)
	case 0x85, 0x86, 0x87, 't': // TUPLE1, TUPLE2, TUPLE3, TUPLE
		return u.tuple(op)
	case 'a', 'e': // APPEND, APPENDS
		return u.extend(op == 'e')
	case 's', 'u': // SETITEM, SETITEMS
		return u.assign(op == 'u')
	}
	return nil
}

func (u *unpickler) header(op byte, operand uint64) error {
	if op == 0x80 && operand > 5 {
		return u.damaged(fmt.Sprintf("its protocol is %d, and 5 is the highest there is", operand))
	}
	if op == 0x95 && u.total > 0 && operand > uint64(max(0, u.total-u.place())) {
		return u.early()
	}
	return nil
}

func (u *unpickler) push(v pval) error {
	if len(u.stack) == mostStack {
		return u.damaged(fmt.Sprintf("more than %d values wait for their list", mostStack))
	}
	u.stack = append(u.stack, v)
	return nil
}

// pop takes n values off the stack, none of them from before the last mark. The
// result is valid until the next push.
func (u *unpickler) pop(n int) ([]pval, error) {
	base := 0
	if len(u.marks) > 0 {
		base = u.marks[len(u.marks)-1]
	}
	at := len(u.stack) - n
	if at < base {
		return nil, u.damaged("a value is missing")
	}
	items := u.stack[at:]
	u.stack = u.stack[:at]
	return items, nil
}

// popMark takes what was pushed since the last mark.
func (u *unpickler) popMark() ([]pval, error) {
	if len(u.marks) == 0 {
		return nil, u.damaged("a list ends that did not begin")
	}
	at := u.marks[len(u.marks)-1]
	u.marks = u.marks[:len(u.marks)-1]
	items := u.stack[at:]
	u.stack = u.stack[:at]
	return items, nil
}

// long reads a little-endian integer in two's complement.
func (u *unpickler) long(n int) error {
	digits := u.peek(n)
	if len(digits) < n {
		return u.early()
	}
	var bytes [8]byte
	digits = digits[:n]
	u.lo += n
	if n > len(bytes) {
		return u.push(pvOther)
	}
	if copy(bytes[:], digits); n > 0 && digits[n-1] >= 0x80 {
		for i := n; i < len(bytes); i++ {
			bytes[i] = 0xff
		}
	}
	v := pval(binary.LittleEndian.Uint64(bytes[:]))
	if (v<<pvBits | pvInt).int() != int64(v) {
		return u.push(pvOther) // no address and no size is so large
	}
	return u.push(v<<pvBits | pvInt)
}

func (u *unpickler) container(op byte) error {
	const dictRoom, listRoom = 48, 40 // with what Go needs around them
	if op == '}' {
		if err := u.build(dictRoom); err != nil {
			return err
		}
		return u.push(indexed(pvDict, u.dicts.add(record{device: noDevice})))
	}
	if err := u.build(listRoom); err != nil {
		return err
	}
	return u.push(indexed(pvList, u.lists.add(plist{})))
}

// build counts what is built.
func (u *unpickler) build(bytes int) error {
	if u.built += bytes; u.built > u.allowed() {
		return &profiles.FormatError{Format: "snapshot", Found: fmt.Sprintf("From byte %d on, the snapshot would take more than %d MiB of memory to read", u.op, u.allowed()>>20),
			Expected: "Recordings of some million events are read; memory is taken for 64 MiB and three times the size of the file.",
			Remedy:   "Record fewer events: torch.cuda.memory._record_memory_history(max_entries=100000)."}
	}
	return nil
}

func (u *unpickler) allowed() int {
	if u.most > 0 {
		return u.most
	}
	return pickleRoom(max(u.total, u.place()))
}

// remember stores the top of the stack in the memo, or fetches from it.
func (u *unpickler) remember(op byte, operand uint64) error {
	if op == 'h' || op == 'j' {
		if operand >= uint64(u.memo.n) {
			return u.damaged(fmt.Sprintf("it refers to object %d of %d", operand, u.memo.n))
		}
		return u.push(*u.memo.at(int(operand)))
	}
	if len(u.stack) == 0 {
		return u.damaged("a value is missing")
	}
	top := u.stack[len(u.stack)-1]
	if op == 0x94 || operand == uint64(u.memo.n) {
		u.memo.add(top)
		return u.build(8)
	}
	if operand > uint64(u.memo.n) {
		return u.damaged(fmt.Sprintf("it numbers an object %d after %d objects", operand, u.memo.n))
	}
	*u.memo.at(int(operand)) = top
	return nil
}

// tuple forgets what is in a tuple: snapshots have only names of pools in them.
func (u *unpickler) tuple(op byte) (err error) {
	if op == 't' {
		_, err = u.popMark()
	} else {
		_, err = u.pop(int(op) - 0x84)
	}
	if err != nil {
		return err
	}
	return u.push(pvOther)
}

func (u *unpickler) extend(many bool) error {
	items, err := u.operands(many)
	if err != nil {
		return err
	}
	top := u.top()
	if top.kind() != pvList {
		return u.damaged("something is appended to what is not a list")
	}
	if err := u.build(itemRoom * len(items)); err != nil {
		return err
	}
	l := u.lists.at(top.index())
	l.items = append(l.items, items...)
	return nil
}

func (u *unpickler) assign(many bool) error {
	var items []pval
	var err error
	if many {
		items, err = u.popMark()
	} else {
		items, err = u.pop(2)
	}
	if err != nil {
		return err
	}
	top := u.top()
	if top.kind() != pvDict || len(items)%2 != 0 {
		return u.damaged("a key and a value are given to what is not a dictionary")
	}
	r := u.dicts.at(top.index())
	for i := 0; i+1 < len(items); i += 2 {
		u.set(r, items[i], items[i+1])
	}
	return nil
}

func (u *unpickler) operands(many bool) ([]pval, error) {
	if many {
		return u.popMark()
	}
	return u.pop(1)
}

// top is the value that an instruction works on.
func (u *unpickler) top() pval {
	if len(u.stack) == 0 {
		return pvOther
	}
	return u.stack[len(u.stack)-1]
}

// items are the items of a list; nil of anything else.
func (u *unpickler) items(v pval) []pval {
	if v.kind() != pvList {
		return nil
	}
	return u.lists.at(v.index()).items
}
