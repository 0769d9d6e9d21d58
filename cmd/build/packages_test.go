//go:build !js

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
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
	"testing"

	"memtide/cmd/cli"
	"memtide/engine"
)

// packed returns a site whose built files hold only a few words each.
func packed(t *testing.T) *site {
	t.Helper()
	s := &site{root: filepath.Join("..", ".."), dir: t.TempDir(), address: "https://example.com/here/"}
	s.put(singleName, []byte("<body>"))
	s.put("THIRD-PARTY.txt", []byte("licences"))
	return s
}

// TestWheel checks that a wheel is as PEP 427 requires. RECORD has the hash and the size of every other file,
// WHEEL has a line for each platform, and only the program is executable. The same files give the same bytes.
func TestWheel(t *testing.T) {
	s := packed(t)
	program := file{"memtide-" + engine.Version + ".data/scripts/memtide", []byte("program"), true}
	make := func() (name string, data []byte) {
		return s.wheel([]string{"manylinux2014_x86_64", "musllinux_1_1_x86_64"}, append(s.pythonFiles(), program))
	}
	name, data := make()
	if want := "memtide-" + engine.Version + "-py3-none-manylinux2014_x86_64.musllinux_1_1_x86_64.whl"; name != want {
		t.Errorf("the name is %s; want %s", name, want)
	}
	if _, again := make(); !bytes.Equal(data, again) {
		t.Error("the same files make two wheels that differ")
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	info := "memtide-" + engine.Version + ".dist-info/"
	files, record := map[string]string{}, ""
	for _, f := range z.File {
		text := string(cli.Must(io.ReadAll(cli.Must(f.Open()))))
		if files[f.Name] = text; f.Name != info+"RECORD" {
			sum := sha256.Sum256([]byte(text))
			record += fmt.Sprintf("%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(text))
		}
		if runs := f.Mode()&0o111 != 0; runs != (f.Name == program.name) {
			t.Errorf("%s has the mode %v", f.Name, f.Mode())
		}
	}
	if want := record + info + "RECORD,,\n"; files[info+"RECORD"] != want {
		t.Errorf("RECORD\n got  %s\n want %s", files[info+"RECORD"], want)
	}
	for name, want := range map[string]string{
		info + "WHEEL":          "Root-Is-Purelib: false\nTag: py3-none-manylinux2014_x86_64\nTag: py3-none-musllinux_1_1_x86_64\n",
		info + "METADATA":       "\nName: memtide\nVersion: " + engine.Version + "\n",
		"memtide/__init__.py":   "apply",
		"memtide/" + singleName: "<body>",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s does not contain %q:\n%s", name, want, files[name])
		}
	}
	if want := "Project-URL: Homepage, " + s.address; !strings.Contains(files[info+"METADATA"], want) {
		t.Errorf("METADATA does not contain %q", want)
	}
}

// TestNpmPackage checks that the npm package has every file that its package.json names, without placeholders
// that are not filled in.
func TestNpmPackage(t *testing.T) {
	data := tarball(packed(t).npmFiles())
	r := tar.NewReader(cli.Must(gzip.NewReader(bytes.NewReader(data))))
	files := map[string]string{}
	for {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		files[strings.TrimPrefix(h.Name, "package/")] = string(cli.Must(io.ReadAll(r)))
	}
	var about struct {
		Name, Version, Main, Types string
		Files                      []string
	}
	if err := json.Unmarshal([]byte(files["package.json"]), &about); err != nil {
		t.Fatal(err)
	}
	if about.Name != "memtide-view" || about.Version != engine.Version {
		t.Errorf("it is %s %s; want memtide-view %s", about.Name, about.Version, engine.Version)
	}
	for _, name := range append(about.Files, about.Main, about.Types) {
		if files[name] == "" || strings.Contains(files[name], "{{") {
			t.Errorf("%s is missing, or has places that are not filled in:\n%s", name, files[name])
		}
	}
	if want := `src="https://example.com/here/"`; !strings.Contains(files["README.md"], want) {
		t.Errorf("README.md does not contain %s", want)
	}
}

// TestNpmTypes checks that the types of the element name every attribute that the element observes.
func TestNpmTypes(t *testing.T) {
	types := string(cli.Must(os.ReadFile("../../web/npm/view.d.ts")))
	script := string(cli.Must(os.ReadFile("../../web/static/view.js")))
	_, keys, _ := strings.Cut(script, "const keys = {")
	keys, _, _ = strings.Cut(keys, "}")
	names := []string{"src", "link", "height", "theme"}
	for pair := range strings.SplitSeq(keys, ",") {
		name, _, _ := strings.Cut(pair, ":")
		names = append(names, strings.TrimSpace(name))
	}
	if len(names) < 12 || slices.Contains(names, "") {
		t.Fatalf("view.js has the attributes %q; want a dozen", names)
	}
	for _, name := range names {
		if !strings.Contains(types, "\n  "+name+"?: ") {
			t.Errorf("view.d.ts does not name the attribute %s", name)
		}
	}
}
