package profiles

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"memtide/engine"
)

// toys replaces the formats of the program by toy formats until the test ends.
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

// TestSizeLimits checks that a format may set its own size limit, and that the usual limit holds for content that
// no format claims.
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

// TestStreamer checks that packed content is read while it is unpacked if its format can do that, with and
// without a byte order mark.
func TestStreamer(t *testing.T) {
	toys(t)
	for content, want := range map[string]string{"toystream": "toystream", "\xef\xbb\xbftoystream": "toystream",
		"toyusual": ""} {
		packed := gzipped(t, []byte(content))
		got := ""
		if f := streamer(unzip(Bytes(packed)).head); f != nil {
			got = f.Name
		}
		if got != want {
			t.Errorf("packed %q is streamed by %q, want %q", content, got, want)
		}
	}
}

// TestUnknownHere checks that a program without a diagnosis only says that it reads nothing but its own format.
func TestUnknownHere(t *testing.T) {
	toys(t)
	_, err := Decode("x", Bytes("\x89PNG\r\n"), nil)
	if want := "The content is not in memtide's own format. Only that is read here."; err == nil ||
		err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestExtensions checks that Extensions lists the extensions of the program's formats and those set by the
// linker, sorted and each once.
func TestExtensions(t *testing.T) {
	toys(t)
	defer func(before string) { linked = before }(linked)
	linked = ".z,.toy,.a"
	if got, want := Extensions(), []string{".a", ".toy", ".z"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
