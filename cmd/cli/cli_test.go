package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseMixed(t *testing.T) {
	for _, c := range []struct {
		args string
		rest string
		n    int
	}{
		{"", "", 0},
		{"-n 3 a b", "a b", 3},
		{"a -n 3 b", "a b", 3},
		{"a b -n 3", "a b", 3},
		{"- -n 3", "-", 3},
		{"a -- -n 3", "a -n 3", 0},
		{"-- -n", "-n", 0},
	} {
		fs := flag.NewFlagSet("test", flag.ContinueOnError)
		n := fs.Int("n", 0, "")
		rest, err := ParseMixed(fs, strings.Fields(c.args))
		if got := strings.Join(rest, " "); err != nil || got != c.rest || *n != c.n {
			t.Errorf("%q: got %q, n=%d, %v; want %q, n=%d", c.args, got, *n, err, c.rest, c.n)
		}
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		done, total int
		text, want  string
	}{
		{0, 0, "Solving", "Solving"},
		{0, 4, "", "[........................] 0 of 4"},
		{3, 4, "rotor", "[##################......] 3 of 4  rotor"},
		{9, 4, "over", "[########################] 4 of 4  over"},
		{1, 2, strings.Repeat("é", 100), "[############............] 1 of 2  " + strings.Repeat("é", 43)},
	} {
		if got := barText(c.done, c.total, c.text); got != c.want {
			t.Errorf("barText(%d, %d, %q) is %q, want %q", c.done, c.total, c.text, got, c.want)
		}
	}
	var screen bytes.Buffer
	b := &Bar{w: &screen}
	b.Set(1, 2, "half")
	b.draw()
	b.draw() // nothing has changed, so nothing is written
	b.Clear()
	if got, want := screen.String(), "\r\x1b[K[############............] 1 of 2  half\r\x1b[K"; got != want {
		t.Errorf("the screen got %q, want %q", got, want)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if isTerminal(file) || isTerminal(&screen) {
		t.Error("a file or a buffer is taken for a terminal")
	}
}
