package all

import (
	"bytes"
	"slices"
	"testing"

	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// TestBuffersEncode: buffers of any origin are written and come back with the same
// lives and sizes.
func TestBuffersEncode(t *testing.T) {
	formats := profiles.Formats()
	mini := formats[slices.IndexFunc(formats, func(f *profiles.Format) bool { return f.Name == "minimalloc" })]
	for _, file := range sampleFiles(t) {
		p, err := profiles.Decode(file, profiles.Bytes(formattest.Read(t, file)), nil)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err = mini.Encode(&out, p)
		if p.Memory == nil {
			if err == nil || out.Len() > 0 {
				t.Errorf("%s: %v, wrote %q; want an error and nothing", file, err, out.String())
			}
			continue
		}
		q, err := profiles.Decode("x", profiles.Bytes(out.Bytes()), nil)
		if err != nil || q.Format != "minimalloc" {
			t.Fatalf("%s: %v reading back %s", file, err, out.String())
		}
		for i, b := range p.Memory.Requests.Buffers {
			if got := q.Memory.Requests.Buffers[i]; got.Bytes != b.Bytes || got.Start != b.Start || got.End != b.End {
				t.Errorf("%s: buffer %d comes back as %+v, want %+v", file, i, got, b)
			}
		}
	}
}
