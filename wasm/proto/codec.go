package proto

import (
	"cmp"
	"errors"
	"fmt"
	"unsafe"

	"memtide/engine"
	"memtide/engine/sim"
)

// errShort means that a length in the message exceeds the bytes that are left.
var errShort = errors.New("the data ends too early")

// codec writes values to buf, or reads them from it. One description of a type
// serves both directions, so that they cannot drift apart.
type codec struct {
	buf     []byte // written so far, or not yet read
	reading bool
	err     error
}

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

// memory returns the bytes of list as they lie in memory. R must hold no pointers, which TestNoPointers checks.
func memory[R any](list []R) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), len(list)*int(unsafe.Sizeof(*new(R))))
}

// number writes or reads *v, a number or some numbers, as it lies in memory: both sides are of one build.
func number[R any](c *codec, v *R) {
	if b := memory(unsafe.Slice(v, 1)); !c.reading {
		c.buf = append(c.buf, b...)
	} else {
		copy(b, c.take(len(b)))
	}
}

// count writes n, the number of things that follow, or reads and returns that number and ignores the argument. size is
// the least size in bytes of each thing: a number that the rest of the message cannot hold is an error, so that a wrong
// number cannot allocate much more than the message.
func (c *codec) count(n, size int) int {
	m := uint32(n)
	number(c, &m)
	if c.reading && int(m) > len(c.buf)/size {
		c.fail(errShort)
		return 0
	}
	return int(m)
}

// rows writes or reads a list as it lies in memory; an empty one is read as nil.
func rows[R any](c *codec, list *[]R) {
	n := c.count(len(*list), int(unsafe.Sizeof(*new(R))))
	if !c.reading {
		c.buf = append(c.buf, memory(*list)...)
		return
	}
	if *list = nil; n > 0 {
		*list = make([]R, n)
		copy(memory(*list), c.take(len(memory(*list))))
	}
}

// raw writes or reads bytes. On reading *b shares memory with the message; it is nil if it is empty.
func (c *codec) raw(b *[]byte) {
	n := c.count(len(*b), 1)
	if !c.reading {
		c.buf = append(c.buf, *b...)
	} else if *b = c.take(n); n == 0 {
		*b = nil
	}
}

// optional writes whether *v is not nil, or makes a value if one follows. It returns whether the
// caller has to write or read the value.
func optional[R any](c *codec, v **R) bool {
	there := *v != nil
	if number(c, &there); there {
		*v = cmp.Or(*v, new(R))
	}
	return there
}

// fail sets the error, unless there is one already.
func (c *codec) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// end returns the first error, or an error if bytes are left after reading.
func (c *codec) end() error {
	if c.err == nil && c.reading && len(c.buf) > 0 {
		c.err = fmt.Errorf("%d bytes are left over", len(c.buf))
	}
	if c.err != nil {
		return fmt.Errorf("reading a message: %w", c.err)
	}
	return nil
}

func (c *codec) schedule(s *engine.Schedule) { rows(c, (*[]engine.Instruction)(s)) }

// trace writes or reads a trace, in the order of the type. It does not check ids against a graph: the data
// comes from a worker of the same build.
func (c *codec) trace(t *sim.Trace) {
	number(c, &t.Makespan)
	number(c, &t.Peak)
	number(c, &t.PeakAt)
	number(c, &t.HostPeak)
	number(c, &t.ComputeTime)
	number(c, &t.RecomputeTime)
	number(c, &t.Waiting)
	rows(c, &t.Spans)
	rows(c, &t.Gaps)
	rows(c, &t.Memory)
	rows(c, &t.Host)
	rows(c, &t.Lives)
	rows(c, &t.Decisions)
}
