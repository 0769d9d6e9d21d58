package proto

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// errShort means that a length in the message exceeds the bytes that are left.
var errShort = errors.New("the data ends too early")

// codec writes values to buf, or reads them from it. One description of a type
// serves both directions, so that they cannot drift apart.
type codec struct { // written so far, or not yet read
	buf     []byte // written so far, or not yet read
	reading bool
	err     error
	values  []int64 // the numbers of one column, reused
}

type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32
}

// Widths of numbers in bytes.
const (
	w8  = 1
	w32 = 4
	w64 = 8
)

// take returns the next n bytes of what is read, or nil after an error.
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

// room reserves space for n more bytes, so that buf grows once per message and not per column.
func (c *codec) room(n int) { c.buf = slices.Grow(c.buf, n) }

// grow appends n zero bytes to buf and returns them to be filled in.
func (c *codec) grow(n int) []byte {
	c.buf = append(c.buf, make([]byte, n)...)
	return c.buf[len(c.buf)-n:]
}

// write appends values, each in width bytes.
func (c *codec) write(width int, values []int64) {
	b := c.grow(width * len(values))
	switch width {
	case w8:
		for i, v := range values {
			b[i] = byte(v)
		}
	case w32:
		for i, v := range values {
			o := (*[w32]byte)(b[w32*i:])
			o[0], o[1], o[2], o[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
		}
	default:
		for i, v := range values {
			o := (*[w64]byte)(b[w64*i:])
			o[0], o[1], o[2], o[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
			o[4], o[5], o[6], o[7] = byte(v>>32), byte(v>>40), byte(v>>48), byte(v>>56)
		}
	}
}

// read returns the next n numbers of width bytes, or nil after an error. They are valid until the
// next call.
func (c *codec) read(width, n int) []int64 {
	b := c.take(width * n)
	if b == nil {
		return nil
	}
	values := c.scratch(n)
	switch width {
	case w8:
		for i := range values {
			values[i] = int64(b[i])
		}
	case w32:
		for i := range values {
			o := (*[w32]byte)(b[w32*i:])
			values[i] = int64(int32(uint32(o[0]) | uint32(o[1])<<8 | uint32(o[2])<<16 | uint32(o[3])<<24))
		}
	default:
		for i := range values {
			o := (*[w64]byte)(b[w64*i:])
			low := uint32(o[0]) | uint32(o[1])<<8 | uint32(o[2])<<16 | uint32(o[3])<<24
			high := uint32(o[4]) | uint32(o[5])<<8 | uint32(o[6])<<16 | uint32(o[7])<<24
			values[i] = int64(uint64(high)<<32 | uint64(low))
		}
	}
	return values
}

// scratch returns a slice of n numbers. The next call reuses its memory.
func (c *codec) scratch(n int) []int64 {
	if cap(c.values) < n {
		c.values = make([]int64, n)
	}
	return c.values[:n]
}

// scalar writes or reads *v as one number of eight bytes.
func scalar[T integer](c *codec, v *T) {
	if !c.reading {
		c.write(w64, []int64{int64(*v)})
	} else if b := c.read(w64, 1); b != nil {
		*v = T(b[0])
	}
}

// raw writes or reads bytes as they are. On reading *b shares memory with the message; it is nil if
// it is empty.
func (c *codec) raw(b *[]byte) {
	if !c.reading {
		c.room(w32 + len(*b))
		c.write(w32, []int64{int64(len(*b))})
		c.buf = append(c.buf, *b...)
	} else if n := c.take(w32); n != nil {
		if *b = c.take(int(le.Uint32(n))); len(*b) == 0 {
			*b = nil
		}
	}
}

// optional writes whether a value follows, or reads it and then ignores there. It returns whether
// the caller has to write or read the value.
func (c *codec) optional(there bool) bool {
	if c.reading {
		b := c.take(w8)
		return b != nil && b[0] != 0
	}
	n := byte(0)
	if there {
		n = 1
	}
	c.buf = append(c.buf, n)
	return there
}

// table writes the number of rows, or reads it and allocates *rows. perRow is the least number of
// bytes of a row. It limits what a wrong length allocates to a small multiple of the message.
func table[R any](c *codec, rows *[]R, perRow int) {
	if !c.reading {
		c.room(w32 + perRow*len(*rows))
		c.write(w32, []int64{int64(len(*rows))})
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

// column writes or reads one field of every row, in width bytes each.
func column[R any, T integer](c *codec, rows []R, width int, field func(*R) *T) {
	// One loop reads the fields and another one, which is not generic, writes the bytes: that is
	// faster, and a long chain has millions of them.
	if !c.reading {
		values := c.scratch(len(rows))
		for i := range rows {
			values[i] = int64(*field(&rows[i]))
		}
		c.write(width, values)
		return
	}
	for i, v := range c.read(width, len(rows)) {
		*field(&rows[i]) = T(v)
	}
}

// flags writes or reads one boolean field of every row, in a byte each.
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

// fail sets the error, unless there is one already.
func (c *codec) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// end returns the first error, or an error if bytes are left after reading. what names the message
// in the text.
func (c *codec) end(what string) error {
	if c.err == nil && c.reading && len(c.buf) > 0 {
		c.err = fmt.Errorf("%d bytes are left over", len(c.buf))
	}
	if c.err != nil {
		return fmt.Errorf("reading %s: %w", what, c.err)
	}
	return nil
}

var le = binary.LittleEndian

// schedule writes or reads a schedule.
func (c *codec) schedule(s *engine.Schedule) {
	table(c, (*[]engine.Instruction)(s), 20)
	rows := []engine.Instruction(*s)
	column(c, rows, w8, func(r *engine.Instruction) *engine.InstructionKind { return &r.Kind })
	column(c, rows, w32, func(r *engine.Instruction) *engine.OpID { return &r.Op })
	column(c, rows, w32, func(r *engine.Instruction) *engine.ValueID { return &r.Value })
	flags(c, rows, func(r *engine.Instruction) *bool { return &r.OutputOnly })
	flags(c, rows, func(r *engine.Instruction) *bool { return &r.Alt })
	column(c, rows, w64, func(r *engine.Instruction) *time.Duration { return &r.NotBefore })
	flags(c, rows, func(r *engine.Instruction) *bool { return &r.Reserve })
}

// trace writes or reads a trace: scalars in the order of the type, then the tables spans, gaps,
// memory, host, lives, decisions. It does not check ids against a graph: the data comes from a
// worker of the same build.
func (c *codec) trace(t *sim.Trace) {
	scalar(c, &t.Makespan)
	scalar(c, &t.Peak)
	scalar(c, &t.PeakAt)
	scalar(c, &t.HostPeak)
	scalar(c, &t.ComputeTime)
	scalar(c, &t.RecomputeTime)
	for i := range t.Waiting {
		scalar(c, &t.Waiting[i])
	}
	c.spans(&t.Spans)
	c.gaps(&t.Gaps)
	c.memory(&t.Memory)
	c.points(&t.Host)
	c.lives(&t.Lives)
	table(c, &t.Decisions, 1)
	column(c, t.Decisions, w8, func(r *sim.Decision) *sim.Decision { return r })
}

func (c *codec) points(p *[]sim.Point) {
	table(c, p, 16)
	column(c, *p, w64, func(r *sim.Point) *time.Duration { return &r.At })
	column(c, *p, w64, func(r *sim.Point) *engine.Bytes { return &r.Used })
}

func (c *codec) spans(s *[]sim.Span) {
	table(c, s, 37)
	rows := *s
	column(c, rows, w8, func(r *sim.Span) *sim.Lane { return &r.Lane })
	column(c, rows, w8, func(r *sim.Span) *sim.SpanKind { return &r.Kind })
	flags(c, rows, func(r *sim.Span) *bool { return &r.OutputOnly })
	flags(c, rows, func(r *sim.Span) *bool { return &r.Alt })
	column(c, rows, w32, func(r *sim.Span) *int { return &r.Step })
	column(c, rows, w32, func(r *sim.Span) *engine.OpID { return &r.Op })
	column(c, rows, w32, func(r *sim.Span) *engine.ValueID { return &r.Value })
	column(c, rows, w64, func(r *sim.Span) *time.Duration { return &r.Start })
	column(c, rows, w64, func(r *sim.Span) *time.Duration { return &r.End })
	column(c, rows, w8, func(r *sim.Span) *sim.Reason { return &r.Why })
	column(c, rows, w32, func(r *sim.Span) *sim.SpanID { return &r.Cause })
}

func (c *codec) gaps(s *[]sim.Gap) {
	table(c, s, 37)
	rows := *s
	column(c, rows, w64, func(r *sim.Gap) *time.Duration { return &r.Start })
	column(c, rows, w64, func(r *sim.Gap) *time.Duration { return &r.End })
	column(c, rows, w8, func(r *sim.Gap) *sim.Reason { return &r.Reason })
	column(c, rows, w32, func(r *sim.Gap) *int { return &r.Step })
	column(c, rows, w32, func(r *sim.Gap) *engine.ValueID { return &r.Value })
	column(c, rows, w64, func(r *sim.Gap) *engine.Bytes { return &r.Need })
	column(c, rows, w32, func(r *sim.Gap) *sim.SpanID { return &r.Cause })
}

func (c *codec) memory(s *[]sim.Sample) {
	table(c, s, 8+8*int(sim.NumCategories))
	rows := *s
	column(c, rows, w64, func(r *sim.Sample) *time.Duration { return &r.At })
	for k := range int(sim.NumCategories) {
		column(c, rows, w64, func(r *sim.Sample) *engine.Bytes { return &r.Used[k] })
	}
}

func (c *codec) lives(s *[]sim.Life) {
	table(c, s, 46)
	rows := *s
	column(c, rows, w32, func(r *sim.Life) *engine.ValueID { return &r.Value })
	column(c, rows, w32, func(r *sim.Life) *engine.OpID { return &r.Op })
	column(c, rows, w8, func(r *sim.Life) *sim.Category { return &r.Category })
	column(c, rows, w64, func(r *sim.Life) *engine.Bytes { return &r.Bytes })
	column(c, rows, w64, func(r *sim.Life) *time.Duration { return &r.Start })
	column(c, rows, w64, func(r *sim.Life) *time.Duration { return &r.End })
	column(c, rows, w32, func(r *sim.Life) *int { return &r.StartSeq })
	column(c, rows, w32, func(r *sim.Life) *int { return &r.EndSeq })
	column(c, rows, w32, func(r *sim.Life) *sim.SpanID { return &r.From })
	flags(c, rows, func(r *sim.Life) *bool { return &r.Offloaded })
}
