package all

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// TestContent checks that every sample reads the same from a file as from memory, packed or not, with and without
// a byte order mark. A sample that is cut is refused from a file exactly if it is refused from memory.
func TestContent(t *testing.T) {
	read := 0
	for _, file := range sampleFiles(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := profiles.Decode("x", profiles.Bytes(data), nil)
		if err != nil {
			continue
		}
		read++
		ways := map[string][]byte{"plain": data, "packed": formattest.Pack(t, data)}
		if bytes.IndexByte(data, 0) < 0 {
			ways["marked"] = append([]byte("\xef\xbb\xbf"), data...)
		}
		if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
			delete(ways, "packed")
			delete(ways, "marked")
		}
		for way, content := range ways {
			got, err := profiles.Decode("x", formattest.ContentOf(content), nil)
			if err != nil || dump(got) != dump(want) {
				t.Errorf("%s, %s: %v\n%s\nwant\n%s", file, way, err, dump(got), dump(want))
			}
		}
		for cut := range 8 {
			part := data[:len(data)*cut/8]
			_, want := profiles.Decode("x", profiles.Bytes(part), nil)
			_, got := profiles.Decode("x", formattest.ContentOf(part), nil)
			if (got == nil) != (want == nil) {
				t.Errorf("%s, %d/8: %v, in memory %v", file, cut, got, want)
			}
			formattest.CheckProblems(t, got)
		}
	}
	if read < 15 {
		t.Errorf("%d samples were read; want those of testdata", read)
	}
}

// torn is content that cannot be read from the offset from on.
type torn struct {
	profiles.Content
	from int64
	err  error
}

func (c torn) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > c.from {
		return 0, c.err
	}
	return c.Content.ReadAt(p, off)
}

// TestContentTorn checks that an error in reading the content is reported as such, not as damage of the format.
func TestContentTorn(t *testing.T) {
	gone := &profiles.FormatError{Found: "The file is gone", Expected: "x", Remedy: "y"}
	plain := formattest.Read(t, "../kineto/testdata/modules.trace.json")
	for name, data := range map[string][]byte{"streamed": plain, "packed": formattest.Pack(t, plain),
		"held": formattest.Read(t, "../native/testdata/chain.json")} {
		for _, from := range []int64{0, int64(len(data)) - 1} {
			if _, err := profiles.Decode("x", torn{formattest.ContentOf(data), from, gone}, nil); !errors.Is(err,
				gone) {
				t.Errorf("%s, unreadable from %d of %d: %v, want %v", name, from, len(data), err, gone)
			}
		}
	}
}

// TestContentTooLarge checks that content that is too large is refused before it is read.
func TestContentTooLarge(t *testing.T) {
	for head, most := range map[string]int64{"\x80\x04}.": profiles.MaxStream, "anything": profiles.MaxSize,
		"\x08\x08\x12\x01x\x3a": profiles.MaxStream} {
		c := &padded{head: head, zeros: most}
		_, err := profiles.Decode("x", c, nil)
		if err == nil || !strings.Contains(err.Error(), "is larger than") || c.read > 2*profiles.HeadSize {
			t.Errorf("%q and %d zeros: %v after %d bytes; want to hear that it is too large, at once", head, most,
				err, c.read)
		}
	}
}

// padded is content that begins with head, followed by zeros. read counts the bytes that were requested.
type padded struct {
	head        string
	zeros, read int64
}

func (c *padded) Size() int64 { return int64(len(c.head)) + c.zeros }

func (c *padded) ReadAt(p []byte, off int64) (n int, err error) {
	c.read += int64(len(p))
	clear(p)
	if off < int64(len(c.head)) {
		copy(p, c.head[off:])
	}
	return int(min(int64(len(p)), c.Size()-off)), nil
}
