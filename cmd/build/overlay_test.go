//go:build !js

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sorts sorts many slices with equal elements, of several patterns and lengths,
// and prints what came out.
const sorts = `package main

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
)

type item struct{ key, id int }

func main() {
	r, sum := rand.New(rand.NewPCG(1, 2)), fnv.New64()
	for n := range 700 {
		items := make([]item, n)
		for i := range items {
			key := [...]int{r.IntN(n), r.IntN(4), i / 3, -i / 3, i % 7, i ^ 5}[n%6]
			items[i] = item{key, i}
		}
		byKey := func(a, b item) int { return a.key - b.key }
		stable := slices.Clone(items)
		slices.SortStableFunc(stable, byKey)
		slices.SortFunc(items, byKey)
		if !slices.IsSortedFunc(items, byKey) {
			panic("not sorted")
		}
		floats, words := make([]float64, n), make([]string, n)
		for i := range floats {
			floats[i] = [...]float64{r.Float64(), math.NaN(), float64(i), -0.0}[r.IntN(4)]
			words[i] = fmt.Sprint(r.IntN(n))
		}
		slices.Sort(floats)
		slices.Sort(words)
		if !slices.IsSorted(floats) || !slices.IsSorted(words) {
			panic("not sorted")
		}
		fmt.Fprint(sum, items, stable, floats, words)
	}
	fmt.Println(sum.Sum64())
}
`

// times has durations and moments, and says what writing a date does.
const times = `package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

func main() {
	defer func() { fmt.Println(recover() != nil) }()
	begun := time.Unix(1, 0)
	d, err := time.ParseDuration("1.5s")
	ctx, cancel := context.WithDeadline(context.Background(), begun)
	defer cancel()
	fmt.Println(begun.Add(d).Sub(begun), begun.Before(begun.Add(d)), err, ctx.Err())
	_, _ = json.Marshal(begun)
}
`

// Without dates durations and moments are what they were.
func TestOverlayTimes(t *testing.T) {
	want, got := bothWays(t, times)
	const moments = "1.5s true <nil> context deadline exceeded\n"
	if want != moments+"false" || got != moments+"true" {
		t.Errorf("with other files\n%s\nwithout\n%s\nwant the same, but that a date cannot be written", got, want)
	}
}

// With the other files sorting gives the very same order, also among equals.
func TestOverlaySorts(t *testing.T) {
	want, got := bothWays(t, sorts)
	if got != want || strings.TrimSpace(got) == "" {
		t.Errorf("the sum of what was sorted: %q with other files, %q without; want the same", got, want)
	}
}

// bothWays is what a program prints without the other files, and with them.
func bothWays(t *testing.T, program string) (want, got string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": program, "go.mod": "module program\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	goroot, err := run("", nil, "go", "env", "GOROOT")
	if err != nil {
		t.Fatal(err)
	}
	list, leftOut := overlay(goroot, t.TempDir(), nil)
	for _, err := range leftOut {
		if errors.Is(err, errDownloaded) {
			t.Skip(err)
		}
		t.Error(err)
	}
	if want, err = run(dir, []string{"GOFLAGS=-mod=mod"}, "go", "run", "."); err == nil {
		got, err = run(dir, []string{"GOFLAGS=-mod=mod"}, "go", "run", "-overlay="+list, ".")
	}
	if err != nil {
		t.Fatal(err)
	}
	return want, got
}

// A Go that the go command has downloaded keeps its files, and that is said.
func TestOverlayOfDownloadedGo(t *testing.T) {
	downloads, err := run("", nil, "go", "env", "GOMODCACHE")
	if err != nil {
		t.Fatal(err)
	}
	list, leftOut := overlay(filepath.Join(downloads, "golang.org", "toolchain"), t.TempDir(), nil)
	if len(leftOut) != 1 || !errors.Is(leftOut[0], errDownloaded) {
		t.Fatalf("left out %v, want %v", leftOut, errDownloaded)
	}
	if text, err := os.ReadFile(list); err != nil || strings.Contains(string(text), downloads) {
		t.Errorf("the list (%v) is\n%s\nwant nothing in %s", err, text, downloads)
	}
}

// What is made from a file is not what it was: the methods and functions are there.
func TestOverlayEdits(t *testing.T) {
	goroot, err := run("", nil, "go", "env", "GOROOT")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pkg, file, how string
		edits          int
		text           string
	}{
		{"time", "format.go", withoutDates, 2, "panic("},
		{"time", "time.go", withoutDates, 5, "panic("},
		{"runtime", "traceruntime.go", withoutTracing, 4, "{ return false }"},
	} {
		own, err := os.ReadFile(filepath.Join(goroot, "src", c.pkg, c.file))
		if err != nil {
			t.Fatal(err)
		}
		r := replacement{pkg: c.pkg}
		text := r.text(filepath.Join(goroot, "src"), c.file, c.how)
		if got := strings.Count(text, c.text) - strings.Count(string(own), c.text); got != c.edits {
			t.Errorf("%s/%s: %d functions are others; want %d", c.pkg, c.file, got, c.edits)
		}
	}
}

// A package that is not the one that files were made for keeps its own, and that is said.
func TestOverlayOfAnotherVersion(t *testing.T) {
	goroot, err := run("", nil, "go", "env", "GOROOT")
	if err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	packages := map[string]bool{}
	for _, r := range replacements {
		for pkg := range r.sums {
			packages[pkg] = true
		}
	}
	for pkg := range packages {
		if err := os.CopyFS(filepath.Join(other, "src", pkg), os.DirFS(filepath.Join(goroot, "src", pkg))); err != nil {
			t.Fatal(err)
		}
	}
	replaced := func() (files string, leftOut []error) {
		list, leftOut := overlay(other, t.TempDir(), nil)
		text, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		return string(text), leftOut
	}
	for _, c := range []struct {
		file    string // that another version has changed
		lost    string // of what is replaced
		leftOut int
	}{
		{"html/entity_test.go", "", 0},
		{"html/escape.go", "html/entity.go", 1},
		{"sort/zsortfunc.go", "slices/zsortfunc.go", 2},
		{"internal/godebug/more.go", "internal/godebug/godebug.go", 3},
		{"time/sleep.go", "time/format.go", 4},
		{"runtime/proc.go", "runtime/traceruntime.go", 5},
		{"log/log.go", "log/log.go", 6},
	} {
		f, err := os.OpenFile(filepath.Join(other, "src", c.file), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(f, "// changed")
		f.Close()
		files, leftOut := replaced()
		if len(leftOut) != c.leftOut || c.lost != "" && strings.Contains(files, filepath.Join(other, "src", c.lost)) {
			t.Errorf("%s has changed: left out %q, want %d, and not to replace %q in\n%s", c.file, leftOut, c.leftOut, c.lost, files)
		}
	}
}
