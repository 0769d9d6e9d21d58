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
// Nothing generic is built: of a dictionary a few fields are kept, of an event of the
// allocator a row, of a list of frames one number; tuples keep nothing, equal texts are
// kept once. The file is read a part at a time.

// Bounds of the machine. Snapshots nest about 6 deep, and Python writes at most
// 1000 items at a time.
const (
	mostMarks = 100
	mostStack = 1 << 20
	mostRoom  = 768 << 20 // bytes of everything that is built
)

// lookEvery is how many bytes are read between two looks at the poll.
const lookEvery = 1 << 14

// What things take, about.
const (
	memoRoom = 4
	itemRoom = 10
)

// unpickler is the machine.
type unpickler struct {
	input
	values
	op     int // place of the instruction
	stack  []pval
	marks  []mark
	memo   chunks[uint32] // see packed
	built  int            // bytes of everything that is built
	most   int            // what that may be; 0: what the input allows
	events int            // the most that are kept of a trace
	poll   *engine.Poll
}

// forget lets go of the machine: what follows needs the values.
func (u *unpickler) forget() {
	u.buf, u.stack, u.memo, u.openDicts, u.openLists = nil, nil, chunks[uint32]{}, chunks[openDict]{},
		chunks[openList]{}
	u.texts.known, u.stacks.known, u.stacks.calls, u.stacks.frames, u.stacks.places = nil, nil, nil, nil, nil
}

// mark is how much there was when a list began: values, and of these unfinished ones.
type mark struct{ stack, dicts, lists int }

// newUnpickler reads a pickle of total bytes, 0 if that is not known, and keeps the
// newest events of each trace, as many as that, which is maxTrace.
func newUnpickler(r io.Reader, total, events int, poll *engine.Poll) *unpickler {
	u := &unpickler{input: input{r: r, total: total}, events: events, poll: poll}
	u.values.init()
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
		case opBinGet, opLongBinGet: // most instructions of a file are
			u.recall(operand)
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
	beyond := 8 * (mostOperand - code.operand) // bits of word that are of what follows
	return op, word << beyond >> beyond
}

// step executes an instruction other than opStop, opBinGet and opLongBinGet, which run executes.
func (u *unpickler) step(op byte, operand uint64) {
	switch op {
	case opProto, opFrame:
		u.header(op, operand)
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
	case opTuple1, opTuple2, opTuple3, opTuple:
		u.tuple(op)
	case opAppend, opAppends:
		u.extend(op == opAppends)
	case opSetItem, opSetItems:
		u.assign(op == opSetItems)
	}
}

func (u *unpickler) header(op byte, operand uint64) {
	if op == opProto && operand > 5 {
		u.damaged(fmt.Sprintf("its protocol is %d, and 5 is the highest there is", operand))
	}
	if op == opFrame && u.total > 0 && operand > uint64(max(0, u.total-u.place())) {
		u.early()
	}
}

func (u *unpickler) push(v pval) {
	if len(u.stack) == mostStack {
		u.damaged(fmt.Sprintf("more than %d values wait for their list", mostStack))
	}
	u.stack = append(u.stack, v)
}

// pop takes n values off the stack, none of them from before the last mark. The
// result is valid until the next push.
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

// popMark takes what was pushed since the last mark. The result is valid until the next
// push.
func (u *unpickler) popMark() []pval {
	if len(u.marks) == 0 {
		u.damaged("a list ends that did not begin")
	}
	m := u.marks[len(u.marks)-1]
	u.marks = u.marks[:len(u.marks)-1]
	items := u.stack[m.stack:]
	u.stack, u.openDicts.n, u.openLists.n = u.stack[:m.stack], m.dicts, m.lists
	return items
}

// operands takes the operands of an instruction: all since the last mark, or n.
func (u *unpickler) operands(many bool, n int) []pval {
	if many {
		return u.popMark()
	}
	return u.pop(n)
}

// long reads a little-endian integer in two's complement. None that is longer than 8
// bytes is an address or a size.
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
	var v int64
	for i := n - 1; i >= 0; i-- {
		if i == n-1 {
			v = int64(int8(digits[i]))
		} else {
			v = v<<8 | int64(digits[i])
		}
	}
	u.push(integer(v))
}

// container begins a dictionary or a list. What many of them take that nothing has
// taken up is counted.
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

// build counts what is built.
func (u *unpickler) build(bytes int) {
	u.built += bytes
	if u.built > u.allowed() {
		profiles.End(&profiles.FormatError{Found: fmt.Sprintf("From byte %d on, the snapshot would take more than %d MiB of memory to read", u.op,
			u.allowed()>>20),
			Expected: "Recordings of any number of events are read; memory is taken for 64 MiB and twice the size of the file.",
			Remedy:   "Record fewer events: torch.cuda.memory._record_memory_history(max_entries=100000)."})
	}
}

// allowed returns how many bytes may be built: of a small pickle never much. Blocks, which are
// small, take a little more than their bytes.
func (u *unpickler) allowed() int {
	if u.most > 0 {
		return u.most
	}
	return min(64<<20+2*max(u.total, u.place()), mostRoom)
}

// recall fetches a value from the memo.
func (u *unpickler) recall(i uint64) {
	if i >= uint64(u.memo.n) {
		u.damaged(fmt.Sprintf("it refers to object %d of %d", i, u.memo.n))
	}
	v := pval(*u.memo.at(int(i)))
	if v.open() {
		v = u.named(v)
	}
	u.push(v)
}

// remember stores the top of the stack in the memo. What is not finished gets its place
// there when it is.
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
	u.patch(o.memo, top, pvOther) // one place is enough
	o.memo, *u.memo.at(int(operand)) = int32(operand), packed(top)
}

// tuple forgets what is in a tuple: snapshots have only names of pools in them.
func (u *unpickler) tuple(op byte) {
	items := u.operands(op == opTuple, int(op)-opTuple1+1)
	for _, v := range items {
		u.finished(v)
	}
	u.push(pvOther)
}

func (u *unpickler) extend(many bool) {
	items := u.operands(many, 1)
	top := u.top()
	if top.kind() != pvOpenList {
		u.damaged("something is appended to what is not a list")
	}
	l := u.openLists.at(top.index())
	for _, v := range items {
		if v.kind() == pvFrame && l.trace == nil { // as most items of a file are
			l.items, l.framed = append(l.items, v), true
		} else {
			u.item(l, v)
		}
	}
	u.build(itemRoom * (len(l.items) - l.counted(len(l.items))))
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

// top returns the value that an instruction works on.
func (u *unpickler) top() pval {
	if len(u.stack) == 0 {
		return pvOther
	}
	return u.stack[len(u.stack)-1]
}
