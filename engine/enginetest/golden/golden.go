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

// context is how many equal lines are printed before and after those that differ.
const context = 2

// A difference is looked for in at most mostLines lines of both texts, from the first
// that differs on, and at most mostPrinted lines are printed: who has changed more than
// that reads the files.
const (
	mostLines   = 2_000
	mostPrinted = 200
)

// Diff returns the lines that make b of a: those of a alone after "-", those of b alone
// after "+", and around them equal ones, under a line that says where in a they are.
func Diff(a, b string) string {
	from, to := lines(a), lines(b)
	first := 0
	for first < len(from) && first < len(to) && from[first] == to[first] {
		first++
	}
	edits := compare(upTo(from[first:], mostLines), upTo(to[first:], mostLines))
	for i := first - 1; i >= max(0, first-context); i-- {
		edits = append([]edit{{' ', from[i]}}, edits...)
	}
	return print(edits, max(0, first-context)+1)
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

func upTo(lines []string, n int) []string { return lines[:min(n, len(lines))] }

// edit is a line with ' ' if both texts have it, '-' if only the first one has it, and
// '+' if only the second one has it.
type edit struct {
	op   byte
	line string
}

// compare finds the longest common subsequence of lines. It takes time and memory
// for each pair of lines.
func compare(a, b []string) (out []edit) {
	width := len(b) + 1
	common := make([]int16, (len(a)+1)*width) // [i*width+j] of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			if a[i] == b[j] {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, edit{' ', a[i]})
			i++
			j++
		case j == len(b) || i < len(a) && common[(i+1)*width+j] >= common[i*width+j+1]:
			out = append(out, edit{'-', a[i]})
			i++
		default:
			out = append(out, edit{'+', b[j]})
			j++
		}
	}
	return out
}

// print writes edits that differ and their context. The first one is in line at.
func print(edits []edit, at int) string {
	var b strings.Builder
	printed, skipped := 0, true
	for i, e := range edits {
		near := false
		for k := max(0, i-context); k <= min(i+context, len(edits)-1); k++ {
			near = near || edits[k].op != ' '
		}
		switch {
		case near && printed == mostPrinted:
			b.WriteString("... and more\n")
			return b.String()
		case near && skipped:
			fmt.Fprintf(&b, "line %d:\n", at)
			fallthrough
		case near:
			fmt.Fprintf(&b, "%c %s", e.op, e.line)
			printed++
		}
		skipped = !near
		if e.op != '+' {
			at++
		}
	}
	return b.String()
}
