package jsonfile

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"strconv"
)

// Stream splits JSON into values; its buffer holds the bytes of one value at a time. It does not
// validate. Traces of old versions of PyTorch have bare backslashes, in paths of Windows for
// example, which JSON forbids: a backslash that begins no escape is read as itself.
type Stream struct {
	r        io.Reader
	buf      []byte
	Pos, end int
	before   int64 // bytes read before buf[0]
	Eof      bool
	Failed   error // error of the reader, other than io.EOF
	Bare     bool  // a bare backslash was seen
}

const (
	streamBuffer = 256 << 10
	largestValue = 16 << 20 // one event, or one of the other parts of a trace
)

// Errors of Stream.
var (
	ErrEndsEarly  = errors.New("the content ends early")
	ErrValueLarge = errors.New("one value is larger than 16 MiB")
)

// NewStream returns a stream that reads from r.
func NewStream(r io.Reader) *Stream {
	return &Stream{r: r, buf: make([]byte, streamBuffer)}
}

// Offset returns the number of bytes that were consumed.
func (s *Stream) Offset() int64 { return s.before + int64(s.Pos) }

// fill reads more content after s.end, keeping the content from s.Pos on. It reports whether there was more.
func (s *Stream) fill() bool {
	if s.Eof {
		return false
	}
	if s.Pos > 0 {
		copy(s.buf, s.buf[s.Pos:s.end])
		s.before += int64(s.Pos)
		s.end -= s.Pos
		s.Pos = 0
	}
	if s.end == len(s.buf) {
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	// Fill the whole buffer: readers of packed data return little at a time, and the buffer is
	// scanned again after every fill.
	n, err := io.ReadFull(s.r, s.buf[s.end:])
	s.end += n
	if err != nil {
		s.Eof = true
		if err != io.EOF && err != io.ErrUnexpectedEOF {
			s.Failed = err
		}
	}
	return n > 0
}

// Next returns the next byte that is not white space, without consuming it. It returns 0 at the end.
func (s *Stream) Next() byte {
	for {
		for ; s.Pos < s.end; s.Pos++ {
			if c := s.buf[s.Pos]; c > ' ' {
				return c
			}
		}
		if !s.fill() {
			return 0
		}
	}
}

// Value consumes the next value and returns its text, valid until the next call. The caller
// skips a comma or a colon before it.
func (s *Stream) Value() ([]byte, error) {
	if s.Next() == 0 {
		return nil, s.Ended()
	}
	for {
		if n := s.ValueEnd(s.buf[s.Pos:s.end]); n > 0 {
			v := s.buf[s.Pos : s.Pos+n]
			s.Pos += n
			return v, nil
		}
		if s.end-s.Pos > largestValue {
			return nil, ErrValueLarge
		}
		if !s.fill() {
			return nil, s.Ended()
		}
	}
}

// Ended returns the error for content that ends too early.
func (s *Stream) Ended() error { return cmp.Or(s.Failed, ErrEndsEarly) }

// ValueEnd returns the length of the value at the start of b, or -1 if b does not hold all of it.
func (s *Stream) ValueEnd(b []byte) int {
	switch b[0] {
	case '"':
		return s.stringEnd(b, 0)
	case '{', '[':
		depth := 0
		for i := 0; i < len(b); i++ {
			switch b[i] {
			case '"':
				end := s.stringEnd(b, i)
				if end < 0 {
					return -1
				}
				i = end - 1
			case '{', '[':
				depth++
			case '}', ']':
				depth--
				if depth == 0 {
					return i + 1
				}
			}
		}
		return -1
	}
	for i := 1; i < len(b); i++ {
		if c := b[i]; c <= ' ' || c == ',' || c == '}' || c == ']' || c == ':' {
			return i
		}
	}
	return -1
}

// stringEnd returns the index after the text whose opening quote is b[at], or -1 if b does not hold all of it.
func (s *Stream) stringEnd(b []byte, at int) int {
	quote := bytes.IndexByte(b[at+1:], '"')
	if quote < 0 {
		return -1
	}
	quote += at + 1
	if bytes.IndexByte(b[at+1:quote], '\\') < 0 {
		return quote + 1
	}
	for i := at + 1; i < len(b); i++ {
		if b[i] == '"' {
			return i + 1
		}
		if b[i] != '\\' {
			continue
		}
		if i+1 == len(b) {
			return -1
		}
		switch c := b[i+1]; {
		case c == '"' && s.Bare:
			// Does the quote end the text after a bare backslash, or is it part of the text?
			rest := bytes.TrimLeft(b[i+2:], " \t\r\n")
			if len(rest) == 0 && !s.Eof {
				return -1
			}
			if len(rest) == 0 || bytes.IndexByte([]byte(",:]}"), rest[0]) >= 0 {
				return i + 2
			}
			i++
		case bytes.IndexByte([]byte(`"\/bfnrtu`), c) >= 0:
			i++
		default:
			s.Bare = true
		}
	}
	return -1
}

// EachField calls visit with the keys and values of an object. It reports whether object is a complete object.
func (s *Stream) EachField(object []byte, visit func(key, value []byte)) bool {
	if len(object) < 2 || object[0] != '{' {
		return false
	}
	skip := func(i int) int {
		for i < len(object) && (object[i] <= ' ' || object[i] == ',' || object[i] == ':') {
			i++
		}
		return i
	}
	for i := skip(1); i < len(object) && object[i] != '}'; i = skip(i) {
		if object[i] != '"' {
			return false
		}
		end := s.stringEnd(object, i)
		if end < 0 {
			return false
		}
		key := object[i+1 : end-1]
		i = skip(end)
		if i >= len(object) || object[i] == '}' {
			return false
		}
		n := s.ValueEnd(object[i:])
		if n < 0 {
			return false
		}
		visit(key, object[i:i+n])
		i += n
	}
	return true
}

// NextItem returns the first item of the inside of a list and the rest, or nil at the end of the list.
func (s *Stream) NextItem(list []byte) (item, rest []byte) {
	list = bytes.TrimLeft(list, " \t\r\n,")
	if len(list) == 0 || list[0] == ']' {
		return nil, nil
	}
	n := s.ValueEnd(list)
	if n < 0 {
		return nil, nil
	}
	return list[:n], list[n:]
}

// PlainText returns the content of a text, or the text of a number. Only the escapes of quotes,
// slashes and backslashes are undone.
func PlainText(v []byte) []byte {
	if len(v) < 2 || v[0] != '"' {
		return v
	}
	v = v[1 : len(v)-1]
	if bytes.IndexByte(v, '\\') < 0 {
		return v
	}
	var out []byte
	for i := 0; i < len(v); i++ {
		if v[i] == '\\' && i+1 < len(v) && bytes.IndexByte([]byte(`"\/`), v[i+1]) >= 0 {
			i++
		}
		out = append(out, v[i])
	}
	return out
}

// Integer reads an integer of up to 18 digits, with or without quotes. ok is false for anything else.
func Integer(v []byte) (n int64, ok bool) {
	v = PlainText(v)
	digits := v
	if len(v) > 0 && v[0] == '-' {
		digits = v[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	if len(digits) < len(v) {
		n = -n
	}
	return n, true
}

// Microseconds reads a time in microseconds and returns nanoseconds; fractions of a nanosecond are cut off.
func Microseconds(v []byte) (ns int64, ok bool) {
	v = PlainText(v)
	whole, fraction, dot := bytes.Cut(v, []byte{'.'})
	n, ok := Integer(whole)
	if !ok || n > math.MaxInt64/2000 || n < -math.MaxInt64/2000 {
		return microsecondsFloat(v)
	}
	ns = 1000 * n
	if !dot {
		return ns, true
	}
	unit := int64(100)
	if v[0] == '-' {
		unit = -100
	}
	for _, c := range fraction {
		if c < '0' || c > '9' {
			return microsecondsFloat(v)
		}
		ns += unit * int64(c-'0')
		unit /= 10
	}
	return ns, true
}

// microsecondsFloat reads numbers in other notations, such as 1.7e15.
func microsecondsFloat(v []byte) (int64, bool) {
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > math.MaxInt64/2000 {
		return 0, false
	}
	return int64(f * 1000), true
}
