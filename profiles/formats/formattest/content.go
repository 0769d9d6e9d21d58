package formattest

import (
	"bytes"
	"io"

	"memtide/profiles"
)

// lying is content in memory that pretends to lie elsewhere.
type lying struct{ *bytes.Reader }

// ContentOf is content that is not in memory, as far as Decode can tell.
func ContentOf(data []byte) profiles.Content { return lying{bytes.NewReader(data)} }

// Segment is a part of a sparse file: data, then zeros.
type Segment struct {
	Data  []byte
	Zeros int64
}

// Sparse is a large file of which only the parts that are not zero are in memory.
type Sparse struct {
	Parts []Segment
	Read  int64
}

// Size is that of the whole file.
func (s *Sparse) Size() (n int64) {
	for _, p := range s.Parts {
		n += int64(len(p.Data)) + p.Zeros
	}
	return n
}

// ReadAt counts in Read what it is asked for.
func (s *Sparse) ReadAt(p []byte, off int64) (n int, err error) {
	s.Read += int64(len(p))
	take := func(data []byte, size int64) {
		if off >= size {
			off -= size
			return
		}
		m := int(min(size-off, int64(len(p)-n)))
		if data == nil {
			clear(p[n : n+m])
		} else {
			copy(p[n:n+m], data[off:])
		}
		n, off = n+m, 0
	}
	for _, part := range s.Parts {
		take(part.Data, int64(len(part.Data)))
		take(nil, part.Zeros)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
