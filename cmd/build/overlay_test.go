//go:build !js

package main

import (
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
		fmt.Fprint(sum, items, stable)
	}
	fmt.Println(sum.Sum64())
}
`

// With the other files sorting gives the very same order, also among equals.
func TestOverlaySorts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": sorts, "go.mod": "module sorts\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	goroot, err := run("", nil, "go", "env", "GOROOT")
	if err != nil {
		t.Fatal(err)
	}
	list, err := overlay(goroot, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := run(dir, []string{"GOFLAGS=-mod=mod"}, "go", "run", ".")
	if err != nil {
		t.Fatal(err)
	}
	got, err := run(dir, []string{"GOFLAGS=-mod=mod"}, "go", "run", "-overlay="+list, ".")
	if err != nil {
		t.Fatal(err)
	}
	if got != want || strings.TrimSpace(got) == "" {
		t.Errorf("the sum of what was sorted: %q with other files, %q without; want the same", got, want)
	}
}
