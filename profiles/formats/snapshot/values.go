package snapshot

import (
	"io"
	"slices"

	"memtide/profiles"
)

// pval is a value of a pickle: its kind in the low bits, and a number or an index above them.
type pval uint64

// The kinds of values. Dictionaries and lists are open while they are being filled; an open value is on the stack once.
// The instruction that uses a value finishes it: a dictionary becomes an event of a trace, a frame or a record, and a
// list becomes a trace, a stack or a list.
const (
	pvOther pval = iota // None, floating-point numbers, tuples, large integers
	pvInt
	pvText
	pvTrue
	pvDict
	pvList
	pvStack // a list of frames, or an empty list; see stacks
	pvFrame
	pvTrace
	pvOpenDict
	pvOpenList
	pvBits = 4
)

const pvMask = 1<<pvBits - 1

func (v pval) kind() pval { return v & pvMask }
func (v pval) open() bool { return v&pvMask >= pvOpenDict }
func (v pval) index() int { return int(v >> pvBits) }
func (v pval) int() int64 { return int64(v) >> pvBits }

func indexed(kind pval, i int) pval { return pval(i)<<pvBits | kind }

// integer returns a number, or pvOther if it is too large for an address or a size.
func integer(n int64) pval {
	if v := pval(n)<<pvBits | pvInt; v.int() == n {
		return v
	}
	return pvOther
}

// packed returns a value for the memo, pvOther for a large number. Memos of snapshots have no numbers.
func packed(v pval) uint32 {
	if v>>32 > 0 {
		return uint32(pvOther)
	}
	return uint32(v)
}

// chunks is a list that grows without copying. Setting n to a smaller number keeps its memory.
type chunks[T any] struct {
	parts [][]T
	n     int
}

const chunkSize = 4096

// full reports whether another item needs a new part.
func (c *chunks[T]) full() bool { return c.n == len(c.parts)*chunkSize }

// next returns the index of a new item, whose value is undefined.
func (c *chunks[T]) next() int {
	if c.full() {
		c.parts = append(c.parts, make([]T, chunkSize))
	}
	c.n++
	return c.n - 1
}

func (c *chunks[T]) add(v T) int {
	i := c.next()
	*c.at(i) = v
	return i
}

func (c *chunks[T]) at(i int) *T { return &c.parts[uint(i)/chunkSize][uint(i)%chunkSize] }

// values holds the values of a pickle.
type values struct {
	openDicts chunks[openDict]
	openLists chunks[openList]
	dicts     chunks[record]
	lists     chunks[[]pval]
	traces    []*trace
	texts     texts
	stacks    stacks
	streams   []int64
	conf      pval // text of the allocator's settings
}

// openDict is a dictionary that is being filled.
type openDict struct {
	record
	open
}

// open has the position of an open value on the stack and in the memo, or noMemo.
type open struct{ slot, memo int32 }

// openList is a list that is being filled. Events go into trace; if there is a trace, other items are only counted.
type openList struct {
	items   []pval
	charged int // number of items whose memory was charged
	framed  bool
	trace   *trace
	open
}

const noMemo = -1

// Approximate memory of values, in bytes.
const (
	openRoom  = 64
	dictRoom  = 40
	listRoom  = 30
	eventRoom = 32
	traceRoom = 100
)

func (u *unpickler) item(l *openList, v pval) {
	if v.kind() == pvOpenDict {
		if d := u.openDicts.at(v.index()); d.has&isEvent != 0 {
			u.patch(d.memo, v, pvOther)
			u.event(l, &d.record)
			return
		}
	}
	if v.open() {
		v = u.finished(v)
	}
	if l.trace != nil {
		l.trace.skip(v)
		return
	}
	l.framed = l.framed || v.kind() == pvFrame
	l.items = append(l.items, v)
}

// event adds an event to an open list, which becomes a trace.
func (u *unpickler) event(l *openList, r *record) {
	if l.trace == nil {
		l.trace = &trace{number: len(u.traces)}
		for _, v := range l.items {
			l.trace.skip(v)
		}
		l.items = l.items[:0]
		u.traces = append(u.traces, l.trace)
		u.build(traceRoom)
	}
	if l.trace.events.full() && l.trace.events.n < u.events {
		u.build(chunkSize * eventRoom)
	}
	l.trace.add(r, u.stackOf(r.a), u.events)
}

// finished finishes a dictionary or a list; it returns other values unchanged.
func (u *unpickler) finished(v pval) pval {
	memo, out := int32(noMemo), v
	switch v.kind() {
	case pvOpenDict:
		d := u.openDicts.at(v.index())
		memo = d.memo
		if d.has&isFrame != 0 {
			out = indexed(pvFrame, int(u.frameOf(&d.record)))
			break
		}
		u.build(dictRoom)
		out = indexed(pvDict, u.dicts.add(d.record))
	case pvOpenList:
		l := u.openLists.at(v.index())
		memo = l.memo
		out = u.finishedList(l)
	}
	u.patch(memo, v, out)
	return out
}

// patch replaces value was in the memo by v, if it is at index memo.
func (u *unpickler) patch(memo int32, was, v pval) {
	if memo != noMemo && *u.memo.at(int(memo)) == packed(was) {
		*u.memo.at(int(memo)) = packed(v)
	}
}

// named returns a value of the memo. It finishes an open value, which is on the stack: values of
// snapshots do not contain themselves. It returns pvOther for an event.
func (u *unpickler) named(v pval) pval {
	var o open
	switch v.kind() {
	case pvOpenDict:
		d := u.openDicts.at(v.index())
		o = d.open
		if d.has&isEvent != 0 {
			return pvOther
		}
	case pvOpenList:
		o = u.openLists.at(v.index()).open
	default:
		return v
	}
	out := u.finished(v)
	u.stack[o.slot] = out
	return out
}

func (u *unpickler) finishedList(l *openList) pval {
	switch {
	case l.trace != nil:
		return indexed(pvTrace, l.trace.number)
	case l.framed || len(l.items) == 0:
		u.built -= itemRoom * l.charged
		l.charged = 0
		return indexed(pvStack, int(u.stackFor(l.items[:min(len(l.items), mostDeep)])))
	}
	u.build(listRoom)
	return indexed(pvList, u.lists.add(slices.Clone(l.items)))
}

// items returns the items of a list, or nil for other values.
func (x *values) items(v pval) []pval {
	if v.kind() != pvList {
		return nil
	}
	return *x.lists.at(v.index())
}

// traceOf returns a trace, or nil for other values. A list without events is a trace, too.
func (x *values) traceOf(v pval) *trace {
	switch v.kind() {
	case pvTrace:
		return x.traces[v.index()]
	case pvList:
		t := &trace{}
		for _, v := range x.items(v) {
			t.skip(v)
		}
		return t
	}
	return nil
}

// stackOf returns the index of a stack, or 0 for other values.
func (x *values) stackOf(v pval) int32 {
	if v.kind() != pvStack {
		return 0
	}
	return int32(v.index())
}

// input is the file, of which buf holds a window.
type input struct {
	r      io.Reader
	err    error // error of the reader, other than io.EOF
	buf    []byte
	lo, hi int  // unread part of buf
	base   int  // position of buf in the file
	total  int  // bytes of the file; 0 if unknown
	ended  bool // the reader is at its end
	head   []byte
}

// mostOperand is the longest operand of an instruction. shortWindow is the most bytes that are peeked at once.
const (
	mostOperand = 8
	shortWindow = 2 * textEnd
)

// place returns the current position in the file.
func (in *input) place() int { return in.base + in.lo }

// peek returns at least the next n bytes, or fewer at the end of the file. n is far less than
// the window. The result is valid until the next call.
func (in *input) peek(n int) []byte {
	if in.hi-in.lo < n && !in.ended {
		in.fill(n)
	}
	return in.buf[in.lo:in.hi]
}

func (in *input) fill(n int) {
	if in.buf == nil {
		size := profiles.ReadAhead
		if in.total > 0 {
			size = max(2*shortWindow, min(in.total+1, size))
		}
		in.buf = make([]byte, size)
	}
	copy(in.buf, in.buf[in.lo:in.hi])
	in.base, in.hi, in.lo = in.base+in.lo, in.hi-in.lo, 0
	k, err := io.ReadAtLeast(in.r, in.buf[in.hi:], n-in.hi)
	in.hi += k
	if in.ended = err != nil; in.ended && err != io.EOF && err != io.ErrUnexpectedEOF {
		in.err = err
	}
	if in.base == 0 {
		in.head = append(in.head[:0], in.buf[:min(in.hi, profiles.HeadSize)]...)
	}
}

// skip skips n bytes, and reports whether there were that many.
func (in *input) skip(n uint64) bool {
	for n > 0 {
		have := in.peek(1)
		if len(have) == 0 {
			return false
		}
		k := min(n, uint64(len(have)))
		in.lo, n = in.lo+int(k), n-k
	}
	return true
}

// texts holds texts, equal ones once.
type texts struct {
	list  []text
	known map[string]pval
}

// text is a text, with its meaning as a key and as a word.
type text struct {
	content string
	field   field
	word    snapWord
}

// Long texts keep only their first and last textEnd bytes. Snapshots have few different texts:
// only the first shortTexts texts of up to shortText bytes are compared.
const (
	textEnd    = 2000
	shortText  = 256
	shortTexts = 1 << 16
	textRoom   = 60 // besides its bytes, in a list that grows
	knownRoom  = 100
)

func (u *unpickler) readText(n uint64) {
	if n <= shortWindow {
		content := u.peek(int(n))
		if len(content) < int(n) {
			u.early()
		}
		u.lo += int(n)
		u.pushText(content[:n])
		return
	}
	content := make([]byte, 0, shortWindow)
	content = append(content, u.peek(textEnd)[:min(textEnd, u.hi-u.lo)]...)
	if !u.skip(n - textEnd) {
		u.early()
	}
	end := u.peek(textEnd)
	if len(end) < textEnd {
		u.early()
	}
	u.lo += textEnd
	u.pushText(append(content, end[:textEnd]...))
}

func (u *unpickler) pushText(content []byte) {
	if v, ok := u.texts.known[string(content)]; ok {
		u.push(v)
		return
	}
	u.build(textRoom + len(content))
	t := text{string(content), fields[string(content)], words[string(content)]}
	u.texts.list = append(u.texts.list, t)
	v := indexed(pvText, len(u.texts.list)-1)
	if len(content) <= shortText && len(u.texts.known) < shortTexts {
		u.build(knownRoom)
		u.texts.known[t.content] = v
	}
	u.push(v)
}

// text returns a text, or "" for other values.
func (x *values) text(v pval) string {
	if v.kind() != pvText {
		return ""
	}
	return x.texts.list[v.index()].content
}
