//go:build !js

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memtide/cmd/cli"
	"memtide/profiles"
)

// banned maps packages that would make the program much larger to what should be used instead.
var banned = map[string]string{
	"net/http":                         "fetch in the browser, by safejs",
	"log/slog":                         "errors that reach the page",
	"encoding/gob":                     "the columns of wasm/proto",
	"crypto/tls":                       "nothing: nothing is sent",
	"html/template":                    "components",
	"text/template":                    "fmt",
	"regexp":                           "strings",
	"net/url":                          "EscapeValue of web/link",
	"github.com/andybalholm/brotli":    "compress/flate",
	"github.com/evanw/esbuild/pkg/api": "the build command",
	"github.com/chromedp/chromedp":     "the browser tests",
}

// TestImports checks which packages the program in the browser is made of.
func TestImports(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	list, err := run(root, []string{"GOOS=js", "GOARCH=wasm"}, "go", "list", "-deps", "./wasm/page")
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(list)
	if !slices.Contains(deps, "memtide/engine/sim") {
		t.Fatalf("the list of imports lacks memtide/engine/sim; is it the right one?\n%s", list)
	}
	for _, dep := range deps {
		if instead, ok := banned[dep]; ok {
			t.Errorf("the program imports %s; use %s", dep, instead)
		}
		if strings.HasPrefix(dep, "google.golang.org/protobuf") || strings.HasPrefix(dep, "github.com/go-echarts") ||
			strings.HasPrefix(dep, "memtide/cmd") {
			t.Errorf("the program imports %s, which does not belong into it", dep)
		}
	}
}

// TestFormats checks that the page links only the one format that it needs and that the second program links all
// of them. Only the second program writes schedules, searches graphs and places buffers.
func TestFormats(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	const folder, writer, graphs, allocators = "memtide/profiles/formats/", "memtide/wasm/serve/export",
		"memtide/engine/graphs", "memtide/engine/allocators"
	folders, err := os.ReadDir(filepath.Join(root, "profiles", "formats"))
	if err != nil {
		t.Fatal(err)
	}
	all := []string{writer, graphs, allocators}
	for _, d := range folders {
		if d.Name() != "formattest" {
			all = append(all, folder+d.Name())
		}
	}
	slices.Sort(all)
	for program, want := range map[string][]string{programs[0].pkg: {folder + "native"}, programs[1].pkg: all} {
		list, err := run(root, []string{"GOOS=js", "GOARCH=wasm"}, "go", "list", "-deps", program)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for dep := range strings.FieldsSeq(list) {
			if strings.HasPrefix(dep, folder) || dep == writer || dep == graphs || dep == allocators {
				got = append(got, dep)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s links\n  %q\nwant\n  %q", program, got, want)
		}
	}
}

// TestPure checks the imports of the engine and of the profiles. They have to compile for any system, so they
// import only the standard library, without the packages that talk to the operating system.
func TestPure(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	for pattern, allowed := range map[string][]string{
		"./engine/...":   {"memtide/engine"},
		"./profiles/...": {"memtide/engine", "memtide/profiles"},
	} {
		list, err := run(root, nil, "go", "list", "-f",
			`{{$p := .ImportPath}}{{range .Imports}}{{$p}} {{.}}{{"\n"}}{{end}}`, pattern)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(list) {
			pkg, dep, ok := strings.Cut(strings.TrimSpace(line), " ")
			if !ok || strings.HasPrefix(pkg, "memtide/engine/enginetest") ||
				pkg == "memtide/profiles/formats/formattest" { // for tests; enginetest has a command
				continue
			}
			own := strings.HasPrefix(dep, "memtide/")
			inside := slices.ContainsFunc(allowed,
				func(a string) bool { return dep == a || strings.HasPrefix(dep, a+"/") })
			foreign := !own && strings.Contains(strings.SplitN(dep, "/", 2)[0], ".")
			if own && !inside || foreign || dep == "syscall/js" || dep == "net/http" || dep == "os" || dep == "log" {
				t.Errorf("%s imports %s; packages of %s may not", pkg, dep, pattern)
			}
		}
	}
}

// These are upper limits on the compressed sizes of what a visitor loads, in bytes. They are a few per cent above
// the present sizes. If the tables of a new version of Go differ and a pass over the program no longer has an
// effect, these limits reveal it at the latest.
const (
	maxWasmGzip     = 2_380_000
	maxWasmBrotli   = 1_636_000
	maxChartsBrotli = 127_400
	maxFirstBrotli  = 1_800_000 // everything that the first visit to a chain waits for
)

// TestSize builds what a first visit loads and checks its sizes. That takes minutes, so it only runs with
// MEMTIDE_LONG=1, which make check and make check-long set.
func TestSize(t *testing.T) {
	if os.Getenv("MEMTIDE_LONG") == "" {
		t.Skip("compiling and compressing take minutes; MEMTIDE_LONG=1 weighs the page")
	}
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{root: root, dir: t.TempDir()}
	for _, make := range []func(){s.program, s.scripts, s.charts, s.page} {
		if err := cli.Try(make); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(filepath.Join(s.dir, s.Wasm))
	if err != nil {
		t.Fatal(err)
	}
	if endings := strings.Join(profiles.Extensions(), ","); !bytes.Contains(page, []byte(endings)) {
		t.Errorf("the page does not offer files of other formats: it lacks %q", endings)
	}
	weigh := func(name, how string, squeeze func([]byte) []byte, limit int) int {
		data, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		small := squeeze(data)
		t.Logf("%s: %d bytes, %d with %s", name, len(data), len(small), how)
		if len(small) > limit {
			t.Errorf("%s has %d bytes with %s; at most %d are allowed (what grew? go build -ldflags=-s=false and compare names)", name, len(small), how, limit)
		}
		return len(small)
	}
	weigh(s.Wasm, "gzip", squeezeGzip, maxWasmGzip)
	all := weigh(s.Charts, "brotli", squeezeBrotli, maxChartsBrotli) + weigh(s.Wasm, "brotli", squeezeBrotli,
		maxWasmBrotli)
	for _, name := range []string{"index.html", s.Script, s.Worker, s.Style} {
		all += weigh(name, "brotli", squeezeBrotli, maxChartsBrotli)
	}
	if t.Logf("the first visit: %d bytes with brotli", all); all > maxFirstBrotli {
		t.Errorf("the first visit loads %d bytes with brotli; at most %d are allowed", all, maxFirstBrotli)
	}
}

// TestScripts checks that the page's script contains every part, in order.
func TestScripts(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{root: root, dir: t.TempDir()}
	if err := cli.Try(s.scripts); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(s.dir, s.Script))
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, part := range []string{"this.argv=", "globalThis.memtideDOM=", "globalThis.memtidePaint",
		"globalThis.memtide="} {
		i := bytes.Index(page[at:], []byte(part))
		if i < 0 {
			t.Fatalf("%s: %q is missing, or not after the part before it", s.Script, part)
		}
		at += i
	}
	if bytes.Contains(page, []byte("new Function(")) || bytes.Contains(page, []byte("innerHTML = location")) {
		t.Errorf("%s evaluates text, which the policy forbids", s.Script)
	}
}

// TestSweepFiles checks that sweep removes the files of old builds and no other files.
func TestSweepFiles(t *testing.T) {
	s := &site{dir: t.TempDir()}
	keep := []string{"CNAME", "app.wasm", "notes.txt"}
	old := []string{"app.0123456789ab.wasm", "page.0123456789ab.js.br"}
	for _, name := range append(keep, old...) {
		if err := os.WriteFile(filepath.Join(s.dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	now := s.putHashed("app", ".wasm", []byte("new"))
	if err := cli.Try(s.sweep); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	want := append(keep, now)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("left: %v, want %v", got, want)
	}
}
