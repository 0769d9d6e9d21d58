package profiles

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"memtide/engine"
)

// Unpack unzips data if it is gzipped, and removes a byte order mark, as Decode does.
func Unpack(data []byte, poll *engine.Poll) ([]byte, error) {
	if isGzip(data) {
		u, err := unzip(Bytes(data))
		if err != nil {
			return nil, err
		}
		if data, err = u.whole(u.usual(), poll); err != nil {
			return nil, err
		}
	}
	return unmarked(data)
}

// unmarked removes a byte order mark, and refuses content that is larger than its format reads.
func unmarked(data []byte) ([]byte, error) {
	data = bytes.TrimPrefix(data, byteOrderMark)
	if most := limit(data); len(data) > most {
		return nil, tooLarge(most)
	}
	return data, nil
}

// isGzip reports whether data is gzipped.
func isGzip(data []byte) bool { return bytes.HasPrefix(data, []byte{0x1f, 0x8b}) }

// unzipped reads gzip data behind its head, up to a limit. Its errors are *FormatError.
type unzipped struct {
	zr         *gzip.Reader
	head       []byte // of the unpacked content; a part of it if the data is damaged
	said       int    // size of the unpacked content by the trailer; 0 if that is not plausible
	left, most int
	size       int64 // of the packed content
}

// unzip begins to unpack c.
func unzip(c Content) (*unzipped, error) {
	tail := make([]byte, min(c.Size(), 4))
	if err := readAt(c, tail, c.Size()-int64(len(tail))); err != nil {
		return nil, err
	}
	zr, err := gzip.NewReader(bufio.NewReaderSize(io.NewSectionReader(c, 0, c.Size()), int(min(c.Size(), ReadAhead))))
	if err != nil {
		return nil, badGzip(err)
	}
	head := make([]byte, HeadSize)
	n, _ := io.ReadFull(zr, head) // an error comes again when the rest is read
	return &unzipped{zr: zr, head: head[:n], said: int(unpackedSize(tail, c.Size())), size: c.Size()}, nil
}

// limit sets the most that may be unpacked.
func (u *unzipped) limit(most int) {
	u.most, u.left = most, min(most, mostUnpacked(u.size))-len(u.head)
}

func (u *unzipped) Read(p []byte) (int, error) {
	n, err := u.zr.Read(p)
	if u.left -= n; u.left < 0 {
		return 0, tooLargeUnpacked(u.most, mostUnpacked(u.size), int(u.size))
	}
	if err != nil && err != io.EOF {
		err = badGzip(err)
	}
	return n, err
}

// usual returns the largest size at which the content is read whole.
func (u *unzipped) usual() int { return limit(bytes.TrimPrefix(u.head, byteOrderMark)) }

// whole returns all of the unpacked content, which is at most most bytes.
func (u *unzipped) whole(most int, poll *engine.Poll) ([]byte, error) {
	u.limit(most)
	if packed := mostUnpacked(u.size); u.said > min(u.most, packed) {
		return nil, tooLargeUnpacked(u.most, packed, int(u.size))
	}
	var all bytes.Buffer // the size in the trailer is wrong for concatenated gzip files: then it grows
	all.Grow(max(u.said, len(u.head)) + bytes.MinRead)
	all.Write(u.head)
	for {
		if err := poll.Err(); err != nil {
			return nil, err
		}
		if _, err := io.CopyN(&all, u, ReadAhead); err == io.EOF {
			return all.Bytes(), nil
		} else if err != nil {
			return nil, err
		}
	}
}

// badGzip returns the error for damaged gzip data. An error of the content itself is returned
// as it is.
func badGzip(err error) error {
	if own := (*FormatError)(nil); errors.As(err, &own) { // about the content, not about gzip
		return own
	}
	found := "The gzip data is damaged"
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		found = "The gzip data ends early"
	}
	return &FormatError{Found: found, Expected: "A complete gzip file is expected.",
		Remedy: "Copy or download the file again, or unpack it first."}
}

// mostUnpacked returns the largest size to which packed bytes may unpack. Traces, the most
// repetitive files, shrink by a factor of 35; deflate can reach 1000.
func mostUnpacked(packed int64) int { return int(min(64<<20+40*packed, MaxStream)) }

// tooLargeUnpacked returns the error for content of size packed bytes that unpacks to more than
// most, the limit of its format, or than packed, the limit by mostUnpacked.
func tooLargeUnpacked(most, packed, size int) error {
	if most <= packed {
		return tooLarge(most)
	}
	return &FormatError{Found: fmt.Sprintf("The file unpacks to more than %s, from %d bytes", megabytes(packed), size),
		Expected: "A packed file may unpack to 64 MiB and 40 times its size.",
		Remedy:   "If it is what it should be, unpack it first and open that."}
}

// unpackedSize returns the content size in the trailer end of a gzip file of packed bytes, or 0
// if it is not plausible: deflate packs at most 1032 bytes into one (RFC 1951).
func unpackedSize(end []byte, packed int64) int64 {
	if len(end) < 4 || packed < 18 {
		return 0
	}
	n := int64(binary.LittleEndian.Uint32(end[len(end)-4:]))
	if n > 1032*packed {
		return 0
	}
	return n
}
