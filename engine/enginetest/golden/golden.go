// Package golden is for tests that compare what they have made with a file that is
// stored. A test that fails prints the lines that differ, and how to store the new ones.
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

// Update is true if golden files are to be written anew, and not compared.
var Update = flag.Bool("update", false, "write the golden files anew")

// File compares got with a file, or writes it there for -update.
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

// Text compares got with want, which is what a file, or a part of one, holds.
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

// command returns the command that writes the golden files of a test anew.
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

// context is how many equal lines are printed before and after those that differ, and mostPrinted
// how many lines of each text: who has changed more than that reads the files.
const (
	context     = 2
	mostPrinted = 100
)

// Diff returns what differs between the equal beginnings and ends of two texts: lines of a after "-", those
// of b after "+", and equal ones around them, under a line that says where in a they are.
func Diff(a, b string) string {
	from, to := lines(a), lines(b)
	first, last := 0, 0 // how many lines are equal at the beginning and at the end
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

// lines returns the lines of a text. The end of one that has no newline is marked.
func lines(text string) []string {
	all := strings.SplitAfter(text, "\n")
	last := len(all) - 1
	if all[last] == "" {
		return all[:last]
	}
	all[last] += " (without a newline)\n"
	return all
}
