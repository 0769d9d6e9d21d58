//go:build !js

package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/andybalholm/brotli"

	"memtide/cmd/cli"
)

// site is the directory being made, and what the page has to know of it.
type site struct {
	root, dir string
	address   string // where it will be, ending in a slash, if that is known
	written   []asset

	// Names in dir, for the template.
	Script, Worker, Style, DocsStyle, Charts, Wasm, Second string
	Puzzle, PuzzleScript                                   string
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

// read returns a file of the module, by the parts of its path.
func (s *site) read(path ...string) []byte {
	return cli.Must(os.ReadFile(filepath.Join(append([]string{s.root}, path...)...)))
}

// template returns a page of the module with places to fill in.
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

// compress writes name.gz and name.br for everything that is worth it. Hosts
// that do not know such files are not hurt by them.
func (s *site) compress() {
	worth := []string{".wasm", ".js", ".css", ".html", ".txt"}
	for _, a := range slices.Clone(s.written) {
		if a.size < 1024 || !slices.Contains(worth, strings.ToLower(filepath.Ext(a.name))) {
			continue
		}
		data := cli.Must(os.ReadFile(filepath.Join(s.dir, a.name)))
		for suffix, squeeze := range map[string]func([]byte) []byte{".gz": squeezeGzip, ".br": squeezeBrotli} {
			small := squeeze(data)
			cli.Check(os.WriteFile(filepath.Join(s.dir, a.name+suffix), small, 0o644))
			s.written = append(s.written, asset{name: a.name + suffix, size: len(small)})
		}
	}
	slices.SortFunc(s.written, func(a, b asset) int { return strings.Compare(a.name, b.name) })
}

func squeezeGzip(data []byte) []byte {
	var b bytes.Buffer
	w := cli.Must(gzip.NewWriterLevel(&b, gzip.BestCompression))
	cli.Must(w.Write(data))
	cli.Check(w.Close())
	return b.Bytes()
}

// squeezeBrotli takes about 20 s for the program: that is why only releases are compressed.
func squeezeBrotli(data []byte) []byte {
	var b bytes.Buffer
	// The largest window that browsers must know, 16 MiB: the program is larger
	// than the usual one of 4.
	w := brotli.NewWriterOptions(&b, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: 24})
	cli.Must(w.Write(data))
	cli.Check(w.Close())
	return b.Bytes()
}

// policy is what the browser is told to forbid. That a file which was dropped
// cannot be sent anywhere follows from connect-src, form-action and the rest:
// there is no other host in it.
//
//   - script-src: no eval, and no script in the text, but for start.js in the page,
//     by its hash; WebAssembly may be compiled.
//   - style-src-attr: the tooltip of the charts and Vugu's :style set style
//     attributes.
//   - worker-src: workers start from a blob that imports our script, because
//     sandboxed frames refuse new Worker(address). The blob obeys this policy too.
var policy = strings.Join([]string{
	"default-src 'none'",
	"script-src 'self' 'wasm-unsafe-eval'",
	"style-src 'self'",
	"style-src-attr 'unsafe-inline'",
	"img-src 'self' data: blob:",
	"worker-src 'self' blob:",
	"connect-src 'self'",
	"manifest-src 'self'",
	"base-uri 'none'",
	"form-action 'none'",
}, "; ")

// page fills in index.html.
func (s *site) page() {
	tmpl := s.template("index.html")
	if s.First == "" {
		s.First = cli.Must(run(s.root, nil, "go", "run", "memtide/cmd/build/first"))
	}
	var out bytes.Buffer
	cli.Check(tmpl.Execute(&out, struct {
		*site
		Policy string
	}{s, strings.Replace(policy, "script-src", "script-src "+sourceHash([]byte(s.Start)), 1)}))
	// Without this file GitHub Pages would run the site through Jekyll.
	s.put(".nojekyll", nil)
	s.put("index.html", out.Bytes())
}

// puzzle fills in web/puzzle/puzzle.html, a page with a program of its own.
func (s *site) puzzle() {
	var out bytes.Buffer
	cli.Check(s.template("web", "puzzle", "puzzle.html").Execute(&out, struct {
		*site
		Policy string
	}{s, policy}))
	s.put("puzzle.html", out.Bytes())
}

// sourceHash names a script or a style sheet that stands in a page, for the policy.
func sourceHash(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
