package onnx

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"memtide/engine"
	"memtide/profiles"
)

// Most of a model that was trained is the numbers of its weights, which nothing
// here reads. A model that is not in memory is copied without them: the copy says
// the same and is small.

const (
	// short is the longest list of numbers that is copied, and the longest part
	// that is copied without looking into it: it is well above onnxMostValues
	// integers.
	short = 64 << 10
	// onnxMostKept is the most that is left of a model.
	onnxMostKept = 64 << 20
	// atOnce is how much is made room for before it is read.
	atOnce = 256 << 10
)

// onnxPart is a kind of message that is looked into.
type onnxPart uint8

const (
	onnxWhole onnxPart = iota
	graphPart
	nodePart
	attrPart
	tensorPart
)

// onnxParts names the kinds of messages as errors do.
var onnxParts = [...]string{"the model", "the graph", "a node", "an attribute", "a tensor of weights"}

// within returns what a field of a message is; ok is false if it is nothing that is
// looked into.
func (p onnxPart) within(number int) (inner onnxPart, ok bool) {
	switch {
	case p == onnxWhole && number == 7:
		return graphPart, true
	case p == graphPart && number == 1:
		return nodePart, true
	case p == nodePart && number == 5:
		return attrPart, true
	case p == graphPart && number == 5, p == attrPart && number == 5:
		return tensorPart, true
	}
	return 0, false
}

// numbers reports a field of a tensor that holds its numbers: float_data,
// int32_data, string_data, int64_data, raw_data, double_data or uint64_data.
func (p onnxPart) numbers(number int) bool {
	return p == tensorPart && (number >= 4 && number <= 7 || number >= 9 && number <= 11)
}

// streamOnnx reads a model piece by piece.
func streamOnnx(name string, r io.Reader, total, _ int, poll *engine.Poll) *profiles.Profile {
	c := &copier{r: bufio.NewReaderSize(r, short), look: short, total: total, poll: poll}
	if s, ok := r.(io.Seeker); ok && total > 0 {
		c.seek = func(n int64) error {
			_, err := s.Seek(n, io.SeekCurrent)
			c.r.Reset(r)
			return err
		}
	}
	return decode(name, c.message(onnxWhole, profiles.MaxStream+1), poll)
}

// copier copies a model without the numbers of large tensors.
type copier struct {
	r     *bufio.Reader
	seek  func(n int64) error // leaves out what follows the buffer; nil if that is not possible
	look  int64               // parts of more bytes are looked into
	poll  *engine.Poll
	part  onnxPart // that is read
	at    int64    // bytes read
	total int      // of them; 0 if that is not known
	kept  int64    // bytes copied
	steps int
}

// message copies a message of size bytes. The whole model ends where the content does.
func (c *copier) message(part onnxPart, size int64) (out []byte) {
	for end := c.at + size; c.at < end; {
		c.part = part
		if part == onnxWhole {
			if _, err := c.r.Peek(1); err == io.EOF {
				break
			}
		}
		c.pause()
		key := c.varint(end)
		number, kind := int(key>>3), wireKind(key&7)
		if kind != wireBytes {
			out = c.scalar(binary.AppendUvarint(out, key), kind, end)
			continue
		}
		n := c.varint(end)
		if n > uint64(end-c.at) {
			c.end(errWireEnds)
		}
		if data := c.field(part, number, int64(n)); data != nil {
			out = append(binary.AppendUvarint(binary.AppendUvarint(out, key), uint64(len(data))), data...)
		}
	}
	return out
}

// field copies the content of a field of n bytes. It returns nil if it holds numbers that no rule reads.
func (c *copier) field(part onnxPart, number int, n int64) []byte {
	switch inner, ok := part.within(number); {
	case ok && n > c.look:
		return append([]byte{}, c.message(inner, n)...)
	case n <= short || !part.numbers(number):
		return c.copy(n)
	}
	if c.seek != nil && n > int64(c.r.Buffered()) {
		rest := n - int64(c.r.Buffered())
		if c.at += n; c.at > int64(c.total) {
			c.end(errWireEnds)
		}
		c.end(c.seek(rest))
		return nil
	}
	for n > 0 { // in parts, so that a person can stop it
		c.pause()
		got, err := c.r.Discard(int(min(n, profiles.ReadAhead)))
		c.at += int64(got)
		n -= int64(got)
		c.end(err)
	}
	return nil
}

// copy takes n bytes.
func (c *copier) copy(n int64) []byte {
	if c.kept += n; c.kept > onnxMostKept {
		profiles.End(&profiles.FormatError{Format: onnxName,
			Found:    fmt.Sprintf("The model has more than %d MiB beside the numbers of its weights", onnxMostKept>>20),
			Expected: "Larger models are not read.", Remedy: "Simplify the model, or measure it with the collector."})
	}
	out := make([]byte, 0, min(n, atOnce))
	for int64(len(out)) < n { // in parts: the length may be wrong, and far too large
		from := len(out)
		out = append(out, make([]byte, min(n-int64(from), atOnce))...)
		got, err := io.ReadFull(c.r, out[from:])
		c.at += int64(got)
		c.end(err)
	}
	return out
}

// scalar copies a field that is one number.
func (c *copier) scalar(out []byte, kind wireKind, end int64) []byte {
	size := int64(0)
	switch kind {
	case wireVarint:
		return binary.AppendUvarint(out, c.varint(end))
	case wireFixed8:
		size = 8
	case wireFixed4:
		size = 4
	default:
		c.end(errWireKind)
	}
	if size > end-c.at {
		c.end(errWireEnds)
	}
	return append(out, c.copy(size)...)
}

// varint reads a number that ends before end.
func (c *copier) varint(end int64) (v uint64) {
	for shift := 0; shift < 70; shift += 7 {
		if c.at == end {
			c.end(errWireEnds)
		}
		b, err := c.r.ReadByte()
		c.end(err)
		c.at++
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	c.end(errWireVarint)
	return 0
}

// pause lets a person stop the reading, and says how far it is.
func (c *copier) pause() {
	if c.steps++; c.steps%16 == 0 {
		c.poll.Report(engine.Progress{Done: int(c.at), Total: max(c.total, 0)})
	}
	profiles.End(c.poll.Err())
}

// end ends with an error, if there is one: it says what is wrong, and where.
func (c *copier) end(err error) {
	switch err {
	case io.EOF, io.ErrUnexpectedEOF:
		err = errWireEnds
		fallthrough
	case errWireEnds, errWireVarint, errWireKind:
		damaged(onnxParts[c.part], err)
	}
	profiles.End(err)
}
