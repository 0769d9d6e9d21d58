package link

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentedLinksInCapitals checks what docs/links.md says: neither the order nor the case of keys and names
// matters. Case matters in units (Gb, GB), titles and selections.
func TestDocumentedLinksInCapitals(t *testing.T) {
	text, err := os.ReadFile("../../docs/links.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := "nor do capitals in keys and in the names of networks"; !strings.Contains(string(text), want) {
		t.Errorf("docs/links.md does not say %q, which is what this test holds it to", want)
	}
	exact := map[string]bool{"title": true, "sel": true, "bw": true, "bwd": true}
	found := 0
	for _, m := range regexp.MustCompile(`\(\.\./#([^)\s]+)\)`).FindAllStringSubmatch(string(text), -1) {
		pairs := strings.Split(m[1], "&")
		turned := make([]string, len(pairs))
		for i, p := range pairs {
			key, value, _ := strings.Cut(p, "=")
			if !exact[key] {
				value = strings.ToUpper(value)
			}
			turned[len(pairs)-1-i] = strings.ToUpper(key) + "=" + value
		}
		want, notes := Parse(m[1])
		if len(notes) > 0 {
			t.Errorf("%s: %v", m[1], notes)
		}
		loud := strings.Join(turned, "&")
		if got, notes := Parse(loud); !reflect.DeepEqual(got, want) || len(notes) > 0 {
			t.Errorf("%s (%v)\n  got  %+v\n  want %+v, as from %s", loud, notes, got, want, m[1])
		}
		found++
	}
	if found < 20 {
		t.Errorf("%d links in docs/links.md; want the 20 and more that it had when this test was written", found)
	}
}
