package onnx

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"

	"memtide/engine"
	"memtide/profiles"
)

// The wire format of protocol buffers, as far as ONNX models need it: a message is a sequence of
// fields, each a key (number and kind), then a varint, 4 bytes, 8 bytes, or a length and that
// many bytes (https://protobuf.dev/programming-guides/encoding/).
//
// Most of a trained model is its weights, which are not needed. The reader skips the rest of a
// field that a caller did not read, and seeks past it where the content allows.

// Errors of a message.
var (
	errWireEnds    = errors.New("it ends early")
	errWireVarint  = errors.New("a number is longer than 10 bytes")
	errWireKind    = errors.New("a field is of a kind that does not exist")
	errWireNumber  = errors.New("a field has the number 0")
	errWireMistype = errors.New("a field is of another kind than ONNX has it")
)

// wireKind is the encoding of a field.
type wireKind uint8

const (
	wireVarint wireKind = 0
	wireFixed8 wireKind = 1 // 8 bytes
	wireBytes  wireKind = 2
	wireFixed4 wireKind = 5 // 4 bytes
)

// wireField is one field of a message.
type wireField struct {
	w      *wire
	number int
	kind   wireKind
	value  uint64 // of a varint or fixed bytes
	end    int64  // position after the field, and after the content of wireBytes
}

// wire reads fields of nested messages.
type wire struct {
	r     *bufio.Reader
	seek  func(n int64) error // skips n bytes after the buffer; nil if the content cannot seek
	what  string              // the current message, for errors
	at    int64               // bytes read
	total int                 // bytes of the content; 0 if unknown
	steps int
	poll  *engine.Poll
}

// short is the longest part that is read at once. It is well above onnxMostValues integers.
const short = 64 << 10

func newWire(r io.Reader, total int, poll *engine.Poll) *wire {
	w := &wire{r: bufio.NewReaderSize(r, short), total: total, poll: poll}
	if s, ok := r.(io.Seeker); ok && total > 0 {
		w.seek = func(n int64) error {
			_, err := s.Seek(n, io.SeekCurrent)
			w.r.Reset(r)
			return err
		}
	}
	return w
}

// each calls visit for every field of a message that ends at position end, and skips what visit
// does not read. end is math.MaxInt64 for a model of unknown size, which ends with the content.
func (w *wire) each(what string, end int64, visit func(f wireField)) {
	outer := w.what
	for w.at < end {
		if w.what = what; end == math.MaxInt64 {
			if _, err := w.r.Peek(1); err == io.EOF {
				break
			}
		}
		f := w.next(end)
		visit(f)
		w.skip(f.end - w.at)
	}
	w.what = outer
}

// next reads a field up to its content.
func (w *wire) next(end int64) wireField {
	w.pause()
	key := w.varint(end)
	f := wireField{w: w, number: int(key >> 3 & math.MaxInt32), kind: wireKind(key & 7)}
	switch {
	case f.number == 0:
		w.fail(errWireNumber)
	case f.kind == wireVarint:
		f.value = w.varint(end)
	case f.kind == wireFixed8:
		f.value = binary.LittleEndian.Uint64(w.take(8, end))
	case f.kind == wireFixed4:
		f.value = uint64(binary.LittleEndian.Uint32(w.take(4, end)))
	case f.kind == wireBytes:
		n := w.varint(end)
		if n > uint64(end-w.at) {
			w.fail(errWireEnds)
		}
		f.end = w.at + int64(n)
		return f
	default: // groups, which ONNX does not have
		w.fail(errWireKind)
	}
	f.end = w.at
	return f
}

// varint reads a number with seven bits in each byte, the lowest first, that ends by position end.
func (w *wire) varint(end int64) (v uint64) {
	for shift := 0; shift < 70; shift += 7 {
		b := w.take(1, end)[0]
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	w.fail(errWireVarint)
	return 0
}

// take returns the next n bytes, at most short, which end by position end. They are valid until more is read.
func (w *wire) take(n int, end int64) []byte {
	if int64(n) > end-w.at {
		w.fail(errWireEnds)
	}
	b, err := w.r.Peek(n)
	w.fail(err)
	_, err = w.r.Discard(n)
	w.fail(err)
	w.at += int64(n)
	return b
}

func (w *wire) skip(n int64) {
	if rest := n - int64(w.r.Buffered()); rest > 0 && w.seek != nil {
		if w.at += n; w.at > int64(w.total) {
			w.fail(errWireEnds)
		}
		w.fail(w.seek(rest))
		return
	}
	for n > 0 { // in parts, so that reading can be stopped
		w.pause()
		got, err := w.r.Discard(int(min(n, profiles.ReadAhead)))
		w.at += int64(got)
		n -= int64(got)
		w.fail(err)
	}
}

// pause reports progress, and ends reading if the poll says so.
func (w *wire) pause() {
	if w.steps%64 == 0 {
		w.poll.Report(engine.Progress{Done: int(w.at), Total: max(w.total, 0)})
		profiles.End(w.poll.Err())
	}
	w.steps++
}

// fail ends reading if err is not nil. Errors of the format get the current message.
func (w *wire) fail(err error) {
	switch err {
	case io.EOF, io.ErrUnexpectedEOF:
		damaged(w.what, errWireEnds)
	case errWireEnds, errWireVarint, errWireKind, errWireNumber, errWireMistype:
		damaged(w.what, err)
	}
	profiles.End(err)
}

// size returns the length of the content of wireBytes.
func (f wireField) size() int { return int(f.end - f.w.at) }

// bytes returns the content of wireBytes, at most short bytes, valid until more is read.
func (f wireField) bytes() []byte { return f.w.take(f.size(), f.end) }

// ints appends the numbers of a repeated integer field, packed or not, to list, up to a length of most.
func (f wireField) ints(list []int64, most int) []int64 {
	if f.kind == wireVarint && len(list) < most {
		return append(list, int64(f.value))
	}
	f.is(wireBytes, wireVarint)
	list = slices.Grow(list, max(0, min(f.size(), most-len(list))))
	for f.w.at < f.end && len(list) < most {
		list = append(list, int64(f.w.varint(f.end)))
	}
	return list
}

// floats appends the numbers of a repeated field of 32-bit floats, packed or not, to list, up to a length of most.
func (f wireField) floats(list []float32, most int) []float32 {
	if f.kind == wireFixed4 && len(list) < most {
		return append(list, math.Float32frombits(uint32(f.value)))
	}
	f.is(wireBytes, wireFixed4)
	for f.size() >= 4 && len(list) < most {
		list = append(list, math.Float32frombits(binary.LittleEndian.Uint32(f.w.take(4, f.end))))
	}
	return list
}

// is ends reading unless the field is of one of these kinds.
func (f wireField) is(kinds ...wireKind) {
	if !slices.Contains(kinds, f.kind) {
		f.w.fail(errWireMistype)
	}
}
