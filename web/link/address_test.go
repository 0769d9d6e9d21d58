package link

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	for _, c := range []struct{ query, fragment, want string }{
		{"", "", ""},
		{"", "#v=1&p=vgg16-b32", "v=1&p=vgg16-b32"},
		{"?p=vgg16-b32&m=60%25&title=two+words", "", "p=vgg16-b32&m=60%25&title=two%20words"},
		{"?p=vgg16-b32", "#", "p=vgg16-b32"},
		{"?p=vgg16-b32&m=1GiB", "#p=resnet50-b8", "p=resnet50-b8"}, // the fragment replaces the query
		{"?utm_source=mail&P=vgg16-b32&selftest&s.window=3&b.m=2GiB", "", "P=vgg16-b32&s.window=3&b.m=2GiB"},
		{"?selftest", "", ""},
	} {
		if got := Of(c.query, c.fragment); got != c.want {
			t.Errorf("query %q, fragment %q: got %q, want %q", c.query, c.fragment, got, c.want)
		}
	}
}

// TestQueryKeys checks that a query may contain every key of a link.
func TestQueryKeys(t *testing.T) {
	const all = "v=1&p=vgg16-b64&kind=graph&dev=x&m=1GiB&s=lms&s.a=1&bw=2GBps&bwd=1GBps&duplex=half&xfer=whole&alloc=va&alloc.chunk=2&c=all&y=time&at=3.5&t=1-2&sel=B1&chain=1&open=table&slow=5%25&show=mem&title=x&theme=dark&embed=1&controls=budget"
	if got := Of("?"+all, ""); got != all {
		t.Errorf("got  %s\nwant %s", got, all)
	}
	now := strings.ReplaceAll(all, "&slow=5%25", "") // a key that lost its meaning is not written
	if l, notes := Parse(all); l.String() != now || len(notes) > 0 {
		t.Errorf("a key of the list is not of links: written as %s, notes %q", l.String(), notes)
	}
}

func TestFits(t *testing.T) {
	for n, want := range map[int]string{1: "fits everywhere", 2000: "fits everywhere",
		2001:  "too long for Discord messages and Slack bookmarks",
		8000:  "too long for Discord messages and Slack bookmarks",
		8001:  "works in browsers; elsewhere paste it as a Markdown link",
		32001: "too long to survive; send the file itself, or save the page as one file"} {
		if got := Fits(n); got != want {
			t.Errorf("%d characters: %q, want %q", n, got, want)
		}
	}
}
