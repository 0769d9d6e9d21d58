package snapshot

import (
	"io"

	"memtide/profiles"
)

// input is the file, of which a window is in memory.
type input struct {
	r      io.Reader
	err    error // of the reader, other than its end
	buf    []byte
	lo, hi int  // what of buf is still to be read
	base   int  // place of buf in the file
	total  int  // bytes of the file; 0 if that is not known
	ended  bool // there is no more
	head   []byte
}

// mostOperand is the longest operand of an instruction; what is asked for at once is
// at most shortWindow bytes.
const (
	mostOperand = 8
	shortWindow = 2 * textEnd
)

// place returns where in the file reading goes on.
func (in *input) place() int { return in.base + in.lo }

// peek returns the next n bytes, or more, and less at the end of the file. n is far less
// than the window. The result is valid until the next call.
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

// skip leaves n bytes out and says whether there were as many.
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

// texts keeps texts, equal ones once.
type texts struct {
	list  []text
	known map[string]pval
}

// text is a text, and what it means as a key and as a word.
type text struct {
	content string
	field   field
	word    snapWord
}

// Of a long text its beginning and its end are kept. Snapshots have few different texts: equal texts are found among
// the
// first shortTexts of up to shortText bytes.
const (
	textEnd    = 2000
	shortText  = 256
	shortTexts = 1 << 16
	textRoom   = 60 // beside its bytes, in a list that grows
	knownRoom  = 100
)

// readText reads a text of n bytes.
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

// text returns a text; empty for anything else.
func (x *values) text(v pval) string {
	if v.kind() != pvText {
		return ""
	}
	return x.texts.list[v.index()].content
}
