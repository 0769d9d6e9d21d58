package profiles

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"memtide/engine"
)

// unpack unzips data if it is gzipped, and removes a byte order mark.
func unpack(data []byte, poll *engine.Poll) ([]byte, error) {
	if isGzip(data) {
		var err error
		if data, err = gunzip(data, limit, poll); err != nil {
			return nil, err
		}
	}
	data = bytes.TrimPrefix(data, byteOrderMark)
	if most := limit(data); len(data) > most {
		return nil, tooLarge(most)
	}
	return data, nil
}

// Unpack unzips data if it is gzipped, and removes a byte order mark, as Decode does.
func Unpack(data []byte, poll *engine.Poll) ([]byte, error) { return unpack(data, poll) }

// isGzip reports whether data is gzipped.
func isGzip(data []byte) bool { return bytes.HasPrefix(data, []byte{0x1f, 0x8b}) }

// streamed returns the format that streams the content of packed, gzip data of size bytes, and
// a reader of the content. The format is nil if the data is damaged or has to be read whole.
func streamed(packed io.Reader, size int64) (*Format, io.Reader) {
	zr, err := gzip.NewReader(packed)
	if err != nil {
		return nil, nil // unpack says why
	}
	head := make([]byte, HeadSize)
	n, _ := io.ReadFull(zr, head)
	head = bytes.TrimPrefix(head[:n], byteOrderMark)
	f := streamer(head)
	if f == nil {
		return nil, nil
	}
	most := min(f.mostStreamed(), mostUnpacked(size))
	return f, io.MultiReader(bytes.NewReader(head), &unzipped{zr, most - len(head), f.mostStreamed(), size})
}

// unzipped reads gzip data, up to a limit. Its errors are *FormatError.
type unzipped struct {
	zr         *gzip.Reader
	left, most int
	size       int64 // of the packed content
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

// gunzip unpacks data. limit returns the largest unpacked size, given the first bytes.
func gunzip(data []byte, limit func(head []byte) int, poll *engine.Poll) ([]byte, error) {
	zr, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, badGzip(err)
	}
	head := make([]byte, HeadSize)
	n, err := io.ReadFull(zr, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return checkedEnd(zr, head[:n])
	}
	if err != nil {
		return nil, badGzip(err)
	}
	most, packed := limit(bytes.TrimPrefix(head, byteOrderMark)), mostUnpacked(int64(len(data)))
	said := int(unpackedSize(data, int64(len(data))))
	if said > min(most, packed) {
		return nil, tooLargeUnpacked(most, packed, len(data))
	}
	// The size in the trailer is wrong for concatenated gzip files. The rest of such a file is
	// read into further parts, so that no large slice has to grow by copying.
	parts := [][]byte{append(make([]byte, 0, max(said, HeadSize)), head...)}
	for all := HeadSize; ; {
		if err := poll.Err(); err != nil {
			return nil, err
		}
		last := &parts[len(parts)-1]
		if len(*last) == cap(*last) {
			parts = append(parts, make([]byte, 0, ReadAhead))
			last = &parts[len(parts)-1]
		}
		n, err := zr.Read((*last)[len(*last):min(cap(*last), len(*last)+ReadAhead)])
		*last = (*last)[:len(*last)+n]
		if all += n; all > min(most, packed) {
			return nil, tooLargeUnpacked(most, packed, len(data))
		}
		switch {
		case err == io.EOF && len(parts) == 1:
			return *last, nil
		case err == io.EOF:
			return bytes.Join(parts, nil), nil
		case err != nil:
			return nil, badGzip(err)
		}
	}
}

// checkedEnd returns content, which has been read completely, after checking the gzip trailer.
func checkedEnd(zr *gzip.Reader, content []byte) ([]byte, error) {
	if _, err := zr.Read(make([]byte, 1)); err != io.EOF {
		return nil, badGzip(err)
	}
	return content, nil
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
