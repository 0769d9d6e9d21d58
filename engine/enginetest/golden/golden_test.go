package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A diff has the lines that differ, two equal lines before and after them, and their line number.
func TestDiff(t *testing.T) {
	var many, other strings.Builder
	for i := range 3 * mostPrinted {
		fmt.Fprintln(&many, i)
		fmt.Fprintln(&other, -i)
	}
	for _, c := range []struct{ what, a, b, want string }{
		{"the same", "a\nb\n", "a\nb\n", ""},
		{"a line more", "a\nb\nc\nd\ne\nf\n", "a\nb\nc\nX\nd\ne\nf\n", "line 2:\n  b\n  c\n+ X\n  d\n  e\n"},
		{"a line less", "a\nb\nc\n", "a\nc\n", "line 1:\n  a\n- b\n  c\n"},
		{"another line", "a\nb\nc\n", "a\nX\nc\n", "line 1:\n  a\n- b\n+ X\n  c\n"},
		{"two places", "a\n1\n2\nb\nc\n", "A\n1\n2\nB\nc\n",
			"line 1:\n- a\n- 1\n- 2\n- b\n+ A\n+ 1\n+ 2\n+ B\n  c\n"},
		{"the end of the line", "a\nb\n", "a\nb", "line 1:\n  a\n- b\n+ b (without a newline)\n"},
		{"from nothing", "", "a\n", "line 1:\n+ a\n"},
		{"to nothing", "a\n", "", "line 1:\n- a\n"},
	} {
		if got := Diff(c.a, c.b); got != c.want {
			t.Errorf("%s: from\n%sto\n%sgot\n%swant\n%s", c.what, c.a, c.b, got, c.want)
		}
	}
	got := Diff(many.String(), other.String())
	if n := strings.Count(got, "\n"); n != 2*mostPrinted+4 || !strings.HasSuffix(got, "... and more\n") {
		t.Errorf("of %d lines that all differ %d are printed, the last %q; want %d and a word", 3*mostPrinted, n,
			got[max(0, len(got)-40):], 2*mostPrinted+4)
	}
}

// failing is a testing.TB that records its errors.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Helper()                           {}
func (f *failing) Name() string                      { return "TestSome/thing" }
func (f *failing) Errorf(format string, args ...any) { f.said += fmt.Sprintf(format, args...) }
func (f *failing) Fatalf(format string, args ...any) { f.said += fmt.Sprintf(format, args...) }

// A golden file that differs or does not exist fails the test with the differences and the command that writes it.
func TestFile(t *testing.T) {
	t.Setenv("MEMTIDE_LONG", "")
	const hint = "go test ./engine/enginetest/golden -run 'TestSome/thing' -update"
	file := filepath.Join(t.TempDir(), "golden")
	for _, c := range []struct{ stored, got, want string }{
		{"a\nb\n", "a\nb\n", ""},
		{"a\xff", "a\xffb", file +
			" (-) is not what is made now (+):\n3 bytes instead of 2\nIf the change is meant: " + hint},
		{"a\nb\n", "a\nc\n", file +
			" (-) is not what is made now (+):\nline 1:\n  a\n- b\n+ c\nIf the change is meant: " + hint},
	} {
		if err := os.WriteFile(file, []byte(c.stored), 0o644); err != nil {
			t.Fatal(err)
		}
		f := &failing{TB: t}
		if File(f, file, c.got); f.said != c.want {
			t.Errorf("of %q, where %q is stored, the test says\n%s\nwant\n%s", c.got, c.stored, f.said, c.want)
		}
	}
	f := &failing{TB: t}
	if File(f, file+"2", []byte("a")); !strings.Contains(f.said, "To write it: "+hint) {
		t.Errorf("without a file the test says\n%s\nwant %s", f.said, hint)
	}
	*Update = true
	defer func() { *Update = false }()
	f = &failing{TB: t}
	File(f, file, "new\n")
	if b, err := os.ReadFile(file); f.said != "" || err != nil || string(b) != "new\n" {
		t.Errorf("-update writes %q (%v) and says %q; want the new text, and nothing", b, err, f.said)
	}
}
