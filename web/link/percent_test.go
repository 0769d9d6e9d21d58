package link

import (
	"net/url"
	"strings"
	"testing"
)

// TestPercent checks that the standard library unescapes the result of EscapeValue for every byte, and that
// unescapeValue agrees with it, even about escapes that are cut or wrong.
func TestPercent(t *testing.T) {
	var all []byte
	for i := range 256 {
		all = append(all, byte(i))
	}
	for _, s := range []string{"", "a b", "50%", "ü&=?/#%41", string(all)} {
		got := EscapeValue(s)
		if back, err := url.PathUnescape(got); err != nil || back != s || strings.ContainsAny(got, "&=#? +") {
			t.Errorf("EscapeValue(%q): got %q, which is read as %q, %v", s, got, back, err)
		}
		if back, ok := unescapeValue(got); !ok || back != s {
			t.Errorf("unescapeValue(%q): got %q, %v; want %q", got, back, ok, s)
		}
	}
	for _, s := range []string{"%", "%4", "%41", "%4g", "%g4", "60%", "a%2Bb%2b", "%%41", "%zz", "plus+", "%4\x00"} {
		want, err := url.PathUnescape(s)
		got, ok := unescapeValue(s)
		if ok != (err == nil) || ok && got != want {
			t.Errorf("unescapeValue(%q): got %q, %v; want %q, %v", s, got, ok, want, err)
		}
	}
}
