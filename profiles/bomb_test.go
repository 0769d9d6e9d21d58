package profiles

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"testing"
)

// zipBomb is content that goes on with spaces, packed.
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

// A packed file is refused by what it says about its size, and by what it unpacks
// to if that is not true.
func TestZipBombs(t *testing.T) {
	const mib = 150
	heads := map[string][]byte{"unknown": []byte("hello")}
	for _, file := range sampleFiles(t, "../*/testdata") {
		data := readSample(t, file)
		heads[file] = data[:len(data)/2]
	}
	for format, head := range heads {
		honest := zipBomb(t, head, mib)
		lying := bytes.Clone(honest)
		binary.LittleEndian.PutUint32(lying[len(lying)-4:], 1<<20)
		for name, data := range map[string][]byte{"honest": honest, "lying": lying} {
			for way, read := range map[string]func() error{
				"in memory": func() error { _, err := Decode("x.gz", Bytes(data), nil); return err },
				"in a file": func() error { _, err := Decode("x.gz", contentOf(data), nil); return err },
			} {
				var err error
				bytes := spent(func() { err = read() })
				checkProblems(t, err)
				if err == nil || bytes > mostSpent {
					t.Errorf("%s, %s, %s: %d MiB allocated in all, %v; want less than %d and an error", format, name, way, bytes>>20, err, mostSpent>>20)
				}
				t.Logf("%s, %s, %s: %d KiB: %d MiB in all: %.150v", format, name, way, len(data)>>10, bytes>>20, err)
			}
		}
	}
}

// A file that was put together from packed ones, which says the size of its last
// part only, is read.
func TestZipParts(t *testing.T) {
	text := "name,forward_s,backward_s,output_bytes\n" + rep("a,0.001,0.002,4096\n", 19_000)
	data := append(pack(t, []byte(text[:200_000])), pack(t, []byte(text[200_000:]))...)
	p, err := Decode("x", Bytes(data), nil)
	if err != nil || p.Chain.Len() != 19_001 {
		t.Errorf("%v, %v; want 19001 stages", p, err)
	}
}
