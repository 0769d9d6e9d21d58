//go:build !js

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memtide/cmd/cli"
)

// licences writes THIRD-PARTY.txt: the licence of everything in the site that
// is not ours. The list is not kept by hand: it is what the program imports and
// what package-lock.json names.
func (s *site) licences() {
	var out bytes.Buffer
	out.WriteString("This site contains the following software of others, under these licences.\n")
	for _, d := range append(s.goModules(), s.npmPackages()...) {
		texts := licenceTexts(d.dir)
		if len(texts) == 0 {
			cli.Fail("%s has no licence file in %s", d.name, d.dir)
		}
		fmt.Fprintf(&out, "\n%s\n%s\n%s\n\n", strings.Repeat("=", 78), d.name, strings.Repeat("=", 78))
		out.Write(bytes.Join(texts, []byte("\n")))
	}
	if own, err := os.ReadFile(filepath.Join(s.root, "LICENSE")); err == nil {
		s.put("LICENSE.txt", own)
	}
	s.put("THIRD-PARTY.txt", out.Bytes())
}

type source struct{ name, dir string }

// goModules are Go itself and the modules of the packages in the program.
func (s *site) goModules() []source {
	var out []source
	for _, p := range programs {
		list := cli.Must(run(s.root, []string{"GOOS=js", "GOARCH=wasm"}, "go", "list", "-deps",
			"-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", p.pkg))
		for line := range strings.Lines(list) {
			if name, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				out = append(out, source{name, dir})
			}
		}
	}
	slices.SortFunc(out, func(a, b source) int { return strings.Compare(a.name, b.name) })
	out = slices.Compact(out)
	return append([]source{{"The Go standard library and runtime", goroot()}}, out...)
}

func (s *site) npmPackages() []source {
	var lock struct {
		Packages map[string]struct {
			Version string
			Dev     bool // only tests use it
		}
	}
	cli.Within("package-lock.json", func() { cli.Check(json.Unmarshal(s.read("package-lock.json"), &lock)) })
	var out []source
	for path, p := range lock.Packages {
		if path != "" && !p.Dev {
			out = append(out, source{strings.TrimPrefix(path, "node_modules/") + " " + p.Version,
				filepath.Join(s.root, path)})
		}
	}
	slices.SortFunc(out, func(a, b source) int { return strings.Compare(a.name, b.name) })
	return out
}

// licenceTexts returns the files of a directory that are licences or notices by their
// names, and those of its directory licenses, to which they may refer.
func licenceTexts(dir string) (out [][]byte) {
	for _, e := range cli.Must(os.ReadDir(dir)) {
		name := strings.ToUpper(e.Name())
		if e.IsDir() && name == "LICENSES" {
			out = append(out, licenceTexts(filepath.Join(dir, e.Name()))...)
		}
		if e.IsDir() || !(strings.HasPrefix(name, "LICENSE") || strings.HasPrefix(name, "LICENCE") ||
			strings.HasPrefix(name, "NOTICE") || strings.HasPrefix(name, "COPYRIGHT")) {
			continue
		}
		out = append(out, cli.Must(os.ReadFile(filepath.Join(dir, e.Name()))))
	}
	return out
}
