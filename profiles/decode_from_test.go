package profiles

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

// Every sample reads the same from where it lies, packed or not, with and without
// a byte order mark; and what is wrong with a cut one is said in the same words,
// but for where in the file a streamed format notices it.
func TestDecodeFrom(t *testing.T) {
	read := 0
	for _, file := range sampleFiles(t, "../*/testdata") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Decode("x", Bytes(data), nil)
		if err != nil {
			continue
		}
		read++
		ways := map[string][]byte{"plain": data, "packed": pack(t, data)}
		if bytes.IndexByte(data, 0) < 0 {
			ways["marked"] = append([]byte("\xef\xbb\xbf"), data...)
		}
		if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
			delete(ways, "packed")
			delete(ways, "marked")
		}
		for way, content := range ways {
			got, err := Decode("x", contentOf(content), nil)
			if err != nil || dump(got) != dump(want) {
				t.Errorf("%s, %s: %v\n%s\nwant\n%s", file, way, err, dump(got), dump(want))
			}
		}
		for cut := range 8 {
			part := data[:len(data)*cut/8]
			_, want := Decode("x", Bytes(part), nil)
			_, got := Decode("x", contentOf(part), nil)
			if (got == nil) != (want == nil) {
				t.Errorf("%s, %d/8: %v, in memory %v", file, cut, got, want)
			}
			checkProblems(t, got)
		}
	}
	if read < 15 {
		t.Errorf("%d samples were read; want those of testdata", read)
	}
}

// torn is content of which a part cannot be read.
type torn struct {
	Content
	from int64
	err  error
}

func (c torn) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > c.from {
		return 0, c.err
	}
	return c.Content.ReadAt(p, off)
}

// What the content cannot give is told as that, and not as damage of the format.
func TestDecodeFromTorn(t *testing.T) {
	gone := &FormatError{Found: "The file is gone", Expected: "x", Remedy: "y"}
	plain := readSample(t, "../kineto/testdata/modules.trace.json")
	for name, data := range map[string][]byte{"streamed": plain, "packed": pack(t, plain), "held": readSample(t, "../native/testdata/chain.json")} {
		for _, from := range []int64{0, int64(len(data)) - 1} {
			if _, err := Decode("x", torn{contentOf(data), from, gone}, nil); !errors.Is(err, gone) {
				t.Errorf("%s, unreadable from %d of %d: %v, want %v", name, from, len(data), err, gone)
			}
		}
	}
}

// Content that is too large is refused before it is read.
func TestDecodeFromTooLarge(t *testing.T) {
	for head, most := range map[string]int64{"\x80\x04}.": MaxSize, "anything": MaxSize, "\x08\x08\x12\x01x\x3a": MaxStream} {
		c := &sparse{parts: []segment{{data: []byte(head)}, {zeros: most}}}
		_, err := Decode("x", c, nil)
		if err == nil || !strings.Contains(err.Error(), "is larger than") || c.read > 2*HeadSize {
			t.Errorf("%q and %d zeros: %v after %d bytes; want to hear that it is too large, at once", head, most, err, c.read)
		}
	}
}
