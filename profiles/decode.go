package profiles

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"memtide/engine"
)

// MaxSize is the largest content that is read, after unpacking.
const MaxSize = 256 << 20

// Decode reads a profile from the content of a file, gzipped or not. The format
// is told by the content alone; name only names the profile where the content
// does not. poll may be nil. Errors are *FormatError or *FormatErrors (see
// Problems), or the poll's own when it stops.
func Decode(name string, data []byte, poll *engine.Poll) (*Profile, error) {
	if err := poll.Err(); err != nil {
		return nil, err
	}
	data, err := unpack(data, poll)
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
	p, err := f.Decode(plainName(name), data, poll)
	if err != nil {
		return nil, err
	}
	p.Format = f.Name
	p.Warnings = mergeWarnings(p.Warnings, Lint(p))
	return p, nil
}

// claimants are the formats that recognize unpacked content.
func claimants(data []byte) (claims []*Format) {
	head := data[:min(len(data), HeadSize)]
	for _, f := range registry {
		if f.Match(head) {
			claims = append(claims, f)
		}
	}
	return claims
}

// unpack undoes gzip and removes a byte order mark.
func unpack(data []byte, poll *engine.Poll) ([]byte, error) {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		var err error
		if data, err = gunzip(data, MaxSize, poll); err != nil {
			return nil, err
		}
	}
	if len(data) > MaxSize {
		return nil, tooLarge()
	}
	return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), nil
}

// gunzip unpacks at most limit bytes.
func gunzip(data []byte, limit int, poll *engine.Poll) ([]byte, error) {
	bad := func(err error) error {
		found := "The gzip data is damaged"
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			found = "The gzip data ends early"
		}
		return &FormatError{Found: found, Expected: "A complete gzip file is expected.",
			Remedy: "Copy or download the file again, or unpack it first."}
	}
	zr, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, bad(err)
	}
	var out bytes.Buffer
	for {
		if err := poll.Err(); err != nil {
			return nil, err
		}
		switch _, err := io.CopyN(&out, zr, 1<<16); {
		case out.Len() > limit:
			return nil, tooLarge()
		case err == io.EOF:
			return out.Bytes(), nil
		case err != nil:
			return nil, bad(err)
		}
	}
}

func tooLarge() error {
	return &FormatError{Found: "The content is larger than 256 MiB, unpacked",
		Expected: "At most 256 MiB are read.", Remedy: "Save fewer steps, or only the stages."}
}

// plainName is the base of a file's name, without the endings of formats.
func plainName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	for _, end := range []string{".gz", ".json", ".csv", ".tsv", ".txt", ".graph", ".chain"} {
		if len(name) > len(end) && strings.EqualFold(name[len(name)-len(end):], end) {
			name = name[:len(name)-len(end)]
		}
	}
	return strings.ToValidUTF8(name, "?")
}

// mergeWarnings appends the warnings of more that are not in list yet.
func mergeWarnings(list, more []string) []string {
	seen := map[string]bool{}
	var all []string
	for _, w := range append(list[:len(list):len(list)], more...) {
		if !seen[w] {
			seen[w] = true
			all = append(all, w)
		}
	}
	return all
}
