package module

import "fmt"

const pageSize = 64 << 10 // bytes of a page of memory

// maxMemory is more than the initial memory of any program of ours, in bytes.
const maxMemory = 1 << 28

// maxSegments is how many data segments engines take.
const maxSegments = 100_000

// segment is a stretch of the initial memory.
type segment struct {
	at   int64
	data []byte
}

// InitialMemory returns what a module lays out in its memory before it runs, up to the
// last byte that it says, or nil if that is nothing. It is an error if data segments say
// anything else than that: segments that the program lays out itself while it runs,
// that do not fit into its memory, or that lie in a memory which is not its own and
// need not be zero between them.
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
	for _, s := range segments { // in this order: later ones win
		copy(memory[s.at:], s.data)
	}
	return memory, nil
}

// ownMemory returns how large the one memory is that a module has, in bytes.
func ownMemory(sections []Section) (int64, error) {
	if _, err := importedFunctions(sections); err != nil { // a memory may be among the imports
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

// WriteMemory returns the body of a data section that lays out a memory. Up to gap zeros between two stretches are
// written out, so a larger gap makes fewer segments.
func WriteMemory(memory []byte, gap int) []byte {
	segments := cut(memory, gap)
	for len(segments) > maxSegments {
		gap *= 2
		segments = cut(memory, gap)
	}
	return writeSegments(segments)
}

// cut cuts a memory where there are long gaps of zeros.
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
	out := AppendUnsigned(nil, uint64(len(segments)))
	for _, s := range segments {
		out = append(out, 0, OpI32Const)
		out = append(AppendSigned(out, s.at), OpEnd)
		out = append(AppendUnsigned(out, uint64(len(s.data))), s.data...)
	}
	return out
}
