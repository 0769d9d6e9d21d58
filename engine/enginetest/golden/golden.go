// Package golden compares the results of tests with stored files. A test that fails prints the lines that differ,
// and the command that stores the new ones.
package golden

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// Update says that golden files are to be written, and not compared.
var Update = flag.Bool("update", false, "write the golden files anew")

// File compares got with a file, or writes it to the file with -update.
func File[T string | []byte](t testing.TB, file string, got T) {
	t.Helper()
	if *Update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\nTo write it: %s", err, command(t))
	}
	Text(t, file, string(got), string(want))
}

// Text compares got with want, the content of a file or of a part of it.
func Text(t testing.TB, file, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	diff := fmt.Sprintf("%d bytes instead of %d\n", len(got), len(want))
	if utf8.ValidString(got) && utf8.ValidString(want) {
		diff = cmp.Diff(want, got)
	}
	t.Errorf("%s (-) is not what is made now (+):\n%sIf the change is meant: %s", file, diff, command(t))
}

// command returns the command that writes the golden files of a test.
func command(t testing.TB) string {
	folder := "."
	if info, ok := debug.ReadBuildInfo(); ok {
		pkg := strings.TrimSuffix(info.Path, ".test")
		folder = "." + strings.TrimPrefix(pkg, strings.SplitN(pkg, "/", 2)[0])
	}
	long := ""
	if set := os.Getenv("MEMTIDE_LONG"); set != "" {
		long = "MEMTIDE_LONG=" + set + " "
	}
	return fmt.Sprintf("%sgo test %s -run '%s' -update", long, folder, t.Name())
}
