//go:build !js

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"memtide/cmd/cli"
)

// TestLicences compares the licences in the site with the modules that its programs import and the packages that
// its charts are bundled from.
func TestLicences(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{root: root, dir: t.TempDir()}
	if err := cli.Try(func() { s.installPackages(); s.licences() }); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(s.dir, "THIRD-PARTY.txt"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for i, parts := 1, strings.Split(string(b), strings.Repeat("=", 78)); i+1 < len(parts); i += 2 {
		texts[strings.TrimSpace(parts[i])] = parts[i+1]
	}
	want := map[string]bool{"The Go standard library and runtime": true}
	for _, p := range programs {
		list, err := run(root, []string{"GOOS=js", "GOARCH=wasm"}, "go", "list", "-deps", "-f",
			"{{with .Module}}{{.Path}} {{.Version}}{{end}}", p.pkg)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(list) {
			if name := strings.TrimSpace(line); name != "" && name != "memtide" {
				want[name] = true
			}
		}
	}
	for name := range bundledPackages(t, s) {
		want[name] = true
	}
	if len(want) < 8 {
		t.Fatalf("only %d pieces of software by others were found, %v: the test looks in the wrong place",
			len(want), want)
	}
	for name := range want {
		text, ok := texts[name]
		lower := strings.ToLower(text)
		if !ok || !strings.Contains(lower, "copyright") || !strings.Contains(lower, "permission") &&
			!strings.Contains(lower, "redistribution") {
			t.Errorf("THIRD-PARTY.txt has no licence of %s; got %.200q", name, text)
		}
	}
	for name, text := range texts {
		if strings.HasPrefix(name, "echarts ") &&
			!strings.Contains(text, "Mike Bostock") { // it refers to the licence of D3
			t.Errorf("the licence of %s lacks that of what it contains itself", name)
		}
		if !want[name] {
			t.Errorf("THIRD-PARTY.txt has a licence of %s, which is not in the site", name)
		}
	}
}

// bundledPackages returns the packages, with their versions, of which the charts' bundle contains code.
func bundledPackages(t *testing.T, s *site) map[string]bool {
	t.Helper()
	options := s.bundle(new(sync.Map))
	options.Metafile = true
	result := api.Build(options)
	var meta struct{ Inputs map[string]any }
	if err := json.Unmarshal([]byte(result.Metafile), &meta); err != nil || len(result.Errors) > 0 {
		t.Fatalf("bundling the charts: %v, %v", err, result.Errors)
	}
	out := map[string]bool{}
	for file := range meta.Inputs {
		_, rest, ok := strings.Cut(file, "node_modules/")
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(rest, "/")
		var manifest struct{ Version string }
		b, err := os.ReadFile(filepath.Join(s.root, "node_modules", name, "package.json"))
		if err == nil {
			err = json.Unmarshal(b, &manifest)
		}
		if err != nil {
			t.Fatal(err)
		}
		out[name+" "+manifest.Version] = true
	}
	return out
}
