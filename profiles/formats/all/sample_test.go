package all

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"memtide/engine/enginetest/golden"
	"memtide/profiles"
	"memtide/profiles/formats/formattest"
	"memtide/profiles/formats/native"
)

// sampleFiles returns the sample files of all formats, without the golden files.
func sampleFiles(t testing.TB) []string {
	t.Helper()
	all, err := filepath.Glob("../*/testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	files := slices.DeleteFunc(all, func(f string) bool { return strings.HasSuffix(f, ".golden") })
	if len(files) == 0 {
		t.Fatal("there are no samples")
	}
	return files
}

// TestSamples checks every sample by checkSample and compares it with its golden file.
func TestSamples(t *testing.T) {
	for _, file := range sampleFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p := checkSample(t, filepath.Base(file), data)
			golden.File(t, file+".golden", dump(p))
		})
	}
}

// TestFindingsStay checks that a profile that is saved and opened again has the findings that it had, each once.
// That includes findings that name the unit of its first file.
func TestFindingsStay(t *testing.T) {
	files := map[string][]byte{}
	for _, file := range sampleFiles(t) {
		files[file] = formattest.Read(t, file)
	}
	rotor := string(files["../rotorlist/testdata/rotor.txt"])
	first := regexp.MustCompile(`[0-9.]+`).FindString(rotor)
	files["a first time of 25 days"] = []byte(strings.Replace(rotor, first, "2147483648", 1))
	for file, data := range files {
		p, err := profiles.Decode("x", profiles.Bytes(data), nil)
		if err != nil || p.Chain == nil && p.Graph == nil {
			continue
		}
		var saved bytes.Buffer
		if err := native.Encode(&saved, p); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		again, err := profiles.Decode("x", profiles.Bytes(saved.Bytes()), nil)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if !slices.Equal(again.Warnings, p.Warnings) {
			t.Errorf("%s: the findings were %q, and after saving %q; want the same", file, p.Warnings, again.Warnings)
		}
	}
}

// TestFormats checks that every format has a description and at least one sample.
func TestFormats(t *testing.T) {
	samples := map[string]int{}
	for _, file := range sampleFiles(t) {
		for _, f := range profiles.Claimants(formattest.Read(t, file)) {
			samples[f.Name]++
		}
	}
	for _, f := range profiles.Formats() {
		if f.Title == "" || !strings.HasSuffix(f.Doc, ".") || strings.Contains(f.Doc, "\n") || len(f.Extensions) == 0 {
			t.Errorf("format %s: title %q, summary %q, extensions %q; want all of them, and a summary on one line",
				f.Name, f.Title, f.Doc, f.Extensions)
		}
		if samples[f.Name] == 0 {
			t.Errorf("format %s has no sample in testdata", f.Name)
		}
	}
}
