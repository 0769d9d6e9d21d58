package profiles

import (
	"bytes"
	"compress/gzip"
	"testing"
)

// TestGzip checks that packed content is read, that damaged content is refused, and that a small file that
// unpacks to a huge one does not fill the memory.
func TestGzip(t *testing.T) {
	packed := gzipped(t, make([]byte, 1<<20))
	gunzip := func(most int) ([]byte, error) {
		return Try(func() []byte { return unzip(Bytes(packed)).whole(most, nil) })
	}
	if out, err := gunzip(1 << 20); err != nil || len(out) != 1<<20 {
		t.Errorf("gunzip at the limit: %d bytes, %v; want 1 MiB", len(out), err)
	}
	_, err := gunzip(1<<20 - 1)
	if want := "The content is larger than 0 MiB, unpacked. At most 0 MiB are read."; err == nil ||
		err.Error() != want {
		t.Errorf("gunzip above the limit: %v, want %v", err, want)
	}
	_, err = Decode("x.gz", Bytes(packed[:len(packed)/2]), nil)
	if want := "The gzip data ends early. A complete gzip file is expected."; err == nil || err.Error() != want {
		t.Errorf("half a file: %v, want %s", err, want)
	}
	damaged := bytes.Clone(packed)
	damaged[len(packed)-5] ^= 1 // in the checksum
	_, err = Decode("x.gz", Bytes(damaged), nil)
	if want := "The gzip data is damaged. A complete gzip file is expected."; err == nil || err.Error() != want {
		t.Errorf("a wrong checksum: %v, want %s", err, want)
	}
}

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	if _, err := zw.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
