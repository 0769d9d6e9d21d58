package serve

import (
	"bytes"
	"context"
	"os"
	"reflect"
	"strings"
	"testing"

	"memtide/profiles"
	"memtide/profiles/formats/native"
	"memtide/wasm/proto"
	"memtide/web/link"
)

// TestOpenDecoded checks that opening the decoded profile of a link gives the same as reading its file: the same
// profile and the same bytes, without the file being read.
func TestOpenDecoded(t *testing.T) {
	opened := 0
	for _, name := range []string{"v1-profiles.txt", "v1-graphs.txt"} {
		text, err := os.ReadFile("../../web/link/testdata/links/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.FieldsSeq(string(text)) {
			l, _ := link.Parse(line)
			if l.Profile == nil {
				continue
			}
			var file bytes.Buffer
			if err := native.Encode(&file, l.Profile); err != nil {
				t.Fatal(err)
			}
			q := proto.Open{File: l.Profile.Name, Bytes: file.Bytes()}
			want := openHere(t, q)
			q.Decoded = l.Profile
			got := openHere(t, q)
			opened++
			if !bytes.Equal(got.Profile, file.Bytes()) {
				t.Errorf("%.60s: the file is another one afterwards", line)
			}
			read, err := profiles.Decode("", profiles.Bytes(want.Profile), nil)
			if err != nil {
				t.Fatal(err)
			}
			if odd := l.Profile.Name == "odd"; !odd &&
				!reflect.DeepEqual(got.Decoded, read) { // files do not hold every field of its operations
				t.Errorf("%.60s: the profile is\n%+v, want\n%+v", line, got.Decoded, read)
			}
			got.Profile, got.Decoded, want.Profile, want.Decoded = nil, nil, nil, nil
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%.60s: got %+v, want %+v", line, got, want)
			}
		}
	}
	if opened < 10 {
		t.Errorf("%d profiles were opened; want those of all links", opened)
	}
}

func openHere(t *testing.T, q proto.Open) *proto.Opened {
	r, err := proto.Do(context.Background(), new(Local).Do, &q, nil)
	if err != nil {
		t.Fatalf("%s: %v", q.File, err)
	}
	return r
}
