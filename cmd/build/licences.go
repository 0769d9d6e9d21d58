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
)

// licences writes THIRD-PARTY.txt: the licence of everything in the site that
// is not ours. The list is not kept by hand: it is what the program imports and
// what package-lock.json names.
func (s *site) licences() error {
	dirs, err := s.goModules()
	if err != nil {
		return err
	}
	npm, err := s.npmPackages()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	out.WriteString("This site contains the following software of others, under these licences.\n")
	for _, d := range append(dirs, npm...) {
		texts, err := licenceTexts(d.dir)
		if err != nil {
			return err
		}
		if len(texts) == 0 {
			return fmt.Errorf("%s has no licence file in %s", d.name, d.dir)
		}
		fmt.Fprintf(&out, "\n%s\n%s\n%s\n\n", strings.Repeat("=", 78), d.name, strings.Repeat("=", 78))
		out.Write(bytes.Join(texts, []byte("\n")))
	}
	if own, err := os.ReadFile(filepath.Join(s.root, "LICENSE")); err == nil {
		if err := s.put("LICENSE.txt", own); err != nil {
			return err
		}
	}
	return s.put("THIRD-PARTY.txt", out.Bytes())
}

type source struct{ name, dir string }

// goModules are Go itself and the modules of the packages in the program.
func (s *site) goModules() ([]source, error) {
	goroot, err := run(s.root, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	var out []source
	for _, p := range programs {
		list, err := run(s.root, []string{"GOOS=js", "GOARCH=wasm"}, "go", "list", "-deps",
			"-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", p.pkg)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(list) {
			if name, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				out = append(out, source{name, dir})
			}
		}
	}
	slices.SortFunc(out, func(a, b source) int { return strings.Compare(a.name, b.name) })
	out = slices.Compact(out)
	return append([]source{{"The Go standard library and runtime", goroot}}, out...), nil
}

func (s *site) npmPackages() ([]source, error) {
	text, err := os.ReadFile(filepath.Join(s.root, "package-lock.json"))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version string
			Dev     bool // only tests use it
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("package-lock.json: %w", err)
	}
	var out []source
	for path, p := range lock.Packages {
		if path != "" && !p.Dev {
			out = append(out, source{strings.TrimPrefix(path, "node_modules/") + " " + p.Version, filepath.Join(s.root, path)})
		}
	}
	slices.SortFunc(out, func(a, b source) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// licenceTexts are the files of a directory that are licences or notices by their
// names, and those of its directory licenses, to which they may refer.
func licenceTexts(dir string) ([][]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() && name == "LICENSES" {
			more, err := licenceTexts(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
		if e.IsDir() || !(strings.HasPrefix(name, "LICENSE") || strings.HasPrefix(name, "LICENCE") || strings.HasPrefix(name, "NOTICE") || strings.HasPrefix(name, "COPYRIGHT")) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}
