//go:build !js

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"text/template"

	"memtide/cmd/cli"
)

// site is the directory being made, and what the page has to know of it.
type site struct {
	root, dir string
	address   string // where it will be, ending in a slash, if that is known
	written   []asset

	// Names in dir, for the template.
	Script, Worker, Style, DocsStyle, Charts, Wasm, Second string
	WasmSize                                               int
	Start                                                  string // a script that stands in the page
	First                                                  string // #app, as cmd/build/first prints it

	extra [][]byte // scripts that only the page of watch has

	complaints io.Writer // what is not as it could be; nil: os.Stderr
}

type asset struct {
	name string
	size int
	sum  [sha256.Size]byte
}

// read is a file of the module, by the parts of its path.
func (s *site) read(path ...string) []byte {
	return cli.Must(os.ReadFile(filepath.Join(append([]string{s.root}, path...)...)))
}

// template is a page of the module with places to fill in.
func (s *site) template(path ...string) *template.Template {
	return cli.Must(template.New(path[len(path)-1]).Option("missingkey=error").Parse(string(s.read(path...))))
}

// put writes a file under a fixed name.
func (s *site) put(name string, data []byte) {
	s.written = append(s.written, asset{name: name, size: len(data), sum: sha256.Sum256(data)})
	file := filepath.Join(s.dir, name)
	if old, err := os.ReadFile(file); err == nil && slices.Equal(old, data) {
		return // keeps its time, and with it the compressed siblings
	}
	cli.Check(os.WriteFile(file, data, 0o644))
}

// putHashed writes a file under a name that changes with its content, so that a
// host may let browsers keep it: stem.0123456789ab.ext.
func (s *site) putHashed(stem, ext string, data []byte) string {
	sum := sha256.Sum256(data)
	name := fmt.Sprintf("%s.%s%s", stem, hex.EncodeToString(sum[:6]), ext)
	s.put(name, data)
	return name
}

var hashed = regexp.MustCompile(`^[a-z]+\.[0-9a-f]{12}\.(js|css|wasm)(\.br|\.gz)?$`)

// sweep removes the files of earlier builds: those whose names putHashed makes.
func (s *site) sweep() {
	for _, e := range cli.Must(os.ReadDir(s.dir)) {
		name := e.Name()
		if !hashed.MatchString(name) || slices.ContainsFunc(s.written, func(a asset) bool {
			return name == a.name || name == a.name+".br" || name == a.name+".gz"
		}) {
			continue
		}
		cli.Check(os.Remove(filepath.Join(s.dir, name)))
	}
}

func (s *site) report(w io.Writer) {
	for _, a := range s.written {
		fmt.Fprintf(w, "%10d  %s\n", a.size, a.name)
	}
}
