package onnx

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// The wire format of protocol buffers, as far as ONNX models need it: a message
// is a row of fields, each a key (number and kind), then a varint, 4 bytes, 8
// bytes, or a length and as many bytes as it says
// (https://protobuf.dev/programming-guides/encoding/).

// What can be wrong with a message.
var (
	errWireEnds    = errors.New("it ends early")
	errWireVarint  = errors.New("a number is longer than 10 bytes")
	errWireKind    = errors.New("a field is of a kind that does not exist")
	errWireNumber  = errors.New("a field has the number 0")
	errWireMistype = errors.New("a field is of another kind than ONNX has it")
)

// wireKind is how a field is written.
type wireKind uint8

const (
	wireVarint wireKind = 0
	wireFixed8 wireKind = 1 // 8 bytes
	wireBytes  wireKind = 2
	wireFixed4 wireKind = 5 // 4 bytes
)

// wireField is one field of a message.
type wireField struct {
	number int
	kind   wireKind
	value  uint64 // of a varint, or of fixed bytes
	data   []byte // of wireBytes: part of the message, not a copy
	what   string // the message is, for errors
}

// wire reads the fields of a message in turn.
type wire struct {
	what string // it is, for errors
	data []byte
	at   int
	err  error
}

// next reads a field; false at the end of the message and at errors.
func (w *wire) next() (f wireField, ok bool) {
	if w.err != nil || w.at == len(w.data) {
		return f, false
	}
	key := w.varint()
	f.what, f.number, f.kind = w.what, int(key>>3&math.MaxInt32), wireKind(key&7)
	switch {
	case w.err != nil:
	case f.number == 0:
		w.err = errWireNumber
	case f.kind == wireVarint:
		f.value = w.varint()
	case f.kind == wireFixed8:
		if b := w.take(8); b != nil {
			f.value = binary.LittleEndian.Uint64(b)
		}
	case f.kind == wireFixed4:
		if b := w.take(4); b != nil {
			f.value = uint64(binary.LittleEndian.Uint32(b))
		}
	case f.kind == wireBytes:
		f.data = w.take(w.varint())
	default: // groups, which ONNX does not have
		w.err = errWireKind
	}
	return f, w.err == nil
}

// varint reads a number of seven bits a byte, the lowest first.
func (w *wire) varint() (v uint64) {
	for shift := 0; shift < 70; shift += 7 {
		if w.at == len(w.data) {
			w.err = errWireEnds
			return 0
		}
		b := w.data[w.at]
		w.at++
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	w.err = errWireVarint
	return 0
}

// take returns the next n bytes, or nil if fewer are left. For n = 0 it returns an empty slice that is not nil.
func (w *wire) take(n uint64) []byte {
	if w.err != nil {
		return nil
	}
	if n > uint64(len(w.data)-w.at) {
		w.err = errWireEnds
		return nil
	}
	b := w.data[w.at : w.at+int(n) : w.at+int(n)]
	w.at += int(n)
	return b
}

// ints appends the numbers of a repeated integer field, packed or not, to list. It stops when list has most
// numbers: no rule needs the values of long lists.
func (f wireField) ints(list []int64, most int) []int64 {
	switch f.kind {
	case wireVarint:
		if len(list) < most {
			list = append(list, int64(f.value))
		}
		return list
	case wireBytes:
		w := wire{what: f.what, data: f.data}
		list = slices.Grow(list, max(0, min(len(f.data), most-len(list))))
		for w.at < len(w.data) && w.err == nil && len(list) < most {
			list = append(list, int64(w.varint()))
		}
		w.end()
		return list
	}
	f.mistyped()
	return nil
}

// floats appends the numbers of a repeated field of 32-bit floats, packed or not, to list, up to most of them.
func (f wireField) floats(list []float32, most int) []float32 {
	switch f.kind {
	case wireFixed4:
		if len(list) < most {
			list = append(list, math.Float32frombits(uint32(f.value)))
		}
		return list
	case wireBytes:
		for b := f.data; len(b) >= 4 && len(list) < most; b = b[4:] {
			list = append(list, math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
		return list
	}
	f.mistyped()
	return nil
}

// is ends the decoder unless the field is of this kind.
func (f wireField) is(kind wireKind) {
	if f.kind != kind {
		f.mistyped()
	}
}

// mistyped ends the decoder: ONNX has no field of this kind here.
func (f wireField) mistyped() { damaged(f.what, errWireMistype) }

// end ends the decoder if the message was damaged.
func (w *wire) end() {
	if w.err != nil {
		damaged(w.what, w.err)
	}
}
