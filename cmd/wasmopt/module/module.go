// Package module reads and writes modules in the binary format of WebAssembly (core
// specification, section 5). It does not depend on Go's compiler.
package module

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Sections of a module, by their numbers.
const (
	Custom    = 0
	Import    = 2
	Memory    = 5
	Code      = 10
	Data      = 11
	DataCount = 12
)

// OpI32Const and OpEnd are the instructions in the address of a data segment.
const (
	OpI32Const = 0x41
	OpEnd      = 0x0b
)

// head is the start of a module: a mark and the version of the format.
const head = "\x00asm\x01\x00\x00\x00"

// ErrForm is in every error about a module whose form this package does not read.
var ErrForm = errors.New("the program is not a module of the form that is expected")

// Section is a part of a module. It shares its body with the module from which it was read:
// replace it, do not write to it.
type Section struct {
	ID   byte
	Body []byte
}

// Read splits a module into sections.
func Read(module []byte) (sections []Section, err error) {
	if !bytes.HasPrefix(module, []byte(head)) {
		return nil, ErrForm
	}
	r := &Reader{B: module, I: len(head)}
	for r.I < len(module) && r.Err == nil {
		id := r.Byte()
		sections = append(sections, Section{id, r.Take(int(r.Unsigned()))})
	}
	return sections, r.Err
}

// Write is the reverse of Read.
func Write(sections []Section) []byte {
	size := len(head)
	for _, s := range sections {
		size += 1 + 10 + len(s.Body)
	}
	out := append(make([]byte, 0, size), head...)
	for _, s := range sections {
		out = append(binary.AppendUvarint(append(out, s.ID), uint64(len(s.Body))), s.Body...)
	}
	return out
}

// Find returns the index of the first section with this number, or -1.
func Find(sections []Section, id byte) int {
	return slices.IndexFunc(sections, func(s Section) bool { return s.ID == id })
}

// Named returns the content of the custom section with this name, or nil if there is no such section.
func Named(sections []Section, name string) []byte {
	for _, s := range sections {
		r := &Reader{B: s.Body}
		if s.ID == Custom && string(r.Take(int(r.Unsigned()))) == name && r.Err == nil {
			return s.Body[r.I:]
		}
	}
	return nil
}

// importedFunctions counts the imported functions, which are numbered before the module's own.
// It refuses other imports.
func importedFunctions(sections []Section) (n int, err error) {
	at := Find(sections, Import)
	if at < 0 {
		return 0, nil
	}
	r := &Reader{B: sections[at].Body}
	for range r.Unsigned() {
		r.Take(int(r.Unsigned()))
		r.Take(int(r.Unsigned()))
		if kind := r.Byte(); kind != 0 {
			return 0, fmt.Errorf("%w: an import of kind %d", ErrForm, kind)
		}
		r.Unsigned()
		if n++; r.Err != nil {
			return 0, r.Err
		}
	}
	return n, r.Err
}

// Functions returns the bodies of a module's own functions, and the number of imported
// functions, which are numbered before them. It refuses other imports.
func Functions(sections []Section) (bodies [][]byte, imported int, err error) {
	if imported, err = importedFunctions(sections); err != nil {
		return nil, 0, err
	}
	at := Find(sections, Code)
	if at < 0 {
		return nil, imported, nil
	}
	r := &Reader{B: sections[at].Body}
	for i := range r.Unsigned() {
		bodies = append(bodies, r.Take(int(r.Unsigned())))
		if r.Err != nil {
			return nil, 0, fmt.Errorf("%w: function %d", r.Err, i)
		}
	}
	return bodies, imported, nil
}

// WriteFunctions returns the body of a code section with these functions.
func WriteFunctions(bodies [][]byte) []byte {
	size := 5
	for _, b := range bodies {
		size += 5 + len(b)
	}
	out := binary.AppendUvarint(make([]byte, 0, size), uint64(len(bodies)))
	for _, b := range bodies {
		out = append(binary.AppendUvarint(out, uint64(len(b))), b...)
	}
	return out
}

// Reader reads numbers of the binary format (LEB128) from B, starting at I. After a failure Err
// is set, and all results are zero.
type Reader struct {
	B   []byte
	I   int
	Err error
}

// Take returns the next n bytes, or nil if fewer remain.
func (r *Reader) Take(n int) []byte {
	if n < 0 || n > len(r.B)-r.I {
		r.Err, r.I = ErrForm, len(r.B)
		return nil
	}
	r.I += n
	return r.B[r.I-n : r.I]
}

// Byte returns the next byte.
func (r *Reader) Byte() byte {
	if b := r.Take(1); b != nil {
		return b[0]
	}
	return 0
}

// Unsigned returns the next unsigned number.
func (r *Reader) Unsigned() uint64 {
	n, size := binary.Uvarint(r.B[r.I:])
	if size <= 0 {
		r.Err, r.I = ErrForm, len(r.B)
		return 0
	}
	r.I += size
	return n
}

// Signed returns the next signed number.
func (r *Reader) Signed() (n int64) {
	for shift := 0; shift < 64; {
		b := r.Byte()
		n |= int64(b&0x7f) << shift
		shift += 7
		if b < 0x80 {
			unused := max(64-shift, 0)
			return n << unused >> unused
		}
	}
	r.Err = ErrForm
	return 0
}

// AppendSigned appends a number for Reader.Signed.
func AppendSigned(b []byte, n int64) []byte {
	for ; n < -64 || n >= 64; n >>= 7 {
		b = append(b, byte(n)&0x7f|0x80)
	}
	return append(b, byte(n)&0x7f)
}

const pageSize = 64 << 10 // bytes of a page of memory

// maxMemory is larger than the initial memory of our programs, in bytes.
const maxMemory = 1 << 28

// maxSegments is how many data segments engines accept.
const maxSegments = 100_000

// segment is a range of the initial memory.
type segment struct {
	at   int64
	data []byte
}

// InitialMemory returns the memory of a module before it runs, up to the last byte of its data segments, or nil without
// segments. It returns an error if the segments mean anything else: if the program lays them out while it runs, if they
// do not fit into its memory, or if the memory is imported and may not be zero between them.
func InitialMemory(sections []Section) ([]byte, error) {
	at := Find(sections, Data)
	if at < 0 {
		return nil, nil
	}
	if Find(sections, DataCount) >= 0 {
		return nil, fmt.Errorf("%w: the program may lay out segments while it runs", ErrForm)
	}
	room, err := ownMemory(sections)
	if err != nil {
		return nil, err
	}
	segments, err := readSegments(sections[at].Body)
	if err != nil {
		return nil, err
	}
	size := int64(0)
	for _, s := range segments {
		end := s.at + int64(len(s.data))
		if s.at < 0 || end > min(room, maxMemory) {
			return nil, fmt.Errorf("%w: a data segment of %d bytes at %d in a memory of %d", ErrForm, len(s.data),
				s.at, room)
		}
		size = max(size, end)
	}
	memory := make([]byte, size)
	for _, s := range segments { // later segments overwrite earlier ones
		copy(memory[s.at:], s.data)
	}
	return memory, nil
}

// ownMemory returns the size of a module's only memory in bytes.
func ownMemory(sections []Section) (int64, error) {
	if _, err := importedFunctions(sections); err != nil { // a memory may be imported
		return 0, err
	}
	at := Find(sections, Memory)
	if at < 0 {
		return 0, fmt.Errorf("%w: it has data and no memory of its own", ErrForm)
	}
	r := &Reader{B: sections[at].Body}
	n, kind, pages := r.Unsigned(), r.Byte(), r.Unsigned()
	if n != 1 || kind > 1 || pages > 1<<16 || r.Err != nil {
		return 0, fmt.Errorf("%w: %d memories, the first of kind %d and %d pages", ErrForm, n, kind, pages)
	}
	return int64(pages) * pageSize, nil
}

// WriteMemory returns the body of a data section for a memory. It writes up to gap zeros between
// two ranges, so a larger gap makes fewer segments.
func WriteMemory(memory []byte, gap int) []byte {
	segments := cut(memory, gap)
	for len(segments) > maxSegments {
		gap *= 2
		segments = cut(memory, gap)
	}
	return writeSegments(segments)
}

// cut splits a memory at more than gap zeros.
func cut(memory []byte, gap int) (out []segment) {
	for at := 0; at < len(memory); {
		if memory[at] == 0 {
			at++
			continue
		}
		end, zeros := at+1, 0
		for i := at + 1; i < len(memory) && zeros <= gap; i++ {
			if zeros++; memory[i] != 0 {
				end, zeros = i+1, 0
			}
		}
		out = append(out, segment{int64(at), memory[at:end]})
		at = end
	}
	return out
}

func readSegments(body []byte) ([]segment, error) {
	r := &Reader{B: body}
	var out []segment
	for range r.Unsigned() {
		if flag, op := r.Byte(), r.Byte(); flag != 0 || op != OpI32Const {
			return nil, fmt.Errorf("%w: a data segment begins %d %d", ErrForm, flag, op)
		}
		at := r.Signed()
		if end := r.Byte(); end != OpEnd || r.Err != nil {
			return nil, ErrForm
		}
		out = append(out, segment{at, r.Take(int(r.Unsigned()))})
	}
	return out, r.Err
}

func writeSegments(segments []segment) []byte {
	out := binary.AppendUvarint(nil, uint64(len(segments)))
	for _, s := range segments {
		out = append(out, 0, OpI32Const)
		out = append(AppendSigned(out, s.at), OpEnd)
		out = append(binary.AppendUvarint(out, uint64(len(s.data))), s.data...)
	}
	return out
}
