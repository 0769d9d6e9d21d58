package profiles

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"memtide/engine"
)

// toys makes the program one that reads toy formats only, until the test ends.
func toys(t *testing.T) {
	t.Helper()
	list, explain := formats, diagnose
	t.Cleanup(func() { formats, diagnose = list, explain })
	formats, diagnose = engine.Registry[Format]{Kind: list.Kind, Name: list.Name}, nil
	for _, f := range []Format{{Name: "toylarge", Extensions: []string{".toy", ".z"}, MaxSize: MaxSize},
		{Name: "toyhuge", MaxSize: 2 * MaxSize}, {Name: "toyusual"},
		{Name: "toystream", Stream: func(string, io.Reader, int, int, *engine.Poll) *Profile { return nil }}} {
		f.Match = func(head []byte) bool { return bytes.HasPrefix(head, []byte(f.Name)) }
		Register(&f)
	}
}

// TestSizeLimits: a format that reads large files says so, and what no format
// claims is refused as too large from the usual limit on.
func TestSizeLimits(t *testing.T) {
	toys(t)
	for _, c := range []struct {
		head string
		want int
	}{
		{"toylarge", MaxSize},
		{"toyhuge", MaxSize},
		{"toyusual", usualSize},
		{"anything", usualSize},
	} {
		if got := limit([]byte(c.head)); got != c.want {
			t.Errorf("limit(%q) = %d, want %d", c.head, got, c.want)
		}
	}
}

// TestStreamer: what is packed is read while it is unpacked where its format can,
// with and without a byte order mark.
func TestStreamer(t *testing.T) {
	toys(t)
	for content, want := range map[string]string{"toystream": "toystream", "\xef\xbb\xbftoystream": "toystream",
		"toyusual": ""} {
		packed := gzipped(t, []byte(content))
		got := ""
		u, err := unzip(Bytes(packed))
		if err != nil {
			t.Fatal(err)
		}
		if f := streamer(u.head); f != nil {
			got = f.Name
		}
		if got != want {
			t.Errorf("packed %q is streamed by %q, want %q", content, got, want)
		}
	}
}

// TestUnknownHere: a program without a diagnosis says no more than that it knows its own
// format only.
func TestUnknownHere(t *testing.T) {
	toys(t)
	_, err := Decode("x", Bytes("\x89PNG\r\n"), nil)
	if want := "The content is not in memtide's own format. Only that is read here."; err == nil ||
		err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestExtensions: those of this program's formats and those that the linker names, each
// once and in order.
func TestExtensions(t *testing.T) {
	toys(t)
	defer func(before string) { linked = before }(linked)
	linked = ".z,.toy,.a"
	if got, want := Extensions(), []string{".a", ".toy", ".z"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
