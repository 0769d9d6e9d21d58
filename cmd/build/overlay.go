//go:build !js

package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Some parts of the standard library are large in the program for what they do
// there: 5 % of it after compression. The compiler is told to read other files
// in their places (go help build, -overlay):
//
//   - html carries the names of 2,231 entities, which only UnescapeString needs;
//   - slices is compiled once for every type that is sorted. The same algorithm
//     stands in package sort, for anything that can compare and swap by index.
//     It makes the same comparisons and exchanges, so that equal elements end
//     in the same order as in a native program;
//   - internal/godebug watches an environment variable, which no browser has,
//     and counts for runtime/metrics, which nobody reads;
//   - log is imported by Vugu's components for no reason.
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

// overlay writes these files, and others by the names of those in whose places
// they are read, into dir and returns the list of them for go build.
func overlay(goroot, dir string, others map[string]string) (string, error) {
	std := func(name string) string { return filepath.Join(goroot, "src", filepath.FromSlash(name)) }
	sort, err := os.ReadFile(std("sort/zsortfunc.go"))
	if err != nil {
		return "", err
	}
	files := maps.Clone(others)
	if files == nil {
		files = map[string]string{}
	}
	for name, text := range map[string]string{
		"html/entity.go":              withoutEntities,
		"internal/godebug/godebug.go": withoutSettings,
		"log/log.go":                  withoutLogger,
		"slices/zsortanyfunc.go":      sortedByIndex,
		"slices/zsortfunc.go":         strings.Replace(string(sort), "package sort", "package slices", 1),
	} {
		files[std(name)] = text
	}
	return overlayOf(files, dir)
}

// overlayOf writes files, by the names of those in whose places they are read.
func overlayOf(files map[string]string, dir string) (string, error) {
	list := struct{ Replace map[string]string }{map[string]string{}}
	for i, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(dir, strconv.Itoa(i)+"-"+filepath.Base(name))
		if err := os.WriteFile(file, []byte(files[name]), 0o644); err != nil {
			return "", err
		}
		list.Replace[name] = file
	}
	data, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, data, 0o644)
}
