//go:build !js

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memtide/cmd/cli"
	"memtide/engine"
)

// target is a machine for which the command is built. wheel has the tags of its Python wheel: a
// Go program without C runs with any C library, and on macOS from version 12.
type target struct {
	os, arch string
	wheel    []string
}

var targets = []target{
	{"linux", "amd64", []string{"manylinux2014_x86_64", "musllinux_1_1_x86_64"}},
	{"linux", "arm64", []string{"manylinux2014_aarch64", "musllinux_1_1_aarch64"}},
	{"darwin", "amd64", []string{"macosx_12_0_x86_64"}},
	{"darwin", "arm64", []string{"macosx_12_0_arm64"}},
	{"windows", "amd64", []string{"win_amd64"}},
	{"windows", "arm64", []string{"win_arm64"}},
}

// command returns the file name of the command for the target.
func (t target) command() string {
	if t.os == "windows" {
		return "memtide.exe"
	}
	return "memtide"
}

// packages writes the packages that people install into the folder out, after the site is built:
// the command for each target, a Python wheel with it for each target and one without it, the npm package of the
// element, the site as an archive, and SHA256SUMS. The same sources make the same bytes.
func (s *site) packages(out string) {
	cli.Check(os.RemoveAll(out))
	cli.Check(os.MkdirAll(out, 0o755))
	var sums strings.Builder
	put := func(name string, data []byte) {
		cli.Check(os.WriteFile(filepath.Join(out, name), data, 0o644))
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), name)
		fmt.Printf("%10d  %s\n", len(data), name)
	}
	version := engine.Version
	licences := []file{{name: "LICENSE", data: s.read("LICENSE")},
		{name: "LICENSE-GO", data: bytes.Join(licenceTexts(goroot()), nil)}}
	python := s.pythonFiles()
	for _, t := range targets {
		program := s.compileCommand(t)
		files := append([]file{{t.command(), program, true}}, licences...)
		stem := fmt.Sprintf("memtide-%s-%s-%s", version, t.os, t.arch)
		if t.os == "windows" {
			put(stem+".zip", zipped(files))
		} else {
			put(stem+".tar.gz", tarball(files))
		}
		script := file{fmt.Sprintf("memtide-%s.data/scripts/%s", version, t.command()), program, true}
		put(s.wheel(t.wheel, append(slices.Clone(python), script)))
	}
	put(s.wheel([]string{"any"}, python))
	put("memtide-view-"+version+".tgz", tarball(s.npmFiles()))
	put("memtide-site-"+version+".tar.gz", tarball(s.siteFiles()))
	cli.Check(os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums.String()), 0o644))
}

func (s *site) compileCommand(t target) []byte {
	tmp := cli.Must(os.MkdirTemp("", "memtide-command-"))
	defer os.RemoveAll(tmp)
	name := filepath.Join(tmp, t.command())
	cli.Must(run(s.root, []string{"GOOS=" + t.os, "GOARCH=" + t.arch, "CGO_ENABLED=0"},
		"go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", name, "./cmd/memtide"))
	return cli.Must(os.ReadFile(name))
}

// siteFiles returns the files of the built site.
func (s *site) siteFiles() (out []file) {
	for _, a := range s.written {
		out = append(out, file{name: "memtide/" + a.name, data: cli.Must(os.ReadFile(filepath.Join(s.dir, a.name)))})
	}
	slices.SortFunc(out, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return out
}

// npmFiles returns the files of the npm package memtide-view.
func (s *site) npmFiles() (out []file) {
	const dir = "web/npm"
	for _, e := range cli.Must(os.ReadDir(filepath.Join(s.root, dir))) {
		out = append(out, file{name: "package/" + e.Name(), data: s.filledIn("", dir, e.Name())})
	}
	return append(out, file{name: "package/view.js", data: s.static("view.js")[0]},
		file{name: "package/LICENSE", data: s.read("LICENSE")})
}

// pythonFiles returns the files of the Python package: its modules and the page in one file.
func (s *site) pythonFiles() (out []file) {
	for _, name := range cli.Must(filepath.Glob(filepath.Join(s.root, pythonPackage, "*.py"))) {
		out = append(out, file{name: "memtide/" + filepath.Base(name), data: cli.Must(os.ReadFile(name))})
	}
	return append(out, file{name: "memtide/" + singleName,
		data: cli.Must(os.ReadFile(filepath.Join(s.dir, singleName)))})
}

// wheel returns the name and the content of a Python wheel for platforms (PEP 427).
func (s *site) wheel(platforms []string, files []file) (name string, data []byte) {
	const tag = "py3-none-"
	info := "memtide-" + engine.Version + ".dist-info/"
	about := fmt.Sprintf("Wheel-Version: 1.0\nGenerator: memtide %s\nRoot-Is-Purelib: %v\n", engine.Version,
		platforms[0] == "any")
	for _, p := range platforms {
		about += "Tag: " + tag + p + "\n"
	}
	files = append(slices.Clone(files),
		file{name: info + "licenses/LICENSE", data: s.read("LICENSE")},
		file{name: info + "licenses/THIRD-PARTY.txt",
			data: cli.Must(os.ReadFile(filepath.Join(s.dir, "THIRD-PARTY.txt")))},
		file{name: info + "METADATA", data: s.filledIn("", "profiles", "python", "METADATA")},
		file{name: info + "WHEEL", data: []byte(about)})
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	record.WriteString(info + "RECORD,,\n")
	files = append(files, file{name: info + "RECORD", data: []byte(record.String())})
	return fmt.Sprintf("memtide-%s-%s%s.whl", engine.Version, tag, strings.Join(platforms, ".")), zipped(files)
}

// file is a file in an archive.
type file struct {
	name string
	data []byte
	runs bool // it is executable
}

// mode returns the permissions of the file.
func (f file) mode() int64 {
	if f.runs {
		return 0o755
	}
	return 0o644
}

// archiveTime is the modification time of every file in an archive, so that the same sources
// make the same archive. It is the earliest time of a zip.
var archiveTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

func tarball(files []file) []byte {
	var b bytes.Buffer
	z := cli.Must(gzip.NewWriterLevel(&b, gzip.BestCompression))
	w := tar.NewWriter(z)
	for _, f := range files {
		cli.Check(w.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode(), Size: int64(len(f.data)),
			ModTime: archiveTime, Format: tar.FormatUSTAR}))
		cli.Must(w.Write(f.data))
	}
	cli.Check(w.Close())
	cli.Check(z.Close())
	return b.Bytes()
}

func zipped(files []file) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	for _, f := range files {
		// created on Unix, for the mode
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: archiveTime, CreatorVersion: 3 << 8}
		h.ExternalAttrs = uint32(0o100000|f.mode()) << 16
		cli.Must(cli.Must(w.CreateHeader(h)).Write(f.data))
	}
	cli.Check(w.Close())
	return b.Bytes()
}

// licences writes THIRD-PARTY.txt: the licence of all software of others in the site. The list
// follows from the imports of the programs and from package-lock.json.
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

// goModules returns Go itself and the modules of the packages in the programs.
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

// licenceTexts returns the files of a directory whose names are those of licences or notices,
// and those of its directory licenses, to which they may refer.
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
