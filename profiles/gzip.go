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

// unpack undoes gzip and removes a byte order mark.
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

// Unpack undoes gzip and removes a byte order mark, as Decode does.
func Unpack(data []byte, poll *engine.Poll) ([]byte, error) { return unpack(data, poll) }

// isGzip reports whether content is packed.
func isGzip(data []byte) bool { return bytes.HasPrefix(data, []byte{0x1f, 0x8b}) }

// streamed is the format that reads gzip data while they are unpacked, and the
// content for it; nil if they are damaged or their format wants them whole.
// size is that of the packed content.
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

// unzipped is content while it is unpacked; its errors are *FormatError.
type unzipped struct {
	zr         *gzip.Reader
	left, most int
	size       int64 // packed
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

// badGzip says what is wrong with gzip data.
func badGzip(err error) error {
	if own := (*FormatError)(nil); errors.As(err, &own) { // of the content, not of the packing
		return own
	}
	found := "The gzip data is damaged"
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		found = "The gzip data ends early"
	}
	return &FormatError{Found: found, Expected: "A complete gzip file is expected.",
		Remedy: "Copy or download the file again, or unpack it first."}
}

// gunzip unpacks content. limit says from its beginning how much it may be.
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
	// What the end says is right but in files that were put together: more comes in
	// parts, so that nothing is copied until all of it has room.
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

// checkedEnd is short content, if what packs it is whole.
func checkedEnd(zr *gzip.Reader, content []byte) ([]byte, error) {
	if _, err := zr.Read(make([]byte, 1)); err != io.EOF {
		return nil, badGzip(err)
	}
	return content, nil
}

// mostUnpacked is how much so many packed bytes may unpack to. Traces, the most
// repetitive files that there are, pack to a thirty-fifth; deflate could pack a
// thousand bytes into one.
func mostUnpacked(packed int64) int { return int(min(64<<20+40*packed, MaxStream)) }

// tooLargeUnpacked is the error of packed content beyond what its kind may have,
// or beyond what its packed size lets expect.
func tooLargeUnpacked(most, packed, size int) error {
	if most <= packed {
		return tooLarge(most)
	}
	return &FormatError{Found: fmt.Sprintf("The file unpacks to more than %s, from %d bytes", megabytes(packed), size),
		Expected: "A packed file may unpack to 64 MiB and 40 times its size.", Remedy: "If it is what it should be, unpack it first and open that."}
}

// unpackedSize is what the end of so many gzip bytes says about the size of their
// content, 0 if that cannot be: deflate packs 1032 bytes into one at most (RFC 1951).
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
