//go:build !js

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

// TestPythonFile checks that the single Python file is what onePython makes of the package.
func TestPythonFile(t *testing.T) {
	root := filepath.Join("..", "..")
	got, err := os.ReadFile(filepath.Join(root, pythonFile))
	if err != nil {
		t.Fatal(err)
	}
	want := onePython(os.DirFS(filepath.Join(root, pythonPackage)))
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what %s makes: got %d bytes, want %d; run make generate", pythonFile, pythonPackage, len(got), len(want))
	}
}

// TestOnePython joins two modules and checks that the imported one comes first.
func TestOnePython(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	got := string(onePython(fstest.MapFS{
		"__init__.py": file("\"\"\"All.\"\"\"\nfrom .b import (\n    f,\n)\n\n__all__ = [\"f\"]\n"),
		"__main__.py": file("\"\"\"Runs.\"\"\"\nimport sys\n\nfrom .b import f\n\nsys.exit(f())\n"),
		"b.py":        file("\"\"\"Has f.\"\"\"\nimport os\n\nfrom .a import n\n\n\ndef f():\n    return n\n"),
		"a.py":        file("\"\"\"Has n.\"\"\"\nn = 1\n"),
	}))
	want := "#!/usr/bin/env python3\n# Code generated from profiles/python/memtide by make generate; DO NOT EDIT.\n\"\"\"All.\"\"\"\nimport os\nimport sys\n" +
		"\n\n# -- a.py: Has n.\n\n\nn = 1\n\n\n# -- b.py: Has f.\n\n\ndef f():\n    return n\n\n\n__all__ = [\"f\"]\n\n\n# -- __main__.py: Runs.\n\n\nsys.exit(f())\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
