package link

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"strings"
	"testing"
)

// TestPNG checks that a picture with a link is decoded to the same image.
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
	for n := range with { // a cut picture has the whole link or no link
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
		{"svg", `<svg xmlns="http://www.w3.org/2000/svg"><title id="t">x</title>` + "\n" +
			`<metadata id="memtide-link">https://example.org/x/#v=1&amp;p=vgg16-b32&amp;m=60%25</metadata></svg>`,
			"v=1&p=vgg16-b32&m=60%25"},
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
		{"csv with a link", "a,b\n1,2\n# memtide: https://example.org/#v=1&p=vgg16-b32&c=rotor%2Cgreedy\n",
			"v=1&p=vgg16-b32&c=rotor%2Cgreedy"},
		{"csv of a spreadsheet", "a;b\r\n1;2\r\n\"# memtide: #v=1&p=vgg16-b32\";\r\n", "v=1&p=vgg16-b32"},
		{"csv cut", "a,b\n1,2\n# memtide: #v=1&p=vgg1", ""},
		{"csv with a link in its middle", "a,b\n# memtide: #v=1&p=vgg16-b32\n1,2\n", ""},
		{"python", "#!/usr/bin/env python3\n# memtide: #v=1&p=vgg16-b32\nimport torch\n", "v=1&p=vgg16-b32"},
		{"python cut", "#!/usr/bin/env python3\n# memtide: #v=1&p=vgg1", ""},
		{"python of others", "#!/usr/bin/env python3\n# a comment\nx = 1\n# memtide: #v=1\ny = 2\n", ""},
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
	if !ok || !strings.Contains(string(out),
		`<body data-link="v=1&amp;p=vgg16-b32&amp;title=&quot;a&quot;" data-site="https://example.org/x/?a&amp;b" data-state="solving">`) {
		t.Errorf("got %s", out)
	}
	if got, want := inWhole(out), `v=1&p=vgg16-b32&title="a"`; got != want {
		t.Errorf("read back as %q, want %q", got, want)
	}
	if _, ok := WithHTML([]byte("<html><body>"), "", "v=1"); ok {
		t.Error("a page of others was accepted")
	}
}

// TestTexts checks that the link is found in tables, programs and schedules, even at the end of a large file, and
// that the rest of the file does not change.
func TestTexts(t *testing.T) {
	const address, want = "https://example.org/#v=1&p=vgg16-b32&c=rotor,greedy", "v=1&p=vgg16-b32&c=rotor,greedy"
	long := "a,b\n" + strings.Repeat("1,2\n", Head/2)
	for _, c := range []struct{ name, plain, with, want string }{
		{"table", "a,b\n1,2\n", string(WithLastLine([]byte("a,b\n1,2\n"), address)),
			strings.ReplaceAll(want, ",", "%2C")},
		{"long table", long, string(WithLastLine([]byte(long), address)), strings.ReplaceAll(want, ",", "%2C")},
		{"program", "#!/bin/x\n\"\"\"It.\"\"\"\n", "#!/bin/x\n# memtide: " + address + "\n\"\"\"It.\"\"\"\n", want},
		{"program without a first line", "x = 1\n", "# memtide: " + address + "\nx = 1\n", want},
		{"schedule", `{"schema":"x"}`, string(WithJSON([]byte(`{"schema":"x"}`), address)), want},
		{"empty object", "{}", string(WithJSON([]byte("{}"), address)), want},
	} {
		if got := inWhole([]byte(c.with)); got != c.want {
			t.Errorf("%s: its link is %q, want %q", c.name, got, c.want)
		}
		head, tail := c.with[:min(len(c.with), Head)], c.with[max(len(c.with)-Tail, 0):]
		if got, _ := InEnds([]byte(head), []byte(tail)); got != c.want {
			t.Errorf("%s: the link by its ends is %q, want %q", c.name, got, c.want)
		}
		if at := strings.Index(c.with, lineMark); at >= 0 {
			_, rest, _ := strings.Cut(c.with[at:], "\n")
			if got := c.with[:at] + rest; got != c.plain {
				t.Errorf("%s: without its line it is %.80q, want %.80q", c.name, got, c.plain)
			}
		} else if !json.Valid([]byte(c.with)) || !strings.HasSuffix(c.with, c.plain[1:]) {
			t.Errorf("%s: %q is no JSON, or not the old one", c.name, c.with)
		}
		for n := range min(len(c.with), 200) {
			if got := inWhole([]byte(c.with[:n])); got != "" && got != c.want {
				t.Errorf("%s: the first %d bytes: %q", c.name, n, got)
			}
		}
	}
	if got := WithJSON([]byte("[1]"), address); string(got) != "[1]" {
		t.Errorf("a list became %s", got)
	}
}
