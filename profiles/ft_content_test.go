package profiles

import (
	"bytes"
	"io"
)

// lying is content in memory that pretends to lie elsewhere.
type lying struct{ *bytes.Reader }

func contentOf(data []byte) Content { return lying{bytes.NewReader(data)} }

// segment is a part of a sparse file: data, then zeros.
type segment struct {
	data  []byte
	zeros int64
}

// sparse is a large file of which only the parts that are not zero are in memory.
type sparse struct {
	parts []segment
	read  int64
}

func (s *sparse) Size() (n int64) {
	for _, p := range s.parts {
		n += int64(len(p.data)) + p.zeros
	}
	return n
}

func (s *sparse) ReadAt(p []byte, off int64) (n int, err error) {
	s.read += int64(len(p))
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
	for _, part := range s.parts {
		take(part.data, int64(len(part.data)))
		take(nil, part.zeros)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
