package tidy

import (
	"os"
	"regexp"
	"testing"

	"memtide/engine"
)

// The release is said in one place, engine.Version; what other programs read repeats it.
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
