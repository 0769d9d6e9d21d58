package snapshot

import (
	"encoding/binary"
	"fmt"
	"io"

	"memtide/engine"
	"memtide/profiles"
)

// A pickle is a program for a stack machine that builds Python objects. Its dangerous instructions name functions and
// call them. This reader has only the instructions for dictionaries, lists, tuples, texts and numbers, and refuses all
// others by name before they do anything (opcodes: Python's Lib/pickletools.py).
//
// Values are not kept in a generic form: a dictionary becomes a few fields, an event of the allocator a row, a list of
// frames one number, and tuples become nothing. Equal texts are kept once. The file is read a part at a time.

// Bounds of the machine. Snapshots are nested about 6 deep, and Python writes at most 1000 items at a time.
const (
	mostMarks = 100
	mostStack = 1 << 20
	mostRoom  = 768 << 20 // bytes of all values
)

// lookEvery is how many bytes are read between two checks of the poll.
const lookEvery = 1 << 14

// Approximate memory of an entry of the memo and an item of a list, in bytes.
const (
	memoRoom = 4
	itemRoom = 10
)

// unpickler is the stack machine.
type unpickler struct {
	input
	values
	op     int // position of the instruction in the file
	stack  []pval
	marks  []mark
	memo   chunks[uint32] // values as packed returns them
	built  int            // bytes of all values so far
	most   int            // limit of built; 0 if it follows from the size of the file
	events int            // how many events of a trace are kept
	poll   *engine.Poll
}

// forget frees the memory of the machine, except the values.
func (u *unpickler) forget() {
	u.buf, u.stack, u.memo, u.openDicts, u.openLists = nil, nil, chunks[uint32]{}, chunks[openDict]{},
		chunks[openList]{}
	u.texts.known, u.stacks.known, u.stacks.calls, u.stacks.frames, u.stacks.places = nil, nil, nil, nil, nil
}

// mark is the length of the stack and the number of open dictionaries and lists at an opMark.
type mark struct{ stack, dicts, lists int }

// newUnpickler returns a machine for a pickle of total bytes, 0 if unknown. It keeps the newest
// events of each trace, at most events.
func newUnpickler(r io.Reader, total, events int, poll *engine.Poll) *unpickler {
	u := &unpickler{input: input{r: r, total: total}, events: events, poll: poll}
	u.texts.known = map[string]pval{}
	u.stacks = stacks{known: map[uint64]int32{}, calls: map[profiles.Call]int32{}, frames: map[profiles.Frame]int32{},
		places: map[framePlace]int32{}, names: map[int32]string{}}
	u.stacks.Frames, u.stacks.Calls = make([]profiles.Frame, 1), make([]profiles.Call, 1)
	return u
}

// run executes the pickle and returns the value that it stops with.
func (u *unpickler) run() pval {
	for look := 0; ; {
		if u.place() >= look {
			profiles.End(u.poll.Err())
			u.poll.Report(engine.Progress{Done: u.place(), Total: max(u.total, u.place())})
			look = u.place() + lookEvery
		}
		op, operand := u.instruction()
		switch op {
		case opBinGet, opLongBinGet: // the most frequent instructions
			if operand >= uint64(u.memo.n) {
				u.damaged(fmt.Sprintf("it refers to object %d of %d", operand, u.memo.n))
			}
			v := pval(*u.memo.at(int(operand)))
			if v.open() {
				v = u.named(v)
			}
			u.push(v)
		case opStop:
			if len(u.stack) == 0 || len(u.marks) > 0 {
				u.damaged("it stops without a value")
			}
			return u.finished(u.stack[len(u.stack)-1])
		default:
			u.step(op, operand)
		}
	}
}

// instruction reads an instruction with its operand, which is little-endian.
func (u *unpickler) instruction() (op byte, operand uint64) {
	head := u.peek(1 + mostOperand)
	u.op = u.place()
	if len(head) == 0 {
		u.early()
	}
	op = head[0]
	code := &pickleCodes[op]
	if !code.read {
		u.refuse(op)
	}
	if 1+code.operand > len(head) {
		u.early()
	}
	var word uint64
	if len(head) > mostOperand {
		word = binary.LittleEndian.Uint64(head[1:])
	} else { // near the end of the file
		var bytes [mostOperand]byte
		copy(bytes[:], head[1:])
		word = binary.LittleEndian.Uint64(bytes[:])
	}
	u.lo += 1 + code.operand
	beyond := 8 * (mostOperand - code.operand) // number of bits of word after the operand
	return op, word << beyond >> beyond
}

// step executes an instruction, except those that run executes itself.
func (u *unpickler) step(op byte, operand uint64) {
	switch op {
	case opProto:
		if operand > 5 {
			u.damaged(fmt.Sprintf("its protocol is %d, and 5 is the highest there is", operand))
		}
	case opFrame:
		if u.total > 0 && operand > uint64(max(0, u.total-u.place())) {
			u.early()
		}
	case opMark:
		if len(u.marks) == mostMarks {
			u.damaged(fmt.Sprintf("lists and dictionaries are nested deeper than %d", mostMarks))
		}
		u.marks = append(u.marks, mark{len(u.stack), u.openDicts.n, u.openLists.n})
	case opNone, opNewFalse, opBinFloat, opEmptyTuple:
		u.push(pvOther)
	case opNewTrue:
		u.push(pvTrue)
	case opBinInt:
		u.push(integer(int64(int32(operand))))
	case opBinInt1, opBinInt2:
		u.push(indexed(pvInt, int(operand)))
	case opLong1:
		u.long(int(operand))
	case opShortBinUnicode, opBinUnicode:
		u.readText(operand)
	case opEmptyDict, opEmptyList:
		u.container(op)
	case opMemoize, opBinPut, opLongBinPut:
		u.remember(op, operand)
	case opTuple1, opTuple2, opTuple3, opTuple: // items are dropped: snapshots have only names of pools in tuples
		for _, v := range u.operands(op == opTuple, int(op)-opTuple1+1) {
			u.finished(v)
		}
		u.push(pvOther)
	case opAppend, opAppends:
		u.extend(op == opAppends)
	case opSetItem, opSetItems:
		u.assign(op == opSetItems)
	}
}

func (u *unpickler) push(v pval) {
	if len(u.stack) == mostStack {
		u.damaged(fmt.Sprintf("more than %d values wait for their list", mostStack))
	}
	u.stack = append(u.stack, v)
}

// pop removes n values from the stack, which have to be above the last mark. The result is valid until the next push.
func (u *unpickler) pop(n int) []pval {
	base := 0
	if len(u.marks) > 0 {
		base = u.marks[len(u.marks)-1].stack
	}
	at := len(u.stack) - n
	if at < base {
		u.damaged("a value is missing")
	}
	items := u.stack[at:]
	u.stack = u.stack[:at]
	for n := u.openDicts.n; n > 0 && int(u.openDicts.at(n-1).slot) >= at; n-- {
		u.openDicts.n = n - 1
	}
	for n := u.openLists.n; n > 0 && int(u.openLists.at(n-1).slot) >= at; n-- {
		u.openLists.n = n - 1
	}
	return items
}

// operands removes the operands of an instruction from the stack: the values above the last mark
// if many, otherwise n values. The result is valid until the next push.
func (u *unpickler) operands(many bool, n int) []pval {
	if !many {
		return u.pop(n)
	}
	if len(u.marks) == 0 {
		u.damaged("a list ends that did not begin")
	}
	m := u.marks[len(u.marks)-1]
	u.marks = u.marks[:len(u.marks)-1]
	items := u.stack[m.stack:]
	u.stack, u.openDicts.n, u.openLists.n = u.stack[:m.stack], m.dicts, m.lists
	return items
}

// long reads a little-endian integer of n bytes in two's complement. An integer of more than 8
// bytes is not an address or a size.
func (u *unpickler) long(n int) {
	digits := u.peek(n)
	if len(digits) < n {
		u.early()
	}
	u.lo += n
	if n > 8 {
		u.push(pvOther)
		return
	}
	var word [8]byte
	copy(word[:], digits[:n])
	beyond := 8 * (8 - n)
	u.push(integer(int64(binary.LittleEndian.Uint64(word[:])) << beyond >> beyond))
}

// container pushes an empty dictionary or list. The memory of open ones is charged by chunks.
func (u *unpickler) container(op byte) {
	here := open{int32(len(u.stack)), noMemo}
	if op == opEmptyDict {
		if u.openDicts.full() {
			u.build(chunkSize * openRoom)
		}
		u.push(indexed(pvOpenDict, u.openDicts.add(openDict{record{device: noDevice}, here})))
		return
	}
	if u.openLists.full() {
		u.build(chunkSize * openRoom)
	}
	i := u.openLists.next()
	l := u.openLists.at(i)
	*l = openList{items: l.items[:0], open: here}
	u.push(indexed(pvOpenList, i))
}

// build charges memory for values.
func (u *unpickler) build(bytes int) {
	u.built += bytes
	if u.built > u.allowed() {
		profiles.End(&profiles.FormatError{Found: fmt.Sprintf("From byte %d on, the snapshot would take more than %d MiB of memory to read", u.op,
			u.allowed()>>20),
			Expected: "Recordings of any number of events are read; memory is taken for 64 MiB and twice the size of the file.",
			Remedy:   "Record fewer events: torch.cuda.memory._record_memory_history(max_entries=100000)."})
	}
}

// allowed returns the limit of built, which is low for a small pickle. Blocks, which are small,
// take a little more than their bytes in the file.
func (u *unpickler) allowed() int {
	if u.most > 0 {
		return u.most
	}
	return min(64<<20+2*max(u.total, u.place()), mostRoom)
}

// remember stores the top of the stack in the memo. An open value is replaced there when it is finished.
func (u *unpickler) remember(op byte, operand uint64) {
	if len(u.stack) == 0 {
		u.damaged("a value is missing")
	}
	if op == opMemoize {
		operand = uint64(u.memo.n)
	}
	switch {
	case operand > uint64(u.memo.n):
		u.damaged(fmt.Sprintf("it numbers an object %d after %d objects", operand, u.memo.n))
	case operand == uint64(u.memo.n):
		u.build(memoRoom)
		u.memo.add(0)
	}
	top := u.stack[len(u.stack)-1]
	var o *open
	switch top.kind() {
	case pvOpenDict:
		o = &u.openDicts.at(top.index()).open
	case pvOpenList:
		o = &u.openLists.at(top.index()).open
	default:
		*u.memo.at(int(operand)) = packed(top)
		return
	}
	u.patch(o.memo, top, pvOther) // the memo refers to an open value once
	o.memo, *u.memo.at(int(operand)) = int32(operand), packed(top)
}

func (u *unpickler) extend(many bool) {
	items := u.operands(many, 1)
	top := u.top()
	if top.kind() != pvOpenList {
		u.damaged("something is appended to what is not a list")
	}
	l := u.openLists.at(top.index())
	for _, v := range items {
		if v.kind() == pvFrame && l.trace == nil { // the most frequent items
			l.items, l.framed = append(l.items, v), true
		} else {
			u.item(l, v)
		}
	}
	u.build(itemRoom * (len(l.items) - l.charged))
	l.charged = len(l.items)
}

func (u *unpickler) assign(many bool) {
	items := u.operands(many, 2)
	top := u.top()
	if top.kind() != pvOpenDict || len(items)%2 != 0 {
		u.damaged("a key and a value are given to what is not a dictionary")
	}
	r := &u.openDicts.at(top.index()).record
	for i := 0; i+1 < len(items); i += 2 {
		key, v := items[i], items[i+1]
		if key.open() || v.open() {
			key, v = u.finished(key), u.finished(v)
		}
		u.set(r, key, v)
	}
}

// top returns the value on top of the stack, or pvOther if the stack is empty.
func (u *unpickler) top() pval {
	if len(u.stack) == 0 {
		return pvOther
	}
	return u.stack[len(u.stack)-1]
}
