package all

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"

	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// zipBomb returns gzipped content that begins with head, followed by mib MiB of spaces.
func zipBomb(t *testing.T, head []byte, mib int) []byte {
	t.Helper()
	var b bytes.Buffer
	zw, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	blank := bytes.Repeat([]byte(" "), 1<<20)
	_, err = zw.Write(head)
	for range mib {
		if err == nil {
			_, err = zw.Write(blank)
		}
	}
	if err == nil {
		err = zw.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestZipBombs checks that a packed file that is too large is refused: by the size that it states or, if that is
// false, by the size that it unpacks to. The content is half a sample of each format, followed by spaces.
func TestZipBombs(t *testing.T) {
	const mib = 150
	heads := map[string][]byte{"unknown": []byte("hello")}
	for _, file := range sampleFiles(t) {
		data := formattest.Read(t, file)
		heads[profiles.Claimants(data)[0].Name] = data[:len(data)/2]
	}
	for format, head := range heads {
		honest := zipBomb(t, head, mib)
		lying := bytes.Clone(honest)
		binary.LittleEndian.PutUint32(lying[len(lying)-4:], 1<<20)
		for name, data := range map[string][]byte{"honest": honest, "lying": lying} {
			for way, read := range map[string]func() error{
				"in memory": func() error { _, err := profiles.Decode("x.gz", profiles.Bytes(data), nil); return err },
				"in a file": func() error {
					_,
						err := profiles.Decode("x.gz", formattest.ContentOf(data), nil)
					return err
				},
			} {
				var err error
				bytes := spent(func() { err = read() })
				formattest.CheckProblems(t, err)
				if err == nil || bytes > 2*mostSpent {
					t.Errorf("%s, %s, %s: %d MiB allocated in all, %v; want less than %d and an error", format, name,
						way, bytes>>20, err, 2*mostSpent>>20)
				}
				t.Logf("%s, %s, %s: %d KiB: %d MiB in all: %.150v", format, name, way, len(data)>>10, bytes>>20, err)
			}
		}
	}
}

// TestZipParts checks that a file made of concatenated packed files is read. Such a file states the size of its
// last part only.
func TestZipParts(t *testing.T) {
	text := "name,forward_s,backward_s,output_bytes\n" + strings.Repeat("a,0.001,0.002,4096\n", 19_000)
	data := append(formattest.Pack(t, []byte(text[:200_000])), formattest.Pack(t, []byte(text[200_000:]))...)
	p, err := profiles.Decode("x", profiles.Bytes(data), nil)
	if err != nil || p.Chain.Len() != 19_001 {
		t.Errorf("%v, %v; want 19001 stages", p, err)
	}
}

// TestInflated checks that samples that were made large take no more memory to read than zip bombs: the sample
// repeated, a number of 48 MB in it, and a word of 48 MB after half of it. It runs with MEMTIDE_LONG=1.
func TestInflated(t *testing.T) {
	if os.Getenv("MEMTIDE_LONG") == "" {
		t.Skip("MEMTIDE_LONG is not set")
	}
	const size = 48 << 20
	seen := map[string]bool{}
	for _, file := range sampleFiles(t) {
		data := formattest.Read(t, file)
		format := profiles.Claimants(data)[0].Name
		if seen[format] {
			continue
		}
		seen[format] = true
		digit := bytes.IndexAny(data[len(data)/3:], "123456789") + len(data)/3 + 1
		for way, content := range map[string][]byte{
			"again and again": bytes.Repeat(data, size/len(data)),
			"a long number":   slices.Concat(data[:digit], bytes.Repeat([]byte("0"), size), data[digit:]),
			"a long word":     append(data[:len(data)/2:len(data)/2], bytes.Repeat([]byte("x"), size)...),
		} {
			var err error
			spent := spent(func() { _, err = profiles.Decode("x", profiles.Bytes(content), nil) })
			formattest.CheckProblems(t, err)
			if spent > mostSpent {
				t.Errorf("%s, %s: %d MiB allocated in all, want at most %d: %v", format, way, spent>>20,
					mostSpent>>20, err)
			}
			t.Logf("%s, %s: %d MiB in all: %.150v", format, way, spent>>20, err)
		}
	}
}
