package profiles

import (
	"bytes"
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

// Bytes is content in memory. Decode keeps a reference to it while it reads, and does not
// modify it.
type Bytes []byte

// Size returns the number of bytes.
func (b Bytes) Size() int64 { return int64(len(b)) }

// ReadAt implements io.ReaderAt.
func (b Bytes) ReadAt(p []byte, off int64) (int, error) { return bytes.NewReader(b).ReadAt(p, off) }

// ReadAhead is how many bytes of a Content are requested at a time.
const ReadAhead = 1 << 20

// Decode reads a profile from c, which may be gzipped. The format is recognized by the content
// alone; name becomes the profile's name if the content has none. poll may be nil. A Content
// that is not Bytes is streamed if its format supports that, and read whole otherwise. Errors
// are *FormatError or *FormatErrors (see Problems), those of ReadAt, or poll's own when it
// stops.
func Decode(name string, c Content, poll *engine.Poll) (*Profile, error) {
	return DecodeDevice(name, c, AnyDevice, poll)
}

// AnyDevice lets the format choose which of several devices to read.
const AnyDevice = -1

// DecodeDevice is Decode for files that cover several devices: it reads device, a number from
// History.Devices. Other files are read as Decode reads them.
func DecodeDevice(name string, c Content, device int, poll *engine.Poll) (*Profile, error) {
	if err := poll.Err(); err != nil {
		return nil, err
	}
	q := &reading{plainName(name), device, poll}
	head := make([]byte, min(c.Size(), HeadSize))
	if err := readAt(c, head, 0); err != nil {
		return nil, err
	}
	if isGzip(head) {
		return q.packed(c)
	}
	data, inMemory := c.(Bytes)
	if inMemory {
		return q.held(data)
	}
	all := io.NewSectionReader(c, 0, c.Size())
	if f := streamer(head); f != nil {
		if c.Size() > int64(f.mostStreamed()) {
			return nil, tooLarge(f.mostStreamed())
		}
		if bytes.HasPrefix(head, byteOrderMark) {
			_, _ = io.CopyN(io.Discard, all, int64(len(byteOrderMark))) // skipped: head shows that it is there
		}
		return q.stream(f, all, int(c.Size()))
	}
	if most := limit(bytes.TrimPrefix(head, byteOrderMark)); c.Size() > int64(most) {
		return nil, tooLarge(most)
	}
	data = make([]byte, c.Size())
	for at := 0; at < len(data); at += ReadAhead { // in parts: a reader may copy what is requested
		if err := readAt(c, data[at:min(at+ReadAhead, len(data))], int64(at)); err != nil {
			return nil, err
		}
	}
	return q.held(data)
}

// readAt fills p from c, or as much of it as there is.
func readAt(c Content, p []byte, off int64) error {
	if _, err := c.ReadAt(p, off); err != nil && err != io.EOF {
		return err
	}
	return nil
}

// reading holds the arguments of one call of DecodeDevice.
type reading struct {
	name   string
	device int
	poll   *engine.Poll
}

// stream decodes r with the Stream function of f.
func (q *reading) stream(f *Format, r io.Reader, total int) (*Profile, error) {
	return f.finished(func() *Profile { return f.Stream(q.name, r, total, q.device, q.poll) })
}

// packed decodes gzip data: while it is unpacked, if its format supports that.
func (q *reading) packed(c Content) (*Profile, error) {
	u, err := unzip(c)
	if err != nil {
		return nil, err
	}
	if f := streamer(u.head); f != nil {
		u.limit(f.mostStreamed())
		return q.stream(f, io.MultiReader(bytes.NewReader(bytes.TrimPrefix(u.head, byteOrderMark)), u), u.said)
	}
	data, err := u.whole(u.usual(), q.poll)
	if err != nil {
		return nil, err
	}
	return q.held(data)
}

// held decodes content that is in memory and not packed.
func (q *reading) held(data []byte) (*Profile, error) {
	data, err := unmarked(data)
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

// finished runs read and completes the profile that it returns.
func (f *Format) finished(read func() *Profile) (*Profile, error) {
	p, err := Try(read)
	if err != nil {
		return nil, err
	}
	return f.Complete(p)
}

// Complete finishes a profile as if f had just read it: it checks it with Admit, sets its
// format and adds the warnings of Lint.
func (f *Format) Complete(p *Profile) (*Profile, error) {
	if e := Admit(p); e != nil {
		e.Format = f.Name
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

// mergeWarnings returns list and the warnings of more that are not yet in it. Two warnings that
// differ only in the unit after readAs count as the same: list may come from another file, and
// then names the unit in which that one was read.
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

// streamer returns the format that streams content with this head, or nil if the content has to
// be read whole.
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

// unknownContent returns the error for content that no format claims. Without a diagnosis it
// can only name the native format: such a program is linked with that alone, and the page asks
// the complete reader first.
func unknownContent(data []byte) error {
	if diagnose == nil {
		return &FormatError{Found: "The content is not in memtide's own format", Expected: "Only that is read here."}
	}
	return diagnose(data[:min(len(data), HeadSize)])
}
