package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
			" (-) is not what is made now (+):\n" + cmp.Diff("a\nb\n", "a\nc\n") + "If the change is meant: " + hint},
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
