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
		diff = Diff(want, got)
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

const (
	context     = 2   // equal lines printed before and after the lines that differ
	mostPrinted = 100 // lines printed of each text
)

// Diff returns the lines between the equal beginnings and ends of two texts. Lines of a follow a "-", lines of b a
// "+", and a few equal lines come before and after them. The first line of the result is the line number in a. Diff
// returns "" for equal texts.
func Diff(a, b string) string {
	from, to := lines(a), lines(b)
	first, last := 0, 0 // the number of equal lines at the beginning and at the end
	for first < min(len(from), len(to)) && from[first] == to[first] {
		first++
	}
	if first == len(from) && first == len(to) {
		return ""
	}
	for last < min(len(from), len(to))-first && from[len(from)-1-last] == to[len(to)-1-last] {
		last++
	}
	before, after := max(0, first-context), len(from)-last
	var out strings.Builder
	fmt.Fprintf(&out, "line %d:\n", before+1)
	print := func(mark byte, lines []string) {
		for i, line := range lines {
			if i == mostPrinted {
				out.WriteString("... and more\n")
				return
			}
			fmt.Fprintf(&out, "%c %s", mark, line)
		}
	}
	print(' ', from[before:first])
	print('-', from[first:after])
	print('+', to[first:len(to)-last])
	print(' ', from[after:min(len(from), after+context)])
	return out.String()
}

// lines returns the lines of a text. It marks a last line without a newline.
func lines(text string) []string {
	all := strings.SplitAfter(text, "\n")
	last := len(all) - 1
	if all[last] == "" {
		return all[:last]
	}
	all[last] += " (without a newline)\n"
	return all
}
