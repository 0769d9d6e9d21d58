package profiles

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"memtide/engine"
)

// MaxSize is the largest unpacked content that any format reads whole. Most formats read less
// (Format.MaxSize); some stream more (Format.MaxStream).
const MaxSize = 512 << 20

// MaxStream is the largest content that any format streams. It is the limit of a protocol
// buffers message (https://protobuf.dev/programming-guides/proto-limits/), and so of a model;
// larger networks keep their weights in separate files.
const MaxStream = 2 << 30

// usualSize is the largest content of a format whose MaxSize is 0.
const usualSize = 128 << 20

// Content is a file that is read in parts, without loading all of it.
type Content interface {
	io.ReaderAt
	Size() int64 // in bytes
}

// Bytes is content in memory. Decode keeps a reference to it while it reads, and does not modify it.
type Bytes []byte

// Size returns the number of bytes.
func (b Bytes) Size() int64 { return int64(len(b)) }

// ReadAt implements io.ReaderAt.
func (b Bytes) ReadAt(p []byte, off int64) (int, error) { return bytes.NewReader(b).ReadAt(p, off) }

// ReadAhead is how many bytes of a Content are requested at a time.
const ReadAhead = 1 << 20

// Decode reads a profile from c, which may be gzipped. The format is recognized by the content alone; name becomes the
// profile's name if the content has none. poll may be nil. A Content that is not Bytes is streamed if its format
// supports that, and read whole otherwise. Errors are *FormatError or *FormatErrors (see Problems), those of ReadAt, or
// poll's own when it stops.
func Decode(name string, c Content, poll *engine.Poll) (*Profile, error) {
	return DecodeDevice(name, c, AnyDevice, poll)
}

// AnyDevice lets the format choose which of several devices to read.
const AnyDevice = -1

// DecodeDevice is Decode for files that cover several devices: it reads device, a number from
// History.Devices. Other files are read as Decode reads them.
func DecodeDevice(name string, c Content, device int, poll *engine.Poll) (*Profile, error) {
	return Try(func() *Profile {
		End(poll.Err())
		return (&reading{plainName(name), device, poll}).decode(c)
	})
}

// reading holds the arguments of one call of DecodeDevice. Its methods end at their first error.
type reading struct {
	name   string
	device int
	poll   *engine.Poll
}

func (q *reading) decode(c Content) *Profile {
	head := make([]byte, min(c.Size(), HeadSize))
	readAt(c, head, 0)
	if isGzip(head) {
		return q.packed(c)
	}
	if data, inMemory := c.(Bytes); inMemory {
		return q.held(data)
	}
	all := io.NewSectionReader(c, 0, c.Size())
	if f := streamer(head); f != nil {
		if c.Size() > int64(f.mostStreamed()) {
			End(tooLarge(f.mostStreamed()))
		}
		if bytes.HasPrefix(head, byteOrderMark) {
			_, _ = io.CopyN(io.Discard, all, int64(len(byteOrderMark))) // skipped: head shows that it is there
		}
		return q.stream(f, all, int(c.Size()))
	}
	if most := limit(bytes.TrimPrefix(head, byteOrderMark)); c.Size() > int64(most) {
		End(tooLarge(most))
	}
	data := make([]byte, c.Size())
	for at := 0; at < len(data); at += ReadAhead { // in parts: a reader may copy what is requested
		readAt(c, data[at:min(at+ReadAhead, len(data))], int64(at))
	}
	return q.held(data)
}

// readAt fills p from c, or as much of it as there is.
func readAt(c Content, p []byte, off int64) {
	if _, err := c.ReadAt(p, off); err != io.EOF {
		End(err)
	}
}

// stream decodes r with the Stream function of f.
func (q *reading) stream(f *Format, r io.Reader, total int) *Profile {
	return f.finish(f.Stream(q.name, r, total, q.device, q.poll))
}

// packed decodes gzip data: while it is unpacked, if its format supports that.
func (q *reading) packed(c Content) *Profile {
	u := unzip(c)
	if f := streamer(u.head); f != nil {
		u.limit(f.mostStreamed())
		return q.stream(f, io.MultiReader(bytes.NewReader(bytes.TrimPrefix(u.head, byteOrderMark)), u), u.said)
	}
	return q.held(u.whole(u.usual(), q.poll))
}

// held decodes content that is in memory and not packed.
func (q *reading) held(data []byte) *Profile {
	data = unmarked(data)
	claims := claimants(data)
	switch {
	case len(claims) == 0 && diagnose == nil: // the program links only the native format
		End(&FormatError{Found: "The content is not in memtide's own format", Expected: "Only that is read here."})
	case len(claims) == 0:
		End(diagnose(data[:min(len(data), HeadSize)]))
	case len(claims) > 1:
		End(&FormatError{
			Found:    fmt.Sprintf("The content reads as %s and as %s", claims[0].Title, claims[1].Title),
			Expected: "It must be one of them.",
			Remedy:   "Save it as a memtide/1 file.",
		})
	}
	f := claims[0]
	if f.Decode == nil {
		return q.stream(f, bytes.NewReader(data), len(data))
	}
	return f.finish(f.Decode(q.name, data, q.poll))
}

// finish completes a profile that f has read.
func (f *Format) finish(p *Profile) *Profile {
	p, err := f.Complete(p)
	End(err)
	return p
}

// Complete finishes a profile as if f had just read it: it checks it with Admit, sets its
// format and adds the warnings of Lint.
func (f *Format) Complete(p *Profile) (*Profile, error) {
	if e := Admit(p); e != nil {
		return nil, e
	}
	p.Format = f.Name
	p.Warnings = mergeWarnings(p.Warnings, Lint(p))
	return p, nil
}

// Claimants returns the formats of this program that recognize data. Decode needs exactly one.
// A byte order mark is skipped; gzipped content is not unpacked.
func Claimants(data []byte) []*Format { return claimants(bytes.TrimPrefix(data, byteOrderMark)) }

func claimants(data []byte) (claims []*Format) {
	head := data[:min(len(data), HeadSize)]
	for _, f := range formats.All() {
		if f.Match(head) {
			claims = append(claims, f)
		}
	}
	return claims
}

// limit returns the largest size at which content that begins with head is read whole.
func limit(head []byte) int {
	most := 0
	for _, f := range claimants(head) {
		most = max(most, f.MaxSize)
	}
	if most == 0 {
		return usualSize
	}
	return min(most, MaxSize)
}

var byteOrderMark = []byte("\xef\xbb\xbf")

func tooLarge(most int) error {
	return &FormatError{Found: fmt.Sprintf("The content is larger than %d MiB, unpacked", most>>20),
		Expected: fmt.Sprintf("At most %d MiB are read.", most>>20),
		Remedy:   "Save fewer steps, only the stages, or a model without its weights."}
}

// plainName returns the base of a file name without known extensions.
func plainName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	for _, end := range []string{".gz", ".json", ".csv", ".tsv", ".txt", ".graph", ".chain", ".onnx", ".pickle",
		".pkl", ".log", ".trace", ".pt2", ".pt"} {
		if len(name) > len(end) && strings.EqualFold(name[len(name)-len(end):], end) {
			name = name[:len(name)-len(end)]
		}
	}
	return strings.ToValidUTF8(name, "?")
}

// mergeWarnings returns list and the warnings of more that are not yet in it. Two warnings that differ only in the unit
// after readAs count as the same: list may come from another file, and then names the unit in which that one was read.
func mergeWarnings(list, more []string) []string {
	seen := map[string]bool{}
	var all []string
	for _, w := range append(list[:len(list):len(list)], more...) {
		finding, _, _ := strings.Cut(w, readAs)
		if !seen[finding] {
			seen[finding] = true
			all = append(all, w)
		}
	}
	return all
}

// streamer returns the format that streams content with this head, or nil if the content has to be read whole.
func streamer(head []byte) *Format {
	if claims := Claimants(head); len(claims) == 1 && claims[0].Stream != nil {
		return claims[0]
	}
	return nil
}

// mostStreamed returns the largest content that the format's Stream reads.
func (f *Format) mostStreamed() int { return max(f.MaxStream, f.MaxSize) }

// RegisterDiagnosis sets the function that explains content that no format claims, given its
// head. It panics if one is set already.
func RegisterDiagnosis(f func(head []byte) *FormatError) {
	if diagnose != nil {
		panic("profiles: the diagnosis is registered twice")
	}
	diagnose = f
}

var diagnose func(head []byte) *FormatError

// Unpack unzips data if it is gzipped, and removes a byte order mark, as Decode does.
func Unpack(data []byte, poll *engine.Poll) ([]byte, error) {
	return Try(func() []byte {
		if isGzip(data) {
			u := unzip(Bytes(data))
			data = u.whole(u.usual(), poll)
		}
		return unmarked(data)
	})
}

// unmarked removes a byte order mark, and refuses content that is larger than its format reads.
func unmarked(data []byte) []byte {
	data = bytes.TrimPrefix(data, byteOrderMark)
	if most := limit(data); len(data) > most {
		End(tooLarge(most))
	}
	return data
}

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
func unzip(c Content) *unzipped {
	tail := make([]byte, min(c.Size(), 4))
	readAt(c, tail, c.Size()-int64(len(tail)))
	zr, err := gzip.NewReader(bufio.NewReaderSize(io.NewSectionReader(c, 0, c.Size()), int(min(c.Size(), ReadAhead))))
	if err != nil {
		End(badGzip(err))
	}
	head := make([]byte, HeadSize)
	n, _ := io.ReadFull(zr, head) // an error comes again when the rest is read
	u := &unzipped{zr: zr, head: head[:n], size: c.Size()}
	if c.Size() >= 18 { // deflate packs at most 1032 bytes into one (RFC 1951): a larger size is wrong
		if said := int64(binary.LittleEndian.Uint32(tail)); said <= 1032*c.Size() {
			u.said = int(said)
		}
	}
	return u
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
func (u *unzipped) whole(most int, poll *engine.Poll) []byte {
	u.limit(most)
	if packed := mostUnpacked(u.size); u.said > min(u.most, packed) {
		End(tooLargeUnpacked(u.most, packed, int(u.size)))
	}
	var all bytes.Buffer // the size in the trailer is wrong for concatenated gzip files: then it grows
	all.Grow(max(u.said, len(u.head)) + bytes.MinRead)
	all.Write(u.head)
	for {
		End(poll.Err())
		_, err := io.CopyN(&all, u, ReadAhead)
		if err == io.EOF {
			return all.Bytes()
		}
		End(err)
	}
}

// badGzip returns the error for damaged gzip data. An error of the content itself is returned as it is.
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
