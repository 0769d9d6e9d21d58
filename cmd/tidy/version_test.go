package tidy

import (
	"os"
	"regexp"
	"testing"

	"memtide/engine"
)

// TestVersionIsOne checks that the files that other programs read repeat the version in engine.Version.
func TestVersionIsOne(t *testing.T) {
	for file, line := range map[string]string{
		"CITATION.cff":                       `(?m)^version: (.*)$`,
		"profiles/python/memtide/version.py": `(?m)^__version__ = "(.*)"$`,
	} {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Error(err)
			continue
		}
		got := regexp.MustCompile(line).FindSubmatch(text)
		if got == nil || string(got[1]) != engine.Version {
			t.Errorf("%s says the version %q; want %q, as engine.Version", file, got, engine.Version)
		}
	}
}
