package profiles

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"memtide/engine"
)

// MaxSize is the largest content that any format holds whole, after unpacking; most
// read less, see Format.MaxSize, and some read more a part at a time, see
// Format.MaxStream.
const MaxSize = 512 << 20

// MaxStream is the largest content that any format reads a part at a time, a model:
// that of a message of protocol buffers
// (https://protobuf.dev/programming-guides/proto-limits/). Larger networks have their
// weights in files beside the model.
const MaxStream = 2 << 30

// usualSize is the largest content of formats that do not say.
const usualSize = 128 << 20

// Content is a file that is read where it lies, a part at a time.
type Content interface {
	io.ReaderAt
	Size() int64 // in bytes
}

// Bytes is content in memory. Decode holds it while it reads and does not change it.
type Bytes []byte

// Size is the number of bytes.
func (b Bytes) Size() int64 { return int64(len(b)) }

// ReadAt copies from the content.
func (b Bytes) ReadAt(p []byte, off int64) (int, error) { return bytes.NewReader(b).ReadAt(p, off) }

// ReadAhead is how much of a Content is asked for at once.
const ReadAhead = 1 << 20

// Decode reads a profile from content, gzipped or not. The format is told by the
// content alone; name only names the profile where the content does not. poll may be
// nil. Formats whose files are large take what is not in memory piece by piece; for
// the others all of it is read. Errors are *FormatError or *FormatErrors (see
// Problems), those of ReadAt, or the poll's own when it stops.
func Decode(name string, c Content, poll *engine.Poll) (*Profile, error) {
	return DecodeDevice(name, c, AnyDevice, poll)
}

// AnyDevice leaves it to the format which of several devices is read.
const AnyDevice = -1

// DecodeDevice reads what a file says about one of several devices; of files about no
// device or one, it is Decode.
func DecodeDevice(name string, c Content, device int, poll *engine.Poll) (*Profile, error) {
	if err := poll.Err(); err != nil {
		return nil, err
	}
	q := &reading{plainName(name), device, poll}
	if data, ok := c.(Bytes); ok {
		return q.held(data)
	}
	f, r, total, err := stream(c)
	if err != nil {
		return nil, err
	}
	if f != nil {
		return q.stream(f, r, total)
	}
	data := make([]byte, c.Size())
	for at := 0; at < len(data); at += ReadAhead { // in parts: a reader may copy what it is asked for
		if _, err := c.ReadAt(data[at:min(at+ReadAhead, len(data))], int64(at)); err != nil && err != io.EOF {
			return nil, err
		}
	}
	return q.held(data)
}

// reading is what one file is asked for.
type reading struct {
	name   string
	device int
	poll   *engine.Poll
}

// stream reads content of a format piece by piece.
func (q *reading) stream(f *Format, r io.Reader, total int) (*Profile, error) {
	return f.finished(func() *Profile { return f.Stream(q.name, r, total, q.device, q.poll) })
}

// stream is the format that reads content piece by piece, the content for it, and its
// size unpacked, 0 if that is not known. The format is nil if the content is to be
// held; content that is too large for that is refused.
func stream(c Content) (f *Format, r io.Reader, total int, err error) {
	head := make([]byte, min(c.Size(), HeadSize))
	if _, err := c.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, nil, 0, err
	}
	all := io.NewSectionReader(c, 0, c.Size())
	if isGzip(head) {
		tail := make([]byte, min(c.Size(), 4))
		if _, err := c.ReadAt(tail, c.Size()-int64(len(tail))); err != nil && err != io.EOF {
			return nil, nil, 0, err
		}
		f, r = streamed(bufio.NewReaderSize(all, ReadAhead), c.Size())
		if f == nil && c.Size() > MaxSize {
			err = tooLarge(min(limit(head), MaxSize))
		}
		return f, r, int(unpackedSize(tail, c.Size())), err
	}
	if f = streamer(head); f == nil {
		if most := limit(bytes.TrimPrefix(head, byteOrderMark)); c.Size() > int64(most) {
			err = tooLarge(most)
		}
		return nil, nil, 0, err
	}
	if c.Size() > int64(f.mostStreamed()) {
		return nil, nil, 0, tooLarge(f.mostStreamed())
	}
	if bytes.HasPrefix(head, byteOrderMark) {
		_, _ = io.CopyN(io.Discard, all, int64(len(byteOrderMark))) // the head has been read before
	}
	return f, all, int(c.Size()), nil
}

// held decodes content that is in memory.
func (q *reading) held(data []byte) (*Profile, error) {
	if err := q.poll.Err(); err != nil {
		return nil, err
	}
	if isGzip(data) {
		if f, r := streamed(bytes.NewReader(data), int64(len(data))); f != nil {
			return q.stream(f, r, int(unpackedSize(data, int64(len(data)))))
		}
	}
	data, err := unpack(data, q.poll)
	if err != nil {
		return nil, err
	}
	claims := claimants(data)
	switch {
	case len(claims) == 0:
		return nil, unknownContent(data)
	case len(claims) > 1:
		return nil, &FormatError{
			Found:    fmt.Sprintf("The content reads as %s and as %s", claims[0].Title, claims[1].Title),
			Expected: "It must be one of them.",
			Remedy:   "Save it as a memtide/1 file.",
		}
	}
	f := claims[0]
	if f.Decode == nil {
		return q.stream(f, bytes.NewReader(data), len(data))
	}
	return f.finished(func() *Profile { return f.Decode(q.name, data, q.poll) })
}

// finished completes what a format makes of content.
func (f *Format) finished(read func() *Profile) (*Profile, error) {
	p, err := Try(read)
	if err != nil {
		return nil, err
	}
	return f.Complete(p)
}

// Complete completes a profile as if the format had just read it: what it finds in it, or
// why it is not taken.
func (f *Format) Complete(p *Profile) (*Profile, error) {
	if e := Admit(p); e != nil {
		e.Format = f.Name
		return nil, e
	}
	p.Format = f.Name
	p.Warnings = mergeWarnings(p.Warnings, Lint(p))
	return p, nil
}

// Claimants are the formats of this program that recognize content: exactly one does
// what Decode reads. A byte order mark is skipped; packed content is not looked into.
func Claimants(data []byte) []*Format { return claimants(bytes.TrimPrefix(data, byteOrderMark)) }

func claimants(data []byte) (claims []*Format) {
	head := data[:min(len(data), HeadSize)]
	for _, f := range registry {
		if f.Match(head) {
			claims = append(claims, f)
		}
	}
	return claims
}

// limit is the largest content of a kind that is read.
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
		Expected: fmt.Sprintf("At most %d MiB are read.", most>>20), Remedy: "Save fewer steps, only the stages, or a model without its weights."}
}

// plainName is the base of a file's name, without the endings of formats.
func plainName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	for _, end := range []string{".gz", ".json", ".csv", ".tsv", ".txt", ".graph", ".chain", ".onnx", ".pickle", ".pkl", ".log", ".trace", ".pt"} {
		if len(name) > len(end) && strings.EqualFold(name[len(name)-len(end):], end) {
			name = name[:len(name)-len(end)]
		}
	}
	return strings.ToValidUTF8(name, "?")
}

// mergeWarnings appends the warnings of more that are not in list yet. One that names the
// unit of another file, which list was read from, is: it says how that was read.
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

// streamer is the format that reads content with this head piece by piece; nil if
// it has to be held whole.
func streamer(head []byte) *Format {
	if claims := Claimants(head); len(claims) == 1 && claims[0].Stream != nil {
		return claims[0]
	}
	return nil
}

// mostStreamed is the largest content that the format's Stream reads.
func (f *Format) mostStreamed() int { return max(f.MaxStream, f.MaxSize) }

// RegisterDiagnosis sets what explains content that no format claims, by its head. It
// panics if there is something already.
func RegisterDiagnosis(f func(head []byte) *FormatError) {
	if diagnose != nil {
		panic("profiles: the diagnosis is registered twice")
	}
	diagnose = f
}

var diagnose func(head []byte) *FormatError

// unknownContent is the error of content that no format claims. A program with one
// format of many knows no more than that: the page asks its reader before it comes
// to that.
func unknownContent(data []byte) error {
	if diagnose == nil {
		return &FormatError{Found: "The content is not in memtide's own format", Expected: "Only that is read here."}
	}
	return diagnose(data[:min(len(data), HeadSize)])
}
