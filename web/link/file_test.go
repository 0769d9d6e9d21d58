package link

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"
)

// A picture that carries a link is still that picture.
func TestPNG(t *testing.T) {
	var plain bytes.Buffer
	if err := png.Encode(&plain, image.NewRGBA(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	if got, ok := In(plain.Bytes()); ok {
		t.Errorf("a picture without a link has the link %q", got)
	}
	with := WithPNG(plain.Bytes(), "https://example.org/#v=1&p=vgg16-b32&m=60%25")
	if m, err := png.Decode(bytes.NewReader(with)); err != nil || m.Bounds().Dx() != 3 {
		t.Fatalf("the picture with a link cannot be read: %v", err)
	}
	if got, want := inWhole(with), "v=1&p=vgg16-b32&m=60%25"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for n := range with { // cut anywhere: no link or the whole one
		if got := inWhole(with[:n]); got != "" && got != "v=1&p=vgg16-b32&m=60%25" {
			t.Errorf("the first %d bytes: %q", n, got)
		}
	}
	if got := WithPNG([]byte("no picture"), "#x"); string(got) != "no picture" {
		t.Errorf("a file that is no picture became %q", got)
	}
}

func inWhole(b []byte) string {
	s, _ := In(b)
	return s
}

func TestIn(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"svg", `<svg xmlns="http://www.w3.org/2000/svg"><title id="t">x</title>` + "\n" + `<metadata id="memtide-link">https://example.org/x/#v=1&amp;p=vgg16-b32&amp;m=60%25</metadata></svg>`, "v=1&p=vgg16-b32&m=60%25"},
		{"svg with a head", "\uFEFF<?xml version=\"1.0\"?>\n<svg><metadata id=\"memtide-link\">\n#v=1&amp;p=vgg16-b32\n</metadata></svg>", "v=1&p=vgg16-b32"},
		{"svg of others", `<svg><metadata>v=1</metadata></svg>`, ""},
		{"svg cut", `<svg><metadata id="memtide-link">#v=1&amp;p=vgg`, ""},
		{"json", `{"memtide":{"link":"https://example.org/#v=1&p=vgg16-b32"},"operations":[]}`, "v=1&p=vgg16-b32"},
		{"json, indented", "{\n \"memtide\": {\n  \"link\": \"#v=1&p=vgg16-b32\"\n }\n}", "v=1&p=vgg16-b32"},
		{"a profile", `{"format":"memtide","name":"net","stages":[]}`, ""},
		{"a profile of that name", `{"memtide":1,"stages":[]}`, ""},
		{"the head of a json", `{"memtide":{"link":"#v=1&p=vgg16-b32"},"operations":[`, "v=1&p=vgg16-b32"},
		{"json cut", `{"memtide":{"link":"#v=1&p=vgg1`, ""},
		{"json of others", `{"name":"memtide","link":"#v=1&p=vgg16-b32"}`, ""},
		{"csv", "name,memtide\n", ""},
		{"empty", "", ""},
		{"spaces", "   \n", ""},
		{"html of others", `<html><body class="x" data-links="y">`, ""},
	} {
		if got := inWhole([]byte(c.file)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestHTML(t *testing.T) {
	const page = "<!doctype html>\n<html>\n<head></head>\n<body data-state=\"solving\">\n</body></html>"
	out, ok := WithHTML([]byte(page), "https://example.org/x/?a&b", `v=1&p=vgg16-b32&title="a"`)
	if !ok || !strings.Contains(string(out), `<body data-link="v=1&amp;p=vgg16-b32&amp;title=&quot;a&quot;" data-site="https://example.org/x/?a&amp;b" data-state="solving">`) {
		t.Errorf("got %s", out)
	}
	if got, want := inWhole(out), `v=1&p=vgg16-b32&title="a"`; got != want {
		t.Errorf("read back as %q, want %q", got, want)
	}
	if _, ok := WithHTML([]byte("<html><body>"), "", "v=1"); ok {
		t.Error("a page of others was accepted")
	}
}
