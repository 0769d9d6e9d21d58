package profiles

import (
	"bufio"
	"bytes"
	"io"

	"memtide/engine"
)

// Content is a file that is read where it lies, a part at a time.
type Content interface {
	io.ReaderAt
	Size() int64 // in bytes
}

// readAhead is how much of a Content is asked for at once.
const readAhead = 1 << 20

// DecodeFrom is Decode for content that is not in memory. Formats whose files are
// large take it piece by piece; for the others all of it is read. Errors of
// ReadAt are passed on.
func DecodeFrom(name string, c Content, poll *engine.Poll) (*Profile, error) {
	if err := poll.Err(); err != nil {
		return nil, err
	}
	head := make([]byte, min(c.Size(), HeadSize))
	if _, err := c.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	}
	all := io.NewSectionReader(c, 0, c.Size())
	f, r, total := (*Format)(nil), io.Reader(nil), c.Size()
	if isGzip(head) {
		tail := make([]byte, min(c.Size(), 4))
		if _, err := c.ReadAt(tail, c.Size()-int64(len(tail))); err != nil && err != io.EOF {
			return nil, err
		}
		f, r = streamed(bufio.NewReaderSize(all, readAhead), c.Size())
		total = unpackedSize(tail, c.Size())
	} else if f = streamer(head); f != nil {
		if total > int64(f.mostStreamed()) {
			return nil, tooLarge(f.mostStreamed())
		}
		r = all
		if bytes.HasPrefix(head, byteOrderMark) {
			_, _ = io.CopyN(io.Discard, r, int64(len(byteOrderMark))) // the head has been read before
		}
	}
	if f != nil {
		p, err := f.Stream(plainName(name), r, int(total), poll)
		return finished(f, p, err)
	}
	if most := limit(bytes.TrimPrefix(head, byteOrderMark)); c.Size() > int64(most) && !isGzip(head) || c.Size() > MaxSize {
		return nil, tooLarge(min(most, MaxSize))
	}
	data := make([]byte, c.Size())
	for at := 0; at < len(data); at += readAhead { // in parts: a reader may copy what it is asked for
		if _, err := c.ReadAt(data[at:min(at+readAhead, len(data))], int64(at)); err != nil && err != io.EOF {
			return nil, err
		}
	}
	return Decode(name, data, poll)
}

// streamer is the format that reads content with this head piece by piece; nil if
// it has to be held whole.
func streamer(head []byte) *Format {
	claims := claimants(bytes.TrimPrefix(head, byteOrderMark))
	if len(claims) != 1 || claims[0].Stream == nil {
		return nil
	}
	return claims[0]
}

// mostStreamed is the largest content that the format's Stream reads.
func (f *Format) mostStreamed() int { return max(f.MaxStream, f.MaxSize) }
