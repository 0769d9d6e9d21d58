package all

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memtide/engine/enginetest/golden"
	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// TestSamples holds every sample to what every format has to do.
func TestSamples(t *testing.T) {
	for _, file := range formattest.Samples(t, "../*/testdata") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p := formattest.CheckSample(t, filepath.Base(file), data)
			golden.File(t, file+".golden", formattest.Dump(p))
		})
	}
}

// TestFormats: every format has a description and at least one sample.
func TestFormats(t *testing.T) {
	samples := map[string]int{}
	for _, file := range formattest.Samples(t, "../*/testdata") {
		for _, f := range profiles.Claimants(formattest.Read(t, file)) {
			samples[f.Name]++
		}
	}
	for _, f := range profiles.Formats() {
		summary, _, _ := strings.Cut(f.Doc, "\n\n")
		if f.Title == "" || !strings.HasSuffix(summary, ".") || len(f.Extensions) == 0 {
			t.Errorf("format %s: title %q, summary %q, extensions %q; want all of them", f.Name, f.Title, summary, f.Extensions)
		}
		if samples[f.Name] == 0 {
			t.Errorf("format %s has no sample in testdata", f.Name)
		}
	}
}

// FuzzDecode: any content is refused with a place and a remedy, or is a profile
// that can be used and written.
func FuzzDecode(f *testing.F) { formattest.FuzzContent(f, formattest.Samples(f, "../*/testdata"), nil) }
