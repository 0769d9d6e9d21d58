//go:build !js

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"memtide/cmd/cli"
)

// Some parts of the standard library are large in the program for what they do
// there. The compiler is told to read other files in their places (go help build,
// -overlay). What each saves of the page's program, with brotli (1.36 MB):
//
//   - html (18.6 KB) carries the names of 2,231 entities, which only UnescapeString
//     needs;
//   - slices (23.8 KB) is compiled once for every type that is sorted. The same
//     algorithm stands in package sort, for anything that can compare and swap by
//     index. It makes the same comparisons and exchanges, so that equal elements end
//     in the same order as in a native program;
//   - time (with the sorting of ordered types 15 KB) writes and reads dates, which
//     nobody here does, by methods that every interface might call;
//   - internal/godebug (14.6 KB) watches an environment variable, which no browser
//     has, and counts for runtime/metrics, which nobody reads;
//   - runtime (7 KB) can write a trace of itself, for which nothing here asks;
//   - log (3.0 KB) is imported by Vugu's components for the name of a type. Whatever
//     else used it would not compile.
//
// A file was made for a package as it is in one version of Go. It is read only where
// the files of that package are the very same, and left out with a word elsewhere: to
// bring it up to date, look at what has changed and write the sum that the word tells.
var replacements = []replacement{
	{"html", map[string]string{"html": "d4c589dba79d53d8"}, map[string]string{"entity.go": withoutEntities}},
	{"slices", map[string]string{"slices": "37caf14b2cdccf2d", "sort": "a5accf0e82841592"}, map[string]string{"zsortanyfunc.go": sortedByIndex, "zsortordered.go": orderedByIndex, "zsortfunc.go": fromSort}},
	{"log", map[string]string{"log": "09bf01db73dee0b5"}, map[string]string{"log.go": withoutLogger}},
	{"time", map[string]string{"time": "3afc4408b0172ce8"}, map[string]string{"format.go": withoutDates, "time.go": withoutDates}},
	{"runtime", map[string]string{"runtime": "6d6e0423f6ae80fe"}, map[string]string{"traceruntime.go": withoutTracing}},
	{"internal/godebug", map[string]string{"internal/godebug": "5a083aad661ed84f"}, map[string]string{"godebug.go": withoutSettings}},
}

// replacement is what is read in the place of files of a package.
type replacement struct {
	pkg   string
	sums  map[string]string // of the packages that it was made for
	files map[string]string // texts by names
}

// What stands for a text that is made from the file of the same name: in package sort,
// which fits into package slices, or in the package itself, without the methods of dates,
// or with an execution tracer that is never on.
const (
	fromSort       = "sort"
	withoutDates   = "dates"
	withoutTracing = "tracing"
)

// dates are the methods of time.Time that read and write dates. They are kept in every
// program, because interfaces have methods of these names.
var dates = regexp.MustCompile(`(?ms)^(func \(t \*?Time\) (?:String|GoString|MarshalJSON|UnmarshalJSON|MarshalText|UnmarshalText|AppendText)\(.*?\{)\n.*?^\}`)

const (
	sortedByIndex = `package slices

type lessSwap struct {
	Less func(i, j int) bool
	Swap func(i, j int)
}

func byIndex[E any](data []E, cmp func(a, b E) int) lessSwap {
	return lessSwap{
		func(i, j int) bool { return cmp(data[i], data[j]) < 0 },
		func(i, j int) { data[i], data[j] = data[j], data[i] },
	}
}

func pdqsortCmpFunc[E any](data []E, a, b, limit int, cmp func(a, b E) int) {
	pdqsort_func(byIndex(data, cmp), a, b, limit)
}

func stableCmpFunc[E any](data []E, n int, cmp func(a, b E) int) {
	stable_func(byIndex(data, cmp), n)
}
`
	orderedByIndex = `package slices

import "cmp"

func pdqsortOrdered[E cmp.Ordered](data []E, a, b, limit int) {
	pdqsort_func(lessSwap{
		func(i, j int) bool { return cmp.Less(data[i], data[j]) },
		func(i, j int) { data[i], data[j] = data[j], data[i] },
	}, a, b, limit)
}
`
	withoutEntities = `package html

const longestEntityWithoutSemicolon = 6

func entityMaps() (map[string]rune, map[string][2]rune) {
	panic("html: this program is built without the names of entities; see cmd/build/overlay.go")
}
`
	withoutSettings = `package godebug

type Setting struct{ name string }

func New(name string) *Setting { return &Setting{name} }

func (s *Setting) Name() string {
	if s.Undocumented() {
		return s.name[1:]
	}
	return s.name
}

func (s *Setting) Undocumented() bool { return s.name != "" && s.name[0] == '#' }
func (s *Setting) String() string     { return s.Name() + "=" }
func (s *Setting) IncNonDefault()     {}
func (s *Setting) Value() string      { return "" }
`
	withoutLogger = `package log

type Logger struct{}
`
)

// errDownloaded says why no file of the standard library can be replaced.
var errDownloaded = errors.New("the go command lets nobody replace files of a Go that it has downloaded itself (GOTOOLCHAIN)")

// overlay writes these files, and others by the names of those in whose places they
// are read, into dir. It returns the list of them for go build, and what was left out.
func overlay(goroot, dir string, others map[string]string) (list string, leftOut []error) {
	src := filepath.Join(goroot, "src")
	files := maps.Clone(others)
	if files == nil {
		files = map[string]string{}
	}
	downloads := cli.Must(run("", nil, "go", "env", "GOMODCACHE"))
	wanted := replacements
	if strings.HasPrefix(goroot, downloads+string(filepath.Separator)) {
		wanted, leftOut = nil, []error{errDownloaded}
	}
	for _, r := range wanted {
		if err := cli.Try(func() { r.verify(src) }); err != nil {
			leftOut = append(leftOut, err)
			continue
		}
		for name, text := range r.files {
			files[filepath.Join(src, filepath.FromSlash(r.pkg), name)] = r.text(src, name, text)
		}
	}
	return overlayOf(files, dir), leftOut
}

// tracing are the functions that tell the runtime whether it is traced.
var tracing = regexp.MustCompile(`(?m)^(func (?:traceEnabled|traceAllocFreeEnabled|traceShuttingDown|\(tl traceLocker\) ok)\(\) bool \{)\n.*\n\}`)

// text is what is read in the place of a file.
func (r *replacement) text(src, name, text string) string {
	file := func(pkg string) string { return string(cli.Must(os.ReadFile(filepath.Join(src, pkg, name)))) }
	switch text {
	case fromSort:
		return strings.Replace(file("sort"), "package sort", "package "+r.pkg, 1)
	case withoutDates:
		return dates.ReplaceAllString(file(r.pkg), "$1 panic(\"time: this program is built without dates; see cmd/build/overlay.go\") }")
	case withoutTracing:
		return tracing.ReplaceAllString(file(r.pkg), "$1 return false }")
	}
	return text
}

// verify sees that packages are those that files were made for.
func (r *replacement) verify(src string) {
	for _, pkg := range slices.Sorted(maps.Keys(r.sums)) {
		if sum := packageSum(filepath.Join(src, filepath.FromSlash(pkg))); sum != r.sums[pkg] {
			cli.Fail("the files that replace some of package %s were made for a package %s of the sum %s, this one has %s", r.pkg, pkg, r.sums[pkg], sum)
		}
	}
}

// packageSum is a sum of the Go files of a folder, less tests.
func packageSum(dir string) string {
	sum := sha256.New()
	for _, name := range cli.Must(filepath.Glob(filepath.Join(dir, "*.go"))) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text := cli.Must(os.ReadFile(name))
		fmt.Fprintf(sum, "%s %d\n", filepath.Base(name), len(text))
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// overlayOf writes files, by the names of those in whose places they are read.
func overlayOf(files map[string]string, dir string) string {
	list := struct{ Replace map[string]string }{map[string]string{}}
	for i, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(dir, strconv.Itoa(i)+"-"+filepath.Base(name))
		cli.Check(os.WriteFile(file, []byte(files[name]), 0o644))
		list.Replace[name] = file
	}
	file := filepath.Join(dir, "overlay.json")
	cli.Check(os.WriteFile(file, cli.Must(json.Marshal(list)), 0o644))
	return file
}
