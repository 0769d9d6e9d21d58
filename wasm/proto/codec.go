package proto

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// errShort is the one thing that can be wrong with the length of a blob.
var errShort = errors.New("the data ends too early")

// codec writes values to buf, or reads them from it. One description of a type
// serves both directions, so that they cannot drift apart.
type codec struct {
	buf     []byte // written so far, or not yet read
	reading bool
	err     error
}

type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32
}

// bytes of the widths that are used.
const (
	w8  = 1
	w32 = 4
	w64 = 8
)

// take cuts n bytes off what is to be read; nil after an error.
func (c *codec) take(n int) []byte {
	if c.err == nil && (n < 0 || n > len(c.buf)) {
		c.err = errShort
	}
	if c.err != nil {
		return nil
	}
	b := c.buf[:n]
	c.buf = c.buf[n:]
	return b
}

// grow appends n bytes to what is written and returns them.
func (c *codec) grow(n int) []byte {
	c.buf = append(c.buf, make([]byte, n)...)
	return c.buf[len(c.buf)-n:]
}

func put(b []byte, width int, v int64) {
	switch width {
	case w8:
		b[0] = byte(v)
	case w32:
		binary.LittleEndian.PutUint32(b, uint32(v))
	default:
		binary.LittleEndian.PutUint64(b, uint64(v))
	}
}

func get(b []byte, width int) int64 {
	switch width {
	case w8:
		return int64(b[0])
	case w32:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	default:
		return int64(binary.LittleEndian.Uint64(b))
	}
}

// scalar is one number of eight bytes.
func scalar[T integer](c *codec, v *T) {
	if !c.reading {
		put(c.grow(w64), w64, int64(*v))
	} else if b := c.take(w64); b != nil {
		*v = T(get(b, w64))
	}
}

// table starts an array: its length. rows is allocated when reading. perRow is
// the least number of bytes of a row: it keeps a wrong length from allocating
// more than a small multiple of the message.
func table[R any](c *codec, rows *[]R, perRow int) {
	if !c.reading {
		c.buf = slices.Grow(c.buf, w32+perRow*len(*rows)) // once, not for every column
		put(c.grow(w32), w32, int64(len(*rows)))
		return
	}
	*rows = nil
	b := c.take(w32)
	if b == nil {
		return
	}
	n := int(binary.LittleEndian.Uint32(b))
	if n > len(c.buf)/perRow {
		c.err = errShort
		return
	}
	if n > 0 {
		*rows = make([]R, n)
	}
}

// column is one field of every row.
func column[R any, T integer](c *codec, rows []R, width int, field func(*R) *T) {
	if !c.reading {
		b := c.grow(width * len(rows))
		for i := range rows {
			put(b[i*width:], width, int64(*field(&rows[i])))
		}
		return
	}
	b := c.take(width * len(rows))
	if b == nil {
		return
	}
	for i := range rows {
		*field(&rows[i]) = T(get(b[i*width:], width))
	}
}

// flags is a field that is true or false.
func flags[R any](c *codec, rows []R, field func(*R) *bool) {
	if !c.reading {
		for i := range rows {
			v := byte(0)
			if *field(&rows[i]) {
				v = 1
			}
			c.buf = append(c.buf, v)
		}
		return
	}
	b := c.take(len(rows))
	if b == nil {
		return
	}
	for i := range rows {
		*field(&rows[i]) = b[i] != 0
	}
}

// end reports what went wrong, or that something is left over.
func (c *codec) end(what string) error {
	if c.err == nil && c.reading && len(c.buf) > 0 {
		c.err = fmt.Errorf("%d bytes are left over", len(c.buf))
	}
	if c.err != nil {
		return fmt.Errorf("reading %s: %w", what, c.err)
	}
	return nil
}
