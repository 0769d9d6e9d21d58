//go:build !js

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"memtide/cmd/cli"
)

// The Python package, and the single file that is generated from it for people who copy it.
const (
	pythonPackage = "profiles/python/memtide"
	pythonFile    = "profiles/memtide_torch.py"
)

var (
	docstring      = regexp.MustCompile(`(?s)\A"""(.*?)"""\n`)
	relativeImport = regexp.MustCompile(`(?m)^from \.(\w+) import (?:\([^)]*\)|[^(\n]*)\n`)
	plainImport    = regexp.MustCompile(`(?m)^import \w+\n`)
)

// onePython returns the modules of a Python package as one file: each module after those that it
// imports, __main__ last, without the imports from each other. Therefore only one module may
// define a name, and an import may not rename one.
func onePython(dir fs.FS) []byte {
	var body bytes.Buffer
	var doc string
	var imports, seen []string
	var add func(module string)
	add = func(module string) {
		if slices.Contains(seen, module) {
			return
		}
		seen = append(seen, module)
		text := string(cli.Must(fs.ReadFile(dir, module+".py")))
		for _, m := range relativeImport.FindAllStringSubmatch(text, -1) {
			add(m[1])
		}
		about := docstring.FindStringSubmatch(text)
		if about == nil {
			cli.Fail("%s/%s.py does not begin with a docstring", pythonPackage, module)
		}
		text = relativeImport.ReplaceAllString(text[len(about[0]):], "")
		imports = append(imports, plainImport.FindAllString(text, -1)...)
		text = strings.TrimSpace(plainImport.ReplaceAllString(text, ""))
		if module == "__init__" {
			doc = about[1]
			fmt.Fprintf(&body, "\n\n%s\n", text)
			return
		}
		comment := strings.ReplaceAll(strings.TrimSpace(about[1]), "\n", "\n# ")
		fmt.Fprintf(&body, "\n\n# -- %s.py: %s\n\n\n%s\n", module, strings.ReplaceAll(comment, "# \n", "#\n"), text)
	}
	add("__init__")
	add("__main__")
	slices.Sort(imports)
	doc = strings.NewReplacer("python -m memtide", "python memtide_torch.py",
		"import memtide as", "import memtide_torch as").Replace(doc)
	head := "#!/usr/bin/env python3\n# Code generated from " + pythonPackage + " by make generate; DO NOT EDIT.\n"
	return []byte(head + `"""` + doc + "\"\"\"\n" + strings.Join(slices.Compact(imports), "") + body.String())
}
