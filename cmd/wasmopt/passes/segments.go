package passes

import (
	"errors"

	"memtide/cmd/wasmopt/module"
)

// joinWithin is the largest gap of zeros, in bytes, that is written out.
const joinWithin = 64

// joinSegments writes the initial memory in few segments. Go's linker writes up to
// 100,000, one for every stretch between some zeros; each has a head of an address and
// a length, with which a compressor can do nothing, where the zeros between would cost
// nothing: joined, the file is larger and its compressed forms are smaller.
//
// It relies on the specification alone: a module's own memory is zero until its data
// segments, in their order, are laid out before anything runs, so any segments that
// make the same memory do the same. What would make a difference is refused when the
// memory is read (module.InitialMemory): imported memories, segments that are laid out
// later or elsewhere, and those that do not fit.
func (p *program) joinSegments() (string, error) {
	if p.memory == nil {
		return "", errors.New("the initial memory is empty, or not known")
	}
	p.setSection(module.Data, module.WriteMemory(p.memory, joinWithin))
	p.packed = true
	return "", nil
}
