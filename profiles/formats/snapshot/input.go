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

// place is where in the file reading goes on.
func (in *input) place() int { return in.base + in.lo }

// peek is the next n bytes, or more, and less at the end of the file. n is far less
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
	for idle := 0; in.hi < n && idle < 100; idle++ {
		k, err := in.r.Read(in.buf[in.hi:])
		if in.hi += k; k > 0 {
			idle = 0
		}
		if err != nil {
			if in.ended = true; err != io.EOF {
				in.err = err
			}
			break
		}
	}
	in.ended = in.ended || in.hi < n
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
	parts [][]byte
	known map[string]pval
}

// Of a long text its beginning and its end are kept. There are few different short
// texts in a snapshot: so many are looked for.
const (
	textPart   = 1 << 20
	textEnd    = 2000
	shortText  = 32
	shortTexts = 1 << 12
)

func (t *texts) add(text []byte) pval {
	last := len(t.parts) - 1
	if last < 0 || len(t.parts[last])+len(text) > textPart {
		t.parts = append(t.parts, nil)
		last++
	}
	at := last*textPart + len(t.parts[last])
	t.parts[last] = append(t.parts[last], text...)
	return textAt(at, len(text))
}

// readText reads a text of n bytes.
func (u *unpickler) readText(n uint64) error {
	if n <= shortWindow {
		text := u.peek(int(n))
		if len(text) < int(n) {
			return u.early()
		}
		text = text[:n]
		u.lo += int(n)
		return u.pushText(text)
	}
	text := make([]byte, 0, shortWindow)
	if text = append(text, u.peek(textEnd)[:min(textEnd, u.hi-u.lo)]...); !u.skip(n - textEnd) {
		return u.early()
	}
	end := u.peek(textEnd)
	if len(end) < textEnd {
		return u.early()
	}
	u.lo += textEnd
	return u.pushText(append(text, end[:textEnd]...))
}

func (u *unpickler) pushText(text []byte) error {
	if v, ok := u.texts.known[string(text)]; ok {
		return u.push(v)
	}
	if err := u.build(len(text)); err != nil {
		return err
	}
	v := u.texts.add(text)
	if len(text) <= shortText && len(u.texts.known) < shortTexts {
		if err := u.build(100); err != nil {
			return err
		}
		u.texts.known[string(text)] = v
	}
	return u.push(v)
}

// text is the bytes of a text; nil of anything else.
func (u *unpickler) text(v pval) []byte {
	if v.kind() != pvText {
		return nil
	}
	v >>= pvBits
	at, n := int(v&(1<<32-1)), int(v>>32)
	return u.texts.parts[at/textPart][at%textPart : at%textPart+n]
}
